/**
 * Methods of `Tensor`: quantiles and percentiles, of all elements or without NaN. The lines are sorted, and elements beside
 * the place of the quantile interpolated. Shares given as numbers are placed in f64; shares in a tensor, and lines of which
 * NaN is left out, in f64 where the device has it, else in f32.
 */
import { checkChoice, checkOptions, inOperation, type OptionKinds, type Values } from "../../core/arguments.js";
import { DTYPES, type DType, isFloat, positionDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError } from "../../core/errors.js";
import { backendOf, checkOneDevice } from "../build.js";
import { flattenNested, valuesNode } from "../given-values.js";
import { REDUCE, type ReduceOptions } from "../reduce-node.js";
import type { FloatOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { asFloat, scalarLike } from "./operands.js";
import { elementsAround, linesOf } from "./ordering.js";
import {
  numbers,
  placeOf,
  type QuantileMethod,
  type QuantilePosition,
  quantileMethods,
  tensors,
} from "./quantile-places.js";
import { where } from "./where.js";

/** Options of `quantile` and `percentile`, and of those that ignore NaN. */
export interface QuantileOptions extends ReduceOptions {
  /** The rule for a quantile between two elements: "linear" unless told. NumPy's names in camelCase. */
  readonly method?: QuantileMethod;
}

/** Shares of the elements: one, lists of them, or a tensor. */
export type Shares = Values<number> | Tensor;

const QUANTILE: OptionKinds<QuantileOptions> = { ...REDUCE, method: "text" };

export class QuantileMethods<D extends DType> {
  /**
   * The element below which a share q of the elements lies, from 0 to 1: `x.quantile(0.9, { axis: 0 })`. A list or tensor
   * of shares gives a quantile for each, as the first axes. NaN where there is a NaN; of integers it is rounded to f32.
   */
  quantile(this: Tensor, q: Shares, options: QuantileOptions = {}): Tensor<FloatOf<D>> {
    return quantileOf("quantile", this, q, 1, options) as Tensor<FloatOf<D>>;
  }

  /** The same for shares from 0 to 100. */
  percentile(this: Tensor, q: Shares, options: QuantileOptions = {}): Tensor<FloatOf<D>> {
    return quantileOf("percentile", this, q, 100, options) as Tensor<FloatOf<D>>;
  }

  /** `quantile` of what is not NaN; NaN where all are. */
  nanQuantile(this: Tensor, q: Shares, options: QuantileOptions = {}): Tensor<FloatOf<D>> {
    return quantileOf("nanQuantile", this, q, 1, options) as Tensor<FloatOf<D>>;
  }

  /** `percentile` of what is not NaN; NaN where all are. */
  nanPercentile(this: Tensor, q: Shares, options: QuantileOptions = {}): Tensor<FloatOf<D>> {
    return quantileOf("nanPercentile", this, q, 100, options) as Tensor<FloatOf<D>>;
  }
}

function quantileOf(operation: string, x: Tensor, q: Shares, whole: number, options: QuantileOptions): Tensor {
  checkOptions(operation, options, QUANTILE);
  const { method = "linear", ...reduction } = options;
  checkChoice(operation, "the option method", method, quantileMethods);
  // Integers are sorted as they are: f32 would make different ones equal.
  const ordered =
    DTYPES[x.dtype as DType].kind === "int" || DTYPES[x.dtype as DType].kind === "uint" ? x : asFloat(operation, x);
  const shares = sharesOf(operation, x, q, whole);
  const { lines, shape } = linesOf(operation, ordered, reduction);
  const isNanLeftOut = operation.startsWith("nan") && isFloat(lines.dtype);
  const found = inOperation(operation, () => {
    if (isNanLeftOut) return amongNumbers(lines.sort(), lines, shares, method);
    return isTensor(shares) || shares.shape.length > 0
      ? amongAll(lines.sort(), shares, method)
      : alone(operation, lines, shares.values[0], method);
  });
  const first = shares.shape;
  const axes = Array.from({ length: found.rank }, (_, axis) => axis);
  const lead = found.rank - first.length;
  return found
    .permute([...axes.slice(lead), ...axes.slice(0, lead)])
    .reshape([...first, ...shape])
    .cast(isFloat(x.dtype) ? x.dtype : "f32");
}

interface GivenShares {
  readonly values: readonly number[];
  readonly shape: readonly number[];
}

function sharesOf(operation: string, x: Tensor, q: Shares, whole: number): GivenShares | Tensor {
  if (isTensor(q)) {
    checkOneDevice(operation, [x.node, q.node]);
    if (!isFloat(q.dtype) && whole === 1) {
      throw new DTypeError(`${operation}: shares are floats from 0 to 1, not ${q.dtype}; cast them first.`);
    }
    const shares = asFloat(operation, q).cast(fineDType(x));
    return whole === 1 ? shares : shares.div(whole);
  }
  const { values, shape } = flattenNested(q, operation);
  for (const value of values) {
    if (typeof value === "number" && value >= 0 && value <= whole) continue;
    throw new ArgumentError(
      `${operation}: ${String(value)} is no share of the elements; shares go from 0 to ${whole}.`,
    );
  }
  return { values: values.map((value) => (value as number) / whole), shape };
}

/** The finest floats that the device has. */
const fineDType = (x: Tensor): "f64" | "f32" => (backendOf(x.node).hasDoubles ? "f64" : "f32");

/**
 * One share of whole lines: two elements are all that it takes, so that nothing is sorted. Its place and weight are data, so
 * that one program serves all shares. [..., n] gives [...].
 */
function alone(operation: string, lines: Tensor, share: number, method: QuantileMethod): Tensor {
  const count = lines.shape[lines.rank - 1];
  const { below, weight } = placeOf(numbers, method, count, share);
  const [low, high, largest] = elementsAround(operation, lines, Math.max(below, 0));
  const dtype = computable(low).dtype as DType;
  const toHigh = below < 0 ? 0 : weight;
  const found = between(low, high, scalarLike(low, toHigh, dtype), scalarLike(low, 1 - toHigh, dtype));
  return isFloat(lines.dtype) ? where(largest.isNaN(), Number.NaN, found) : found;
}

/** Of whole lines: all have one count, so that numbers are placed before anything runs. [..., n] gives [..., shares]. */
function amongAll(sorted: Tensor, shares: GivenShares | Tensor, method: QuantileMethod): Tensor {
  const count = sorted.shape[sorted.rank - 1];
  const largest = sorted.at("...", count - 1);
  const marked = (found: Tensor, axes: number): Tensor =>
    isFloat(sorted.dtype) ? where(isNaNWith(largest, axes), Number.NaN, found) : found;
  const place = isTensor(shares)
    ? placeOf(tensors, method, shares.mul(0).add(count), shares)
    : storedPlaces(sorted, shares, count, method);
  const taken = (by: number) => sorted.take(inside(place.below, by, count), { axis: -1 });
  return marked(between(taken(0), taken(1), place.weight), place.below.rank);
}

const isNaNWith = (x: Tensor, axes: number): Tensor => x.isNaN().reshape([...x.shape, ...new Array(axes).fill(1)]);

/** The places of a list of shares, as data. */
function storedPlaces(x: Tensor, shares: GivenShares, count: number, method: QuantileMethod): QuantilePosition<Tensor> {
  const places = shares.values.map((q) => placeOf(numbers, method, count, q));
  const stored = (values: number[], dtype: DType): Tensor =>
    x.tensorOf(valuesNode(backendOf(x.node), values, { dtype, shape: shares.shape }));
  return {
    below: stored(
      places.map(({ below }) => below),
      positionDType(count),
    ),
    weight: stored(
      places.map(({ weight }) => weight),
      x.dtype === "f64" ? "f64" : "f32",
    ),
  };
}

/** Of lines from which NaN is left out: each has a count of its own. [..., n] gives [..., shares]. */
function amongNumbers(sorted: Tensor, lines: Tensor, given: GivenShares | Tensor, method: QuantileMethod): Tensor {
  const fine = fineDType(sorted);
  const backend = backendOf(sorted.node);
  const shares = isTensor(given)
    ? given
    : given.shape.length === 0
      ? scalarLike(sorted, given.values[0], fine)
      : sorted.tensorOf(valuesNode(backend, [...given.values], { dtype: fine, shape: given.shape }));
  const counts = lines.isNaN().logicalNot().sum({ axis: -1, keepDims: true });
  const { below, weight } = placeOf(tensors, method, counts.cast(fine), shares.flatten());
  const last = counts.sub(1).maximum(0);
  const taken = (by: number) => sorted.takeAlongAxis(below.cast("i32").add(by).maximum(0).minimum(last), { axis: -1 });
  const found = where(counts.equal(0), Number.NaN, between(taken(0), taken(1), weight));
  return found.reshape([...found.shape.slice(0, -1), ...shares.shape]);
}

/** A place, or the one after it, that is an element. */
const inside = (below: Tensor, by: number, count: number): Tensor =>
  below
    .cast(positionDType(count))
    .add(by)
    .maximum(0)
    .minimum(count - 1);

/** Floats for interpolation: at least f32. */
const computable = (x: Tensor): Tensor => x.cast(x.dtype === "f64" ? "f64" : "f32");

/**
 * As NumPy: from the nearer end. At the ends it is that element, also where the other one is infinite. `rest`: the weight of the
 * lower one, where it is known to more digits.
 */
function between(low: Tensor, high: Tensor, weight: Tensor, rest: Tensor | null = null): Tensor {
  const [a, b] = [computable(low), computable(high)];
  const w = weight.cast(a.dtype);
  const way = b.sub(a);
  const inner = where(w.less(0.5), a.add(way.mul(w)), b.sub(way.mul(rest ?? w.neg().add(1))));
  return where(a.equal(b).logicalOr(w.equal(0)), a, where(w.equal(1), b, inner));
}
