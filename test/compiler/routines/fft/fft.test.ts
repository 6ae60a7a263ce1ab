/** Fourier transforms of every kind, interpreted on devices of several sizes, against the definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dftRoutine } from "../../../../src/compiler/routines/fft/fft.js";
import { cpuProfile, type TargetProfile } from "../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../src/core/storage.js";
import type { DftFloat, DftKind } from "../../../../src/graph/dft-plan.js";
import { Node } from "../../../../src/graph/node.js";
import { type DftParams, dft, dftExtents } from "../../../../src/graph/primitives/dft.js";
import { buffer } from "../../../../src/graph/primitives/leaf.js";
import { interpretRoutine } from "../../../support/interpreted-routine.js";
import { nowhere } from "../../../support/nodes.js";
import { apart, type C, gpuOf, linesOf, mirrored, pairsOf, randomComplex, randomNumbers, tableOf, transformOf } from "./transforms.js"; // biome-ignore format: one line

interface Case {
  readonly kind: DftKind;
  readonly length: number;
  /** Elements of the axis; as many as the transform takes where it is left out. */
  readonly extent?: number;
  readonly lines?: readonly [outer: number, inner: number];
  readonly sign?: 1 | -1;
  readonly scale?: number;
  readonly type?: DftFloat;
  readonly isOfComplex?: boolean;
}

const fitted = <T>(x: readonly T[], count: number, zero: T): T[] =>
  Array.from({ length: count }, (_, at) => x[at] ?? zero);

/** One line by definition. */
function expectedOf(line: readonly C[], { kind, length, sign = -1, scale = 1 }: Case): C[] {
  const zero: C = [0, 0];
  const whole =
    kind === "half" ? mirrored(fitted(line, Math.floor(length / 2) + 1, zero), length) : fitted(line, length, zero);
  const found = transformOf(whole, sign).map(([re, im]): C => [scale * re, kind === "half" ? 0 : scale * im]);
  return kind === "real" ? found.slice(0, Math.floor(length / 2) + 1) : found;
}

function check(given: Case, profile: TargetProfile): void {
  const { kind, length, lines = [1, 1], sign = -1, scale = 1, type = "f64" } = given;
  const isOfComplex = given.isOfComplex ?? kind !== "real";
  const params: DftParams = { kind, axis: 1, length, sign, scale, isOfComplex };
  const { taken, given: made } = dftExtents(params);
  const extent = given.extent ?? taken;
  const [outer, inner] = lines;
  const shape = [outer, extent, inner, ...(isOfComplex ? [2] : [])];
  const count = outer * extent * inner;
  const values: C[] = isOfComplex ? randomComplex(count, length) : randomNumbers(count, length).map((x): C => [x, 0]);
  const leaf = (of: readonly number[]) => new Node(buffer, { shape: of, dtype: type }, [], of, type, nowhere);
  const table = tableOf(kind, length, type, profile.fft);
  const results = [outer, made, inner, ...(kind === "half" ? [] : [2])];
  const node = new Node(dft, { ...params }, [leaf(shape), leaf([1])], results, type, nowhere);
  const source = encodeValues(isOfComplex ? values.flat() : values.map(([re]) => re), type, "source");
  const width = (type === "f64" ? 8 : 4) * (kind === "half" ? 1 : 2);
  const plan = dftRoutine(node, profile, { division: "native" });
  const [bytes] = interpretRoutine(plan, [source, table], [outer * made * inner * width]);
  const numbers = [
    ...(type === "f64" ? new Float64Array(bytes!.slice().buffer) : new Float32Array(bytes!.slice().buffer)),
  ];
  const found = linesOf(kind === "half" ? numbers.map((x): C => [x, 0]) : pairsOf(numbers), made, lines);
  const limit = (type === "f64" ? 4e-16 : 2e-7) * scale * length * 8;
  linesOf(values, extent, lines).forEach((line, at) => {
    const distance = apart(found[at]!, expectedOf(line, given));
    assert.ok(distance <= limit, `${JSON.stringify(given)}, line ${at}: ${distance}`);
  });
}

const PROFILES: Readonly<Record<string, TargetProfile>> = {
  "a CPU": cpuProfile,
  "8 lanes": gpuOf(8),
  "32 lanes": gpuOf(32, 16384, 8),
  "64 lanes, 16 numbers to a butterfly": gpuOf(64, 16384, 16),
  "8 lanes, 2 KiB": gpuOf(8, 2048),
};

for (const [name, profile] of Object.entries(PROFILES)) {
  test(`every kind, there and back, of smooth lengths and primes; ${name}`, () => {
    for (const length of [1, 2, 3, 8, 13, 17, 30, 37, 64]) {
      for (const kind of ["complex", "real", "half"] as const) {
        check({ kind, length, lines: [2, 1] }, profile);
        check({ kind, length, lines: [1, 3], sign: 1, scale: 1 / length }, profile);
      }
    }
    check({ kind: "complex", length: 24, isOfComplex: false, lines: [2, 2] }, profile);
    check({ kind: "complex", length: 60, type: "f32", lines: [1, 2] }, profile);
  });

  test(`axes that are cut, or filled with zeros; ${name}`, () => {
    for (const length of [12, 17]) {
      for (const extent of [1, length - 3, length + 4]) {
        for (const kind of ["complex", "real"] as const) check({ kind, length, extent, lines: [2, 2] }, profile);
      }
      for (const extent of [1, 4, 12]) check({ kind: "half", length, extent, lines: [2, 2] }, profile);
    }
  });
}

test("lengths of several passes, and convolutions of several", () => {
  for (const profile of [cpuProfile, gpuOf(64, 16384, 16)]) {
    check({ kind: "complex", length: 2100, lines: [1, 2] }, profile);
    check({ kind: "complex", length: 1031, sign: 1 }, profile);
    check({ kind: "real", length: 4200, lines: [2, 1] }, profile);
    check({ kind: "half", length: 4200, sign: 1, lines: [1, 2] }, profile);
  }
});
