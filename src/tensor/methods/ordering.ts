/**
 * Methods of `Tensor`: sorting, and searches and medians that rest on it. Every dtype is sorted by an unsigned key that has its order; NaN has the largest key
 * in either direction, so it comes last, and -0 the same as 0.
 */
import { checkOptions, inOperation, type OptionKinds, type Values } from "../../core/arguments.js";
import { checkOrdered, type DType, isInteger, type Scalar } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { resultType } from "../../core/promotion.js";
import { formatShape, normalizeAxes, normalizeAxis, reducedShape, sizeOf } from "../../core/shape.js";
import { remedyForTensor, shown } from "../../core/shown.js";
import { takeAlongAxis } from "../../graph/primitives/movement.js";
import * as O from "../../graph/primitives/order.js";
import { backendOf, checkOneDevice, derive, makeNode } from "../build.js";
import { flattenNested, valuesNode } from "../given-values.js";
import { REDUCE, type ReduceOptions } from "../reduce-node.js";
import type { FloatOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { concat } from "./joining.js";
import { asFloat, positionsAlong, scalarLike } from "./operands.js";
import type { Positions } from "./taking.js";
import { where } from "./where.js";

/** Options of `sort` and `argsort`. */
export interface SortOptions {
  /** The last unless told. */
  readonly axis?: number;
  readonly descending?: boolean;
}

/** Options of `topK`. */
export interface TopKOptions {
  /** The last unless told. */
  readonly axis?: number;
  /** The smallest instead of the largest when false. */
  readonly largest?: boolean;
}

/** Options of `searchSorted`. */
export interface SearchOptions {
  /** Whether equal elements come after a value, "left" unless told, or before it, "right". */
  readonly side?: "left" | "right";
  /** Positions that bring the tensor into order, as `argsort` gives them; it is in order when they are left out. */
  readonly sorter?: Positions;
}

export class OrderingMethods<D extends DType> {
  /** Elements in order along an axis; equal ones keep their order, NaN comes last in either direction. */
  sort(this: Tensor, options: SortOptions = {}): Tensor<D> {
    checkOptions("sort", options, SORT);
    const { axis = -1, descending = false } = options;
    const at = normalizeAxis(axis, this.rank, "sort");
    const rows = withLast(this, at);
    const order = positionsSorted(rows, { descending }, "sort");
    // The positions are inside: nothing is clamped, so that the compiler recognises a sort (routines/sort-rows.ts).
    const sorted = makeNode(takeAlongAxis, [rows.node, order.node], { axis: this.rank - 1 }, backendOf(this.node));
    return withLastAt(this.tensorOf(sorted), at) as Tensor<D>;
  }

  /** Positions (i32) that would sort along an axis. */
  argsort(this: Tensor, options: SortOptions = {}): Tensor<"i32"> {
    checkOptions("argsort", options, SORT);
    return positionsSorted(this, options, "argsort");
  }

  /** The k largest along an axis, in falling order, and where they are. NaN counts as the last to be chosen. */
  topK(
    this: Tensor,
    k: number,
    options: TopKOptions = {},
  ): { readonly values: Tensor<D>; readonly indices: Tensor<"i32"> } {
    checkOptions("topK", options, TOP_K);
    const { axis = -1, largest = true } = options;
    const at = normalizeAxis(axis, this.rank, "topK");
    if (!Number.isSafeInteger(k) || k < 0 || k > this.shape[at]) {
      throw new ArgumentError(
        `topK: ${shown(k)} of the ${this.shape[at]} elements along axis ${at}.${remedyForTensor(k)}`,
      );
    }
    const indices = firstPositions(this, k, { axis: at, descending: largest });
    return { values: this.takeAlongAxis(indices, { axis: at }) as Tensor<D>, indices };
  }

  /**
   * How many elements of this sorted tensor come before each value; with side "right", equal ones count too. Plain
   * numbers are compared in the tensor's dtype, also with whole numbers that f32 does not hold.
   */
  searchSorted(this: Tensor, values: Tensor | Values<Scalar>, options: SearchOptions = {}): Tensor<"i32"> {
    checkOptions("searchSorted", options, { side: "text", sorter: "any" });
    const { side = "left", sorter } = options;
    if (sorter !== undefined) {
      const sorted = inOperation("searchSorted", () => this.take(sorter, { axis: 0 }));
      return sorted.searchSorted(values, { side });
    }
    if (side !== "left" && side !== "right")
      throw new ArgumentError(`searchSorted: side "${side}" is not left or right.`);
    const wanted = isTensor(values) ? values : wantedIn(this, values, side);
    checkOneDevice("searchSorted", [this.node, wanted.node]);
    const dtype = resultType([this.dtype, wanted.dtype], "searchSorted");
    const inputs = [this, wanted].map((x) => orderKey("searchSorted", x.cast(dtype), false).node);
    return this.tensorOf(makeNode(O.searchSorted, inputs, { side }, backendOf(this.node)));
  }

  /** The middle element, or the mean of the two middle ones; NaN where there is a NaN. Of integers it is rounded to f32. */
  median(this: Tensor, options: ReduceOptions = {}): Tensor<FloatOf<D>> {
    const isWhole = isInteger(this.dtype);
    const { lines, restore } = linesOf("median", isWhole ? this : asFloat("median", this), options);
    const count = lines.shape[lines.rank - 1];
    const places = [Math.floor((count - 1) / 2), Math.floor(count / 2), ...(isWhole ? [] : [count - 1])];
    const [lower, upper, largest] = elementsOfRanks("median", lines, places);
    if (isWhole)
      return restore(count % 2 === 1 ? upper.cast("f32") : meanOfIntegers(lower, upper)) as Tensor<FloatOf<D>>;
    const middle = count % 2 === 1 ? upper : meanOfFloats(lower, upper);
    return restore(where(largest.isNaN(), largest, middle)) as Tensor<FloatOf<D>>;
  }

  /** The most frequent element; the smallest of those. */
  mode(this: Tensor, options: ReduceOptions = {}): Tensor<D> {
    const { lines, restore } = linesOf("mode", this, options);
    const key = orderKey("mode", lines, false);
    const order = this.tensorOf<"i32">(derive(O.argsort, key.node, {}));
    const sortedKeys = key.takeAlongAxis(order, { axis: -1 });
    const last = lines.rank - 1;
    const at = positionsAlong(lines, last);
    const earlier = concat([element(sortedKeys, 0).expandDims(-1), sortedKeys.at("...", "0:-1")], { axis: -1 });
    // Where each run begins; an element's place in its run is its distance from there.
    const begins = where(sortedKeys.notEqual(earlier), at, 0).cummax({ axis: -1 });
    const longest = at.sub(begins).argmax({ axis: -1, keepDims: true });
    return restore(lines.takeAlongAxis(order, { axis: -1 }).takeAlongAxis(longest, { axis: -1 })) as Tensor<D>;
  }
}

const SORT: OptionKinds<SortOptions> = { axis: "number", descending: "flag" };
const TOP_K: OptionKinds<TopKOptions> = { axis: "number", largest: "flag" };

/** An unsigned key with the order of the values. */
export function orderKey(operation: string, x: Tensor, isDescending: boolean): Tensor {
  checkOrdered(x.dtype, operation);
  return x.tensorOf(derive(O.orderKey, x.node, { descending: isDescending }));
}

function positionsSorted(x: Tensor, { axis = -1, descending = false }: SortOptions, operation: string): Tensor<"i32"> {
  const at = normalizeAxis(axis, x.rank, operation);
  const keys = orderKey(operation, withLast(x, at), descending);
  return withLastAt(x.tensorOf<"i32">(derive(O.argsort, keys.node, {})), at) as Tensor<"i32">;
}

/** The tensor with an axis moved to the end, and back; as it is where the axis is the last. */
const withLast = (x: Tensor, axis: number): Tensor => (axis === x.rank - 1 ? x : x.moveAxis(axis, -1));
const withLastAt = (x: Tensor, axis: number): Tensor => (axis === x.rank - 1 ? x : x.moveAxis(-1, axis));

/** More of them than this are taken from all positions sorted. */
const MOST_RANKS = 1024;

/** The first positions that would sort along an axis. */
function firstPositions(x: Tensor, count: number, options: { axis: number; descending: boolean }): Tensor<"i32"> {
  const { axis, descending } = options;
  if (count === 0 || count > MOST_RANKS) {
    const order = positionsSorted(x, options, "topK");
    return order.at(...x.shape.map((_, i) => (i === axis ? (`0:${count}` as const) : ":"))) as Tensor<"i32">;
  }
  const ranks = Array.from({ length: count }, (_, rank) => rank);
  return withLastAt(positionsAt("topK", withLast(x, axis), ranks, descending), axis) as Tensor<"i32">;
}

/** The positions along the last axis that sorting puts at these ranks, which rise. */
const positionsAt = (operation: string, x: Tensor, ranks: readonly number[], isDescending: boolean): Tensor<"i32"> =>
  x.tensorOf<"i32">(derive(O.argsortAt, orderKey(operation, x, isDescending).node, { ranks }));

/**
 * The elements that sorting along the last axis would put at a place, at the next one, and at the end. The place is data: one
 * program finds them for all places.
 */
export function elementsAround(operation: string, lines: Tensor, place: number): readonly Tensor[] {
  const keys = orderKey(operation, lines, false).node;
  const rank = scalarLike(lines, place, "i32").reshape(1).node;
  const positions = lines.tensorOf<"i32">(makeNode(O.argsortAt, [keys, rank], { ranks: "around" }, backendOf(keys)));
  const found = lines.takeAlongAxis(positions, { axis: -1 });
  return [0, 1, 2].map((at) => element(found, at));
}

/** The elements that sorting along the last axis would put at each of some places. */
function elementsOfRanks(operation: string, lines: Tensor, places: readonly number[]): Tensor[] {
  const ranks = [...new Set(places)].sort((a, b) => a - b);
  const found = lines.takeAlongAxis(positionsAt(operation, lines, ranks, false), { axis: -1 });
  return places.map((place) => element(found, ranks.indexOf(place)));
}

/** Plain values in the dtype of the sorted ones. Among whole numbers a fraction finds the same place as the next whole one. */
function wantedIn(x: Tensor, given: Values<Scalar>, side: "left" | "right"): Tensor {
  const tensorOf = (list: unknown, options: { dtype?: DType; shape?: readonly number[] }): Tensor =>
    inOperation("searchSorted", () => x.tensorOf(valuesNode(backendOf(x.node), list, options)));
  if (ArrayBuffer.isView(given)) return tensorOf(given, {});
  const { values, shape } = flattenNested(given, "searchSorted");
  const round = side === "left" ? Math.ceil : Math.floor;
  const isAmongWhole = (value: Scalar): value is number => isInteger(x.dtype) && Number.isFinite(value);
  const rounded = values.map((value) => (isAmongWhole(value) ? round(value) : value));
  const dtype = resultType([x.dtype, ...rounded], "searchSorted");
  return tensorOf(rounded, { dtype, shape });
}

// -------------------------------------------------------------------------------------------------- reductions

interface Lines {
  readonly lines: Tensor;
  /** The shape that the reduction has. */
  readonly shape: readonly number[];
  /** A result per line in the shape that the reduction has. */
  restore(reduced: Tensor): Tensor;
}

/** The axes to reduce, joined into one at the end. */
export function linesOf(operation: string, x: Tensor, options: ReduceOptions): Lines {
  checkOptions(operation, options, REDUCE);
  const { axis, keepDims = false } = options;
  const axes = normalizeAxes(axis, x.rank, operation).sort((a, b) => a - b);
  const otherAxes = x.shape.flatMap((_, i) => (axes.includes(i) ? [] : [i]));
  const count = sizeOf(axes.map((i) => x.shape[i]));
  if (count === 0) {
    throw new ShapeError(`${operation}: no elements along axes ${formatShape(axes)} of ${formatShape(x.shape)}.`);
  }
  const lines = x.permute([...otherAxes, ...axes]).reshape([...otherAxes.map((i) => x.shape[i]), count]);
  const shape = reducedShape(x.shape, axes, keepDims);
  return { lines, shape, restore: (reduced) => reduced.reshape(shape) };
}

const element = (x: Tensor, at: number): Tensor => x.at("...", at);

/** Halves before they are added, so that large ones do not overflow; equal ones stay as they are. */
export const meanOfFloats = (a: Tensor, b: Tensor): Tensor => where(a.equal(b), a, a.mul(0.5).add(b.mul(0.5)));

/** The bits that two whole numbers share and half of the others are their mean rounded down; no sum overflows. */
function meanOfIntegers(a: Tensor, b: Tensor): Tensor {
  const others = a.bitwiseXor(b);
  const isHalf = others.bitwiseAnd(1).equal(1);
  const below = a.bitwiseAnd(b).add(others.rightShift(1)).cast("f32");
  return where(isHalf, below.add(0.5), below);
}
