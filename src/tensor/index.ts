/**
 * The tensor layer as the rest of src/ sees it: `Tensor`, functions of tensors, devices. Files outside src/tensor import
 * this one and no other of the folder; scripts/check-imports.mjs keeps it so.
 */

export { type MatmulPrecision, matmulPrecision, setMatmulPrecision } from "../graph/product-precision.js";
export { asArray, asTensor } from "./as-tensor.js";
export { type AttentionOptions, attention } from "./attention.js";
export { checkOneDevice } from "./build.js";
export * from "./creation.js";
export {
  computedTogether,
  generalEigen,
  generalEigenvalues,
  hasWhileLoop,
  hermitianEigen,
  leastSquaresSolution,
  orthogonalFactors,
  polarFactors,
  pseudoInverse,
  schurFactors,
  singularFactors,
} from "./decompositions.js";
export { backendFor, defaultDevice, devices, setDefaultDevice, withDevice } from "./devices.js";
export { constantsBeside, range, transformed } from "./dft.js";
export * from "./dtype-information.js";
export { explain } from "./explain.js";
export { choleskyFactor, luFactors, solvedLower, solvedWithLu, stoppedLuFactors } from "./factors.js";
export { framed, joinedFrames } from "./frames.js";
export * from "./functions/arrangement.js";
export * from "./functions/binary.js";
export * from "./functions/quantization.js";
export * from "./functions/reductions.js";
export * from "./functions/unary.js";
export * from "./geometric.js";
export { flattenNested } from "./given-values.js";
export type { VarianceOptions } from "./methods/averages.js";
export type { ClosenessOptions } from "./methods/comparison.js";
export {
  type AxisPairs,
  type DotOptions,
  dot,
  inner,
  kron,
  type MatmulOptions,
  matmul,
  outer,
  tensordot,
  vdot,
} from "./methods/contraction.js";
export { type ConvOptions, conv } from "./methods/conv.js";
export type { CumulativeOptions } from "./methods/cumulative.js";
export type { DiagonalOptions } from "./methods/diagonals.js";
export type { CastOptions } from "./methods/dtypes.js";
export { einsum } from "./methods/einsum.js";
export type { NanToNumOptions } from "./methods/float-bits.js";
export type { BincountOptions, Histogram, HistogramOptions } from "./methods/histogram.js";
export type { ConvolveMode, InterpOptions, Samples } from "./methods/interpolation.js";
export { blockDiagonal, broadcastTensors, concat, meshgrid, stack } from "./methods/joining.js";
export type { Parts } from "./methods/movement.js";
export { type NotePositions, notingPositions } from "./methods/noted-positions.js";
export { apartFrom, asFloat, countingLike, positionsAlong, scalarLike } from "./methods/operands.js";
export type { SearchOptions, SortOptions, TopKOptions } from "./methods/ordering.js";
export type { PadMode, PadOptions } from "./methods/padding.js";
export type { QuantileMethod } from "./methods/quantile-places.js";
export type { QuantileOptions, Shares } from "./methods/quantiles.js";
export type {
  DequantizeOptions,
  QuantizationPlaces,
  QuantizationScale,
  QuantizationScaleOptions,
  QuantizedDType,
  QuantizeOptions,
} from "./methods/quantization.js";
export type { AxisOptions, NormOptions, PositionOptions, SumOptions } from "./methods/reductions.js";
export type { RoundOptions } from "./methods/rounding.js";
export type { GatherOptions, ScatterOptions } from "./methods/scatter.js";
export type { Members } from "./methods/sets.js";
export type { RunningOptions } from "./methods/standard-names.js";
export type { Positions } from "./methods/taking.js";
export type { Unique, UniqueOf, UniqueOptions } from "./methods/uniqueness.js";
export type { ArrayOptions, Nested } from "./methods/values.js";
export { where } from "./methods/where.js";
export type { WindowOptions, WindowScatterOptions } from "./methods/window.js";
export { profile } from "./profiling.js";
export type { ReduceOptions } from "./reduce-node.js";
export type * from "./result-dtypes.js";
export { scope } from "./scope.js";
export { adopt, type Operand, Tensor } from "./tensor.js";
export { checkTensor, isTensor } from "./tensor-checks.js";
export { drawn, firstRound, keyOfWords, keyUnderKnown, storedTensor, threefry, type Word } from "./threefry.js";
export {
  exactSplits,
  histogramByNode,
  leavesOfTrees,
  nodesOf,
  routedRows,
  rowsAtRoot,
  rowsByPart,
  splitsByGain,
  totalsByPart,
} from "./trees.js";
export { type TunedProduct, type TuneOptions, tune } from "./tune.js";
export type { Padding } from "./windows.js";
