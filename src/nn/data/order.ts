/**
 * The order in which an epoch goes through its rows: a permutation that depends on a seed alone, computed on the host without any
 * device. Small ones are drawn by Fisher and Yates' method. Large ones are computed place by place, by a Feistel network (Black &
 * Rogaway 2002), so that a hundred million rows need no memory and an epoch can begin anywhere. loader.ts asks here.
 */

/** Two words that a key stands for. */
export type Seed = readonly [number, number];

/** The row at each place. */
export type Order = (place: number) => number;

/** Permutations up to this length are kept as a list: 16 MB. */
const LONGEST_LIST = 2 ** 22;

/** Rounds of the Feistel network; from four on it cannot be told from chance (Luby & Rackoff 1988). */
const ROUNDS = 6;

/** Bits from a seed: xoshiro128** (Blackman & Vigna 2018), whose state the words fill by way of a mix. */
export function bitsFrom([high, low]: Seed, stream = 0): () => number {
  const state = Uint32Array.from({ length: 4 }, (_, i) => mixed(mixed(high ^ mixed(stream + i)) ^ low));
  if (state.every((word) => word === 0)) state[0] = 1;
  return () => {
    const result = Math.imul(turned(Math.imul(state[1] as number, 5), 7), 9) >>> 0;
    const shifted = (state[1] as number) << 9;
    state[2] = (state[2] as number) ^ (state[0] as number);
    state[3] = (state[3] as number) ^ (state[1] as number);
    state[1] = (state[1] as number) ^ (state[2] as number);
    state[0] = (state[0] as number) ^ (state[3] as number);
    state[2] = (state[2] as number) ^ shifted;
    state[3] = turned(state[3] as number, 11);
    return result;
  };
}

const turned = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/** A word scrambled, by the constants of murmur3's last step. */
function mixed(word: number): number {
  let x = (word + 0x9e3779b9) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A whole number below a limit of at most 2^32, each as likely (Lemire 2019). */
export function below(limit: number, bits: () => number): number {
  const wide = BigInt(limit);
  const floor = Number(2n ** 32n % wide);
  for (;;) {
    const product = BigInt(bits()) * wide;
    if (Number(product & 0xffffffffn) >= floor) return Number(product >> 32n);
  }
}

/** Rows as they lie. */
export const inOrder: Order = (place) => place;

/** A permutation of so many rows. */
export function shuffled(count: number, seed: Seed, longestList = LONGEST_LIST): Order {
  return count <= longestList ? listed(count, seed) : computed(count, seed);
}

function listed(count: number, seed: Seed, stream = 0): Order {
  const bits = bitsFrom(seed, stream);
  const list = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = below(i + 1, bits);
    [list[i], list[j]] = [list[j] as number, list[i] as number];
  }
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
