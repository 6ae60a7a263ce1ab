/**
 * Windows that slide over axes, on nodes: how convolutions and window reductions see their input. Nothing is copied; a
 * window is a way of reading. `foldWindows` goes the other way and adds windows up where they overlap.
 */
import { ArgumentError } from "../core/errors.js";
import { formatShape, type Shape, sizeOf } from "../core/shape.js";
import type { Node } from "../graph/node.js";
import { pad, slice, window } from "../graph/primitives/movement.js";
import { backendOf, broadcastNode, derive, scalarNode } from "./build.js";
import { diagonalNode, sumNode } from "./contraction.js";

/**
 * What surrounds the input: nothing ("valid"), enough that a stride of 1 keeps the extent ("same": half before, the
 * larger half after), or [before, after] for each axis; negative amounts cut off.
 */
export type Padding = "valid" | "same" | readonly (readonly [number, number])[];

/** Windows along some axes of a node; the lists go in step. */
export interface Windows {
  readonly axes: readonly number[];
  readonly size: readonly number[];
  readonly stride: readonly number[];
  /** Distance between the places of a window. */
  readonly dilation: readonly number[];
  readonly padding: readonly (readonly [number, number])[];
}

export interface WindowSettings {
  readonly stride?: number | readonly number[];
  readonly padding?: Padding;
  readonly dilation?: number | readonly number[];
}

/** Checks the settings of an operation. `extents` are those of the axes. */
export function windowsOver(
  operation: string,
  axes: readonly number[],
  extents: readonly number[],
  size: readonly number[],
  settings: WindowSettings,
): Windows {
  const perAxis = (what: string, value: number | readonly number[]) =>
    positivePerAxis(operation, what, value, axes.length);
  const sizes = perAxis("size", size);
  const stride = perAxis("stride", settings.stride ?? 1);
  const dilation = perAxis("dilation", settings.dilation ?? 1);
  const padding = settings.padding ?? "valid";
  return {
    axes,
    size: sizes,
    stride,
    dilation,
    padding: paddingPairs(operation, padding, extents, sizes, stride, dilation),
  };
}

/** A whole number from 1 on for each axis; one number stands for all. */
export function positivePerAxis(
  operation: string,
  what: string,
  value: number | readonly number[],
  count: number,
): readonly number[] {
  const list = typeof value === "number" ? new Array<number>(count).fill(value) : value;
  if (list.length !== count) {
    throw new ArgumentError(`${operation}: ${what} ${formatShape(list)} for ${count} axes; give one number for each.`);
  }
  const wrong = list.find((number) => !Number.isSafeInteger(number) || number < 1);
  if (wrong !== undefined)
    throw new ArgumentError(`${operation}: a ${what} of ${wrong}; it is a whole number from 1 on.`);
  return list;
}

function paddingPairs(
  operation: string,
  padding: Padding,
  extents: readonly number[],
  size: readonly number[],
  stride: readonly number[],
  dilation: readonly number[],
): readonly (readonly [number, number])[] {
  if (padding === "valid") return extents.map(() => [0, 0]);
  if (padding === "same") {
    return extents.map((extent, i) => {
      const reach = (size[i] - 1) * dilation[i] + 1;
      const total = Math.max(0, (Math.ceil(extent / stride[i]) - 1) * stride[i] + reach - extent);
      return [Math.floor(total / 2), Math.ceil(total / 2)];
    });
  }
  const isPairs = Array.isArray(padding) && padding.length === extents.length;
  if (!isPairs || padding.some((pair) => pair.length !== 2 || !pair.every(Number.isSafeInteger))) {
    throw new ArgumentError(
      `${operation}: padding ${JSON.stringify(padding)}; give "valid", "same" or [before, after] for each of ` +
        `${extents.length} axes.`,
    );
  }
  return padding;
}

/** [.., o, ..] → the node padded by `value` and seen through windows: counts in place of the axes, places at the end. */
export function windowNode(node: Node, windows: Windows, value: number | bigint | boolean): Node {
  const { axes, size, stride, dilation, padding } = windows;
  return derive(window, padNode(node, axes, padding, value), {
    axes: [...axes],
    size: [...size],
    stride: [...stride],
    dilation: [...dilation],
  });
}

/** Surrounds some axes of a node with a value, and puts `gaps` of it between elements. */
export function padNode(
  node: Node,
  axes: readonly number[],
  padding: readonly (readonly [number, number])[],
  value: number | bigint | boolean,
  gaps: readonly number[] = axes.map(() => 0),
): Node {
  if (gaps.every((gap) => gap === 0) && padding.every(([before, after]) => before === 0 && after === 0)) return node;
  const spread = (amounts: readonly number[]) =>
    node.shape.map((_, axis) => (axes.includes(axis) ? amounts[axes.indexOf(axis)] : 0));
  return derive(pad, node, {
    low: spread(padding.map(([before]) => before)),
    high: spread(padding.map(([, after]) => after)),
    interior: spread(gaps),
    value,
  });
}

/**
 * The transpose of `windowNode`: every place of every window is added to the element it was read from. `shape` is that
 * of the elements; what went to the padding is dropped.
 *
 * Written as a gather, so that it is one loop without atomics: element i gets, for each place k, the value at window
 * (i - k·dilation) / stride if there is such a window. Spreading windows out by the stride and looking at them through
 * windows of the same size and dilation shows each element its candidates, with the places in reverse.
 */
export function foldWindows(values: Node, windows: Windows, shape: Shape): Node {
  const { axes, size, stride, dilation, padding } = windows;
  const rank = shape.length;
  const counts = axes.map((axis) => values.shape[axis]);
  if (sizeOf(values.shape) === 0) return broadcastNode(scalarNode(0, values.dtype, backendOf(values)), shape);
  const padded = axes.map((axis, i) => shape[axis] + padding[i][0] + padding[i][1]);
  const margins = counts.map((count, i) => {
    const before = (size[i] - 1) * dilation[i];
    return [before, padded[i] - (count - 1) * stride[i] - 1] as const;
  });
  const gaps = stride.map((step) => step - 1);
  const candidates = derive(window, padNode(values, axes, margins, 0, gaps), {
    axes: [...axes],
    size: [...size],
    stride: axes.map(() => 1),
    dilation: [...dilation],
  });
  let matched = reverseLast(candidates, axes.length);
  for (let left = axes.length; left > 0; left--) matched = diagonalNode(matched, rank, rank + left);
  const total = sumNode(
    matched,
    axes.map((_, i) => rank + i),
  );
  const cut = padding.map(([before, after]) => [-before, -after] as const);
  return padNode(total, axes, cut, 0);
}

function reverseLast(node: Node, count: number): Node {
  const isReversed = node.shape.map((_, axis) => axis >= node.shape.length - count);
  return derive(slice, node, {
    start: node.shape.map((extent, axis) => (isReversed[axis] ? extent - 1 : 0)),
    step: isReversed.map((reversed) => (reversed ? -1 : 1)),
    shape: [...node.shape],
  });
}
