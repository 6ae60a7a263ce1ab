/** Fourier transforms of plain lists by their definition, and passes made by hand: for the tests beside. */
import type { Digit, Pass } from "../../../../src/compiler/routines/fft/pass.js";
import { gpuProfile, type TargetProfile } from "../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { type DftFloat, type DftKind, type DftLimits, planDft } from "../../../../src/graph/dft-plan.js";
import { dftTable } from "../../../../src/graph/dft-table.js";
import { dftByDefinition } from "../../../support/dft-oracle.js";
import { randomFrom } from "../../../support/random.js";

export type C = readonly [re: number, im: number];

/** Numbers in [-1, 1) that f32 holds. */
export function randomNumbers(count: number, seed: number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => random.below(1 << 16) / (1 << 15) - 1);
}

export const randomComplex = (count: number, seed: number): C[] => {
  const [re, im] = [randomNumbers(count, seed), randomNumbers(count, seed + 1000)];
  return re.map((x, at) => [x, im[at]!]);
};

/** Σ x[j] exp(sign · 2πi jk/n) for each k. */
export function transformOf(x: readonly C[], sign: 1 | -1): C[] {
  const [re, im] = [0, 1].map((part) => Float64Array.from(x, (each) => each[part]!));
  const found = dftByDefinition({ re: re!, im: im! }, sign);
  return x.map((_, k) => [found.re[k]!, found.im[k]!]);
}

/** All of a spectrum from its first half; the first number and the middle one are real. */
export function mirrored(half: readonly C[], length: number): C[] {
  return Array.from({ length }, (_, k): C => {
    const [re, im] = half[Math.min(k, length - k)] ?? [0, 0];
    const isReal = k === 0 || 2 * k === length;
    return [re, isReal ? 0 : 2 * k > length ? -im : im];
  });
}

/** The largest butterfly of passes made by hand. */
const RADIX = 4;
export const LIMITS = { largestRadix: RADIX, largestOfColumns: RADIX, longestPass: 4096 };

/** The constants of a transform, as kernels find them. */
export const tableOf = (kind: DftKind, length: number, type: DftFloat, limits: DftLimits = LIMITS): Uint8Array =>
  encodeValues([...dftTable(planDft(kind, length, type, limits), type)], type, "table");

/** A GPU with at most so many lanes, bytes of shared memory, and numbers in a butterfly. */
export const gpuOf = (lanes: number, sharedBytes = 16384, largestRadix = RADIX): TargetProfile => ({
  ...gpuProfile,
  maxLanes: lanes,
  tiles: { ...gpuProfile.tiles, maxLanes: lanes, sharedBytes },
  fft: {
    ...gpuProfile.fft,
    largestRadix,
    largestOfColumns: largestRadix,
    fewLanes: Math.min(16, lanes),
    manyLanes: lanes,
  },
});

const still = { fromPosition: 0, toPosition: 0 };

/** Complex transforms of lines along the middle axis of [outer, length, inner], in one pass. */
export function wholePass(length: number, [outer, inner]: readonly [number, number], change: Partial<Pass> = {}): Pass {
  const type = change.type ?? "f64";
  const { table, radices } = planDft("complex", length, type, LIMITS);
  const digits: Digit[] = [
    { extent: inner, from: 1, to: 1, ...still },
    { extent: outer, from: length * inner, to: length * inner, ...still },
  ];
  return {
    name: `pass[${outer}×${length}×${inner}]`,
    type,
    length,
    radices: radices.get(length) ?? [],
    computed: length,
    whole: length,
    sign: -1,
    digits: digits.filter(({ extent }) => extent !== 1),
    fromStep: 1,
    toStep: 1,
    start: 0,
    fromApart: inner,
    toApart: inner,
    reading: { kind: "complex", extent: length, positions: length, factor: null, isWindowed: false },
    writing: { kind: "complex", extent: length, factor: null, scale: 1 },
    roots: table.roots.get(length) ?? 0,
    halves: 0,
    long: { fine: 0, coarse: 0, step: 1 },
    twiddle: null,
    convolved: null,
    ...change,
  };
}

/** The lines along the middle axis of [outer, length, inner]: line o · inner + i. */
export function linesOf<T>(values: readonly T[], length: number, [outer, inner]: readonly [number, number]): T[][] {
  return Array.from({ length: outer * inner }, (_, line) => {
    const [o, i] = [Math.floor(line / inner), line % inner];
    return Array.from({ length }, (_, j) => values[(o * length + j) * inner + i]!);
  });
}

export const pairsOf = (numbers: readonly number[]): C[] =>
  Array.from({ length: numbers.length / 2 }, (_, at) => [numbers[2 * at]!, numbers[2 * at + 1]!]);

/** The largest difference of two lists. */
export function apart(found: readonly C[], expected: readonly C[]): number {
  if (found.length !== expected.length) return Number.POSITIVE_INFINITY;
  return found.reduce((most, [re, im], at) => {
    const distance = Math.hypot(re - expected[at]![0], im - expected[at]![1]);
    return distance <= most ? most : Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
  }, 0);
}
