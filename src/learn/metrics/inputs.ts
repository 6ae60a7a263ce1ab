/** Numbers, scores and weights as metrics take them: tensors, arrays or columns, in one dtype and on one device. */
import type { OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { type Numbers, numbersLike, type Place } from "../core/targets.js";

/** Options of all metrics. */
export interface MetricOptions {
  /** One weight for each sample; all count the same unless told. */
  readonly weights?: Tensor | ArrayLike<number>;
  /** The device for arrays: that of the tensors among the arguments unless told. */
  readonly device?: string;
  /** The dtype of the result: f64 where an argument is f64, else f32. */
  readonly dtype?: "f32" | "f64";
}

export const METRIC: OptionKinds<MetricOptions> = { weights: "any", device: "text", dtype: "dtype" };

/** The place of a metric, which its result has. */
export interface MetricPlace extends Place {
  readonly dtype: "f32" | "f64";
}

/** The place that options name, or that the arguments have. */
export function placeOf(operation: string, given: readonly unknown[], options: MetricOptions): MetricPlace {
  const { dtype, device } = options;
  if (dtype !== undefined && dtype !== "f32" && dtype !== "f64") {
    throw new ArgumentError(`${operation}: the option dtype is ${shown(dtype)}; it is "f32" or "f64".`);
  }
  const tensors = [...given, options.weights].filter((each) => isTensor(each)) as Tensor[];
  return {
    device: device ?? tensors[0]?.device,
    dtype: dtype ?? (tensors.some((each) => each.dtype === "f64") ? "f64" : "f32"),
  };
}

/** Weights of samples as a vector, or null. */
export function weightsFor(
  operation: string,
  { weights }: MetricOptions,
  samples: number,
  place: MetricPlace,
): Tensor | null {
  if (weights === undefined) return null;
  const given = isTensor(weights) ? weights : (tensor(Array.from(weights), place) as Tensor);
  if (sameShape(given.shape, [samples])) return given.cast(place.dtype) as Tensor;
  throw new ShapeError(
    `${operation}: the weights have the shape ${formatShape(given.shape)}, and there are ${samples} samples; give one for each.`,
  );
}

/** The mean along the first axis, each row by its weight. */
export function weightedMean(values: Tensor, weights: Tensor | null): Tensor {
  if (!weights) return values.mean({ axis: 0 }) as Tensor;
  return weightedSum(values, weights).div(weights.sum()) as Tensor;
}

/** The sum along the first axis, each row by its weight. */
export function weightedSum(values: Tensor, weights: Tensor | null): Tensor {
  if (!weights) return values.sum({ axis: 0 }) as Tensor;
  const factors = values.rank === 1 ? weights : weights.reshape(-1, ...values.shape.slice(1).map(() => 1));
  return values.mul(factors).sum({ axis: 0 }) as Tensor;
}

/** Whether labels or numbers are rows: a matrix. */
export function isMatrix(values: unknown): boolean {
  if (isTensor(values)) return values.rank === 2;
  return Array.isArray(values) && values.length > 0 && (Array.isArray(values[0]) || ArrayBuffer.isView(values[0]));
}

/** Scores of samples: [samples], or [samples, classes]. */
export function scoresOf(operation: string, scores: Numbers, place: MetricPlace): Tensor {
  const found = numbersLike(operation, scores, place, "scores");
  checkNotEmpty(operation, found.shape[0] as number);
  return found;
}

/** Throws without samples: there is no mean of nothing. */
export function checkNotEmpty(operation: string, samples: number): void {
  if (samples === 0) throw new ShapeError(`${operation}: there are no samples.`);
}

/** Throws unless two arguments have as many samples. */
export function checkCounts(operation: string, what: string, found: number, targets: number): void {
  if (found === targets) return;
  throw new ShapeError(`${operation}: there are ${found} ${what} and ${targets} targets.`);
}
