/**
 * Rearrangements made of the movement primitives: rolling, tiling, padding by what is there, triangles and diagonals.
 * None of them moves data by itself; they rewrite where their users read.
 */
import { checkOptions, checkWhole, inOperation, type OptionKinds } from "../../core/arguments.js";
import { DTYPES, type DType, positionDType, type Scalar } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { broadcastShapes, checkShape, formatShape, normalizeAxes, normalizeAxis } from "../../core/shape.js";
import { remedyForTensor, shown } from "../../core/shown.js";
import * as M from "../../graph/primitives/movement.js";
import { derive } from "../build.js";
import { concat, full, heldOffset, MATRIX, type MatrixOptions, numbersThenOptions, type OneOf } from "../creation.js";
import type { SumOf } from "../result-dtypes.js";
import { checkTensors, Tensor, where } from "../tensor.js";
import { apartFrom, broadcastValues, countingLike, positionsAlong, scalarLike, valuesFor } from "./operands.js";
import { positionTensor } from "./taking.js";

const PAD_MODES = ["constant", "edge", "reflect", "symmetric", "wrap"] as const;

/** What stands around a padded tensor. */
export type PadMode = (typeof PAD_MODES)[number];

export interface DiagonalOptions {
  /** Above the main diagonal when positive, below when negative. */
  readonly offset?: number;
  /** The two axes of the matrices; the last two unless told. */
  readonly axes?: readonly [number, number];
}

const DIAGONAL: OptionKinds<DiagonalOptions> = { offset: "number", axes: "list" };
const AXIS = { axis: "number" } as const;

declare module "../tensor.js" {
  interface Tensor<D extends DType = DType> {
    /** Moves elements along an axis; what leaves at one end enters at the other. Without an axis, in row-major order. */
    roll(shift: number | readonly number[], axis?: number | readonly number[]): Tensor<D>;
    /** The tensor side by side with itself, so often along each axis; aligned at the last axis, as in NumPy. */
    tile(...repetitions: number[] | [readonly number[]]): Tensor<D>;
    /**
     * Each element so often in a row along an axis; of the flattened tensor without one. A list has a count for each place
     * along the axis. It is a list and no tensor, because the shape of the result depends on it: `await counts.data()`.
     */
    repeat(repetitions: number | readonly number[], axis?: number): Tensor<D>;
    /** Equal parts (a number of them), or parts that end before the given positions. */
    split(parts: number | readonly number[], options?: { readonly axis?: number }): Tensor<D>[];
    /** The tensors along an axis, without it. */
    unstack(options?: { readonly axis?: number }): Tensor<D>[];
    /** Zero below the given diagonal of the last two axes. */
    triu(offset?: number): Tensor<D>;
    /** Zero above the given diagonal of the last two axes. */
    tril(offset?: number): Tensor<D>;
    /** The elements of a diagonal of matrices, as the last axis. */
    diagonal(options?: DiagonalOptions): Tensor<D>;
    /** Sum of the diagonal. */
    trace(options?: DiagonalOptions): Tensor<SumOf<D>>;
    /** A matrix with the last axis on a diagonal and zeros elsewhere. */
    diagonalMatrix(offset?: number): Tensor<D>;
    /** A copy with other values on a diagonal of the last two axes; they broadcast to what `diagonal` gives. */
    putDiagonal(values: Operand, options?: { readonly offset?: number }): Tensor<D>;
    /** One more axis of `classes` elements: 1 at the position each element names, 0 elsewhere; all 0 outside. */
    oneHot<T extends DType = "f32">(
      classes: number,
      options?: { readonly dtype?: T; readonly axis?: number },
    ): Tensor<T>;
    /**
     * Surrounds the tensor by [before, after] per axis with its own elements: the nearest ("edge"), those met on the way
     * back ("reflect" leaves the end out, "symmetric" repeats it), those at the other end ("wrap").
     */
    pad(
      amounts: readonly (readonly [number, number])[],
      options: { readonly mode: PadMode; readonly value?: Scalar },
    ): Tensor<D>;
    /** The difference of neighbours along an axis. */
    diff(options?: { readonly axis?: number; readonly order?: number }): Tensor<D>;
  }
}

function wrapped<D extends DType>(x: Tensor<D>, start: readonly number[], shape: readonly number[]): Tensor<D> {
  const isPlain = shape.every((extent, axis) => extent === x.shape[axis] && start[axis] === 0);
  return isPlain ? x : new Tensor<D>(derive(M.wrap, x.node, { start: [...start], shape: [...shape] }));
}

const modulo = (a: number, n: number): number => (n === 0 ? 0 : ((a % n) + n) % n);

Tensor.prototype.roll = function (shift, axis) {
  const shifts = Array.isArray(shift) ? (shift as readonly number[]) : [shift as number];
  for (const amount of shifts) checkWhole("roll", "a shift", amount);
  if (axis === undefined) {
    if (shifts.length !== 1) throw new ArgumentError("roll: several shifts need as many axes.");
    return this.flatten().roll(shifts, 0).reshape(this.shape);
  }
  const axes = Array.isArray(axis) ? (axis as readonly number[]) : [axis as number];
  if (shifts.length !== axes.length && shifts.length !== 1) {
    throw new ArgumentError(`roll: ${shifts.length} shifts for ${axes.length} axes.`);
  }
  const start = this.shape.map(() => 0);
  axes.forEach((name, i) => {
    const at = normalizeAxis(name, this.rank, "roll");
    start[at] = modulo(start[at] - (shifts[shifts.length === 1 ? 0 : i] ?? 0), this.shape[at]);
  });
  return apartFrom(this, wrapped(this, start, this.shape));
};

Tensor.prototype.tile = function (...repetitions) {
  const given = (Array.isArray(repetitions[0]) ? repetitions[0] : repetitions) as readonly number[];
  checkShape(given, "tile");
  const rank = Math.max(this.rank, given.length);
  const counts = [...new Array(rank - given.length).fill(1), ...given];
  const shape = [...new Array(rank - this.rank).fill(1), ...this.shape];
  const start = shape.map(() => 0);
  return wrapped(
    this.reshape(shape),
    start,
    shape.map((extent, axis) => extent * counts[axis]),
  );
};

Tensor.prototype.repeat = function (repetitions, axis) {
  checkCounts(repetitions);
  if (axis === undefined) return this.flatten().repeat(repetitions, 0);
  const at = normalizeAxis(axis, this.rank, "repeat");
  if (typeof repetitions !== "number") return repeatEach(this, repetitions, at);
  const spread = [...this.shape.slice(0, at + 1), repetitions, ...this.shape.slice(at + 1)];
  const shape = this.shape.map((extent, i) => (i === at ? extent * repetitions : extent));
  return this.expandDims(at + 1)
    .broadcastTo(spread)
    .reshape(shape);
};

function checkCounts(counts: number | readonly number[]): void {
  if ((counts as unknown) instanceof Tensor) {
    throw new ArgumentError(
      "repeat: the shape of the result depends on the counts, so that they are no tensor; read them with await counts.data().",
    );
  }
  for (const count of typeof counts === "object" && counts !== null ? Array.from(counts) : [counts]) {
    checkWhole("repeat", "the count", count, 0);
  }
}

/** A count for each place along an axis: the place that each of the result comes from is where the running count passes it. */
function repeatEach<D extends DType>(x: Tensor<D>, given: readonly number[], axis: number): Tensor<D> {
  const counts = Array.from(given);
  if (counts.length !== x.shape[axis]) {
    throw new ShapeError(
      `repeat: ${counts.length} counts for axis ${axis} of ${formatShape(x.shape)}; give one for each place along it.`,
    );
  }
  let total = 0;
  const ends = counts.map((count) => {
    total += count;
    return total;
  });
  const from = positionTensor("repeat", ends, x).searchSorted(countingLike(x, total), { side: "right" });
  return x.take(from, { axis });
}

Tensor.prototype.split = function (parts, options = {}) {
  checkOptions("split", options, AXIS);
  const { axis = 0 } = options;
  if (typeof parts !== "number" && !Array.isArray(parts)) {
    throw new ArgumentError(`split: parts are a number of them, or a list of positions, not ${shown(parts)}.`);
  }
  const at = normalizeAxis(axis, this.rank, "split");
  const extent = this.shape[at];
  if (typeof parts === "number" && (!Number.isSafeInteger(parts) || parts < 1 || extent % parts !== 0)) {
    throw new ShapeError(
      `split: axis ${at} of ${formatShape(this.shape)} does not divide into ${parts} equal parts; give positions.`,
    );
  }
  const clipped = (position: number) => Math.min(Math.max(position < 0 ? position + extent : position, 0), extent);
  const inner =
    typeof parts === "number"
      ? Array.from({ length: parts - 1 }, (_, i) => ((i + 1) * extent) / parts)
      : parts.map((position) => clipped(checkWhole("split", "a position", position)));
  const ends = [...inner, extent];
  return ends.map((end, i) => sliceAxis(this, at, i === 0 ? 0 : ends[i - 1], end));
};

/** Elements from start up to stop along one axis; none when the stop comes first. */
function sliceAxis<D extends DType>(x: Tensor<D>, axis: number, from: number, to: number): Tensor<D> {
  return x.at(...x.shape.map((_, i) => (i === axis ? (`${from}:${Math.max(from, to)}` as const) : null)));
}

Tensor.prototype.unstack = function (options = {}) {
  checkOptions("unstack", options, AXIS);
  const { axis = 0 } = options;
  const at = normalizeAxis(axis, this.rank, "unstack");
  return Array.from({ length: this.shape[at] }, (_, i) => sliceAxis(this, at, i, i + 1).squeeze(at));
};

// -------------------------------------------------------------------------------------------------- matrices

/** Column minus row, for the last two axes. */
function diagonalOf(operation: string, x: Tensor): Tensor {
  if (x.rank < 2) throw new ShapeError(`${operation}: takes matrices, not ${formatShape(x.shape)}.`);
  return positionsAlong(x, x.rank - 1).sub(positionsAlong(x, x.rank - 2));
}

function nearDiagonal(operation: string, x: Tensor, offset: number): number {
  checkWhole(operation, "the offset", offset);
  return heldOffset(offset, x.shape[x.rank - 2], x.shape[x.rank - 1]);
}

Tensor.prototype.triu = function (offset = 0) {
  const above = diagonalOf("triu", this).greaterEqual(nearDiagonal("triu", this, offset));
  return where(above, this, zeroLike(this)) as typeof this;
};

Tensor.prototype.tril = function (offset = 0) {
  const below = diagonalOf("tril", this).lessEqual(nearDiagonal("tril", this, offset));
  return where(below, this, zeroLike(this)) as typeof this;
};

const zeroLike = (x: Tensor): Tensor => scalarLike(x, x.dtype === "bool" ? false : 0);

Tensor.prototype.diagonal = function (options = {}) {
  return diagonalBy("diagonal", this, options);
};

function diagonalBy<D extends DType>(operation: string, x: Tensor<D>, options: DiagonalOptions): Tensor<D> {
  checkOptions(operation, options, DIAGONAL);
  const { offset = 0, axes = [-2, -1] } = options;
  if (x.rank < 2) throw new ShapeError(`${operation}: takes matrices, not ${formatShape(x.shape)}.`);
  const [down, across, ...more] = normalizeAxes(axes, x.rank, operation);
  if (across === undefined || more.length > 0) {
    throw new ArgumentError(`${operation}: axes ${formatShape(axes)}; name the two of the matrices.`);
  }
  const others = x.shape.flatMap((_, axis) => (axis === down || axis === across ? [] : [axis]));
  const matrices = x.permute([...others, down, across]);
  const [rows, columns] = [x.shape[down], x.shape[across]];
  checkWhole(operation, "the offset", offset);
  const count = Math.max(0, offset >= 0 ? Math.min(rows, columns - offset) : Math.min(rows + offset, columns));
  const lead = others.map((axis) => x.shape[axis]);
  // In memory order the elements of a diagonal are columns + 1 apart.
  const flat = matrices.reshape([...lead, rows * columns]);
  const start = offset >= 0 ? offset : -offset * columns;
  const stop = count === 0 ? start : start + (count - 1) * (columns + 1) + 1;
  const all = lead.map(() => null);
  return count === 0 ? flat.at(...all, "0:0") : flat.at(...all, `${start}:${stop}:${columns + 1}`);
}

Tensor.prototype.trace = function (options = {}) {
  return diagonalBy("trace", this, options).sum({ axis: -1 });
};

Tensor.prototype.diagonalMatrix = function (offset = 0) {
  if (this.rank < 1) throw new ShapeError("diagonalMatrix: takes at least one axis.");
  checkWhole("diagonalMatrix", "the offset", offset);
  const extent = this.shape[this.rank - 1] + Math.abs(offset);
  // Below the diagonal, column j holds element j; above it, row i holds element i.
  const aside = Math.abs(offset);
  const padding = this.shape.map((_, axis): [number, number] => (axis === this.rank - 1 ? [0, aside] : [0, 0]));
  const line = this.pad(padding, { value: 0 });
  const shape = [...this.shape.slice(0, -1), extent, extent];
  const spread = line.expandDims(offset >= 0 ? -1 : -2).broadcastTo(shape);
  return where(diagonalOf("diagonalMatrix", spread).equal(offset), spread, zeroLike(this)) as typeof this;
};

Tensor.prototype.putDiagonal = function (values, options = {}) {
  checkOptions("putDiagonal", options, { offset: "number" });
  const { offset = 0 } = options;
  const isOn = diagonalOf("putDiagonal", this).equal(nearDiagonal("putDiagonal", this, offset));
  const [rows, columns] = this.shape.slice(-2);
  const count = Math.max(0, offset >= 0 ? Math.min(rows, columns - offset) : Math.min(rows + offset, columns));
  const line = broadcastValues(
    valuesFor(this, values, "putDiagonal"),
    [...this.shape.slice(0, -2), count],
    "putDiagonal",
  );
  // Above the main diagonal, row i holds element i; below it, column j holds element j.
  const isAbove = offset >= 0;
  const rest = (isAbove ? rows : columns) - count;
  const padding = line.shape.map((_, axis): [number, number] => [0, axis === line.rank - 1 ? rest : 0]);
  return where(isOn, line.pad(padding).expandDims(isAbove ? -1 : -2), this) as typeof this;
};

Tensor.prototype.oneHot = function <T extends DType = "f32">(
  this: Tensor,
  classes: number,
  options: { readonly dtype?: T; readonly axis?: number } = {},
): Tensor<T> {
  checkOptions<{ readonly dtype?: DType; readonly axis?: number }>("oneHot", options, {
    dtype: "dtype",
    axis: "number",
  });
  const { dtype, axis = -1 } = options;
  checkWhole("oneHot", "the count of classes", classes, 0);
  if (!/^[iu]/.test(this.dtype)) throw new DTypeError(`oneHot: takes integers, not ${this.dtype}; cast it first.`);
  const at = normalizeAxis(axis, this.rank + 1, "oneHot");
  const line = countingLike(this, classes).reshape(
    Array.from({ length: this.rank + 1 }, (_, i) => (i === at ? classes : 1)),
  );
  // A u32 too large for i32 becomes negative there, and so names no class.
  const compared = DTYPES[this.dtype].bits === 64 ? this.dtype : positionDType(classes);
  return this.expandDims(at)
    .cast(compared)
    .equal(line.cast(compared))
    .cast((dtype ?? "f32") as T);
};

// -------------------------------------------------------------------------------------------------- padding

/** The positions along an axis of n elements that a padded axis reads. */
function paddedPositions(mode: "edge" | "reflect" | "symmetric", at: Tensor, n: number): Tensor {
  if (mode === "edge") return at.clip(0, n - 1);
  if (n === 1) return at.mul(0);
  // Going back and forth: the way there and back has 2n - 2 elements when the ends are not repeated, else 2n.
  const period = mode === "reflect" ? 2 * n - 2 : 2 * n;
  const into = at.remainder(period);
  const back = into.neg().add(mode === "reflect" ? period : period - 1);
  return into.minimum(back);
}

type Amounts = readonly (readonly [number, number])[];

function padBySelf<D extends DType>(
  tensor: Tensor<D>,
  mode: Exclude<PadMode, "constant">,
  amounts: Amounts,
): Tensor<D> {
  for (const [axis, pair] of amounts.entries()) {
    checkShape(pair, `pad, mode "${mode}"`);
    if (tensor.shape[axis] === 0 && pair[0] + pair[1] > 0) {
      throw new ShapeError(`pad: axis ${axis} of ${formatShape(tensor.shape)} has no elements to pad with.`);
    }
  }
  const shape = tensor.shape.map((extent, axis) => extent + amounts[axis][0] + amounts[axis][1]);
  if (mode === "wrap") {
    return wrapped(
      tensor,
      tensor.shape.map((extent, axis) => modulo(-amounts[axis][0], extent)),
      shape,
    );
  }
  return amounts.reduce<Tensor<D>>((x, [before, after], axis) => {
    if (before + after === 0) return x;
    const n = x.shape[axis];
    const counted = countingLike(x, shape[axis]).cast(positionDType(Math.max(shape[axis], 2 * n)));
    return x.take(paddedPositions(mode, counted.sub(before), n), { axis });
  }, tensor);
}

const padByValue = Tensor.prototype.pad as (this: Tensor, amounts: Amounts, options?: object) => Tensor;

/** Everything `pad` takes, whatever stands around. */
interface PadOptions {
  readonly mode?: PadMode;
  readonly value?: Scalar;
  readonly interior?: readonly number[];
}

function checkPairs(x: Tensor, amounts: Amounts): void {
  const isPair = (pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isSafeInteger);
  if (Array.isArray(amounts) && amounts.length === x.rank && amounts.every(isPair)) return;
  throw new ArgumentError(
    `pad: ${shown(amounts)} for ${x.rank} axes; give [before, after] for each, as in ` +
      `[${x.shape.map(() => "[0, 1]").join(", ")}].${remedyForTensor(amounts)}`,
  );
}

Tensor.prototype.pad = function (this: Tensor, amounts: Amounts, options: PadOptions = {}): Tensor {
  checkOptions("pad", options, { mode: "text", value: "any", interior: "list" });
  checkPairs(this, amounts);
  const { mode = "constant", interior = [] } = options;
  if (options.interior && interior.length !== this.rank) {
    throw new ArgumentError(`pad: interior ${formatShape(interior)} for ${this.rank} axes; give a number for each.`);
  }
  checkShape(interior, "pad, interior");
  if (!PAD_MODES.includes(mode)) {
    throw new ArgumentError(`pad: there is no mode "${mode}"; use one of ${PAD_MODES.join(", ")}.`);
  }
  const unused =
    mode === "constant" ? undefined : (["value", "interior"] as const).find((name) => options[name] !== undefined);
  if (unused) throw new ArgumentError(`pad: ${unused} goes with mode "constant"; "${mode}" pads with what is there.`);
  return mode === "constant"
    ? padByValue.call(this, amounts, options)
    : apartFrom(this, padBySelf(this, mode, amounts));
} as Tensor["pad"];

Tensor.prototype.diff = function (options = {}) {
  checkOptions("diff", options, { axis: "number", order: "number" });
  const { axis = -1, order = 1 } = options;
  const at = normalizeAxis(axis, this.rank, "diff");
  checkWhole("diff", "the order", order, 0);
  let x: typeof this = this;
  for (let i = 0; i < order && x.shape[at] > 0; i++) {
    const extent = x.shape[at];
    const [later, earlier] = [sliceAxis(x, at, 1, extent), sliceAxis(x, at, 0, extent - 1)];
    x = (x.dtype === "bool" ? later.notEqual(earlier) : later.sub(earlier)) as typeof this;
  }
  return apartFrom(this, x);
};

// -------------------------------------------------------------------------------------------------- functions

/** Ones on and below a diagonal, zeros above: `tri(rows)`, `tri(rows, columns)`, options after either. */
export function tri<D extends DType = "f32">(rows: number, options?: MatrixOptions<D>): Tensor<D>;
export function tri<D extends DType = "f32">(
  rows: number,
  columns: number | undefined,
  options?: MatrixOptions<D>,
): Tensor<D>;
export function tri(...given: readonly unknown[]): Tensor {
  const [[rows = Number.NaN, columns = rows], options] = numbersThenOptions<MatrixOptions>(given, 2);
  checkOptions("tri", options, MATRIX);
  const { offset = 0, ...creation } = options;
  return inOperation("tri", () => full([rows, columns], 1, creation).tril(offset));
}

/** Coordinates of a grid: vectors spread over the axes of all of them. "xy" swaps the first two axes, as in NumPy. */
export function meshgrid<D extends DType>(
  vectors: readonly Tensor<D>[],
  options: { readonly indexing?: "xy" | "ij" } = {},
): Tensor<D>[] {
  checkOptions("meshgrid", options, { indexing: "text" });
  checkTensors("meshgrid", vectors);
  if (options.indexing !== undefined && options.indexing !== "xy" && options.indexing !== "ij") {
    throw new ArgumentError(`meshgrid: indexing is "xy" or "ij", not ${shown(options.indexing)}.`);
  }
  const order = vectors.map((_, i) => i);
  if ((options.indexing ?? "xy") === "xy" && order.length > 1) [order[0], order[1]] = [1, 0];
  const flat = vectors.map((vector) => {
    if (vector.rank > 1) throw new ShapeError(`meshgrid: takes vectors, not ${formatShape(vector.shape)}.`);
    return vector.flatten();
  });
  const shape = order.map((i) => flat[i].size);
  return flat.map((vector, i) => {
    const at = order.indexOf(i);
    return vector.reshape(shape.map((_, axis) => (axis === at ? vector.size : 1))).broadcastTo(shape);
  });
}

/** Tensors stretched to the shape they broadcast to together. */
export function broadcastTensors<T extends readonly Tensor[]>(...tensors: T): { -readonly [I in keyof T]: T[I] } {
  if (tensors.length > 0) checkTensors("broadcastTensors", tensors);
  const shape = broadcastShapes("broadcastTensors", ...tensors.map((x) => x.shape));
  return tensors.map((x) => x.broadcastTo(shape)) as { -readonly [I in keyof T]: T[I] };
}

/** Matrices along the diagonal of a larger one, zeros elsewhere. */
export function blockDiagonal<D extends DType>(matrices: readonly Tensor<D>[]): Tensor<OneOf<D>> {
  checkTensors("blockDiagonal", matrices);
  for (const { shape } of matrices) {
    if (shape.length !== 2) throw new ShapeError(`blockDiagonal: takes matrices, not ${formatShape(shape)}.`);
  }
  const width = matrices.reduce((sum, { shape }) => sum + shape[1], 0);
  let before = 0;
  const rows = matrices.map((matrix) => {
    const columns = matrix.shape[1];
    const row = matrix.pad([
      [0, 0],
      [before, width - before - columns],
    ]);
    before += columns;
    return row;
  });
  return inOperation("blockDiagonal", () => concat(rows));
}
