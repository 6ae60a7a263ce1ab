/** Trees of tensors as the transforms take them apart. */
import * as core from "../core/tree.js";
import { Tensor } from "../tensor/index.js";

export const isTensor = (value: unknown): value is Tensor => value instanceof Tensor;

/** The tensors of a tree and how to put others in their place. Anything else than a tensor is an error. */
export function flattenTensors(value: unknown, operation: string): core.FlatTree<Tensor> {
  return core.flatten(value, isTensor, operation);
}

/**
 * Any leaf: tensors, and what the function needs besides them. Objects that hold tensors without being trees are none: a
 * transform would not see these, and a program would keep those of its first call.
 */
export function flattenAny(value: unknown, operation: string): core.FlatTree<unknown> {
  return core.flatten(value, isArgument, operation);
}

const isArgument: core.LeafTest<unknown> = (value): value is unknown =>
  isTensor(value) || (core.isAnyLeaf(value) && !holdsTensor(value));

function holdsTensor(value: unknown): boolean {
  const found = new Set<unknown>([value]);
  for (const each of found) {
    if (isTensor(each)) return true;
    if (typeof each === "object" && each !== null) for (const part of partsOf(each)) found.add(part);
  }
  return false;
}

/** What an object holds, as far as it can be seen without running anything of its own. */
function partsOf(object: object): unknown[] {
  // The numbers of an array in memory are keys, too.
  if (ArrayBuffer.isView(object)) return [];
  const parts =
    object instanceof Map ? [...object.keys(), ...object.values()] : object instanceof Set ? [...object] : [];
  const fields = Reflect.ownKeys(object).map((key) => Object.getOwnPropertyDescriptor(object, key)?.value as unknown);
  return [...parts, ...fields];
}

export {
  type FlatTree,
  leafPaths,
  leavesBeside,
  orderKey,
  partingOf,
  pathOf,
  spreadLeaves,
  type TreeStructure,
  unflatten,
} from "../core/tree.js";
