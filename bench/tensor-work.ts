/**
 * The work that the rows on tensors measure, on whichever device: inputs, an expression, and what elements of its result
 * must be, computed by plain loops in double precision. The inputs are a hash of each element's position, which peers in
 * other languages compute alike (bench/peers), so that their results can be compared with ours.
 */
import type { HostDevice } from "../src/engines/host/device.js";
import type { VulkanDevice } from "../src/engines/vulkan/device.js";
import { arange, type DType, type Tensor, tensor } from "../src/index.js";
import { backendFor } from "../src/tensor/index.js";
import { type Context, timedSync } from "./harness.js";
import { type Closeness, isClose } from "./results.js";

export interface Work {
  readonly inputs: readonly Tensor[];
  /** The result, or several that are computed together. */
  compute(): Tensor | readonly Tensor[];
  /** The element at a position of the flattened result, the first unless told. Asked for once each, in order. */
  expected?(position: number, result: number): number;
  /** Instead of `expected`, where plain loops cannot follow at this size: throws where the results cannot be right. */
  check?(results: readonly Tensor[]): Promise<void>;
  /** How close elements must be; a thousandth unless told. */
  readonly closeness?: Closeness;
  /** False where peers do not compute the same elements, as of random numbers. */
  readonly isComparable?: boolean;
}

/** The part of a row's context that work on tensors needs. */
export type TensorContext = Omit<Context, "device" | "deviceIndex" | "ceiling">;

// ---------------------------------------------------------------------------------------------- inputs

const [SPREAD, START, MIX] = [0x9e3779b1, 0x85ebca6b, 0x2c1b3c6d];

/** 24 bits that look random, of a position and a seed. */
export function hashAt(position: number, seed: number): number {
  const hash = Math.imul(position, SPREAD) + Math.imul(seed + 1, START);
  return Math.imul(hash ^ (hash >>> 15), MIX) >>> 8;
}

/** A number in [0, 1) that an f32 holds exactly. */
export const uniformAt = (position: number, seed: number): number => hashAt(position, seed) / 2 ** 24;

function hashes(device: string, length: number, seed: number): Tensor {
  const spread = arange(0, length, 1, { dtype: "u32", device })
    .mul(SPREAD)
    .add(Math.imul(seed + 1, START) >>> 0);
  return spread.bitwiseXor(spread.rightShift(15)).mul(MIX).rightShift(8);
}

export function uniform(device: string, shape: readonly number[], seed: number): Tensor {
  const length = shape.reduce((product, extent) => product * extent, 1);
  return hashes(device, length, seed)
    .cast("f32")
    .mul(2 ** -24)
    .reshape([...shape])
    .realize();
}

/** Numbers in [-1, 1), rounded to a dtype: their products and sums are of either sign, and show a misplaced element. */
export const centred = (device: string, shape: readonly number[], seed: number, dtype: DType = "f32"): Tensor =>
  uniform(device, shape, seed).mul(2).sub(1).cast(dtype).realize();
export const centredAt = (position: number, seed: number, dtype: DType = "f32"): number =>
  rounded(2 * uniformAt(position, seed) - 1, dtype);

/** Bits of the significand and the smallest exponent of a normal number, of dtypes that do not hold our inputs exactly. */
const NARROW: Partial<Record<DType, readonly [bits: number, exponent: number]>> = { f16: [11, -14], bf16: [8, -126] };

/** The nearest number of a dtype, the even one of two. */
function rounded(value: number, dtype: DType): number {
  const format = NARROW[dtype];
  if (!format || value === 0) return value;
  const [bits, least] = format;
  const unit = 2 ** (Math.max(least, Math.floor(Math.log2(Math.abs(value)))) - bits + 1);
  const [below, rest] = [Math.floor(value / unit), value / unit - Math.floor(value / unit)];
  return (rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below) * unit;
}

/** Results in narrow dtypes are themselves rounded, and inner roundings differ from library to library. */
export const closenessIn = (dtype: DType, floor: number): Closeness => ({
  relative: { f16: 4e-3, bf16: 2e-2 }[dtype as string] ?? 1e-3,
  floor,
});

/** Positions below `limit`. */
export const positions = (device: string, length: number, limit: number, seed: number): Tensor =>
  hashes(device, length, seed).remainder(limit).cast("i32").realize();
export const positionAt = (i: number, limit: number, seed: number): number => hashAt(i, seed) % limit;

// ---------------------------------------------------------------------------------------------- expressions

/** tanh(a·b + c)·sigmoid(d). */
export function chain(device: string, length: number): Work {
  const inputs = [0, 1, 2, 3].map((seed) => uniform(device, [length], seed));
  const [a, b, c, d] = inputs;
  return {
    inputs,
    compute: () => a.mul(b).add(c).tanh().mul(d.sigmoid()),
    expected(i) {
      const [x, y, z, w] = [0, 1, 2, 3].map((seed) => uniformAt(i, seed));
      return Math.tanh(x * y + z) / (1 + Math.exp(-w));
    },
  };
}

/** The sum of a square over one axis, or over both. */
export function sum(device: string, edge: number, axis: 0 | 1 | null): Work {
  const x = uniform(device, [edge, edge], 0);
  return {
    inputs: [x],
    compute: () => (axis === null ? x.sum() : x.sum({ axis })),
    expected(i) {
      const [start, step, count] =
        axis === null ? [0, 1, edge * edge] : axis === 0 ? [i, edge, edge] : [i * edge, 1, edge];
      return total(count, (k) => uniformAt(start + k * step, 0));
    },
  };
}

export function softmax(device: string, rows: number, columns: number): Work {
  const x = uniform(device, [rows, columns], 0);
  return {
    inputs: [x],
    compute: () => x.softmax(),
    expected(i) {
      const start = i - (i % columns);
      return Math.exp(uniformAt(i, 0)) / total(columns, (k) => Math.exp(uniformAt(start + k, 0)));
    },
  };
}

const EPSILON = 1e-5;

/** Rows brought to mean 0 and variance 1. */
export function layerNorm(device: string, rows: number, columns: number): Work {
  const x = uniform(device, [rows, columns], 0);
  return {
    inputs: [x],
    compute: () => {
      const centred = x.sub(x.mean({ axis: 1, keepDims: true }));
      return centred.mul(x.variance({ axis: 1, keepDims: true }).add(EPSILON).rsqrt());
    },
    expected(i) {
      const start = i - (i % columns);
      const mean = total(columns, (k) => uniformAt(start + k, 0)) / columns;
      const variance = total(columns, (k) => (uniformAt(start + k, 0) - mean) ** 2) / columns;
      return (uniformAt(i, 0) - mean) / Math.sqrt(variance + EPSILON);
    },
  };
}

export function transpose(device: string, edge: number): Work {
  const x = uniform(device, [edge, edge], 0);
  return {
    inputs: [x],
    compute: () => x.T,
    expected: (i) => uniformAt((i % edge) * edge + Math.floor(i / edge), 0),
  };
}

export function gather(device: string, length: number): Work {
  const x = uniform(device, [length], 0);
  const places = positions(device, length, length, 1);
  return {
    inputs: [x, places],
    compute: () => x.take(places),
    expected: (i) => uniformAt(positionAt(i, length, 1), 0),
  };
}

/** A copy to whose elements others are added, at random places. */
export function scatterAdd(device: string, length: number): Work {
  const x = uniform(device, [length], 0);
  const places = positions(device, length, length, 1);
  const values = uniform(device, [length], 2);
  return {
    inputs: [x, places, values],
    compute: () => x.addAt(places, values),
    expected: (i) => uniformAt(i, 0) + total(length, (k) => (positionAt(k, length, 1) === i ? uniformAt(k, 2) : 0)),
  };
}

export function cumsum(device: string, length: number): Work {
  const x = uniform(device, [length], 0);
  let [sum, count] = [0, 0];
  return {
    inputs: [x],
    compute: () => x.cumsum(),
    // Elements are asked for in order: each sum goes on from the one before.
    expected(i) {
      for (; count <= i; count++) sum += uniformAt(count, 0);
      return sum;
    },
  };
}

export function sort(device: string, length: number): Work {
  const x = uniform(device, [length], 0);
  let sorted: Float32Array | undefined;
  return {
    inputs: [x],
    compute: () => x.sort(),
    expected(i) {
      if (!sorted) {
        sorted = new Float32Array(length);
        for (let k = 0; k < length; k++) sorted[k] = uniformAt(k, 0);
        sorted.sort();
      }
      return sorted[i]!;
    },
  };
}

export function matmul(device: string, edge: number): Work {
  const [a, b] = [0, 1].map((seed) => uniform(device, [edge, edge], seed));
  return {
    inputs: [a, b],
    compute: () => a.matmul(b),
    expected(i) {
      const [row, column] = [Math.floor(i / edge), i % edge];
      return total(edge, (k) => uniformAt(row * edge + k, 0) * uniformAt(k * edge + column, 1));
    },
  };
}

export function total(count: number, term: (k: number) => number): number {
  let sum = 0;
  for (let k = 0; k < count; k++) sum += term(k);
  return sum;
}

// ---------------------------------------------------------------------------------------------- measuring

/** The engine behind a device, to wait for. */
export const engineOf = (device: string) => backendFor(device).engine as HostDevice | VulkanDevice;

const PROBES = 8;

/** Positions spread over a result, the first and the last among them, each once. */
export const probes = (size: number): number[] => [
  ...new Set(Array.from({ length: PROBES }, (_, k) => Math.floor(((size - 1) * k) / (PROBES - 1)))),
];

const MOST_REPEATS = 8;
/** Longer work hides the wait by itself. */
const LONG_MS = 40;

/**
 * How often to do `once` per wait: several times, as the peers do, because the wait is no part of what a kernel costs.
 * Work that takes long is done less often. The CPU engine has nothing to wait for.
 */
export function repeatsOf({ tensors, isSoftware }: TensorContext, once: () => void): number {
  if (tensors === "cpu" || isSoftware) return 1;
  const engine = engineOf(tensors);
  const timedOnce = () => {
    once();
    engine.finishSync();
  };
  timedOnce(); // compiles
  return Math.min(MOST_REPEATS, Math.max(1, Math.floor(LONG_MS / timedSync(timedOnce))));
}

const listed = (results: Tensor | readonly Tensor[]): readonly Tensor[] =>
  Array.isArray(results) ? results : [results as Tensor];

/** The results, submitted. */
export function computed(work: Work): readonly Tensor[] {
  const results = listed(work.compute());
  for (const result of results) result.realize();
  return results;
}

/** Milliseconds to compute the result, and its proof: elements are checked after the last sample. */
export async function milliseconds(context: TensorContext, work: Work): Promise<number[]> {
  const engine = engineOf(context.tensors);
  const once = () => {
    for (const result of computed(work)) result.dispose();
  };
  try {
    const repeats = repeatsOf(context, once);
    const samples = await context.sample(() => {
      engine.finishSync();
      const ms = timedSync(() => {
        for (let i = 0; i < repeats; i++) once();
        engine.finishSync();
      });
      return ms / repeats;
    });
    await prove(context, work);
    return samples;
  } finally {
    free(context.tensors, work.inputs);
  }
}

/** Gives the memory of a row's tensors back, for the next row. */
export function free(device: string, tensors: readonly Tensor[]): void {
  for (const each of tensors) each.dispose();
  const engine = engineOf(device);
  engine.collect();
  engine.trim();
}

/** Checks the results, and shows elements of them. */
export async function prove(context: TensorContext, work: Work): Promise<void> {
  const results = computed(work);
  try {
    const values = await proveElements(context.tensors, work, results);
    await work.check?.(results);
    if (work.isComparable ?? true) context.show(values, work.closeness);
  } finally {
    for (const result of results) result.dispose();
  }
}

/** Elements of all results, checked against plain loops where the work has them. */
async function proveElements(device: string, { expected, closeness }: Work, results: readonly Tensor[]) {
  const all: number[] = [];
  for (const [index, result] of results.entries()) {
    const places = probes(result.size);
    using taken = result.flatten().take(tensor(places, { dtype: "i32", device }));
    const values: number[] = [...(await taken.cast("f32").data())];
    places.forEach((place, i) => {
      const right = expected?.(place, index);
      if (right !== undefined && !isClose(values[i]!, right, closeness))
        throw new Error(`Element ${place} of result ${index} is ${values[i]}; ${right} is right.`);
    });
    all.push(...values);
  }
  return all;
}

/** A check by the same computation at a size that plain loops can follow. */
export const checkBySmaller = (device: string, smaller: Work) => async (): Promise<void> => {
  const results = computed(smaller);
  await proveElements(device, smaller, results);
  for (const each of [...results, ...smaller.inputs]) each.dispose();
};
