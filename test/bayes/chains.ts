/** Chains for the tests of draws: seeded, with known laws. */
import type { Chains } from "../../src/bayes/draws/draws.js";
import { randomFrom } from "../support/random.js";

/** Standard normal numbers, by Box and Muller. */
export function normals(seed: number): () => number {
  const random = randomFrom(seed);
  const unit = () => (random.below(2 ** 26) + random.below(2 ** 26) / 2 ** 26 + 2 ** -28) / 2 ** 26;
  return () => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}

/** Stationary chains x' = ρ x + √(1 - ρ²) noise: standard normal, with autocorrelation ρ^lag. */
export function autoregressive(chains: number, draws: number, rho: number, seed: number): Chains {
  const next = normals(seed);
  const values = new Float64Array(chains * draws);
  for (let i = 0; i < values.length; i++) {
    values[i] = i % draws === 0 ? next() : rho * values[i - 1]! + Math.sqrt(1 - rho * rho) * next();
  }
  return { values, chains, draws };
}

export const independent = (chains: number, draws: number, seed: number): Chains =>
  autoregressive(chains, draws, 0, seed);

/** Nested arrays, chain by chain. */
export function nested({ values, chains, draws }: Chains): number[][] {
  return Array.from({ length: chains }, (_, c) => [...values.subarray(c * draws, (c + 1) * draws)]);
}

export function chainsOf(lists: readonly (readonly number[])[]): Chains {
  return { values: Float64Array.from(lists.flat()), chains: lists.length, draws: lists[0]!.length };
}
