/** Problems diag(d) + ρ z zᵀ with halves of d that rise, and their matrices: for the tests of their kernels. */
import { randomFrom } from "../../../../support/random.js";

export interface Problem {
  readonly d: readonly number[];
  readonly z: readonly number[];
  readonly rho: number;
}

const M = 10;

/** Halves that rise, of numbers that f32 holds, and a z of length 1. */
function problem(seed: number, change: (d: number[], z: number[]) => void = () => {}, rho = 0.75): Problem {
  const random = randomFrom(seed);
  const next = () => random.below(1 << 16) / (1 << 14) - 2;
  const d = Array.from({ length: M }, next);
  const z = d.map(next);
  change(d, z);
  const half = (from: number) => d.slice(from, from + M / 2).sort((a, b) => a - b);
  const length = Math.hypot(...z) || 1;
  return { d: [...half(0), ...half(M / 2)], z: z.map((x) => Math.fround(x / length)), rho };
}

/** Two of each kind. */
export const PROBLEMS: Readonly<Record<string, readonly Problem[]>> = {
  "different values": [problem(1), problem(2)],
  "equal values": [problem(3, (d) => d.fill(1.5)), problem(4, (d) => d.fill(0))],
  "no weight": [problem(5, (_, z) => z.fill(0)), problem(6, (_, z) => z.fill(0, 2, 5))],
  "pairs of equal values": [7, 8].map((seed) => problem(seed, (d) => d.splice(M / 2, M / 2, ...d.slice(0, M / 2)))),
  "close values": [9, 10].map((seed) => problem(seed, (d) => d.splice(0, M, ...d.map((x) => x * 2 ** -20)))),
  "nothing added": [problem(11, () => {}, 0), problem(12, () => {}, 1e-20)],
};

export const rankOneMatrix = ({ d, z, rho }: Problem): number[][] =>
  d.map((own, i) => z.map((zj, j) => (i === j ? own : 0) + rho * z[i]! * zj));
