/**
 * Random numbers on the host that depend on a seed alone and are the same everywhere: bits, whole numbers below a limit, and
 * permutations. Orders of batches (nn) and splits of samples (learn) come from here; tensors of random numbers are src/random's.
 */

/** Two words that a key stands for. */
export type Seed = readonly [number, number];

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
export function mixed(word: number): number {
  let x = (word + 0x9e3779b9) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A whole number below a limit of at most 2^32, each as likely (Lemire 2019). */
export function below(limit: number, bits: () => number): number {
  for (;;) {
    const word = bits();
    const low = Math.imul(word, limit) >>> 0;
    // The product is rounded to 53 bits, and its high word to the nearest number, which is the right one.
    if (low >= limit || low >= 2 ** 32 % limit) return Math.round((word * limit - low) / 2 ** 32);
  }
}

/** The numbers 0 … count − 1 in an order that is as likely as any other, by Fisher and Yates' method. */
export function permutation(count: number, seed: Seed, stream = 0): Uint32Array {
  const bits = bitsFrom(seed, stream);
  // Written in a loop: `Uint32Array.from` with a function takes four times as long as all the rest.
  const list = new Uint32Array(count);
  for (let i = 0; i < count; i++) list[i] = i;
  for (let i = count - 1; i > 0; i--) {
    const j = below(i + 1, bits);
    const moved = list[i] as number;
    list[i] = list[j] as number;
    list[j] = moved;
  }
  return list;
}
