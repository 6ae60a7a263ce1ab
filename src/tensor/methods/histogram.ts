/**
 * Methods of `Tensor`: how often numbers occur, and how many elements fall into bins. Where the length or the range is not
 * given it is found on the device; only the length is read back, which waits.
 */
import { checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import { type DType, isFloat, isInteger } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { backendOf } from "../build.js";
import { valuesNode } from "../given-values.js";
import type { FloatOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { checkTensor, isTensor } from "../tensor-checks.js";
import { asFloat, countingLike, scalarLike } from "./operands.js";
import { placesAmong, scatterRows } from "./scatter.js";
import { where } from "./where.js";

export interface BincountOptions<out W extends DType = DType> {
  /** The weight of each element; 1 when left out. */
  readonly weights?: Tensor<W>;
  /** Length of the result: numbers from it on are not counted. Without it the largest number is read back. */
  readonly length?: number;
  /** Least length of the result, when `length` is left out. */
  readonly minLength?: number;
  /** Sums of weights that are the same in every run. */
  readonly deterministic?: boolean;
}

const BINCOUNT: OptionKinds<BincountOptions> = {
  weights: "any",
  length: "number",
  minLength: "number",
  deterministic: "flag",
};

export interface HistogramOptions<out W extends DType = DType> {
  /** The number of bins of equal width (10 unless told), or their edges, rising. A tensor of edges is not checked. */
  readonly bins?: number | Tensor | readonly number[];
  /** The range of bins of equal width: from the smallest to the largest element unless told. */
  readonly range?: readonly [number, number];
  readonly weights?: Tensor<W>;
  /** Scaled so that the integral is 1. */
  readonly density?: boolean;
  readonly deterministic?: boolean;
}

const HISTOGRAM: OptionKinds<HistogramOptions> = {
  bins: "any",
  range: "list",
  weights: "any",
  density: "flag",
  deterministic: "flag",
};

export interface Histogram<D extends DType = DType, W extends DType = DType> {
  /** Of the dtype of the weights, i32 without any; densities are floats. */
  readonly counts: Tensor<W | FloatOf<D>>;
  readonly edges: Tensor<FloatOf<D>>;
}

export class HistogramMethods<D extends DType> {
  /** The number of occurrences of each of 0, 1, 2 …; negative numbers are not counted. */
  bincount<W extends DType = "i32">(this: Tensor, options: BincountOptions<W> = {}): Tensor<W> {
    return counted(this, options) as Tensor<W>;
  }

  /**
   * The number of elements in each bin; the last bin includes its upper edge. Bins of equal width and whole numbers are
   * reckoned in f64, where the device has it.
   */
  histogram<W extends DType = "i32">(this: Tensor, options: HistogramOptions<W> = {}): Histogram<D, W> {
    return binned(this, options) as Histogram<D, W>;
  }
}

function counted(x: Tensor, options: BincountOptions): Tensor {
  checkOptions("bincount", options, BINCOUNT);
  const { weights, length, minLength = 0, deterministic } = options;
  checkWeights("bincount", x, weights);
  if (!isInteger(x.dtype) && x.dtype !== "bool") {
    throw new DTypeError(`bincount: counts whole numbers, not ${x.dtype}; cast it first.`);
  }
  const numbers = x.dtype === "bool" ? x.cast("i32") : x;
  const largest = length === undefined && x.size > 0 ? Number(numbers.max().itemSync()) : -1;
  const size = length ?? Math.max(minLength, largest + 1);
  if (!Number.isSafeInteger(size) || size < 0) throw new ArgumentError(`bincount: a length of ${size}.`);
  const amounts = weights ?? scalarLike(x, 1, "i32").broadcastTo(x.shape);
  const zero = scalarLike(x, 0, amounts.dtype).broadcastTo([size, 1]);
  const isNegative = /^i/.test(numbers.dtype) ? numbers.less(0) : null;
  const inside = placesAmong(numbers, size, "bincount");
  const places = isNegative ? where(isNegative, -1, inside) : inside;
  const counts = scatterRows("bincount", zero, places.reshape([x.size]), amounts.reshape([x.size, 1]), {
    op: "add",
    deterministic,
  });
  return counts.reshape([size]);
}

function binned(given: Tensor, options: HistogramOptions): Histogram {
  checkOptions("histogram", options, HISTOGRAM);
  const { bins = 10, range, weights, density = false, deterministic } = options;
  checkWeights("histogram", given, weights);
  const { dtype } = asFloat("histogram", given);
  // As in NumPy, edges are found in f64 and rounded once, and whole numbers compared with them there.
  const fine = backendOf(given.node).hasDoubles ? "f64" : "f32";
  const x = (isFloat(given.dtype) ? given : given.cast(fine)).flatten();
  const isCount = !isTensor(bins) && !Array.isArray(bins);
  if (isCount && (!Number.isSafeInteger(bins) || (bins as number) < 1)) {
    throw new ArgumentError(`histogram: ${shown(bins)} bins; use 1 or more, or give the edges.`);
  }
  if (range && !isCount) throw new ArgumentError("histogram: the edges are given; leave the range out.");
  if (range && !(range.length === 2 && range[0] <= range[1])) {
    throw new ArgumentError(`histogram: the range ${formatShape(range)}; give [low, high].`);
  }
  const known = range ?? (x.size === 0 ? [0, 1] : null);
  const ends = () => known?.map((end) => scalarLike(x, end, fine)) ?? [x.min().cast(fine), x.max().cast(fine)];
  const edges = isCount ? equalEdges(ends(), bins as number).cast(x.dtype) : givenEdges(x, bins);
  const count = edges.size - 1;
  const last = edges.at(-1);
  const place = where(x.equal(last), count - 1, edges.searchSorted(x, { side: "right" }).sub(1));
  // For elements above the last edge, and for NaN, the search gives `count`: outside of all bins.
  const counts = place.bincount({ length: count, weights: weights?.flatten(), deterministic });
  if (!density) return { counts, edges: edges.cast(dtype) };
  const total = counts.sum().cast(x.dtype);
  const densities = counts.cast(x.dtype).div(edges.diff()).div(total);
  return { counts: densities.cast(dtype), edges: edges.cast(dtype) };
}

function checkWeights(operation: string, x: Tensor, weights: Tensor | undefined): void {
  if (weights === undefined) return;
  checkTensor(operation, "the option weights", weights);
  if (sameShape(weights.shape, x.shape)) return;
  throw new ShapeError(`${operation}: weights of ${formatShape(weights.shape)} for ${formatShape(x.shape)}.`);
}

/** Edges of equal bins from low to high, which are tensors so that the range need not be read back. */
function equalEdges([low, high]: readonly Tensor[], bins: number): Tensor {
  const isFlat = low.equal(high);
  const [from, to] = [where(isFlat, low.sub(0.5), low), where(isFlat, high.add(0.5), high)];
  const steps = countingLike(low, bins + 1).cast(low.dtype);
  return where(steps.equal(bins), to, steps.mul(to.sub(from).div(bins)).add(from));
}

/** Edges that were given, in a dtype. Those of a tensor are not looked at: that would wait for the device. */
function givenEdges(x: Tensor, edges: Tensor | readonly number[]): Tensor {
  const tensor = inOperation("histogram", () =>
    isTensor(edges) ? edges.cast(x.dtype) : x.tensorOf(valuesNode(backendOf(x.node), edges, { dtype: x.dtype })),
  );
  if (tensor.rank !== 1 || tensor.size < 2) {
    throw new ShapeError(`histogram: edges of ${formatShape(tensor.shape)}; give at least two along one axis.`);
  }
  if (!isTensor(edges) && edges.some((edge, i) => !(edge >= edges[Math.max(0, i - 1)]))) {
    throw new ArgumentError(`histogram: the edges ${shown(edges)} do not rise; sort them.`);
  }
  return tensor;
}
