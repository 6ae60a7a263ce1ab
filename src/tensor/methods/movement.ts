/**
 * Methods of `Tensor`: elements repeated, shifted and taken apart along axes. They move no data themselves; they change
 * where later kernels read.
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { DTYPES, type DType, positionDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { checkShape, formatShape, normalizeAxis } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import * as M from "../../graph/primitives/movement.js";
import { derive } from "../build.js";
import type { Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { apartFrom, countingLike } from "./operands.js";
import { positionTensor } from "./taking.js";

const AXIS = { axis: "number" } as const;

/** The cuts of an axis: a number of equal parts, positions to cut before, or the sizes of the parts. */
export type Parts = number | readonly number[] | { readonly sizes: readonly number[] };

export class MovementMethods<D extends DType> {
  /**
   * Moves elements along an axis; what leaves at one end enters at the other: `x.roll(1, { axis: 0 })`. Without an axis, in
   * row-major order.
   */
  roll(
    this: Tensor,
    shift: number | readonly number[],
    options: { readonly axis?: number | readonly number[] } = {},
  ): Tensor<D> {
    checkOptions("roll", options, { axis: "numbers" });
    const { axis } = options;
    const shifts = Array.isArray(shift) ? (shift as readonly number[]) : [shift as number];
    for (const amount of shifts) checkWhole("roll", "a shift", amount);
    if (axis === undefined) {
      if (shifts.length !== 1) throw new ArgumentError("roll: several shifts need as many axes.");
      return this.flatten().roll(shifts, { axis: 0 }).reshape(this.shape) as Tensor<D>;
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
    return apartFrom(this, wrapped(this, start, this.shape)) as Tensor<D>;
  }

  /** The tensor side by side with itself, so often along each axis; aligned at the last axis, as in NumPy. */
  tile(this: Tensor, ...repetitions: number[] | [readonly number[]]): Tensor<D> {
    const given = (Array.isArray(repetitions[0]) ? repetitions[0] : repetitions) as readonly number[];
    checkShape(given, "tile");
    const rank = Math.max(this.rank, given.length);
    const counts = [...new Array(rank - given.length).fill(1), ...given];
    const shape = [...new Array(rank - this.rank).fill(1), ...this.shape];
    const start = shape.map(() => 0);
    const tiled = shape.map((extent, axis) => extent * counts[axis]);
    return wrapped(this.reshape(shape), start, tiled) as Tensor<D>;
  }

  /**
   * Each element so often in a row along an axis, `x.repeat(2, { axis: 0 })`; of the flattened tensor without one. A list has
   * a count for each place along the axis. It is a list and no tensor, because the shape of the result depends on it: `await
   * counts.data()`.
   */
  repeat(this: Tensor, repetitions: number | readonly number[], options: { readonly axis?: number } = {}): Tensor<D> {
    checkOptions("repeat", options, AXIS);
    checkCounts(repetitions);
    const { axis } = options;
    if (axis === undefined) return this.flatten().repeat(repetitions, { axis: 0 }) as Tensor<D>;
    const at = normalizeAxis(axis, this.rank, "repeat");
    if (typeof repetitions !== "number") return repeatEach(this as Tensor<D>, repetitions, at);
    const spread = [...this.shape.slice(0, at + 1), repetitions, ...this.shape.slice(at + 1)];
    const shape = this.shape.map((extent, i) => (i === at ? extent * repetitions : extent));
    const repeated = this.expandDims(at + 1).broadcastTo(spread);
    return repeated.reshape(shape) as Tensor<D>;
  }

  /**
   * Equal parts (a number of them), parts that end before the given positions, or parts of the given sizes:
   * `x.split(3)`, `x.split([2, 5])`, `x.split({ sizes: [2, 3, -1] })`, where one -1 stands for what is left.
   */
  split(this: Tensor, given: Parts, options: { readonly axis?: number } = {}): Tensor<D>[] {
    checkOptions("split", options, AXIS);
    const { axis = 0 } = options;
    const at = normalizeAxis(axis, this.rank, "split");
    const extent = this.shape[at];
    const parts = isSizes(given) ? endsOf(given.sizes, at, this.shape) : (given as number | readonly number[]);
    if (typeof parts !== "number" && !Array.isArray(parts)) {
      throw new ArgumentError(
        `split: parts are a number of them, a list of positions or { sizes: [2, 3] }, not ${shown(parts)}.`,
      );
    }
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
    return ends.map((end, i) => sliceAxis(this as Tensor<D>, at, i === 0 ? 0 : ends[i - 1], end));
  }

  /** The tensors along an axis, without it. */
  unstack(this: Tensor, options: { readonly axis?: number } = {}): Tensor<D>[] {
    checkOptions("unstack", options, AXIS);
    const { axis = 0 } = options;
    const at = normalizeAxis(axis, this.rank, "unstack");
    return Array.from({ length: this.shape[at] }, (_, i) => sliceAxis(this as Tensor<D>, at, i, i + 1).squeeze(at));
  }

  /** The difference of neighbours along an axis. */
  diff(this: Tensor, options: { readonly axis?: number; readonly order?: number } = {}): Tensor<D> {
    checkOptions("diff", options, { axis: "number", order: "number" });
    const { axis = -1, order = 1 } = options;
    const at = normalizeAxis(axis, this.rank, "diff");
    checkWhole("diff", "the order", order, 0);
    let x: Tensor = this;
    for (let i = 0; i < order && x.shape[at] > 0; i++) {
      const extent = x.shape[at];
      const [later, earlier] = [sliceAxis(x, at, 1, extent), sliceAxis(x, at, 0, extent - 1)];
      x = x.dtype === "bool" ? later.notEqual(earlier) : later.sub(earlier);
    }
    return apartFrom(this, x) as Tensor<D>;
  }

  /** One more axis of `classes` elements: 1 at the position each element names, 0 elsewhere; all 0 outside. */
  oneHot<T extends DType = "f32">(
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
    const compared = DTYPES[this.dtype as DType].bits === 64 ? this.dtype : positionDType(classes);
    return this.expandDims(at)
      .cast(compared)
      .equal(line.cast(compared))
      .cast((dtype ?? "f32") as T);
  }
}

const isSizes = (parts: unknown): parts is { readonly sizes: readonly number[] } =>
  typeof parts === "object" && parts !== null && Object.keys(parts).join() === "sizes";

/** The positions before which parts of these sizes end, but for the last. */
function endsOf(sizes: readonly number[], axis: number, shape: readonly number[]): number[] {
  if (!Array.isArray(sizes) || sizes.length === 0) {
    throw new ArgumentError(`split: sizes are a list of whole numbers, not ${shown(sizes)}.`);
  }
  for (const size of sizes) checkWhole("split", "a size", size, -1);
  const known = sizes.reduce((sum, size) => sum + Math.max(0, size), 0);
  const open = sizes.filter((size) => size === -1).length;
  const rest = shape[axis] - known;
  if (open > 1 || (open === 0 ? rest !== 0 : rest < 0)) {
    throw new ShapeError(
      `split: sizes ${formatShape(sizes)} for axis ${axis} of ${formatShape(shape)}; they add up to its extent, and one ` +
        "-1 may stand for what is left.",
    );
  }
  let end = 0;
  return sizes.slice(0, -1).map((size) => {
    end += size === -1 ? rest : size;
    return end;
  });
}

/** The tensor repeated without end in all directions, and of that a part. */
export function wrapped<D extends DType>(x: Tensor<D>, start: readonly number[], shape: readonly number[]): Tensor<D> {
  const isPlain = shape.every((extent, axis) => extent === x.shape[axis] && start[axis] === 0);
  return isPlain ? x : x.tensorOf(derive(M.wrap, x.node, { start: [...start], shape: [...shape] }));
}

/** The remainder that is not negative. */
export const modulo = (a: number, n: number): number => (n === 0 ? 0 : ((a % n) + n) % n);

function checkCounts(counts: number | readonly number[]): void {
  if (isTensor(counts)) {
    throw new ArgumentError(
      "repeat: the shape of the result depends on the counts, so that they are no tensor; read them with await counts.data().",
    );
  }
  for (const count of typeof counts === "object" && counts !== null ? Array.from(counts) : [counts]) {
    checkWhole("repeat", "the count", count, 0);
  }
}

/** A count for each place along an axis. Result i comes from the first place whose running count exceeds i. */
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

/** Elements from start up to stop along one axis; none when the stop comes first. */
function sliceAxis<D extends DType>(x: Tensor<D>, axis: number, from: number, to: number): Tensor<D> {
  return x.at(...x.shape.map((_, i) => (i === axis ? (`${from}:${Math.max(from, to)}` as const) : ":")));
}
