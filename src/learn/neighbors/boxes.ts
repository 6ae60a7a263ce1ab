/**
 * Samples in nested boxes, on the host: a k-d tree (Bentley 1975) whose leaves hold a few samples next to each other in memory. It answers
 * which samples may lie within a radius. What comes of the answer (unions of clusters, lists of neighbours) is sequential and of a size
 * that nobody knows before, so it is the host's work; dbscan, optics and searches by radius use it where there are few features.
 *
 * Whole leaves ask, not single samples: one walk serves sixteen of them.
 */
import { UnsupportedError } from "../../core/errors.js";
import type { Space } from "./metric.js";

/** Samples of a leaf, at most. */
const LEAF = 16;

/** Up to so many features, boxes are apart often enough for a tree to be worth its walks. */
export const MOST_FEATURES = 10;

/** The tree. Nodes are numbered so that a parent stands before its children. */
interface Boxes {
  readonly features: number;
  /** The number of nodes. */
  readonly nodes: number;
  /** The samples in the order of the leaves, [samples × features]. */
  readonly points: Float64Array;
  /** Where a sample stood before: by its place in `points`. */
  readonly order: Int32Array;
  /** The samples of a node: places from `starts` up to `ends`. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** The second child of a node; the first is the next node. 0 for leaves. */
  readonly seconds: Int32Array;
  /** The least and largest values of a node's samples, [nodes × features]. */
  readonly lows: Float64Array;
  readonly highs: Float64Array;
}

/** The tree of samples, [samples × features]. */
export function boxesOf(values: ArrayLike<number>, features: number): Boxes {
  const count = values.length / features;
  const order = Int32Array.from({ length: count }, (_, i) => i);
  const depth = Math.max(0, Math.ceil(Math.log2(Math.max(1, count / LEAF))));
  const most = 2 ** (depth + 1);
  const [starts, ends, seconds] = [new Int32Array(most), new Int32Array(most), new Int32Array(most)];
  const [lows, highs] = [new Float64Array(most * features), new Float64Array(most * features)];
  let nodes = 0;
  const grow = (start: number, end: number): void => {
    const node = nodes++;
    starts[node] = start;
    ends[node] = end;
    const axis = measure(values, features, order, start, end, lows, highs, node * features);
    if (end - start <= LEAF) return;
    const middle = (start + end) >> 1;
    if (axis >= 0) split(values, features, axis, order, start, end - 1, middle);
    grow(start, middle);
    seconds[node] = nodes;
    grow(middle, end);
  };
  grow(0, count);
  const points = new Float64Array(count * features);
  for (let i = 0; i < count; i++) {
    const from = (order[i] as number) * features;
    for (let j = 0; j < features; j++) points[i * features + j] = values[from + j] as number;
  }
  return { features, nodes, points, order, starts, ends, seconds, lows, highs };
}

/** Writes a node's box; the axis along which it is widest, -1 where its samples are all equal. */
function measure(
  values: ArrayLike<number>,
  features: number,
  order: Int32Array,
  start: number,
  end: number,
  lows: Float64Array,
  highs: Float64Array,
  at: number,
): number {
  let [widest, axis] = [0, -1];
  for (let j = 0; j < features; j++) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = start; i < end; i++) {
      const value = values[(order[i] as number) * features + j] as number;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    lows[at + j] = low;
    highs[at + j] = high;
    if (high - low > widest) [widest, axis] = [high - low, j];
  }
  return axis;
}

/** Orders places so that the one in the middle is as in a sorted list, smaller ones before it (Hoare's selection). */
function split(
  values: ArrayLike<number>,
  features: number,
  axis: number,
  order: Int32Array,
  first: number,
  last: number,
  middle: number,
): void {
  const at = (i: number): number => values[(order[i] as number) * features + axis] as number;
  let [low, high] = [first, last];
  while (low < high) {
    // The median of three, so that sorted samples are not the worst case.
    const [a, b, c] = [at(low), at((low + high) >> 1), at(high)];
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    let [i, j] = [low, high];
    while (i <= j) {
      while (at(i) < pivot) i++;
      while (at(j) > pivot) j--;
      if (i > j) break;
      const kept = order[i] as number;
      order[i] = order[j] as number;
      order[j] = kept;
      i++;
      j--;
    }
    if (middle <= j) high = j;
    else if (middle >= i) low = i;
    else return;
  }
}

/** Reduced distances of rows of two arrays, from row a of one to row b of the other. */
type RowDistance = (a: number, b: number) => number;

/** The distance of a metric between rows of arrays. */
export function rowDistance(
  left: Float64Array,
  right: Float64Array,
  features: number,
  { norm, p }: Pick<Space, "norm" | "p">,
): RowDistance {
  switch (norm) {
    case "squares":
      if (features === 2) {
        return (a, b) => {
          const x = (left[2 * a] as number) - (right[2 * b] as number);
          const y = (left[2 * a + 1] as number) - (right[2 * b + 1] as number);
          return x * x + y * y;
        };
      }
      return (a, b) => {
        let sum = 0;
        for (let j = 0, i = a * features, k = b * features; j < features; j++) {
          const apart = (left[i + j] as number) - (right[k + j] as number);
          sum += apart * apart;
        }
        return sum;
      };
    case "absolutes":
      return (a, b) => {
        let sum = 0;
        for (let j = 0, i = a * features, k = b * features; j < features; j++) {
          sum += Math.abs((left[i + j] as number) - (right[k + j] as number));
        }
        return sum;
      };
    case "largest":
      return (a, b) => {
        let most = 0;
        for (let j = 0, i = a * features, k = b * features; j < features; j++) {
          most = Math.max(most, Math.abs((left[i + j] as number) - (right[k + j] as number)));
        }
        return most;
      };
    case "powers":
      return (a, b) => {
        let sum = 0;
        for (let j = 0, i = a * features, k = b * features; j < features; j++) {
          sum += Math.abs((left[i + j] as number) - (right[k + j] as number)) ** p;
        }
        return sum;
      };
    case "pairs":
      throw new UnsupportedError("neighbours: rows are compared by norms, and this metric is none.");
  }
}

const termOf = (apart: number, { norm, p }: Pick<Space, "norm" | "p">): number =>
  norm === "squares" ? apart * apart : norm === "powers" ? apart ** p : apart;

/** Hears of leaves that may be within a radius of a box. `isWithin`: all of it is. */
type LeafVisit = (node: number, isWithin: boolean) => void;

/**
 * Visits the nodes within a reduced radius of a box: leaves that may hold samples within it, and whole nodes all of whose samples are.
 * `low` and `high` hold the box's bounds from `at` on.
 */
export function visitWithin(
  boxes: Boxes,
  low: Float64Array,
  high: Float64Array,
  at: number,
  radius: number,
  space: Pick<Space, "norm" | "p">,
  visit: LeafVisit,
): void {
  const { features, lows, highs, seconds } = boxes;
  const isLargest = space.norm === "largest";
  const stack = [0];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    let [least, most] = [0, 0];
    for (let j = 0, i = node * features; j < features; j++) {
      const [a, b] = [low[at + j] as number, high[at + j] as number];
      const [c, d] = [lows[i + j] as number, highs[i + j] as number];
      const gap = termOf(c > b ? c - b : a > d ? a - d : 0, space);
      const reach = termOf(Math.max(d - a, b - c), space);
      least = isLargest ? Math.max(least, gap) : least + gap;
      most = isLargest ? Math.max(most, reach) : most + reach;
    }
    if (least > radius) continue;
    if (most <= radius) visit(node, true);
    else if (seconds[node] === 0) visit(node, false);
    else stack.push(seconds[node] as number, node + 1);
  }
}
