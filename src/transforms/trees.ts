/** Trees of tensors as the transforms take them apart. */
import * as core from "../core/tree.js";
import { isTensor, type Tensor } from "../tensor/index.js";

/** The tensors of a tree and how to put others in their place. Anything else than a tensor is an error. */
export function flattenTensors(value: unknown, operation: string): core.FlatTree<Tensor> {
  return core.flatten(value, isTensor, operation);
}

/**
 * The leaves of a tree: tensors and other values. Throws on objects that hold tensors without being trees: a transform
 * would not see these tensors, and a program would keep those of its first call.
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

/** The values an object holds, without running its getters. */
function partsOf(object: object): unknown[] {
  // A typed array has a key for each number.
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
