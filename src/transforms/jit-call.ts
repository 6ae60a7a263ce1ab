/**
 * The arguments of a call of a jitted function, taken apart: which leaves are data, which belong to the program, and the key
 * that calls of one form share. jit.ts looks up programs by that key.
 */
import { ArgumentError } from "../core/errors.js";
import { identityOf } from "../core/identity.js";
import { isUnderWay } from "../graph/node.js";
import { matmulPrecision } from "../graph/product-precision.js";
import { defaultDevice, isTensor } from "../tensor/index.js";
import { flattenAny, orderKey, type TreeStructure } from "./trees.js";

/** Per leaf of the arguments: how it enters the program. */
export interface Entering {
  readonly kinds: readonly ("tensor" | "number" | "static")[];
  readonly isDonated: readonly boolean[];
}

/** The arguments of a call, taken apart. */
export interface Call extends Entering {
  readonly key: string;
  readonly args: readonly unknown[];
  readonly leaves: readonly unknown[];
  readonly structure: TreeStructure;
  readonly isTraced: boolean;
}

/** The arguments with nothing in the place of static ones. */
export const withoutStatic = (args: readonly unknown[], fixed: readonly number[]): readonly unknown[] =>
  fixed.length === 0 ? args : args.map((arg, i) => (fixed.includes(i) ? null : arg));

/** Takes the arguments apart. */
export function takeApart(args: readonly unknown[], fixed: readonly number[], donated: readonly number[]): Call {
  for (const position of donated) {
    if (position < args.length) continue;
    throw new ArgumentError(
      `jit: { donate: ${position} } of a call with ${args.length} arguments; positions count from 0.`,
    );
  }
  let key = "";
  for (const position of fixed) key += staticTreeKey(args[position]);
  const rest = withoutStatic(args, fixed);
  const { leaves, structure } = flattenAny(rest, "jit");
  key += structure.key + orderKey(structure);
  const kinds: Call["kinds"][number][] = [];
  let isTraced = false;
  let hasTensors = false;
  for (const leaf of leaves) {
    if (isTensor(leaf)) {
      const { node } = leaf;
      hasTensors = true;
      if (node.isAbstract || isUnderWay(node.trace)) isTraced = true;
      key += `|${node.dtype}[${node.shape}]${node.device.id}`;
      kinds.push("tensor");
    } else if (typeof leaf === "number") {
      key += "|#";
      kinds.push("number");
    } else {
      checkLasting(leaf);
      key += `|${staticKey(leaf)}`;
      kinds.push("static");
    }
  }
  if (!hasTensors) key += `|${defaultDevice()}`;
  key += `|${matmulPrecision()}`;
  const isDonated = donated.length === 0 ? [] : donatedLeaves(rest, donated);
  return { key, args, leaves, structure, kinds, isDonated, isTraced };
}

/** Equal for arrays and objects of equal values. */
function staticTreeKey(value: unknown): string {
  const { leaves, structure } = flattenAny(value, "jit, static");
  return `${structure.key}${orderKey(structure)}${leaves.map(staticKey).join("|")};`;
}

/** Plain values have equal keys if they are equal; other objects have a key by identity. */
function staticKey(value: unknown): string {
  if (isTensor(value)) {
    throw new ArgumentError(
      "jit: a static argument is a tensor; tensors enter as data, so leave its position out of { static }.",
    );
  }
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "object" && value !== null) return objectKey(value);
  if (typeof value === "function" || typeof value === "symbol") return identityOf(value);
  return `${typeof value}:${Object.is(value, -0) ? "-0" : String(value)}`;
}

function objectKey(value: object): string {
  if (ArrayBuffer.isView(value)) return bytesKey(value, value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return bytesKey(value, value);
  if (value instanceof Date) return `Date:${value.getTime()}`;
  // An equal object is not the same key, so these are told apart by identity.
  const key = (each: unknown) => (typeof each === "object" && each !== null ? identityOf(each) : staticKey(each));
  if (value instanceof Map) return `Map(${[...value].map(([name, each]) => `${key(name)}:${staticTreeKey(each)}`)})`;
  if (value instanceof Set) return `Set(${[...value].map(key)})`;
  if (!(value instanceof WeakMap) && !(value instanceof WeakSet)) return identityOf(value);
  throw new ArgumentError(
    `jit: an argument is or contains a ${value.constructor.name}, whose content cannot be looked at, so that a program could ` +
      "not be told from one for another content; take it by closure, or pass what you look up in it.",
  );
}

/** Bytes tell 0 from -0; their count in front separates them from the text that follows. */
function bytesKey(value: object, buffer: ArrayBufferLike, offset = 0, length = buffer.byteLength): string {
  return `${value.constructor.name}${length}:${Buffer.from(buffer, offset, length).toString("latin1")}`;
}

/** Throws on typed arrays among the arguments: their numbers would become part of the program, and they may change. */
function checkLasting(leaf: unknown): void {
  if (!ArrayBuffer.isView(leaf) && !(leaf instanceof ArrayBuffer)) return;
  throw new ArgumentError(
    `jit: an argument is or contains a ${leaf.constructor.name}, whose numbers would become part of the program; pass ` +
      "tensor(array), or list its position in { static } if each content is to be a program of its own.",
  );
}

function donatedLeaves(args: readonly unknown[], donated: readonly number[]): boolean[] {
  return args.flatMap((arg, i) => {
    const { structure } = flattenAny(arg, "jit");
    return new Array<boolean>(structure.leafCount).fill(donated.includes(i));
  });
}
