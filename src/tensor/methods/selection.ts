/**
 * Results whose shape depends on values: which elements are not zero, which are distinct, how often each occurs. How many
 * there are is read back from the device, so each of these waits for it; `bincount` and `histogram` do not when they are
 * told their length.
 */
import { checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import { type DType, isFloat, isInteger } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape, stridesOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { backendOf } from "../build.js";
import { concat, stack, tensor } from "../creation.js";
import type { FloatOf } from "../result-dtypes.js";
import { checkTensor, Tensor, where } from "../tensor.js";
import { asFloat, countingLike, scalarLike } from "./operands.js";
import { orderKey } from "./ordering.js";
import { placesAmong, scatterRows } from "./scatter.js";
import "./cumulative.js";

export interface BincountOptions<W extends DType = DType> {
  /** What each element counts for; 1 when left out. */
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

export interface HistogramOptions<W extends DType = DType> {
  /** How many bins of equal width (10 unless told), or their edges, rising; of a tensor that is not checked. */
  readonly bins?: number | Tensor | readonly number[];
  /** Of bins of equal width: from the smallest to the largest element unless told. */
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

export interface Unique<D extends DType = DType> {
  /** The distinct elements, rising; NaN, if any, is one and the last. */
  readonly values: Tensor<D>;
  /** Where each occurs first, in row-major order. */
  readonly indices: Tensor<"i32">;
  /** For each element of the tensor, which of the values it is. */
  readonly inverse: Tensor<"i32">;
  /** How often each occurs. */
  readonly counts: Tensor<"i32">;
}

declare module "../tensor.js" {
  interface Tensor<D extends DType = DType> {
    /** The positions of elements that are not zero: one tensor per axis, in row-major order. Waits for the device. */
    nonzero(): Tensor<"i32">[];
    /** The same as one tensor: a row per element, a column per axis. Waits for the device. */
    argwhere(): Tensor<"i32">;
    /** The distinct elements, with their places and counts. Waits for the device. */
    unique(): Unique<D>;
    /** How often each of the numbers 0, 1, 2 … occurs; negative ones are not counted. */
    bincount<W extends DType = "i32">(options?: BincountOptions<W>): Tensor<W>;
    /**
     * How many elements fall into each bin; the last bin includes its upper edge. Bins of equal width and whole numbers are
     * reckoned in f64, where the device has it.
     */
    histogram<W extends DType = "i32">(options?: HistogramOptions<W>): Histogram<D, W>;
  }
}

/** Flat positions of true elements. */
function positionsOfTrue(mask: Tensor): Tensor<"i32"> {
  const running = mask.flatten().cumsum();
  if (running.size === 0) return countingLike(mask, 0);
  running.realize();
  const found = Number(running.at(-1).itemSync());
  // The n-th true element is where the count first reaches n.
  return running.searchSorted(countingLike(mask, found).add(1));
}

Tensor.prototype.nonzero = function () {
  if (this.rank === 0) throw new ShapeError("nonzero: a scalar has no positions; reshape it to [1] first.");
  const flat = positionsOfTrue(this.cast("bool"));
  flat.realize();
  const strides = stridesOf(this.shape);
  return this.shape.map((extent, axis) => {
    const above = axis === 0 ? flat : flat.remainder(Math.max(1, extent * strides[axis]));
    return above.floorDivide(Math.max(1, strides[axis])) as Tensor<"i32">;
  });
};

Tensor.prototype.argwhere = function () {
  return stack(
    inOperation("argwhere", () => this.nonzero()),
    { axis: 1 },
  );
};

Tensor.prototype.unique = function () {
  const flat = this.flatten();
  if (flat.size === 0) {
    const none = () => countingLike(this, 0);
    return { values: flat, indices: none(), inverse: none().reshape(this.shape), counts: none() };
  }
  const keys = orderKey("unique", flat, false);
  const order = flat.argsort();
  const sorted = keys.take(order, { axis: 0 });
  const isFirst = concat([scalarLike(this, true, "bool").reshape([1]), sorted.at("1:").notEqual(sorted.at("0:-1"))]);
  const numbers = isFirst.cumsum();
  backendOf(this.node).realize([order.node, sorted.node, numbers.node]);
  const found = Number(numbers.at(-1).itemSync());
  const starts = numbers.searchSorted(countingLike(this, found).add(1));
  starts.realize();
  const ends = concat([starts.at("1:"), scalarLike(starts, flat.size).reshape([1])]);
  const indices = order.take(starts, { axis: 0 });
  return {
    values: flat.take(indices, { axis: 0 }),
    indices,
    inverse: sorted.take(starts, { axis: 0 }).searchSorted(keys).reshape(this.shape),
    counts: ends.sub(starts) as Tensor<"i32">,
  };
};

function checkWeights(operation: string, x: Tensor, weights: Tensor | undefined): void {
  if (weights === undefined) return;
  checkTensor(operation, "the option weights", weights);
  if (sameShape(weights.shape, x.shape)) return;
  throw new ShapeError(`${operation}: weights of ${formatShape(weights.shape)} for ${formatShape(x.shape)}.`);
}

Tensor.prototype.bincount = function (this: Tensor, options: BincountOptions = {}): Tensor {
  checkOptions("bincount", options, BINCOUNT);
  const { weights, length, minLength = 0, deterministic } = options;
  checkWeights("bincount", this, weights);
  if (!isInteger(this.dtype) && this.dtype !== "bool") {
    throw new DTypeError(`bincount: counts whole numbers, not ${this.dtype}; cast it first.`);
  }
  const numbers = this.dtype === "bool" ? this.cast("i32") : this;
  const largest = length === undefined && this.size > 0 ? Number(numbers.max().itemSync()) : -1;
  const size = length ?? Math.max(minLength, largest + 1);
  if (!Number.isSafeInteger(size) || size < 0) throw new ArgumentError(`bincount: a length of ${size}.`);
  const amounts = weights ?? scalarLike(this, 1, "i32").broadcastTo(this.shape);
  const zero = scalarLike(this, 0, amounts.dtype).broadcastTo([size, 1]);
  const isNegative = /^i/.test(numbers.dtype) ? numbers.less(0) : null;
  const inside = placesAmong(numbers, size, "bincount");
  const places = isNegative ? where(isNegative, -1, inside) : inside;
  const counts = scatterRows("bincount", zero, places.reshape([this.size]), amounts.reshape([this.size, 1]), {
    op: "add",
    deterministic,
  });
  return counts.reshape([size]);
} as Tensor["bincount"];

/** Edges of equal bins from low to high, which are tensors so that the range need not be read back. */
function equalEdges([low, high]: readonly Tensor[], bins: number): Tensor {
  const isFlat = low.equal(high);
  const [from, to] = [where(isFlat, low.sub(0.5), low), where(isFlat, high.add(0.5), high)];
  const steps = countingLike(low, bins + 1).cast(low.dtype);
  return where(steps.equal(bins), to, steps.mul(to.sub(from).div(bins)).add(from));
}

/** Edges that were given, in a dtype. Those of a tensor are not looked at: that would wait for the device. */
function givenEdges(x: Tensor, edges: Tensor | readonly number[]): Tensor {
  const held = inOperation("histogram", () =>
    edges instanceof Tensor ? edges.cast(x.dtype) : tensor(edges, { dtype: x.dtype, device: x.device }),
  );
  if (held.rank !== 1 || held.size < 2) {
    throw new ShapeError(`histogram: edges of ${formatShape(held.shape)}; give at least two along one axis.`);
  }
  if (!(edges instanceof Tensor) && edges.some((edge, i) => !(edge >= edges[Math.max(0, i - 1)]))) {
    throw new ArgumentError(`histogram: the edges ${shown(edges)} do not rise; sort them.`);
  }
  return held;
}

Tensor.prototype.histogram = function (this: Tensor, options: HistogramOptions = {}): Histogram {
  checkOptions("histogram", options, HISTOGRAM);
  const { bins = 10, range, weights, density = false, deterministic } = options;
  checkWeights("histogram", this, weights);
  const { dtype } = asFloat("histogram", this);
  // As in NumPy, edges are found in f64 and rounded once, and whole numbers compared with them there.
  const fine = backendOf(this.node).hasDoubles ? "f64" : "f32";
  const x = (isFloat(this.dtype) ? this : this.cast(fine)).flatten();
  const isCount = !(bins instanceof Tensor) && !Array.isArray(bins);
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
  // Above the last edge (or NaN) the search gives `count`, which is outside as it should be.
  const counts = place.bincount({ length: count, weights: weights?.flatten(), deterministic });
  if (!density) return { counts, edges: edges.cast(dtype) };
  const total = counts.sum().cast(x.dtype);
  const densities = counts.cast(x.dtype).div(edges.diff()).div(total);
  return { counts: densities.cast(dtype), edges: edges.cast(dtype) };
} as Tensor["histogram"];
