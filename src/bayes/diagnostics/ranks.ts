/**
 * Sorting, ranks and normal scores: what makes R-hat and ESS indifferent to the scale and the tails of a variable (Vehtari
 * et al. 2021). A variable is sorted once; its quantiles, its scores and those of its distance from the median all
 * come from that order. A radix sort, because a million draws are usual with thousands of chains.
 */
import { normalQuantile } from "./special-functions.js";

/** Values in ascending order, and the position each came from. */
export interface Sorted {
  readonly values: Float64Array;
  readonly order: Uint32Array;
}

/** Where the high half of a double lies among its two words. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0];
/** Shorter runs are sorted by insertion. */
const SHORT_RUN = 32;
const DIGITS = [0, 11, 22] as const;

/** Sorts values other than NaN; -0 and 0 are equal, and equal values keep their order. */
export function sortWithOrder(x: Float64Array): Sorted {
  const order = new Uint32Array(x.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  const { high, low } = sortableWords(x);
  const room = { keys: new Uint32Array(x.length), order: new Uint32Array(x.length) };
  radixSort(high, order, room, 0, x.length);
  // The high words decide nearly everything. Runs of equal ones are sorted by their low words.
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && high[end] === high[start]) end++;
    if (end - start > SHORT_RUN) {
      for (let i = start; i < end; i++) high[i] = low[order[i]];
      radixSort(high, order, room, start, end);
    } else if (end - start > 1) insertionSort(low, order, start, end);
    start = end;
  }
  const values = new Float64Array(x.length);
  for (let i = 0; i < values.length; i++) values[i] = x[order[i]];
  return { values, order };
}

/** Unsigned words that compare as the doubles do: the high ones first, then the low ones. */
function sortableWords(x: Float64Array): { high: Uint32Array; low: Uint32Array } {
  const words = new Uint32Array(x.buffer, x.byteOffset, 2 * x.length);
  const high = new Uint32Array(x.length);
  const low = new Uint32Array(x.length);
  for (let i = 0; i < x.length; i++) {
    const top = words[2 * i + HIGH];
    const rest = words[2 * i + 1 - HIGH];
    const isNegative = x[i] < 0; // which -0 is not
    high[i] = isNegative ? ~top : top | 0x80000000;
    low[i] = isNegative ? ~rest : rest;
  }
  return { high, low };
}

/** Sorts a range of keys and of the order that goes with them, by three digits, the last first. */
function radixSort(
  keys: Uint32Array,
  order: Uint32Array,
  room: { readonly keys: Uint32Array; readonly order: Uint32Array },
  start: number,
  end: number,
): void {
  let [keysFrom, orderFrom, keysTo, orderTo] = [keys, order, room.keys, room.order];
  for (const shift of DIGITS) {
    const next = new Uint32Array(2049);
    for (let i = start; i < end; i++) next[((keysFrom[i] >>> shift) & 2047) + 1]++;
    if (next.includes(end - start)) continue; // they all share this digit
    next[0] = start;
    for (let digit = 1; digit < 2048; digit++) next[digit] += next[digit - 1];
    for (let i = start; i < end; i++) {
      const key = keysFrom[i];
      const to = next[(key >>> shift) & 2047]++;
      keysTo[to] = key;
      orderTo[to] = orderFrom[i];
    }
    [keysFrom, orderFrom, keysTo, orderTo] = [keysTo, orderTo, keysFrom, orderFrom];
  }
  if (keysFrom === keys) return;
  keys.set(keysFrom.subarray(start, end), start);
  order.set(orderFrom.subarray(start, end), start);
}

/** Sorts a range of the order by the keys it points to. */
function insertionSort(keys: Uint32Array, order: Uint32Array, start: number, end: number): void {
  for (let i = start + 1; i < end; i++) {
    const position = order[i];
    let j = i;
    for (; j > start && keys[order[j - 1]] > keys[position]; j--) order[j] = order[j - 1];
    order[j] = position;
  }
}

/** A quantile of sorted values, interpolated as NumPy and R do by default. */
export function quantileOf(sorted: Float64Array, probability: number): number {
  const at = (sorted.length - 1) * probability;
  // A position that should be whole may miss by rounding; without this an order statistic would be missed by an ulp.
  const nearest = Math.round(at);
  if (Math.abs(at - nearest) <= 4 * Number.EPSILON * Math.max(1, at)) return sorted[nearest];
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  return below === above ? below : below + (above - below) * (at - Math.floor(at));
}

let latest: { readonly size: number; readonly scores: Float64Array } = { size: 0, scores: new Float64Array(0) };

/** Blom's normal score of a rank counted from 1; halves are ranks of ties. */
function normalScore(rank: number, size: number): number {
  return normalQuantile((rank - 0.375) / (size + 0.25));
}

/** The scores of the ranks 1 to size. The latest are kept: all variables of a model have the same number of draws. */
function scoresOfRanks(size: number): Float64Array {
  if (latest.size !== size) {
    const scores = new Float64Array(size);
    for (let i = 0; i < size - 1 - i; i++) {
      scores[i] = normalScore(i + 1, size);
      scores[size - 1 - i] = -scores[i];
    }
    latest = { size, scores };
  }
  return latest.scores;
}

/** The normal scores of the values' ranks, at the positions they came from. Equal values share the mean of their ranks. */
export function normalScores({ values, order }: Sorted): Float64Array {
  const scores = scoresOfRanks(values.length);
  const result = new Float64Array(values.length);
  for (let start = 0; start < values.length; ) {
    let end = start + 1;
    while (end < values.length && values[end] === values[start]) end++;
    const score = end === start + 1 ? scores[start] : normalScore((start + 1 + end) / 2, values.length);
    for (let i = start; i < end; i++) result[order[i]] = score;
    start = end;
  }
  return result;
}

/** The distances from a centre, sorted: the values below it and those above, merged. */
export function foldSorted({ values, order }: Sorted, centre: number): Sorted {
  const size = values.length;
  const folded = { values: new Float64Array(size), order: new Uint32Array(size) };
  let above = 0;
  while (above < size && values[above] < centre) above++;
  let below = above - 1;
  for (let i = 0; i < size; i++) {
    const left = below >= 0 ? centre - values[below] : Infinity;
    const right = above < size ? values[above] - centre : Infinity;
    const from = left <= right ? below-- : above++;
    folded.values[i] = Math.min(left, right);
    folded.order[i] = order[from];
  }
  return folded;
}
