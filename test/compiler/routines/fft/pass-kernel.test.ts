/** A pass is interpreted: every kind of reading and writing against its meaning, roots and twiddles. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import type { Pass, Reading, Writing } from "../../../../src/compiler/routines/fft/pass.js";
import { PassKernel } from "../../../../src/compiler/routines/fft/pass-kernel.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { planDft } from "../../../../src/graph/dft-plan.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { apart, type C, LIMITS, mirrored, pairsOf, randomComplex, randomNumbers, tableOf, transformOf, wholePass } from "./transforms.js"; // biome-ignore format: one line

const numbersIn = (bytes: Uint8Array) => [...new Float64Array(bytes.slice().buffer)];

/** Runs a kernel of one lane over a source, a table, and a target of so many numbers. */
function run(pass: Pass, source: readonly number[], table: Uint8Array, count: number, write: (p: PassKernel) => void) {
  const k = new KernelBuilder("pass", 1);
  const p = new PassKernel(k, pass);
  write(p);
  const target = undefinedBytes(8 * count);
  interpretKernel(k.finish(), [encodeValues([...source], "f64", "source"), table, target]);
  return numbersIn(target);
}

/** The elements of a pass of one transform, as it reads them. */
function elements(
  length: number,
  reading: Partial<Reading>,
  source: readonly number[],
  change: Partial<Pass> = {},
): C[] {
  const rest = { extent: length, positions: length, factor: null, isWindowed: false };
  const whole: Reading = { kind: "complex", ...rest, ...reading };
  const pass = wholePass(length, [1, 1], { reading: whole, ...change });
  const table = tableOf("real", 2 * length, "f64");
  const found = run(pass, source, table, 2 * length, (p) => {
    const transform = p.transform([]);
    for (let j = 0; j < length; j++) p.write(transform, p.i(j), p.read(transform, p.i(j)), null);
  });
  return pairsOf(found);
}

test("complex and real elements; beyond those there are, zeros", () => {
  const given = randomComplex(6, 1);
  assert.deepEqual(elements(6, {}, given.flat()), given);
  const cut = elements(6, { extent: 4 }, given.slice(0, 4).flat());
  assert.deepEqual(cut, [...given.slice(0, 4), [0, 0], [0, 0]]);
  assert.deepEqual(elements(6, { positions: 3 }, given.flat()), [...given.slice(0, 3), ...new Array(3).fill([0, 0])]); // biome-ignore format: one line
  const reals = randomNumbers(6, 2);
  assert.deepEqual(elements(6, { kind: "real" }, reals), reals.map((x) => [x, 0])); // biome-ignore format: one line
});

test("elements from a start on, at a distance, under a window", () => {
  const given = randomNumbers(20, 5);
  const window = randomNumbers(5, 6);
  const reading: Reading = { kind: "real", extent: 5, positions: 6, factor: null, isWindowed: true };
  const k = new KernelBuilder("pass", 1);
  const p = new PassKernel(k, wholePass(6, [1, 1], { reading, start: 2, fromApart: 3 }));
  const transform = p.transform([]);
  for (let j = 0; j < 6; j++) p.write(transform, p.i(j), p.read(transform, p.i(j)), null);
  const target = undefinedBytes(8 * 12);
  const buffers = [encodeValues(given, "f64", "source"), tableOf("complex", 6, "f64"), target, encodeValues(window, "f64", "window")]; // biome-ignore format: one line
  interpretKernel(k.finish(), buffers);
  const expected = Array.from({ length: 6 }, (_, j): C => [j < 5 ? given[2 + 3 * j]! * window[j]! : 0, 0]);
  assert.deepEqual(pairsOf(numbersIn(target)), expected);
});

test("pairs of real numbers as one; the last one may be without a partner", () => {
  const given = randomNumbers(12, 3);
  assert.deepEqual(elements(6, { kind: "pairs", extent: 12 }, given), pairsOf(given));
  const odd = elements(6, { kind: "pairs", extent: 9 }, given.slice(0, 9));
  assert.deepEqual(odd, pairsOf([...given.slice(0, 9), 0, 0, 0]));
});

test("half a spectrum stands for all of it", () => {
  for (const length of [6, 7]) {
    const half = randomComplex(Math.floor(length / 2) + 1, length);
    const found = elements(length, { kind: "mirrored", extent: half.length }, half.flat());
    assert.equal(apart(found, mirrored(half, length)), 0);
    const cut = elements(length, { kind: "mirrored", extent: 2 }, half.slice(0, 2).flat());
    assert.equal(apart(cut, mirrored(half.slice(0, 2), length)), 0);
  }
});

test("half a spectrum of twice the length as the spectrum of pairs: transformed back, twice its numbers", () => {
  for (const sign of [1, -1] as const) {
    const length = 6;
    const half = randomComplex(length + 1, 9);
    const { halves } = planDft("half", 2 * length, "f64", LIMITS).table;
    const found = elements(length, { kind: "joined", extent: length + 1 }, half.flat(), { sign, halves });
    const whole = transformOf(mirrored(half, 2 * length), sign).map(([re]) => re);
    assert.ok(apart(transformOf(found, sign), pairsOf(whole)) < 1e-14, `sign ${sign}`);
  }
});

test("writing: real parts alone, pairs, scaled, and no further than the axis goes", () => {
  const given = randomComplex(4, 4);
  const made = (writing: Partial<Writing>, count: number) => {
    const whole: Writing = { kind: "complex", extent: 4, factor: null, scale: 1, ...writing };
    return run(wholePass(4, [1, 1], { writing: whole }), given.flat(), tableOf("complex", 4, "f64"), count, (p) => {
      const transform = p.transform([]);
      for (let j = 0; j < 4; j++) p.write(transform, p.i(j), p.read(transform, p.i(j)), null);
    });
  };
  assert.deepEqual(made({ kind: "real" }, 4), given.map(([re]) => re)); // biome-ignore format: one line
  assert.deepEqual(made({ kind: "pairs", extent: 8 }, 8), given.flat());
  assert.deepEqual(made({ scale: 0.5 }, 8), given.flat().map((x) => x / 2)); // biome-ignore format: one line
  assert.deepEqual(made({ extent: 3 }, 6), given.slice(0, 3).flat());
  assert.deepEqual(made({ kind: "real", extent: 2 }, 2), given.slice(0, 2).map(([re]) => re)); // biome-ignore format: one line
});

test("half a spectrum of twice the length, from that of pairs", () => {
  for (const sign of [1, -1] as const) {
    for (const length of [5, 6]) {
      const x = randomNumbers(2 * length, length);
      const spectrum = transformOf(pairsOf(x), sign);
      const { halves } = planDft("real", 2 * length, "f64", LIMITS).table;
      const writing: Writing = { kind: "halved", extent: length + 1, factor: null, scale: 3 };
      const pass = wholePass(length, [1, 1], { sign, writing, halves });
      const found = run(pass, spectrum.flat(), tableOf("real", 2 * length, "f64"), 2 * (length + 1), (p) => {
        const transform = p.transform([]);
        for (let j = 0; 2 * j <= length; j++) {
          const across = p.read(transform, p.i(j === 0 ? 0 : length - j));
          p.writeHalved(transform, p.i(j), p.read(transform, p.i(j)), across, null);
        }
      });
      const expected = transformOf(x.map((each): C => [each, 0]), sign).slice(0, length + 1); // biome-ignore format: one line
      assert.ok(apart(pairsOf(found), expected.map(([re, im]): C => [3 * re, 3 * im])) < 1e-13, `${length}, ${sign}`); // biome-ignore format: one line
    }
  }
});

test("elements of lines and positions: base, step and inner", () => {
  const digits = [
    { extent: 2, from: 1, to: 1, fromPosition: 0, toPosition: 0 },
    { extent: 3, from: 0, to: 0, fromPosition: 2, toPosition: 1 },
  ];
  const pass = wholePass(2, [1, 1], { digits, fromApart: 2, toApart: 2, computed: 6, fromStep: 1, toStep: 3 });
  const rest = { extent: 6, factor: null };
  const moved: Pass = { ...pass, reading: { ...rest, kind: "complex", positions: 6, isWindowed: false }, writing: { ...rest, kind: "complex", scale: 1 } }; // biome-ignore format: one line
  const given = randomComplex(12, 8);
  const found = run(moved, given.flat(), tableOf("complex", 2, "f64"), 24, (p) => {
    for (let i = 0; i < 2; i++) {
      for (let digit = 0; digit < 3; digit++) {
        const transform = p.transform([p.i(i), p.i(digit)]);
        for (let j = 0; j < 2; j++) p.write(transform, p.i(j), p.read(transform, p.i(j)), null);
      }
    }
  });
  const expected: C[] = [];
  for (let i = 0; i < 2; i++) {
    for (let digit = 0; digit < 3; digit++) {
      for (let j = 0; j < 2; j++) expected[(3 * j + digit) * 2 + i] = given[(j + 2 * digit) * 2 + i]!;
    }
  }
  assert.deepEqual(pairsOf(found), expected);
});

test("quotients and remainders, by powers of two and others", () => {
  for (const by of [1, 2, 3, 8, 12]) {
    const values = Array.from({ length: 40 }, (_, at) => at);
    const k = new KernelBuilder("divided", 40);
    const parts = new PassKernel(k, wholePass(4, [1, 1])).divided(k.row, by);
    for (const part of parts) k.store(k.buffer("i32", true), k.row, part);
    const results = parts.map(() => undefinedBytes(160));
    interpretKernel(k.finish(), [...Array.from({ length: 3 }, () => new Uint8Array(0)), ...results]);
    const [quotient, remainder] = results.map((bytes) => [...new Int32Array(bytes.slice().buffer)]);
    assert.deepEqual(quotient, values.map((x) => Math.floor(x / by))); // biome-ignore format: one line
    assert.deepEqual(remainder, values.map((x) => x % by)); // biome-ignore format: one line
  }
});
