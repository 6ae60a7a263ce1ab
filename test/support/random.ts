/** Seeded random numbers for property tests: a failure names its seed and can be run again. */
export interface Random {
  /** A whole number from 0 to n-1. */
  below(n: number): number;
  pick<T>(items: readonly T[]): T;
  bytes(length: number): Uint8Array;
}

/** Mulberry32 (Tommy Ettinger, 2017): 32 bits of state, good enough to choose test cases. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  const below = (n: number) => Math.floor((next() / 2 ** 32) * n);
  return {
    below,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    bytes: (length) => Uint8Array.from({ length }, () => next() & 255),
  };
}
