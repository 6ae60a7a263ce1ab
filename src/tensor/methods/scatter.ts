/**
 * Methods of `Tensor`: values written at positions: setting, adding, multiplying, taking the smaller or larger. The tensor
 * itself stays as it is; the result is a new one.
 *
 * Sums and products have two ways. The fast one uses atomic operations, whose order is not fixed, so that floats may
 * differ in their last bits from run to run (integers, minima and maxima do not), and GPUs that add floats in memory by
 * themselves may take subnormal numbers for zero. The deterministic one sorts the
 * positions and adds up each run of equal ones in order; the result is the same in every run. Setting is always
 * deterministic: of several values for one place the last wins. Positions outside the tensor are left out.
 */
import { checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import { checkOrdered, DTYPES, type DType, isComplex, isInteger, positionDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { formatShape, normalizeAxes, normalizeAxis, sizeOf, stridesOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type CumulateOp, cumulate } from "../../graph/primitives/cumulate.js";
import { type ScatterOp, scatter } from "../../graph/primitives/scatter.js";
import { backendOf, checkOneDevice, makeNode } from "../build.js";
import type { Operand, Tensor } from "../tensor.js";
import { concat } from "./joining.js";
import { positionsUsed } from "./noted-positions.js";
import { broadcastValues, countingLike, positionsAlong, scalarLike, valuesFor } from "./operands.js";
import { checkAxisNamed, type Positions, positionTensor, remedyForNumber } from "./taking.js";
import { where } from "./where.js";

export type UpdateOp = "set" | ScatterOp;

export interface ScatterOptions {
  /** The operation that combines a value with the element at its place: "set" unless told. */
  readonly op?: UpdateOp;
  /** The same result in every run, also for sums and products of floats; slower. */
  readonly deterministic?: boolean;
}

export interface GatherOptions {
  /** The axes along which an index vector names a place; the first ones that are no batch axes unless told. */
  readonly axes?: readonly number[];
  /** Axes that go in step with the first axes of the indices; none unless told. */
  readonly batchAxes?: readonly number[];
}

export class ScatterMethods<D extends DType> {
  /** Puts values at positions along an axis, where `take` reads. Values broadcast to the shape that `take` gives. */
  scatter(
    this: Tensor,
    positions: Positions,
    values: Operand,
    options: ScatterOptions & { readonly axis?: number } = {},
  ): Tensor<D> {
    checkOptions<ScatterOptions & { readonly axis?: number }>("scatter", options, { ...SCATTER, axis: "number" });
    const { axis, ...how } = options;
    checkOp(how.op, "scatter");
    const given = positionTensor("scatter", positions, this);
    const result =
      axis === undefined
        ? scatterAlong(this.flatten(), given, values, 0, how).reshape(this.shape)
        : scatterAlong(this, given, values, axis, how);
    return result as Tensor<D>;
  }

  /** Puts values where `takeAlongAxis` reads them: `x.putAlongAxis(positions, values, { axis: 0 })`. */
  putAlongAxis(
    this: Tensor,
    positions: Positions,
    values: Operand,
    options: ScatterOptions & { readonly axis: number },
  ): Tensor<D> {
    const axis = checkAxisNamed("putAlongAxis", options, { ...SCATTER, axis: "number" });
    checkOp(options.op, "putAlongAxis");
    const given = positionTensor("putAlongAxis", positions, this);
    return putAlong(this, given, values, axis, options) as Tensor<D>;
  }

  /** Puts values at index vectors: the last axis of `indices` names a place along the first axes. */
  scatterNd(this: Tensor, indices: Positions, values: Operand, options: ScatterOptions = {}): Tensor<D> {
    checkOptions("scatterNd", options, SCATTER);
    checkOp(options.op, "scatterNd");
    return scatterVectors(this, positionTensor("scatterNd", indices, this), values, options) as Tensor<D>;
  }

  /** The elements (or whole blocks) at index vectors: the last axis of `indices` names a place along the first axes. */
  gatherNd(this: Tensor, indices: Positions): Tensor<D> {
    return gathered("gatherNd", this as Tensor<D>, indices);
  }

  /**
   * The same along the axes that are named, in their order; the other axes come last. `batchAxes` go in step with the first
   * axes of the indices, and stand in front: for x of [b, n] and indices of [b, m, 1], `{ batchAxes: [0] }` gives [b, m].
   */
  gather(this: Tensor, indices: Positions, options: GatherOptions = {}): Tensor<D> {
    checkOptions("gather", options, { axes: "list", batchAxes: "list" });
    return gatheredAlong(this as Tensor<D>, positionTensor("gather", indices, this), options);
  }
}

/** Index vectors along named axes: these and the batch axes go to the front, in that order. */
function gatheredAlong<D extends DType>(x: Tensor<D>, positions: Tensor, options: GatherOptions): Tensor<D> {
  const batch = normalizeAxes(options.batchAxes ?? [], x.rank, "gather");
  if (options.axes === undefined && batch.length === 0) return gathered("gather", x, positions);
  const depth = positions.shape[positions.rank - 1] ?? -1;
  const free = x.shape.flatMap((_, axis) => (batch.includes(axis) ? [] : [axis]));
  const axes = options.axes === undefined ? free.slice(0, depth) : normalizeAxes(options.axes, x.rank, "gather");
  if (depth !== axes.length) {
    throw new ShapeError(
      `gather: index vectors of ${formatShape(positions.shape)} for ${axes.length} axes; the last axis has a place for each.`,
    );
  }
  const shared = axes.find((axis) => batch.includes(axis));
  if (shared !== undefined) throw new ArgumentError(`gather: axis ${shared} is among axes and among batchAxes.`);
  const others = free.filter((axis) => !axes.includes(axis));
  const front = x.permute([...batch, ...axes, ...others]);
  return gathered("gather", front, withBatchPlaces(front, positions, batch.length));
}

/** Index vectors with the number of each member of the batch before them. */
function withBatchPlaces(x: Tensor, positions: Tensor, count: number): Tensor {
  if (count === 0) return positions;
  const [lead, own] = [x.shape.slice(0, count), positions.shape.slice(0, -1)];
  if (own.length < count || lead.some((extent, i) => extent !== own[i])) {
    throw new ShapeError(
      `gather: index vectors of ${formatShape(positions.shape)} for batch axes of ${formatShape(lead)}; they begin with the same axes.`,
    );
  }
  if (!isInteger(positions.dtype)) return positions;
  const wide = DTYPES[positions.dtype as DType].bits < 32 ? positions.cast("i32") : positions;
  const numbers = lead.map((_, axis) =>
    positionsAlong(positions, axis)
      .cast(wide.dtype)
      .broadcastTo([...own, 1]),
  );
  return concat([...numbers, wide], { axis: -1 });
}

const SCATTER: OptionKinds<ScatterOptions> = { op: "text", deterministic: "flag" };

/** Positions, negative ones counted from the end; -1 where they are outside an axis of n elements. i64 where n needs it. */
export function placesIn(positions: Tensor, n: number, operation: string): Tensor {
  const places = placesAmong(positions, n, operation);
  positionsUsed(operation, positions, n);
  return places;
}

/** The same of numbers that may well lie outside. */
export function placesAmong(positions: Tensor, n: number, operation: string): Tensor {
  if (!isInteger(positions.dtype)) {
    throw new DTypeError(
      `${operation}: positions are integers, not ${positions.dtype}; cast them first.${remedyForNumber(positions)}`,
    );
  }
  const { bits, signed } = DTYPES[positions.dtype as DType];
  const place = positionDType(n);
  const isWide = bits === 64 || (positions.dtype === "u32" && place === "i32");
  const wide = isWide ? positions : positions.cast(place);
  const isBelow = wide.less(n);
  if (isWide && !signed) return where(isBelow, wide.cast(place), -1);
  const isInside = isBelow.logicalAnd(wide.greaterEqual(-n));
  const counted = where(wide.less(0), wide.add(n), wide).cast(place);
  return where(isInside, counted, -1);
}

/** An old element combined with a new value by `op`. */
export function combined(op: UpdateOp, old: Tensor, value: Tensor): Tensor {
  switch (op) {
    case "set":
      return value;
    case "add":
      return old.add(value);
    case "mul":
      return old.mul(value);
    case "min":
      return old.minimum(value);
    case "max":
      return old.maximum(value);
  }
}

/** Rows of x at places (i32 [m], -1 for none) combined with updates [m, inner]. x is [n, inner]. */
export function scatterRows(
  operation: string,
  x: Tensor,
  places: Tensor,
  updates: Tensor,
  options: ScatterOptions,
): Tensor {
  const { op = "set", deterministic = false } = options;
  if (x.size === 0 || updates.size === 0) return x;
  checkCountable(operation, x, updates);
  if (op === "set") return setRows(x, places, updates);
  if (op === "min" || op === "max") checkOrdered(x.dtype, operation);
  // A complex product mixes both parts, so atomics on single parts cannot compute it.
  if (op === "mul" && isComplex(x.dtype)) return scatterInOrder(x, places, updates, op);
  const wide = atomicDType(operation, x.dtype, op);
  if (wide !== x.dtype) {
    return scatterRows(operation, x.cast(wide), places, updates.cast(wide), options).cast(x.dtype);
  }
  const isExact = !/^[fc]/.test(x.dtype) || op === "min" || op === "max";
  if (deterministic && !isExact) return scatterInOrder(x, places, updates, op);
  return x.tensorOf(makeNode(scatter, [x.node, places.node, updates.node], { op }, backendOf(x.node)));
}

/** Scattering finds its rows by i32. */
function checkCountable(operation: string, ...rows: readonly Tensor[]): void {
  const long = rows.find(({ shape }) => positionDType(shape[0]) !== "i32");
  if (!long) return;
  throw new UnsupportedError(
    `${operation}: writes into ${2 ** 31 - 1} places at most, not ${long.shape[0]}; do it in parts.`,
  );
}

/**
 * Atomics exist for 32 and 64 bits only. Narrow integers are combined in 32 bits and wrapped at the end, with the same result.
 */
function atomicDType(operation: string, dtype: DType, op: UpdateOp): DType {
  if (dtype === "bool" && op !== "min" && op !== "max") {
    throw new DTypeError(`${operation}: "${op}" of bool; use "max" for or, "min" for and, or cast it first.`);
  }
  const { bits, kind } = DTYPES[dtype];
  if (bits >= 32) return dtype;
  return kind === "float" ? "f32" : kind === "int" ? "i32" : "u32";
}

/** First finds the last update of each row: the largest of the update numbers, which is the same in any order. */
function setRows(x: Tensor, places: Tensor, updates: Tensor): Tensor {
  const [rows] = x.shape;
  const none = scalarLike(x, -1, "i32").broadcastTo([rows, 1]);
  const numbers = countingLike(x, updates.shape[0]).reshape([-1, 1]);
  const last: Tensor = x.tensorOf(
    makeNode(scatter, [none.node, places.node, numbers.node], { op: "max" }, backendOf(x.node)),
  );
  return where(last.greaterEqual(0), updates.take(last.maximum(0).reshape([-1]), { axis: 0 }), x);
}

const cumulateOps = { add: "sum", mul: "product", min: "min", max: "max" } as const satisfies Record<
  ScatterOp,
  CumulateOp
>;

/** Sorts the places and adds up each run of equal ones in order. */
function scatterInOrder(x: Tensor, places: Tensor, updates: Tensor, op: ScatterOp): Tensor {
  const [rows] = x.shape;
  // Places outside are sorted to the end, where nothing looks for them.
  const all = where(places.less(0), rows, places);
  const order = all.argsort();
  const sorted = all.take(order, { axis: 0 });
  const values = updates.take(order, { axis: 0 });
  const params = { axis: 0, op: cumulateOps[op], isReverse: false, isExclusive: false };
  const sums: Tensor = x.tensorOf(makeNode(cumulate, [values.node, sorted.node], params, backendOf(x.node)));
  const wanted = countingLike(x, rows);
  const ends = sorted.searchSorted(wanted, { side: "right" });
  const isTouched = ends.greater(sorted.searchSorted(wanted)).reshape([-1, 1]);
  const totals = sums.take(ends.sub(1).maximum(0), { axis: 0 });
  return where(isTouched, combined(op, x, totals), x);
}

function checkOp(op: UpdateOp | undefined, operation: string): void {
  if (op === undefined || ["set", "add", "mul", "min", "max"].includes(op)) return;
  throw new ArgumentError(`${operation}: there is no op ${shown(op)}; use set, add, mul, min or max.`);
}

function scatterAlong(x: Tensor, positions: Tensor, values: Operand, axis: number, options: ScatterOptions): Tensor {
  const at = normalizeAxis(axis, x.rank, "scatter");
  checkOneDevice("scatter", [x.node, positions.node]);
  const others = x.shape.filter((_, i) => i !== at);
  const front = x.moveAxis(at, 0);
  const rows = front.reshape([x.shape[at], sizeOf(others)]);
  const selected = [...x.shape.slice(0, at), ...positions.shape, ...x.shape.slice(at + 1)];
  const updates = broadcastValues(valuesFor(x, values, "scatter"), selected, "scatter");
  // The axes of the positions go to the front, as the axis did.
  const moved = updates.permute([
    ...positions.shape.map((_, i) => at + i),
    ...selected.flatMap((_, i) => (i < at || i >= at + positions.rank ? [i] : [])),
  ]);
  const places = placesIn(positions, x.shape[at], "scatter").reshape([positions.size]);
  const result = scatterRows("scatter", rows, places, moved.reshape([positions.size, sizeOf(others)]), options);
  return result.reshape(front.shape).moveAxis(0, at);
}

function putAlong(x: Tensor, positions: Tensor, values: Operand, axis: number, options: ScatterOptions): Tensor {
  checkOneDevice("putAlongAxis", [x.node, positions.node]);
  const at = normalizeAxis(axis, x.rank, "putAlongAxis");
  const fits = positions.rank === x.rank && positions.shape.every((n, i) => i === at || n === x.shape[i]);
  if (!fits) {
    throw new ShapeError(
      `putAlongAxis: positions of ${formatShape(positions.shape)} for ${formatShape(x.shape)} along axis ${at}.`,
    );
  }
  if (positions.size === 0) return x.again();
  const strides = stridesOf(x.shape);
  const along = placesIn(positions, x.shape[at], "putAlongAxis").cast(positionDType(x.size));
  let flat: Tensor = along.mul(strides[at]);
  strides.forEach((stride, i) => {
    if (i !== at) flat = flat.add(positionsAlong(positions, i).mul(stride));
  });
  const updates = broadcastValues(valuesFor(x, values, "putAlongAxis"), positions.shape, "putAlongAxis");
  const places = where(along.less(0), -1, flat).reshape([-1]);
  const rows = x.reshape([x.size, 1]);
  return scatterRows("putAlongAxis", rows, places, updates.reshape([-1, 1]), options).reshape(x.shape);
}

/** The places along each of the leading axes that index vectors name. */
function placesOf(x: Tensor, indices: Tensor, operation: string): { depth: number; places: Tensor[]; lead: number[] } {
  const depth = indices.shape[indices.rank - 1] ?? -1;
  if (depth < 0 || depth > x.rank) {
    throw new ShapeError(
      `${operation}: index vectors of ${formatShape(indices.shape)} for ${formatShape(x.shape)}; ` +
        `the last axis has one place for each of the leading axes.`,
    );
  }
  checkOneDevice(operation, [x.node, indices.node]);
  const places = Array.from({ length: depth }, (_, i) => placesIn(indices.at("...", i), x.shape[i], operation));
  return { depth, places, lead: indices.shape.slice(0, -1) };
}

function scatterVectors(x: Tensor, indices: Tensor, values: Operand, options: ScatterOptions): Tensor {
  const { depth, places, lead } = placesOf(x, indices, "scatterNd");
  const rest = x.shape.slice(depth);
  const strides = stridesOf(x.shape.slice(0, depth));
  const count = sizeOf(lead);
  const updates = broadcastValues(valuesFor(x, values, "scatterNd"), [...lead, ...rest], "scatterNd");
  if (count === 0 || x.size === 0) return x.again();
  const rows = x.reshape([sizeOf(x.shape.slice(0, depth)), sizeOf(rest)]);
  const counting = positionDType(rows.shape[0]);
  const zero = scalarLike(x, 0, counting).broadcastTo(lead);
  const flat = places.reduce<Tensor>((sum, place, i) => sum.add(place.cast(counting).mul(strides[i])), zero);
  const isOutside = places.reduce<Tensor>((any, place) => any.logicalOr(place.less(0)), zero.cast("bool"));
  const into = where(isOutside, -1, flat).reshape([count]);
  return scatterRows("scatterNd", rows, into, updates.reshape([count, sizeOf(rest)]), options).reshape(x.shape);
}

function gathered<D extends DType>(operation: string, x: Tensor<D>, given: Positions): Tensor<D> {
  const indices = positionTensor(operation, given, x);
  const { depth, lead } = placesOf(x, indices, operation);
  if (depth === 0) return x.broadcastTo([...lead, ...x.shape]);
  return inOperation(operation, () => x.at(...Array.from({ length: depth }, (_, i) => indices.at("...", i))));
}
