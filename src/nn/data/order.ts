/**
 * The order in which an epoch goes through its rows: a permutation that depends on a seed alone, computed on the host without any
 * device. Small ones are kept as a list. Large ones are computed place by place, by a Feistel network (Black &
 * Rogaway 2002), so that a hundred million rows need no memory and an epoch can begin anywhere. loader.ts asks here.
 */
import { bitsFrom, mixed, permutation, type Seed } from "../../core/seeded-order.js";

/** The row at each place. */
export type Order = (place: number) => number;

/** Permutations up to this length are kept as a list: 16 MB. */
const LONGEST_LIST = 2 ** 22;

/** Rounds of the Feistel network; from four on it cannot be told from chance (Luby & Rackoff 1988). */
const ROUNDS = 6;

/** Rows as they lie. */
export const inOrder: Order = (place) => place;

/** A permutation of so many rows. */
export function shuffled(count: number, seed: Seed, longestList = LONGEST_LIST): Order {
  return count <= longestList ? listed(count, seed) : computed(count, seed);
}

function listed(count: number, seed: Seed, stream = 0): Order {
  const list = permutation(count, seed, stream);
  return (place) => list[place] as number;
}

/** A Feistel network over the next power of four; a place outside is sent through again until it lies inside. */
function computed(count: number, seed: Seed): Order {
  const half = Math.ceil(Math.log2(count) / 2);
  const size = 2 ** half;
  const bits = bitsFrom(seed);
  const keys = Array.from({ length: ROUNDS }, bits);
  const once = (place: number): number => {
    let [left, right] = [Math.floor(place / size), place % size];
    for (const key of keys) [left, right] = [right, (left ^ mixed(mixed(right) ^ key)) & (size - 1)];
    return left * size + right;
  };
  return (place) => {
    let at = once(place);
    while (at >= count) at = once(at);
    return at;
  };
}

/**
 * Blocks of neighbouring rows in a shuffled order, and the rows of each block shuffled among themselves: files are then read from one
 * place at a time. The last block may be shorter; it stays last.
 */
export function shuffledByBlocks(count: number, block: number, seed: Seed): Order {
  const whole = Math.floor(count / block);
  const blocks = shuffled(whole, seed);
  let inside: { readonly number: number; readonly order: Order } | undefined;
  return (place) => {
    const number = Math.floor(place / block);
    const from = number < whole ? blocks(number) * block : whole * block;
    const length = Math.min(block, count - from);
    if (inside?.number !== number) inside = { number, order: listed(length, seed, number + 1) };
    return from + inside.order(place % block);
  };
}
