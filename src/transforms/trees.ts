/** Trees of tensors as the transforms take them apart. */
import * as core from "../core/tree.js";
import { Tensor } from "../tensor/tensor.js";

export const isTensor = (value: unknown): value is Tensor => value instanceof Tensor;

export type TensorTree = core.Tree<Tensor>;

/** The tensors of a tree and how to put others in their place. Anything else than a tensor is an error. */
export function flattenTensors(value: unknown, operation: string): core.FlatTree<Tensor> {
  return core.flatten(value, isTensor, operation);
}

/** Any leaf: tensors, and what the function needs besides them. */
export function flattenAny(value: unknown, operation: string): core.FlatTree<unknown> {
  return core.flatten(value, core.isAnyLeaf, operation);
}

export {
  type FlatTree,
  leafPaths,
  leavesBeside,
  partingOf,
  pathOf,
  spreadLeaves,
  type TreeStructure,
  unflatten,
} from "../core/tree.js";
