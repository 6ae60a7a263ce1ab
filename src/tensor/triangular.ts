/** The routines for triangular matrices as functions of tensors; `linalg` gives them their interface. */
import { cholesky, solveLower } from "../graph/primitives/triangular.js";
import { backendOf, derive, makeNode } from "./build.js";
import { Tensor } from "./tensor.js";

/** Lower factors of matrices of f32 or f64. */
export const choleskyFactor = (a: Tensor): Tensor => new Tensor(derive(cholesky, a.node, {}));

/** L·X = B for lower L, batches alike. */
export const solvedLower = (l: Tensor, b: Tensor, isUnit: boolean): Tensor =>
  new Tensor(makeNode(solveLower, [l.node, b.node], { isUnit }, backendOf(l.node)));
