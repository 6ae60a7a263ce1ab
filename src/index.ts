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
  type ArrayOptions,
  type AxisOptions,
  type AxisPairs,
  arange,
  type BincountOptions,
  blockDiagonal,
  broadcastTensors,
  type ClosenessOptions,
  type ConvOptions,
  type CreationOptions,
  type CumulativeOptions,
  complex,
  concat,
  conv,
  type DiagonalOptions,
  type DotOptions,
  defaultDevice,
  devices,
  dot,
  einsum,
  explain,
  eye,
  fromBytes,
  full,
  fullLike,
  type Histogram,
  type HistogramOptions,
  inner,
  kron,
  linspace,
  type MatrixOptions,
  matmul,
  meshgrid,
  type Nested,
  type NormOptions,
  type Operand,
  ones,
  onesLike,
  outer,
  type Padding,
  type PadMode,
  type PadOptions,
  type Positions,
  profile,
  type ReduceOptions,
  type ScatterOptions,
  type SortOptions,
  scope,
  setDefaultDevice,
  stack,
  Tensor,
  type TopKOptions,
  tensor,
  tensordot,
  tri,
  type Unique,
  type VarianceOptions,
  vdot,
  type WindowOptions,
  type WindowScatterOptions,
  where,
  withDevice,
  zeros,
  zerosLike,
} from "./tensor/index.js";
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
