/** Matrices of complex numbers as plain lists, their products by definition, and their memory: oracles of the tests beside. */
import assert from "node:assert/strict";
import type { NumberKind } from "../../../../src/compiler/routines/linalg/field.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../../../src/compiler/target/profile.js";
import type { DType } from "../../../../src/core/dtype.js";
import { dataOf, encodeValues } from "../../../../src/core/storage.js";
import { Node } from "../../../../src/graph/node.js";
import type { Params, RoutinePrimitive } from "../../../../src/graph/primitive.js";
import { buffer } from "../../../../src/graph/primitives/leaf.js";
import { nowhere } from "../../../support/nodes.js";
import { randomFrom } from "../../../support/random.js";

/** A complex number; the imaginary part of a real one is 0. */
export type C = readonly [re: number, im: number];
export type Matrix = C[][];

export const KINDS = {
  f32: { type: "f32", isComplex: false },
  f64: { type: "f64", isComplex: false },
  c64: { type: "f32", isComplex: true },
  c128: { type: "f64", isComplex: true },
} as const;

export const settings = { division: "native" } as const;

/** A GPU whose workgroups have at most so many lanes and bytes. */
export const gpuOf = (lanes: number, sharedBytes = 16384): TargetProfile => ({
  ...gpuProfile,
  maxLanes: lanes,
  tiles: { ...gpuProfile.tiles, maxLanes: lanes, sharedBytes },
});

/** Vulkan in software: eight lanes share a matrix. */
export const softwareGpu: TargetProfile = {
  ...gpuProfile,
  hasSlowBarriers: true,
  tiles: { kind: "registers", sharedBytes: 32768, maxLanes: 1024, units: 2 },
};

/** Devices of one lane, and of few and many. */
export const PROFILES: Readonly<Record<string, TargetProfile>> = {
  "a CPU": cpuProfile,
  "software, 8 lanes": softwareGpu,
  "a GPU of 8 lanes": gpuOf(8),
  "a GPU of 32 lanes": gpuOf(32),
  "a GPU of 64 lanes": gpuOf(64),
};

/** Kernels are the same for both widths of numbers: one device tries f32 as well. */
export const kindsOn = (profile: string): readonly NumberKind[] =>
  profile === "a GPU of 32 lanes" ? [KINDS.f64, KINDS.c128, KINDS.f32] : [KINDS.f64, KINDS.c128];

export const plus = ([a, b]: C, [c, d]: C): C => [a + c, b + d];
export const minus = ([a, b]: C, [c, d]: C): C => [a - c, b - d];
export const times = ([a, b]: C, [c, d]: C): C => [a * c - b * d, a * d + b * c];
export const conj = ([a, b]: C): C => [a, -b];
export const over = ([a, b]: C, [c, d]: C): C => {
  const norm = c * c + d * d;
  return [(a * c + b * d) / norm, (b * c - a * d) / norm];
};

/** Numbers in [-1, 1) that f32 holds. */
export function randomMatrix(rows: number, columns: number, { isComplex }: NumberKind, seed: number): Matrix {
  const random = randomFrom(1000 * seed + 10 * rows + columns);
  const next = () => random.below(1 << 20) / (1 << 19) - 1;
  return Array.from({ length: rows }, () => Array.from({ length: columns }, (): C => [next(), isComplex ? next() : 0]));
}

/** Equal to its adjoint. */
export function hermitian(n: number, kind: NumberKind, seed: number): Matrix {
  const a = randomMatrix(n, n, kind, seed);
  return a.map((row, i) => row.map((x, j): C => (i === j ? [x[0], 0] : i > j ? x : conj(a[j]![i]!))));
}

/** Lower triangular, with a real diagonal between 2 and 4: well conditioned. */
export const lowerMatrix = (n: number, kind: NumberKind, seed: number): Matrix =>
  randomMatrix(n, n, kind, seed).map((row, i) =>
    row.map(([re, im], j): C => (j > i ? [0, 0] : i === j ? [3 + re, 0] : [re, im])),
  );

export const product = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) =>
    Array.from({ length: b[0]?.length ?? 0 }, (_, j) =>
      row.reduce<C>((sum, x, c) => plus(sum, times(x, b[c]![j]!)), [0, 0]),
    ),
  );

export const adjoint = (a: Matrix): Matrix =>
  Array.from({ length: a[0]?.length ?? 0 }, (_, j) => a.map((row) => conj(row[j]!)));

export const diagonal = (values: readonly number[]): Matrix =>
  values.map((value, i) => values.map((_, j): C => [i === j ? value : 0, 0]));

export const identity = (n: number): Matrix => diagonal(new Array(n).fill(1));

/** The product of the reflections I - τ v vᴴ, the first one left: v are the rows. */
export function reflectionsOf(vectors: Matrix, factors: readonly C[]): Matrix {
  const n = vectors[0]!.length;
  return vectors.reduce((all, v, at) => {
    const one = identity(n).map((row, i) =>
      row.map((x, j) => minus(x, times(factors[at]!, times(v[i]!, conj(v[j]!))))),
    );
    return product(all, one);
  }, identity(n));
}

export const transposed = (a: Matrix): Matrix =>
  Array.from({ length: a[0]?.length ?? 0 }, (_, j) => a.map((row) => row[j]!));

/** LU factors, column by column in f64. The largest |re| + |im| is the pivot, the first of equal ones. */
export function eliminated(a: Matrix): { readonly lu: Matrix; readonly pivots: number[]; readonly order: number[] } {
  const lu = a.map((row) => [...row]);
  const [m, n] = [a.length, a[0]!.length];
  const order = a.map((_, i) => i);
  const pivots: number[] = [];
  for (let j = 0; j < Math.min(m, n); j++) {
    let pivot = j;
    const size = (i: number) => Math.abs(lu[i]![j]![0]) + Math.abs(lu[i]![j]![1]);
    for (let i = j + 1; i < m; i++) if (size(i) > size(pivot)) pivot = i;
    pivots.push(pivot);
    [lu[j], lu[pivot]] = [lu[pivot]!, lu[j]!];
    [order[j], order[pivot]] = [order[pivot]!, order[j]!];
    for (let i = j + 1; i < m; i++) {
      const factor = size(j) === 0 ? lu[i]![j]! : over(lu[i]![j]!, lu[j]![j]!);
      for (let c = j + 1; c < n; c++) lu[i]![c] = minus(lu[i]![c]!, times(factor, lu[j]![c]!));
      lu[i]![j] = factor;
    }
  }
  return { lu, pivots, order };
}

/** The largest difference of two elements. NaN is an infinite one. */
export function distance(a: Matrix, b: Matrix): number {
  assert.deepEqual([a.length, a[0]?.length], [b.length, b[0]?.length]);
  let most = 0;
  a.forEach((row, i) => {
    row.forEach((x, j) => {
      const apart = Math.hypot(...minus(x, b[i]![j]!));
      most = apart <= most ? most : Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart;
    });
  });
  return most;
}

/** Fails where two matrices differ by more than so many units of rounding. */
export function assertNear(found: Matrix, expected: Matrix, { type }: NumberKind, what: string, units = 100): void {
  const limit = units * (type === "f64" ? 2 ** -52 : 2 ** -23);
  const apart = distance(found, expected);
  assert.ok(apart <= limit, `${what}: ${apart} apart; at most ${limit}`);
}

/** Matrices one after another, as a kernel finds them. */
export function encoded(matrices: readonly Matrix[], { type, isComplex }: NumberKind): Uint8Array {
  const values = matrices.flat(2).flatMap(([re, im]) => (isComplex ? [re, im] : [re]));
  return encodeValues(values, type, "matrices");
}

/** Numbers in memory. */
export const numbersIn = (bytes: Uint8Array, dtype: DType): number[] => Array.from(dataOf(bytes, dtype), Number);

export function decoded(bytes: Uint8Array, kind: NumberKind, rows: number, columns: number): Matrix[] {
  const values = numbersIn(bytes, kind.type);
  const parts = kind.isComplex ? 2 : 1;
  const at = (place: number): C => [values[place * parts]!, kind.isComplex ? values[place * parts + 1]! : 0];
  return Array.from({ length: values.length / parts / (rows * columns) }, (_, matrix) =>
    Array.from({ length: rows }, (_, i) =>
      Array.from({ length: columns }, (_, j) => at((matrix * rows + i) * columns + j)),
    ),
  );
}

/** Bytes of so many numbers. */
export const bytesFor = (count: number, { type, isComplex }: NumberKind): number =>
  count * (type === "f64" ? 8 : 4) * (isComplex ? 2 : 1);

const shaped = (shape: readonly number[], { isComplex }: NumberKind) => (isComplex ? [...shape, 2] : [...shape]);

const leaf = (shape: readonly number[], dtype: DType): Node =>
  new Node(buffer, { shape, dtype }, [], shape, dtype, nowhere);

/** The node of a routine: inputs of these shapes, the axis of complex parts not among them. i32 where it says so. */
export function routineNode(
  name: string,
  kind: NumberKind,
  inputs: readonly (readonly number[] | "counter")[],
  params: Params = {},
  shape = inputs[0] as readonly number[],
): Node {
  const primitive: RoutinePrimitive = { name, kind: "routine", infer: () => ({ shape: [], dtype: "bool" }) };
  const leaves = inputs.map((input) => (input === "counter" ? leaf([1], "i32") : leaf(shaped(input, kind), kind.type)));
  const { isComplex } = kind;
  return new Node(primitive, { isComplex, ...params }, leaves, shaped(shape, kind), kind.type, nowhere);
}
