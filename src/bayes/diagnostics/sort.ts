/**
 * Sorting draws, a million at a time where there are thousands of chains: ranks, quantiles and normal scores begin here.
 * Memory that is read or written out of order is what costs time, so it happens once: draws go to the bins of a
 * histogram, which fit the processor's cache. In a bin each goes where it belongs if they are spread evenly, and insertion
 * puts the rest right.
 */
import { radixOrder } from "./radix-sort.js";

/** Values in ascending order, and the position each came from. */
export interface Sorted {
  readonly values: Float64Array;
  readonly order: Uint32Array;
}

export function newSorted(size: number): Sorted {
  return { values: new Float64Array(size), order: new Uint32Array(size) };
}

/** Scratch memory of sorting: variables that are sorted one after the other can share it. */
export interface SortMemory {
  readonly keys: Int32Array;
  /** Free again after sorting. */
  readonly binned: Sorted;
  /** The result, until the next one. */
  readonly sorted: Sorted;
}

export function sortMemory(size: number): SortMemory {
  return { keys: new Int32Array(size), binned: newSorted(size), sorted: newSorted(size) };
}

const MOST_BINS = 1 << 13;
/** Moves per value after which insertion gives up: numbers that are far from evenly spread in their bins. */
const MOST_MOVES = 8;

/** Sorts values other than NaN; -0 and 0 are equal, and equal values keep their order. */
export function sortWithOrder(x: Float64Array, memory = sortMemory(x.length)): Sorted {
  if (sortByBins(x, memory)) return memory.sorted;
  const order = radixOrder(x);
  return { values: Float64Array.from(order, (position) => x[position]), order };
}

/** False where it would take too long; what is left then is no longer of use. */
function sortByBins(x: Float64Array, { keys, binned, sorted }: SortMemory): boolean {
  const { least, most } = sortableKeys(x, keys);
  // A few values in each bin. There are at least two, as shifts end at 31.
  let bins = 2;
  while (bins < MOST_BINS && 8 * bins < x.length) bins *= 2;
  let shift = 0;
  while ((most - least) >>> shift >= bins) shift++;

  const { ends, largest } = putInBins(x, { keys, least, shift, bins }, binned);
  const next = new Uint32Array(largest);
  let movesLeft = MOST_MOVES * x.length;
  let start = 0;
  for (const end of ends) {
    spread(binned, start, end, next, sorted);
    movesLeft = insertionSort(sorted, start, end, movesLeft);
    if (movesLeft < 0) return false;
    start = end;
  }
  return true;
}

/**
 * Whole numbers that compare as the values do, but for those that agree in seven digits: the bits of the distances from
 * a central value as floats of 32 bits. They are finest around the centre, where most values are, and tell apart
 * values close together far from zero; of long tails a few cannot spoil the rest.
 */
function sortableKeys(x: Float64Array, keys: Int32Array): { least: number; most: number } {
  const centre = centralValue(x);
  const distances = new Float32Array(keys.buffer);
  for (let i = 0; i < x.length; i++) distances[i] = x[i] - centre;
  let [least, most] = [0x7fffffff, -0x80000000];
  for (let i = 0; i < keys.length; i++) {
    // All bits but the sign of a negative number are turned.
    const key = keys[i] ^ ((keys[i] >> 31) & 0x7fffffff);
    keys[i] = key;
    if (key < least) least = key;
    if (key > most) most = key;
  }
  return { least, most };
}

/** The median of a few values, as long as it is finite. */
function centralValue(x: Float64Array): number {
  const few = Float64Array.from({ length: 15 }, (_, i) => x[Math.floor((i * x.length) / 15)]).sort();
  return Number.isFinite(few[7]) ? few[7] : 0;
}

interface Binning {
  readonly keys: Int32Array;
  readonly least: number;
  readonly shift: number;
  readonly bins: number;
}

/** Writes the values bin after bin, each in the order they come. Returns where the bins end, and the size of the largest. */
function putInBins(x: Float64Array, binning: Binning, into: Sorted): { ends: Uint32Array; largest: number } {
  const { keys, least, shift, bins } = binning;
  const { values, order } = into;
  const ends = new Uint32Array(bins);
  for (let i = 0; i < keys.length; i++) ends[(keys[i] - least) >>> shift]++;
  let largest = 0;
  let sum = 0;
  for (let bin = 0; bin < bins; bin++) {
    const count = ends[bin];
    largest = Math.max(largest, count);
    // The start of the bin; writing its values moves it to the end.
    ends[bin] = sum;
    sum += count;
  }
  for (let i = 0; i < keys.length; i++) {
    const to = ends[(keys[i] - least) >>> shift]++;
    values[to] = x[i];
    order[to] = i;
  }
  return { ends, largest };
}

/** Puts the values of a bin where they belong if they are spread evenly, stably. `next` has room for as many counts. */
function spread({ values, order }: Sorted, start: number, end: number, next: Uint32Array, into: Sorted): void {
  let [least, most] = [Infinity, -Infinity];
  for (let i = start; i < end; i++) {
    if (values[i] < least) least = values[i];
    if (values[i] > most) most = values[i];
  }
  // The half keeps rounding from the place after the last. Of equal or infinite values all get the first: it is 0 or NaN.
  const slope = (end - start - 0.5) / (most - least);
  next.fill(0, 0, end - start);
  for (let i = start; i < end; i++) next[((values[i] - least) * slope) | 0]++;
  let sum = start;
  for (let place = 0; place < end - start; place++) {
    const count = next[place];
    next[place] = sum;
    sum += count;
  }
  for (let i = start; i < end; i++) {
    const to = next[((values[i] - least) * slope) | 0]++;
    into.values[to] = values[i];
    into.order[to] = order[i];
  }
}

/** Insertion sort for a nearly sorted range. Returns the moves left of its budget; negative if it gave up. */
function insertionSort({ values, order }: Sorted, start: number, end: number, moves: number): number {
  let left = moves;
  for (let i = start + 1; i < end && left >= 0; i++) {
    const value = values[i];
    if (!(values[i - 1] > value)) continue;
    const position = order[i];
    let j = i;
    for (; j > start && values[j - 1] > value; j--) {
      values[j] = values[j - 1];
      order[j] = order[j - 1];
    }
    values[j] = value;
    order[j] = position;
    left -= i - j;
  }
  return left;
}
