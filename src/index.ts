/** `pumice`: tensors on any GPU. What is exported here is the public surface. */
export type { Complex, DType, Scalar, ScalarOf, TypedArrayOf } from "./core/dtype.js";
export * from "./core/errors.js";
export type { Shape } from "./core/shape.js";
export { newAxis } from "./core/slice.js";
export { version } from "./core/version.js";
export * as io from "./io/index.js";
export * as linalg from "./linalg/index.js";
export * as random from "./random/index.js";
export {
  arange,
  type CreationOptions,
  complex,
  concat,
  eye,
  fromBytes,
  full,
  fullLike,
  linspace,
  ones,
  onesLike,
  stack,
  tensor,
  zeros,
  zerosLike,
} from "./tensor/creation.js";
export { defaultDevice, devices, setDefaultDevice, withDevice } from "./tensor/devices.js";
export { explain } from "./tensor/explain.js";
export { dot, inner, kron, matmul, outer, tensordot, vdot } from "./tensor/methods/contraction.js";
export { conv } from "./tensor/methods/conv.js";
export { einsum } from "./tensor/methods/einsum.js";

import "./tensor/methods/index.js";

export type { VarianceOptions } from "./tensor/methods/averages.js";
export { blockDiagonal, broadcastTensors, meshgrid, tri } from "./tensor/methods/movement.js";
export type { Positions } from "./tensor/methods/taking.js";
export { profile } from "./tensor/profiling.js";
export type { ReduceOptions } from "./tensor/reduce-node.js";
export { scope } from "./tensor/scope.js";
export { type Nested, type Operand, Tensor, where } from "./tensor/tensor.js";
export {
  type AssociativeScanOptions,
  associativeScan,
  cond,
  forLoop,
  type ScanOptions,
  scan,
  switchCase,
  type WhileOptions,
  whileLoop,
} from "./transforms/control.js";
export { type CustomDerivatives, checkpoint, customGradient } from "./transforms/custom.js";
export { type GradOptions, grad, jvp, linearize, stopGradient, valueAndGrad, vjp } from "./transforms/grad.js";
export { type JitArguments, type JitOptions, type Jitted, jit, type Lowered } from "./transforms/jit.js";
export { hessian, hvp, type JacobianOptions, jacobian } from "./transforms/matrices.js";
export * as tree from "./transforms/tree.js";
export { type BatchAxes, type VmapOptions, vmap } from "./transforms/vmap.js";
