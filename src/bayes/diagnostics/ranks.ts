/**
 * Sorting, ranks and normal scores: what makes R-hat and ESS indifferent to the scale and the tails of a variable (Vehtari
 * et al. 2021). A variable is sorted once; its quantiles, its scores and those of its distance from the median all
 * come from that order. A radix sort, because a million draws are usual with thousands of chains.
 */
import type { Chains } from "../draws.js";
import type { ChainMoments } from "./chains.js";
import { normalQuantile } from "./special-functions.js";

/** Values in ascending order, and the position each came from. */
export interface Sorted {
  readonly values: Float64Array;
  readonly order: Uint32Array;
}

/** Where the high half of a double lies among its two words. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0];
const DIGITS = [0, 11, 22] as const;
/** Moves per value after which insertion gives up. */
const MOST_MOVES = 8;

/** Sorts values other than NaN; -0 and 0 are equal, and equal values keep their order. */
export function sortWithOrder(x: Float64Array): Sorted {
  // The high words of the doubles decide nearly everything, and insertion puts the rest right. Where it does not, as in
  // numbers that differ in their last digits only, the low words are sorted by first.
  const high = sortableWords(x, "high");
  const sorted = gathered(x, radixSort(high, positions(x.length)));
  if (insertionSort(sorted)) return sorted;
  const byLow = radixSort(sortableWords(x, "low"), positions(x.length));
  const highs = byLow.map((position) => high[position]);
  return gathered(x, radixSort(highs, byLow));
}

function positions(count: number): Uint32Array {
  const result = new Uint32Array(count);
  for (let i = 0; i < count; i++) result[i] = i;
  return result;
}

function gathered(x: Float64Array, order: Uint32Array): Sorted {
  const values = new Float64Array(x.length);
  for (let i = 0; i < values.length; i++) values[i] = x[order[i]];
  return { values, order };
}

/** Unsigned words that compare as the doubles do: the high ones first, then the low ones. */
function sortableWords(x: Float64Array, half: "high" | "low"): Uint32Array {
  const words = new Uint32Array(x.buffer, x.byteOffset, 2 * x.length);
  const first = half === "high" ? HIGH : 1 - HIGH;
  const sign = half === "high" ? 0x80000000 : 0;
  const result = new Uint32Array(x.length);
  // -0 is not negative here, and its sign bit is set as that of 0 will be.
  for (let i = 0; i < x.length; i++) result[i] = x[i] < 0 ? ~words[2 * i + first] : words[2 * i + first] | sign;
  return result;
}

/** The order sorted by the keys that go with it, stably: by three digits, the last first. */
function radixSort(keys: Uint32Array, order: Uint32Array): Uint32Array {
  let [keysFrom, orderFrom] = [keys, order];
  for (const shift of DIGITS) {
    const next = new Uint32Array(2049);
    for (let i = 0; i < keys.length; i++) next[((keys[i] >>> shift) & 2047) + 1]++;
    if (next.includes(keys.length)) continue; // they all share this digit
    for (let digit = 1; digit < 2048; digit++) next[digit] += next[digit - 1];
    const keysTo = new Uint32Array(keys.length);
    const orderTo = new Uint32Array(keys.length);
    for (let i = 0; i < keys.length; i++) {
      const key = keysFrom[i];
      const to = next[(key >>> shift) & 2047]++;
      keysTo[to] = key;
      orderTo[to] = orderFrom[i];
    }
    [keysFrom, orderFrom] = [keysTo, orderTo];
  }
  return orderFrom;
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

/** The normal scores of sorted values. Equal ones share that of the mean of their ranks. */
function scoresOf(values: Float64Array): Float64Array {
  const untied = scoresOfRanks(values.length);
  let scores = untied;
  for (let start = 0; start < values.length; ) {
    let end = start + 1;
    while (end < values.length && values[end] === values[start]) end++;
    if (end > start + 1) {
      if (scores === untied) scores = untied.slice();
      scores.fill(normalScore((start + 1 + end) / 2, values.length), start, end);
    }
    start = end;
  }
  return scores;
}

/** The normal scores of the values, at the positions they came from. */
export function normalScores({ values, order }: Sorted): Float64Array {
  const scores = scoresOf(values);
  const result = new Float64Array(values.length);
  for (let i = 0; i < result.length; i++) result[order[i]] = scores[i];
  return result;
}

/** The moments of chains of such scores. Summed in the order of the ranks, they need not be put in that of the draws. */
export function scoreMoments({ values, order }: Sorted, { chains, draws }: Omit<Chains, "values">): ChainMoments {
  const scores = scoresOf(values);
  const means = new Float64Array(chains);
  const squares = new Float64Array(chains);
  for (let i = 0; i < scores.length; i++) {
    const chain = Math.floor(order[i] / draws);
    means[chain] += scores[i];
    squares[chain] += scores[i] * scores[i];
  }
  let total = 0;
  for (let c = 0; c < chains; c++) {
    means[c] /= draws;
    // Scores are of size 1, so the difference loses next to nothing; but of a chain that never moves it may be negative.
    total += Math.max(squares[c] - draws * means[c] * means[c], 0);
  }
  return { draws, means, within: total / (draws - 1) / chains };
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
