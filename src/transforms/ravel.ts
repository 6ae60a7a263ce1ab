/**
 * A tree of floats as one vector, and back: methods that minimise or solve work on vectors, and people have trees. Narrow floats
 * become f32 on the way. Used by L-BFGS of `pumice/nn` and by `optimize` of `pumice/learn`.
 */
import { type DType, isFloat } from "../core/dtype.js";
import { ArgumentError, DTypeError } from "../core/errors.js";
import { concat, type Tensor } from "../tensor/index.js";
import { flattenTensors, leafPaths, unflatten } from "./trees.js";

/** A tree as a vector. */
export interface Ravelled<T> {
  readonly vector: Tensor;
  /** A vector of the same size as a tree. */
  restore(vector: Tensor): T;
}

/** All tensors of a tree in one vector: f64 where one of them is, else f32. */
export function ravel<T>(operation: string, tree: T): Ravelled<T> {
  const { leaves, structure } = flattenTensors(tree, operation);
  if (leaves.length === 0) throw new ArgumentError(`${operation}: there are no tensors.`);
  leaves.forEach((leaf, i) => {
    if (isFloat(leaf.dtype)) return;
    const path = leafPaths(structure)[i];
    throw new DTypeError(
      `${operation}: ${path || "the tensor"} is ${leaf.dtype}; write .cast("f32"): it must be a float.`,
    );
  });
  const dtype: DType = leaves.some((leaf) => leaf.dtype === "f64") ? "f64" : "f32";
  return {
    vector: concat(leaves.map((leaf) => leaf.reshape([leaf.size]).cast(dtype))) as Tensor,
    restore(vector) {
      let at = 0;
      const parts = leaves.map((leaf) => {
        const part = vector.at(`${at}:${at + leaf.size}`).reshape(leaf.shape);
        at += leaf.size;
        return part.dtype === leaf.dtype ? part : part.cast(leaf.dtype);
      });
      return unflatten(structure, parts) as T;
    },
  };
}
