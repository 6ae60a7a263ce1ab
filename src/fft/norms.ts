/** Shared by the functions of `fft`: options, norms, and the dtypes that transforms are computed in. */
import { checkChoice, checkOptions, checkWhole, type OptionKinds } from "../core/arguments.js";
import { DTYPES, type DType, isComplex } from "../core/dtype.js";
import { DTypeError, ShapeError } from "../core/errors.js";
import { formatShape, normalizeAxis } from "../core/shape.js";
import { checkTensor, type Tensor } from "../tensor/index.js";

/** The transform that gets the factor 1/n: to the inverse ("backward"), to the other direction ("forward"), or its root to both ("ortho"). */
export type FftNorm = "backward" | "ortho" | "forward";

const NORMS: readonly FftNorm[] = ["backward", "ortho", "forward"];

export function checkNorm(operation: string, norm: unknown): void {
  checkChoice(operation, "the option norm", norm, NORMS);
}

/** The factor of a transform of n elements. */
export function scaleOf(norm: FftNorm = "backward", n: number, isInverse: boolean): number {
  if (norm === "ortho") return 1 / Math.sqrt(n);
  return (norm === "backward") === isInverse ? 1 / n : 1;
}

/** Options of transforms along one axis. */
export interface FftOptions {
  /** The length of the transform: the axis is cut to it, or filled with zeros. */
  readonly n?: number;
  /** The axis; the last unless told. */
  readonly axis?: number;
  readonly norm?: FftNorm;
}

const FFT: OptionKinds<FftOptions> = { n: "number", axis: "number", norm: "text" };

/** Floats of the width that transforms have: narrow floats and integers become f32. */
export function asTransformable(operation: string, x: Tensor, takes: "real" | "any"): Tensor {
  const dtype = x.dtype as DType;
  if (isComplex(dtype)) {
    if (takes === "any") return x;
    throw new DTypeError(`${operation}: takes real numbers, not ${dtype}; take their real(), or use fft or ifft.`);
  }
  return x.cast(DTYPES[dtype].kind === "float" && dtype === "f64" ? "f64" : "f32");
}

/** The same as complex numbers. */
export function asComplex(x: Tensor): Tensor {
  return isComplex(x.dtype) ? x : x.cast(x.dtype === "f64" ? "c128" : "c64");
}

/** Checks the tensor and the options of a transform along one axis; the axis from the front, and its extent. */
export function checkedAxis(operation: string, x: Tensor, options: FftOptions): { axis: number; extent: number } {
  checkTensor(operation, "the operand", x);
  checkOptions(operation, options, FFT);
  checkNorm(operation, options.norm);
  if (options.n !== undefined) checkWhole(operation, "the option n", options.n, 1);
  if (x.rank === 0) throw new ShapeError(`${operation}: a scalar has no axis to transform; reshape it to [1].`);
  const axis = normalizeAxis(options.axis ?? -1, x.rank, operation);
  return { axis, extent: x.shape[axis] };
}

/** The length of a transform that must have at least one element. */
export function checkedLength(operation: string, x: Tensor, length: number): number {
  if (length >= 1) return length;
  throw new ShapeError(
    `${operation}: a transform of ${formatShape(x.shape)} would have ${length} elements; give n, at least 1.`,
  );
}
