/**
 * The form of a graph: what is computed, of how many leaves, of which shapes and dtypes; everything but the memory. A program
 * serves every graph of its form, so the form is looked up whenever something is computed, and a loop of small operations
 * spends much of its time here. Hence nothing is built on the way: nodes carry their numbers, a hash is taken in passing,
 * and a form of that hash is compared part by part. The hash may be weak; the comparison decides.
 */
import { sameShape } from "../core/shape.js";
import { GraphFunction } from "../graph/function.js";
import { type Node, pendingInOrder } from "../graph/node.js";
import type { Params, Primitive } from "../graph/primitive.js";
import { placeholder } from "../graph/primitives/leaf.js";

/** A node as its form has it: a leaf, or an operation on nodes by their numbers. */
interface Part {
  /** Null for a leaf. */
  readonly primitive: Primitive | null;
  readonly params: Params;
  readonly inputs: readonly number[];
  /** Of leaves; those of operations follow from their inputs and parameters. */
  readonly shape: readonly number[];
  readonly dtype: string;
}

interface Entry<Program> {
  readonly hash: number;
  readonly parts: readonly Part[];
  /** The numbers of the roots. */
  readonly roots: readonly number[];
  readonly program: Program;
}

/** What was found for a graph: its leaves in the order in which the program counts them, and the program if it is known. */
export interface Found<Program> {
  readonly leaves: readonly Node[];
  /** How many nodes it has, leaves included. */
  readonly size: number;
  readonly program: Program | null;
}

/** Programs by form, at most `capacity`; the oldest goes first. */
export class ProgramTable<Program> {
  private readonly byHash = new Map<number, Entry<Program>[]>();
  private readonly byAge: Entry<Program>[] = [];

  constructor(private readonly capacity: number) {}

  find(roots: readonly Node[]): Found<Program> {
    const order = pendingInOrder(roots);
    const entries = this.byHash.get(hashOf(order, roots));
    const entry = entries?.find((candidate) => isForm(candidate, order, roots));
    return { leaves: order.filter(isLeaf), size: order.length, program: entry ? entry.program : null };
  }

  /** Keeps a program for all graphs of the form of this one. */
  add(roots: readonly Node[], program: Program): void {
    const order = pendingInOrder(roots);
    const hash = hashOf(order, roots);
    const entry = { hash, parts: order.map(partOf), roots: roots.map(({ position }) => position), program };
    const entries = this.byHash.get(hash);
    if (entries) entries.push(entry);
    else this.byHash.set(hash, [entry]);
    this.byAge.push(entry);
    if (this.byAge.length > this.capacity) this.forget(this.byAge.shift() as Entry<Program>);
  }

  private forget(entry: Entry<Program>): void {
    const others = this.byHash.get(entry.hash)?.filter((other) => other !== entry) ?? [];
    if (others.length > 0) this.byHash.set(entry.hash, others);
    else this.byHash.delete(entry.hash);
  }
}

const isLeaf = ({ storage, primitive }: Node): boolean => storage !== null || primitive === placeholder;

function partOf(node: Node): Part {
  const { primitive, params, inputs, shape, dtype } = node;
  if (isLeaf(node)) return { primitive: null, params: {}, inputs: [], shape, dtype };
  return { primitive, params, inputs: inputs.map(({ position }) => position), shape, dtype };
}

/** Whether a graph, given in order, has the form. */
function isForm<P>({ parts, roots: places }: Entry<P>, order: readonly Node[], roots: readonly Node[]): boolean {
  if (parts.length !== order.length || places.length !== roots.length) return false;
  for (let i = 0; i < roots.length; i++) if (roots[i].position !== places[i]) return false;
  for (let i = 0; i < order.length; i++) if (!isPart(parts[i], order[i])) return false;
  return true;
}

function isPart(part: Part, node: Node): boolean {
  if (isLeaf(node)) return part.primitive === null && part.dtype === node.dtype && sameShape(part.shape, node.shape);
  const { inputs } = node;
  if (part.primitive !== node.primitive || part.inputs.length !== inputs.length) return false;
  for (let i = 0; i < inputs.length; i++) if (part.inputs[i] !== inputs[i].position) return false;
  return isSameValue(part.params, node.params);
}

/**
 * Parameters alike in every bit: 0 and -0 differ, so do 1 and 1n, and NaN equals itself. Functions that are graphs are
 * compared by their keys, others are the same or not.
 */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof GraphFunction) return b instanceof GraphFunction && a.key === b.key;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!isSameValue(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let count = 0;
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !isSameValue((a as Params)[name], (b as Params)[name])) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

const mix = (hash: number, word: number): number => Math.imul((hash << 5) ^ (hash >>> 27) ^ word, 0x9e3779b1);

function hashOf(order: readonly Node[], roots: readonly Node[]): number {
  let hash = order.length;
  for (const node of order) {
    if (isLeaf(node)) {
      hash = hashValue(hashString(hash, node.dtype), node.shape);
      continue;
    }
    hash = hashValue(hashString(hash, node.primitive.name), node.params);
    for (const { position } of node.inputs) hash = mix(hash, position);
  }
  for (const { position } of roots) hash = mix(hash, position);
  return hash;
}

/** Equal values of one make have equal hashes; that is all that is asked. */
function hashValue(hash: number, value: unknown): number {
  if (typeof value === "number") return mix(mix(hash, value), value * 0x10001);
  if (typeof value === "string") return hashString(hash, value);
  if (typeof value !== "object" || value === null) return mix(hash, Number(value === true));
  if (value instanceof GraphFunction) return hashString(hash, value.key);
  let all = hash;
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) all = hashValue(all, value[i]);
  else for (const name in value) all = hashValue(all, (value as Params)[name]);
  return all;
}

/** Names of primitives and dtypes differ in their length or their ends, mostly. */
function hashString(hash: number, text: string): number {
  const last = text.length - 1;
  return last < 0
    ? hash
    : mix(hash, text.charCodeAt(0) | (text.charCodeAt(last) << 8) | (text.charCodeAt(last >> 1) << 16));
}
