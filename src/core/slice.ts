/**
 * Reads the arguments of `x.at(0, "1:5", "::-1", "...", newAxis, indexTensor)` into a plain description, with Python's
 * rules: negative numbers count from the end, slices are clipped to the axis, a slice may be empty, an integer out of
 * range is an error. Index tensors are passed through unread, so this knows nothing of tensors. Indexing, functional
 * updates and sliced reads of files call this.
 */
import { ArgumentError, ShapeError } from "./errors.js";
import { formatShape, normalizeIndex, type Shape } from "./shape.js";
import { KEPT_NUMBERS, shown } from "./shown.js";

/** Inserts an axis of size 1. */
export const newAxis: unique symbol = Symbol("newAxis");
type NewAxis = typeof newAxis;

/** "start:stop:step", each part optional; "..." for as many whole axes as are left. */
type SliceText = "..." | `${string}:${string}`;

/** A slice in numbers: from `from` up to `to`, without it, in steps of `step`. What is left out is as in "::". */
export interface Slice {
  readonly from?: number | null | undefined;
  readonly to?: number | null | undefined;
  readonly step?: number | null | undefined;
}

/** One argument of `at`. `I` is the type of index tensors. */
export type IndexArgument<I = never> = number | SliceText | Slice | NewAxis | I;

/** The elements start, start + step, … (count of them) of one axis. */
export interface AxisRange {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** The selection of one argument; `axis` counts the axes of the indexed tensor. */
export type IndexItem<I = never> =
  | ({ readonly kind: "slice"; readonly axis: number } & AxisRange)
  | { readonly kind: "index"; readonly axis: number; readonly index: number }
  | { readonly kind: "newAxis" }
  /** Consumes `axes` axes from `axis` on: one for an integer tensor, its rank for a mask. */
  | { readonly kind: "tensor"; readonly axis: number; readonly axes: number; readonly item: I };

interface IndexTensors<I> {
  isItem(argument: unknown): argument is I;
  /** The number of axes that the item consumes. */
  axesOf(item: I): number;
}

/**
 * Describes an indexing of `shape`: one item per argument. The ellipsis and axes without an argument become whole slices,
 * so that every axis is covered once and in order.
 */
export function parseIndexing<I = never>(
  args: readonly IndexArgument<I>[],
  shape: Shape,
  operation: string,
  tensors?: IndexTensors<I>,
): IndexItem<I>[] {
  const consumed = args.map((argument, position) => axesConsumed(argument, position, operation, tensors));
  const used = consumed.reduce((sum, axes) => sum + axes, 0);
  if (used > shape.length) {
    throw new ShapeError(
      `${operation}: ${used} indices for shape ${formatShape(shape)}, which has ${shape.length} axes; leave some out.`,
    );
  }
  const ellipses = args.filter((argument) => argument === "...").length;
  if (ellipses > 1) throw new ArgumentError(`${operation}: "..." can stand only once among the indices.`);

  const items: IndexItem<I>[] = [];
  let axis = 0;
  const takeWholeAxes = (count: number) => {
    for (let i = 0; i < count; i++) items.push({ kind: "slice", axis, start: 0, step: 1, count: shape[axis++] });
  };
  for (const [position, argument] of args.entries()) {
    if (argument === "...") takeWholeAxes(shape.length - used);
    else if (argument === newAxis) items.push({ kind: "newAxis" });
    else if (tensors?.isItem(argument)) {
      items.push({ kind: "tensor", axis, axes: consumed[position], item: argument });
      axis += consumed[position];
    } else if (typeof argument === "number") {
      items.push({ kind: "index", axis, index: normalizeIndex(argument, shape[axis], axis, operation) });
      axis++;
    } else {
      items.push({ kind: "slice", axis, ...rangeOf(argument as SliceText | Slice, shape[axis], operation) });
      axis++;
    }
  }
  takeWholeAxes(shape.length - axis);
  return items;
}

function axesConsumed<I>(
  argument: unknown,
  position: number,
  operation: string,
  tensors: IndexTensors<I> | undefined,
): number {
  if (argument === "..." || argument === newAxis) return 0;
  if (tensors?.isItem(argument)) return tensors.axesOf(argument);
  if (typeof argument === "number" || typeof argument === "string" || isSlice(argument)) return 1;
  throw new ArgumentError(
    `${operation}: index ${position} is ${shown(argument)}; ${argument == null ? 'write ":" for a whole axis; ' : ""}an index is a whole number, a slice such as "1:5" or { from: 1, to: 5 }, "...", newAxis` +
      `${tensors ? ", or a tensor of integers or booleans" : ""}.`,
  );
}

const SLICE_PARTS: readonly string[] = ["from", "to", "step"];

/** Whether an object has parts of a slice and nothing else. */
function isSlice(argument: unknown): argument is Slice {
  if (typeof argument !== "object" || argument === null) return false;
  const parts = Object.keys(argument);
  return parts.length > 0 && parts.every((part) => SLICE_PARTS.includes(part));
}

/** The range that a slice selects of an axis, in either spelling. */
function rangeOf(slice: string | Slice, size: number, operation: string): AxisRange {
  if (typeof slice === "string") return parseSlice(slice, size, operation);
  const [from, to, step] = (["from", "to", "step"] as const).map((part) => {
    const value = slice[part] ?? null;
    if (value === null || Number.isSafeInteger(value)) return value;
    throw new ArgumentError(`${operation}: ${part} of a slice is a whole number, not ${shown(value)}.`);
  });
  return sliceRange(from, to, step, size, operation);
}

/**
 * The range that "start:stop:step" selects of an axis, as Python's slice.indices does.
 * @internal for tests: the grammar of slices is compared with Python's
 */
export function parseSlice(text: string, size: number, operation: string): AxisRange {
  const parts = text.split(":");
  if (parts.length < 2 || parts.length > 3) throw sliceError(text, operation);
  const [start, stop, step = null] = parts.map((part) => readNumber(part, text, operation));
  return sliceRange(start, stop, step, size, operation);
}

/** The same for numbers; null leaves a part out. */
function sliceRange(
  start: number | null,
  stop: number | null,
  step: number | null,
  size: number,
  operation: string,
): AxisRange {
  const stride = step ?? 1;
  if (stride === 0) throw new ArgumentError(`${operation}: a slice cannot have step 0; leave it out for 1.`);
  // Going backwards, "before the first element" is -1.
  const [lowest, highest] = stride > 0 ? [0, size] : [-1, size - 1];
  const clip = (bound: number) => Math.min(Math.max(bound < 0 ? bound + size : bound, lowest), highest);
  const first = start === null ? (stride > 0 ? lowest : highest) : clip(start);
  const end = stop === null ? (stride > 0 ? highest : lowest) : clip(stop);
  const count = Math.max(0, Math.ceil((end - first) / stride));
  // Equal selections get equal descriptions, and an empty one never points outside the axis.
  if (count === 0) return { start: 0, step: 1, count: 0 };
  return { start: first + 0, step: count === 1 ? 1 : stride, count };
}

function readNumber(part: string, text: string, operation: string): number | null {
  const trimmed = part.trim();
  if (trimmed === "") return null;
  const value = Number(trimmed);
  if (!/^[+-]?\d+$/.test(trimmed) || !Number.isSafeInteger(value)) throw sliceError(text, operation);
  return value;
}

function sliceError(text: string, operation: string): ArgumentError {
  // A tensor was put into a template literal.
  if (text.includes("Tensor(")) {
    return new ArgumentError(`${operation}: "${text}" is not a slice; it takes numbers, not tensors.${KEPT_NUMBERS}`);
  }
  const hint = /^\s*[+-]?\d+\s*$/.test(text)
    ? `write the number ${text.trim()} without quotes for a single element`
    : text.includes(",")
      ? "pass each axis as an argument of its own"
      : `write "start:stop", "start:stop:step" or "..."`;
  return new ArgumentError(`${operation}: "${text}" is not a slice; ${hint}.`);
}

/** The shape a basic indexing (no tensors) selects. */
export function indexedShape(items: readonly IndexItem[]): number[] {
  return items.flatMap((item) => {
    switch (item.kind) {
      case "slice":
        return [item.count];
      case "newAxis":
        return [1];
      default:
        return [];
    }
  });
}
