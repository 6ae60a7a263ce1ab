/**
 * Sliding windows over axes of nodes, for convolutions and window reductions. Nothing is copied: a window is a movement.
 * `foldWindows` is the transpose: it sums windows where they overlap.
 */
import { type Shape, sizeOf } from "../core/shape.js";
import { broadcastNode, derive, makeNode, permuteNode, reshapeNode, scalarNode } from "./build.js";
import { diagonalNode, sumNode } from "./contraction.js";
import type { Node } from "./node.js";
import { add } from "./primitives/elementwise.js";
import { pad, slice, window } from "./primitives/movement.js";

/** Windows along some axes of a node. The lists have one entry per axis. */
export interface Windows {
  readonly axes: readonly number[];
  readonly size: readonly number[];
  readonly stride: readonly number[];
  /** Distance between the places of a window. */
  readonly dilation: readonly number[];
  readonly padding: readonly (readonly [number, number])[];
}

/** [.., o, ..] → the node padded by `value` and seen through windows: counts in place of the axes, places at the end. */
export function windowNode(node: Node, windows: Windows, value: number | bigint | boolean): Node {
  const { axes, size, stride, dilation, padding } = windows;
  const padded = padNode(node, axes, padding, value);
  const areApart = axes.every((axis, i) => {
    const extent = padded.shape[axis];
    return stride[i] === size[i] && dilation[i] === 1 && extent > 0 && extent % size[i] === 0;
  });
  if (areApart) return tiledNode(padded, axes, size);
  return derive(window, padded, {
    axes: [...axes],
    size: [...size],
    stride: [...stride],
    dilation: [...dilation],
  });
}

/** Windows that do not overlap and leave no gap hold every element once: a reshape is enough. */
function tiledNode(node: Node, axes: readonly number[], size: readonly number[]): Node {
  const cut: number[] = [];
  const counts: number[] = [];
  const places: number[] = [];
  node.shape.forEach((extent, axis) => {
    const i = axes.indexOf(axis);
    counts.push(cut.length);
    if (i < 0) cut.push(extent);
    else {
      places[i] = cut.length + 1;
      cut.push(extent / size[i], size[i]);
    }
  });
  return permuteNode(reshapeNode(node, cut), [...counts, ...places]);
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
  if (sizeOf(values.shape) === 0) return broadcastNode(scalarNode(0, values.dtype, values.device), shape);
  if (areBlocks(windows)) return foldBlocks(values, windows, shape);
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

/** The most blocks of a window that are summed one by one. */
const MAX_BLOCKS = 32;

/** Windows along one axis whose size is a multiple of the stride, so that they overlap in whole blocks. */
const areBlocks = ({ axes, size: [size], stride: [stride], dilation: [dilation] }: Windows): boolean =>
  axes.length === 1 && dilation === 1 && stride > 1 && size % stride === 0 && size / stride <= MAX_BLOCKS;

/** `foldWindows` of such windows: an element has a term for each block, not for each place of a window. */
function foldBlocks(
  values: Node,
  { axes: [axis], stride: [stride], padding: [[before, after]] }: Windows,
  shape: Shape,
): Node {
  const places = values.shape.length - 1;
  const order = [...values.shape.keys()].filter((each) => each !== places);
  const beside = permuteNode(values, [...order.slice(0, axis + 1), places, ...order.slice(axis + 1)]);
  const sum = overlapAdded(beside, axis, stride);
  const rest = shape[axis] + before + after - sum.shape[axis];
  return padNode(sum, [axis], [[-before, rest - after]], 0);
}

/** [.., count, size, ..] → [.., (count - 1)·stride + size, ..]: pieces `stride` apart, of a multiple of it, summed where they overlap. */
export function overlapAdded(values: Node, axis: number, stride: number): Node {
  const lead = values.shape.slice(0, axis);
  const [count, size, ...tail] = values.shape.slice(axis);
  const blocks = size / stride;
  const cut = reshapeNode(values, [...lead, count, blocks, stride, ...tail]);
  const terms = Array.from({ length: blocks }, (_, block) => {
    const shape = cut.shape.map((extent, i) => (i === axis + 1 ? 1 : extent));
    const start = cut.shape.map((_, i) => (i === axis + 1 ? block : 0));
    const piece = derive(slice, cut, { start, step: shape.map(() => 1), shape });
    const line = reshapeNode(piece, [...lead, count, stride, ...tail]);
    return padNode(line, [axis], [[block, blocks - 1 - block]], 0);
  });
  const sum = terms.reduce((total, term) => makeNode(add, [total, term], {}, values.device));
  return reshapeNode(sum, [...lead, (count + blocks - 1) * stride, ...tail]);
}

function reverseLast(node: Node, count: number): Node {
  const isReversed = node.shape.map((_, axis) => axis >= node.shape.length - count);
  return derive(slice, node, {
    start: node.shape.map((extent, axis) => (isReversed[axis] ? extent - 1 : 0)),
    step: isReversed.map((reversed) => (reversed ? -1 : 1)),
    shape: [...node.shape],
  });
}
