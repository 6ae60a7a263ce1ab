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

/** What sorting needs besides the values: variables that are sorted one after the other can share it. */
export interface SortMemory {
  readonly keys: Uint32Array;
  readonly binned: Sorted;
  readonly binnedKeys: Uint32Array;
  /** The result, until the next one. */
  readonly sorted: Sorted;
}

export function sortMemory(size: number): SortMemory {
  const [keys, binnedKeys] = [new Uint32Array(size), new Uint32Array(size)];
  return { keys, binned: newSorted(size), binnedKeys, sorted: newSorted(size) };
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
function sortByBins(x: Float64Array, { keys, binned, binnedKeys, sorted }: SortMemory): boolean {
  const { least, most } = sortableKeys(x, keys);
  // A few values in each bin. There are at least two, as shifts end at 31.
  let bins = 2;
  while (bins < MOST_BINS && 8 * bins < x.length) bins *= 2;
  let shift = 0;
  while ((most - least) >>> shift >= bins) shift++;

  const ends = new Uint32Array(bins);
  for (let i = 0; i < keys.length; i++) ends[(keys[i] - least) >>> shift]++;
  let largest = 0;
  let sum = 0;
  for (let bin = 0; bin < bins; bin++) {
    const count = ends[bin];
    largest = Math.max(largest, count);
    // Where the bin starts, for now: putting its values there moves it to the end.
    ends[bin] = sum;
    sum += count;
  }
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] - least;
    const to = ends[key >>> shift]++;
    binned.values[to] = x[i];
    binned.order[to] = i;
    binnedKeys[to] = key;
  }

  const places = new Uint32Array(largest);
  let movesLeft = MOST_MOVES * x.length;
  let start = 0;
  for (const end of ends) {
    spread(binned, binnedKeys, 2 ** shift, start, end, places, sorted);
    movesLeft = insertionSort(sorted, start, end, movesLeft);
    if (movesLeft < 0) return false;
    start = end;
  }
  return true;
}

/**
 * Unsigned words that compare as the values do, but for those that agree in seven digits: the bits of the distances from
 * a central value as floats of 32 bits. They are finest around the centre, where most values are, and tell apart
 * values close together far from zero; of long tails a few cannot spoil the rest.
 */
function sortableKeys(x: Float64Array, keys: Uint32Array): { least: number; most: number } {
  const centre = centralValue(x);
  const distances = new Float32Array(keys.buffer);
  for (let i = 0; i < x.length; i++) distances[i] = x[i] - centre;
  let [least, most] = [0xffffffff, 0];
  for (let i = 0; i < keys.length; i++) {
    const bits = keys[i];
    // All bits of a negative number are turned, the sign of another.
    const key = (bits ^ ((bits >> 31) | 0x80000000)) >>> 0;
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

/** Puts the values of a bin, keys of which are `width` apart, where they belong if they are spread evenly; stably. */
function spread(
  { values, order }: Sorted,
  keys: Uint32Array,
  width: number,
  start: number,
  end: number,
  places: Uint32Array,
  into: Sorted,
): void {
  const count = end - start;
  const slope = count / width;
  places.fill(0, 0, count);
  for (let i = start; i < end; i++) {
    const place = ((keys[i] & (width - 1)) * slope) | 0;
    keys[i] = place;
    places[place]++;
  }
  let sum = start;
  for (let place = 0; place < count; place++) {
    const here = places[place];
    places[place] = sum;
    sum += here;
  }
  for (let i = start; i < end; i++) {
    const to = places[keys[i]]++;
    into.values[to] = values[i];
    into.order[to] = order[i];
  }
}

/** Sorts a stretch that is nearly sorted. Returns what is left of the moves it may make; less than none: it gave up. */
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
