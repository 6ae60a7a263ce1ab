/**
 * Sorting draws, a million at a time where there are thousands of chains: ranks, quantiles and normal scores begin here. The
 * rank of a draw is guessed from a histogram, the draws are put where they seem to belong, and insertion puts the rest
 * right. Reading and writing memory out of order is what costs time, so it happens once: draws go to buckets of
 * neighbouring ranks, and a bucket fits the processor's cache.
 */
import { radixOrder } from "./radix-sort.js";

/** Values in ascending order, and the position each came from. */
export interface Sorted {
  readonly values: Float64Array;
  readonly order: Uint32Array;
}

/** A bucket holds 2^this ranks. */
const BUCKET_BITS = 11;
/** Bins of the histogram, at most. */
const MOST_BINS = 1 << 13;
/** Moves per value after which insertion gives up: the histogram says little of such numbers. */
const MOST_MOVES = 8;

/** Sorts values other than NaN; -0 and 0 are equal, and equal values keep their order. */
export function sortWithOrder(x: Float64Array): Sorted {
  const sorted = sortedByRanks(x, guessedRanks(x));
  return insertionSort(sorted) ? sorted : gathered(x, radixOrder(x));
}

function gathered(x: Float64Array, order: Uint32Array): Sorted {
  return { values: Float64Array.from(order, (position) => x[position]), order };
}

/** About how many values are smaller than each; where x is greater, never less. */
function guessedRanks(x: Float64Array): Uint32Array {
  const { keys, least, most } = sortableKeys(x);
  // A few values in each; at least two, as shifts end at 31.
  let bins = 2;
  while (bins < MOST_BINS && 8 * bins < x.length) bins *= 2;
  let shift = 0;
  while ((most - least) >>> shift >= bins) shift++;
  const counts = new Uint32Array(bins);
  for (let i = 0; i < keys.length; i++) counts[(keys[i] - least) >>> shift]++;

  // The values of a bin are taken to be spread evenly over it.
  const width = 2 ** shift;
  const before = new Uint32Array(bins);
  for (let bin = 1; bin < bins; bin++) before[bin] = before[bin - 1] + counts[bin - 1];
  const slopes = Float64Array.from(counts, (count) => count / width);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] - least;
    const bin = key >>> shift;
    keys[i] = before[bin] + (((key & (width - 1)) * slopes[bin]) | 0);
  }
  return keys;
}

/**
 * Unsigned words that compare as the values do, but for those that agree in seven digits: the bits of the distances from
 * a central value as floats of 32 bits. They are finest around the centre, where most values are, and tell apart
 * values close together far from zero; of long tails a few cannot spoil the rest.
 */
function sortableKeys(x: Float64Array): { keys: Uint32Array; least: number; most: number } {
  const centre = centralValue(x);
  const distances = new Float32Array(x.length);
  for (let i = 0; i < x.length; i++) distances[i] = x[i] - centre;
  const keys = new Uint32Array(distances.buffer);
  let [least, most] = [0xffffffff, 0];
  for (let i = 0; i < keys.length; i++) {
    const bits = keys[i];
    // All bits of a negative number are turned, the sign of another.
    const key = (bits ^ ((bits >> 31) | 0x80000000)) >>> 0;
    keys[i] = key;
    if (key < least) least = key;
    if (key > most) most = key;
  }
  return { keys, least, most };
}

/** The median of a few values, as long as it is finite. */
function centralValue(x: Float64Array): number {
  const few = Float64Array.from({ length: 15 }, (_, i) => x[Math.floor((i * x.length) / 15)]).sort();
  return Number.isFinite(few[7]) ? few[7] : 0;
}

/** The values in the order of their ranks, stably: first to buckets of neighbouring ranks, then inside those. */
function sortedByRanks(x: Float64Array, ranks: Uint32Array): Sorted {
  const size = 1 << BUCKET_BITS;
  const ends = new Uint32Array((x.length >>> BUCKET_BITS) + 1);
  for (let i = 0; i < ranks.length; i++) ends[ranks[i] >>> BUCKET_BITS]++;
  let sum = 0;
  for (let bucket = 0; bucket < ends.length; bucket++) {
    const start = sum;
    sum += ends[bucket];
    ends[bucket] = start;
  }
  const values = new Float64Array(x.length);
  const order = new Uint32Array(x.length);
  const inside = new Uint16Array(x.length);
  for (let i = 0; i < ranks.length; i++) {
    const rank = ranks[i];
    // What begins as a bucket's start ends as its end.
    const to = ends[rank >>> BUCKET_BITS]++;
    values[to] = x[i];
    order[to] = i;
    inside[to] = rank & (size - 1);
  }

  const sorted = { values: new Float64Array(x.length), order: new Uint32Array(x.length) };
  const next = new Uint32Array(size);
  let start = 0;
  for (const end of ends) {
    next.fill(0);
    for (let i = start; i < end; i++) next[inside[i]]++;
    let at = start;
    for (let rank = 0; rank < size; rank++) {
      const count = next[rank];
      next[rank] = at;
      at += count;
    }
    for (let i = start; i < end; i++) {
      const to = next[inside[i]]++;
      sorted.values[to] = values[i];
      sorted.order[to] = order[i];
    }
    start = end;
  }
  return sorted;
}

/** Sorts what is nearly sorted. False where it would take too long; what is left then is no longer of use. */
function insertionSort({ values, order }: Sorted): boolean {
  let moves = 0;
  for (let i = 1; i < values.length; i++) {
    const value = values[i];
    if (!(values[i - 1] > value)) continue;
    const position = order[i];
    let j = i;
    for (; j > 0 && values[j - 1] > value; j--) {
      values[j] = values[j - 1];
      order[j] = order[j - 1];
    }
    values[j] = value;
    order[j] = position;
    moves += i - j;
    if (moves > MOST_MOVES * values.length) return false;
  }
  return true;
}
