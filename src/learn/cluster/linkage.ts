/**
 * The tree of merges of hierarchical clusters, as SciPy's linkage matrix: row i merges the clusters of its first two columns, at the
 * distance of its third, into cluster samples + i, with as many samples as its fourth. Agglomerative clusters and HDBSCAN grow it.
 *
 * All ways take n² time: a minimum spanning tree for single linkage, chains of nearest neighbours (Benzécri 1982; Murtagh 1983) where a
 * merge never comes nearer to others than its parts were, and nearest pairs by a heap (Müllner 2011) for centroids, which may.
 */
import type { Distances } from "./distances.js";
import { NearestPairs } from "./nearest-pairs.js";

/** How far apart two clusters are. */
export type LinkageMethod = "single" | "complete" | "average" | "weighted" | "ward" | "centroid" | "median";

export const LINKAGE_METHODS: readonly LinkageMethod[] = [
  "ward",
  "complete",
  "average",
  "single",
  "weighted",
  "centroid",
  "median",
];

/** The distance from a merge of x and y to another cluster, by distances before it and by sizes (Lance & Williams 1967). */
type Update = (fromX: number, fromY: number, between: number, x: number, y: number, other: number) => number;

const UPDATES: Readonly<Record<Exclude<LinkageMethod, "single">, Update>> = {
  complete: (fromX, fromY) => Math.max(fromX, fromY),
  average: (fromX, fromY, _between, x, y) => (x * fromX + y * fromY) / (x + y),
  weighted: (fromX, fromY) => (fromX + fromY) / 2,
  ward(fromX, fromY, between, x, y, other) {
    const share = 1 / (x + y + other);
    return root(
      (other + x) * share * fromX * fromX + (other + y) * share * fromY * fromY - other * share * between * between,
    );
  },
  centroid: (fromX, fromY, between, x, y) =>
    root((x * fromX * fromX + y * fromY * fromY - (x * y * between * between) / (x + y)) / (x + y)),
  median: (fromX, fromY, between) => root(0.5 * (fromX * fromX + fromY * fromY) - 0.25 * between * between),
};

/** Rounding may leave a square just below zero. */
const root = (square: number): number => Math.sqrt(Math.max(0, square));

/** Merges in the order of their distances, four numbers each. */
export type Merges = Float64Array;

/** The merges of a method other than single linkage. `pairs` are distances of a < b one after the other, which this overwrites. */
export function mergesOf(method: Exclude<LinkageMethod, "single">, pairs: Float64Array, count: number): Merges {
  const update = UPDATES[method];
  return method === "centroid" || method === "median"
    ? byNearestPairs(pairs, count, update)
    : inOrder(byChains(pairs, count, update), count);
}

/** Where row a of condensed distances would begin: the pair a < b stands at `starts[a] + b`. */
const rowStarts = (count: number): Int32Array =>
  Int32Array.from({ length: count }, (_, a) => count * a - (a * (a + 1)) / 2 - a - 1);

/** Writes what a merge of x into y changes: the distances from y to all that are left. */
function updateDistances(
  pairs: Float64Array,
  starts: Int32Array,
  sizes: Int32Array,
  merge: { readonly x: number; readonly y: number; readonly between: number },
  update: Update,
): void {
  const { x, y, between } = merge;
  const [sizeX, sizeY] = [sizes[x] as number, sizes[y] as number];
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i] as number;
    if (size === 0 || i === x || i === y) continue;
    const fromX = pairs[i < x ? (starts[i] as number) + x : (starts[x] as number) + i] as number;
    const at = i < y ? (starts[i] as number) + y : (starts[y] as number) + i;
    pairs[at] = update(fromX, pairs[at] as number, between, sizeX, sizeY, size);
  }
  sizes[x] = 0;
  sizes[y] = sizeX + sizeY;
}

/** Merges between any members of the clusters, in no order: a chain goes from neighbour to nearest neighbour until two are mutual. */
function byChains(pairs: Float64Array, count: number, update: Update): Merges {
  const merges = new Float64Array(4 * (count - 1));
  const starts = rowStarts(count);
  const sizes = new Int32Array(count).fill(1);
  const chain = new Int32Array(count);
  let [length, first] = [0, 0];
  for (let k = 0; k < count - 1; k++) {
    while (sizes[first] === 0) first++;
    if (length === 0) {
      chain[0] = first;
      length = 1;
    }
    for (;;) {
      const x = chain[length - 1] as number;
      const before = length > 1 ? (chain[length - 2] as number) : -1;
      const { place, distance } = nearestTo(x, before, pairs, starts, sizes);
      if (place !== before) {
        chain[length++] = place;
        continue;
      }
      length -= 2;
      const [low, high] = x < place ? [x, place] : [place, x];
      merges.set([low, high, distance], 4 * k);
      updateDistances(pairs, starts, sizes, { x: low, y: high, between: distance }, update);
      break;
    }
  }
  return merges;
}

/** The cluster nearest to x; `preferred` among equals, lest chains go in circles, then the first. */
function nearestTo(
  x: number,
  preferred: number,
  pairs: Float64Array,
  starts: Int32Array,
  sizes: Int32Array,
): { readonly place: number; readonly distance: number } {
  const at = (i: number): number => (i < x ? (starts[i] as number) + x : (starts[x] as number) + i);
  let place = preferred;
  let distance = preferred < 0 ? Number.POSITIVE_INFINITY : (pairs[at(preferred)] as number);
  for (let i = 0; i < sizes.length; i++) {
    if (sizes[i] === 0 || i === x) continue;
    const found = pairs[at(i)] as number;
    if (found < distance || place < 0) [place, distance] = [i, found];
  }
  return { place, distance };
}

/** The nearest pair of clusters again and again. */
function byNearestPairs(pairs: Float64Array, count: number, update: Update): Merges {
  const merges = new Float64Array(4 * (count - 1));
  const starts = rowStarts(count);
  const sizes = new Int32Array(count).fill(1);
  const names = Int32Array.from({ length: count }, (_, i) => i);
  const nearest = new NearestPairs(pairs, starts, sizes);
  for (let k = 0; k < count - 1; k++) {
    const merge = nearest.take();
    const { x, y, between } = merge;
    const [a, b] = [names[x] as number, names[y] as number];
    const size = (sizes[x] as number) + (sizes[y] as number);
    merges.set([Math.min(a, b), Math.max(a, b), between, size], 4 * k);
    names[y] = count + k;
    updateDistances(pairs, starts, sizes, merge, update);
    nearest.merged(x, y);
  }
  return merges;
}

/**
 * The merges of single linkage: a minimum spanning tree, grown from the first sample (Prim 1957). `distances` gives those of one sample
 * to all, once for each.
 */
export function spanningMerges(count: number, distances: (sample: number) => ArrayLike<number>): Merges {
  const merges = new Float64Array(4 * (count - 1));
  const isIn = new Uint8Array(count);
  const best = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  let x = 0;
  for (let k = 0; k < count - 1; k++) {
    isIn[x] = 1;
    const row = distances(x);
    let [next, least] = [-1, Number.POSITIVE_INFINITY];
    for (let i = 0; i < count; i++) {
      if (isIn[i]) continue;
      const distance = row[i] as number;
      if (distance < (best[i] as number)) best[i] = distance;
      if ((best[i] as number) < least || next < 0) [next, least] = [i, best[i] as number];
    }
    merges.set([x, next, least], 4 * k);
    x = next;
  }
  return inOrder(merges, count);
}

/** The merges of single linkage of samples. */
export const singleMerges = ({ count, from }: Distances): Merges => spanningMerges(count, from);

/** Merges between members sorted by distance, equals in the order they were found, and named by their clusters. */
function inOrder(merges: Merges, count: number): Merges {
  const order = Array.from({ length: count - 1 }, (_, k) => k).sort(
    (a, b) => (merges[4 * a + 2] as number) - (merges[4 * b + 2] as number),
  );
  const sorted = new Float64Array(merges.length);
  const parents = new Int32Array(2 * count - 1).fill(-1);
  const sizes = new Int32Array(2 * count - 1).fill(1);
  const topOf = (member: number): number => {
    let top = member;
    while ((parents[top] as number) >= 0) top = parents[top] as number;
    for (let at = member; at !== top; ) {
      const up = parents[at] as number;
      parents[at] = top;
      at = up;
    }
    return top;
  };
  order.forEach((from, k) => {
    const [a, b] = [topOf(merges[4 * from] as number), topOf(merges[4 * from + 1] as number)];
    const size = (sizes[a] as number) + (sizes[b] as number);
    sorted.set([Math.min(a, b), Math.max(a, b), merges[4 * from + 2] as number, size], 4 * k);
    parents[a] = count + k;
    parents[b] = count + k;
    sizes[count + k] = size;
  });
  return sorted;
}
