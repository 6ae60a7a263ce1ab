/** Numbers of kernels, interpreted: real and complex arithmetic against its definition, memory by turns, loops and lanes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { KernelBuilder as Builder } from "../../../../src/compiler/ir/kernel-builder.js";
import { bytesOf, Field, kindOf, type Num, shapeOf } from "../../../../src/compiler/routines/linalg/field.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { laneValues } from "../../../support/lane-values.js";
import { type C, conj, KINDS, minus, numbersIn, over, plus, routineNode, settings, times } from "./matrices.js";

const NUMBERS: readonly C[] = [[3, -4], [-0.5, 2], [1e-3, 7], [-6, -1.25]]; // biome-ignore format: a table

/** The results of a function of two numbers, for each pair of `NUMBERS`, next to the numbers. */
function pairs(isComplex: boolean, compute: (f: Field, a: Num, b: Num, k: KernelBuilder) => Num): [C, C, C][] {
  const given = NUMBERS.flatMap((a) =>
    NUMBERS.map((b): [C, C] => [isComplex ? a : [a[0], 0], isComplex ? b : [b[0], 0]]),
  );
  const inputs = [0, 1].map((which) => ({
    dtype: "f64" as const,
    values: given.flatMap((pair) => (isComplex ? [...pair[which]!] : [pair[which]![0]])),
  }));
  const [re, im] = laneValues({ rows: given.length, inputs }, (k) => {
    const f = new Field(k, { type: "f64", isComplex }, settings);
    const found = compute(f, f.load(0, k.row), f.load(1, k.row), k);
    return found.im ? [found.re, found.im] : [found.re];
  });
  return given.map(([a, b], at) => [a, b, [re![at]!, im?.[at] ?? 0]]);
}

function isNear(found: C, expected: C, what: string): void {
  const apart = Math.hypot(...minus(found, expected));
  assert.ok(apart <= 4e-16 * Math.hypot(...expected), `${what}: ${found}, not ${expected}`);
}

// biome-ignore format: a table
const OPERATIONS: Readonly<Record<string, readonly [(f: Field, a: Num, b: Num, k: KernelBuilder) => Num, (a: C, b: C) => C]>> = {
  add: [(f, a, b) => f.add(a, b), plus],
  sub: [(f, a, b) => f.sub(a, b), minus],
  neg: [(f, a) => f.neg(a), ([re, im]) => [-re, -im]],
  conj: [(f, a) => f.conj(a), conj],
  mul: [(f, a, b) => f.mul(a, b), times],
  mulAdd: [(f, a, b) => f.mulAdd(a, b, f.constant(100)), (a, b) => plus([100, 0], times(a, b))],
  mulSub: [(f, a, b) => f.mulSub(a, b, f.constant(100)), (a, b) => minus([100, 0], times(a, b))],
  scale: [(f, a, b) => f.scale(a, b.re), ([re, im], [by]) => [re * by, im * by]],
  shrink: [(f, a, b) => f.shrink(a, b.re), ([re, im], [by]) => [re / by, im / by]],
  div: [(f, a, b) => f.div(a, b), over],
  squared: [(f, a) => f.real(f.squared(a)), ([re, im]) => [re * re + im * im, 0]],
  modulus: [(f, a) => f.real(f.modulus(a)), ([re, im]) => [Math.hypot(re, im), 0]],
  size: [(f, a) => f.real(f.size(a)), ([re, im]) => [Math.abs(re) + Math.abs(im), 0]],
  select: [(f, a, b, k) => f.select(k.compare("lt", a.re, b.re), a, b), (a, b) => (a[0] < b[0] ? a : b)],
  sqrtReal: [(f, a) => f.real(f.sqrtReal(f.squared(a))), ([re, im]) => [Math.hypot(re, im), 0]],
  one: [(f) => f.sub(f.one, f.zero), () => [1, 0]],
};

for (const [name, [compute, expected]] of Object.entries(OPERATIONS)) {
  test(`${name}, of real and complex numbers`, () => {
    for (const isComplex of [false, true]) {
      for (const [a, b, found] of pairs(isComplex, compute)) isNear(found, expected(a, b), `${name} of ${a} and ${b}`);
    }
  });
}

test("quotients of large and small numbers do not overflow on the way, and moduli do not lose digits", () => {
  const inputs = [{ dtype: "f64" as const, values: [2e300, 1e300, 1e300, 1e300, 3e-160, 4e-160, 0, 0] }];
  const [re, im, small, none, byZero] = laneValues({ inputs }, (k) => {
    const f = new Field(k, KINDS.c128, settings);
    const at = (index: number) => f.load(0, k.constant("i32", index));
    const quotient = f.div(at(0), at(1));
    return [quotient.re, quotient.im!, f.modulus(at(2)), f.modulus(at(3)), f.div(at(0), at(3)).re];
  });
  assert.deepEqual([re, im], [[1.5], [-0.5]]);
  assert.ok(Math.abs(small![0]! - 5e-160) < 1e-175);
  assert.deepEqual(none, [0]);
  assert.ok(!Number.isFinite(byZero![0]!));
});

test("numbers lie in memory by turns, in arrays part by part; a gate keeps a store away", () => {
  for (const isComplex of [false, true]) {
    const k = new Builder("memory", 1, 4);
    const f = new Field(k, { type: "f64", isComplex }, settings);
    const [from, to] = [f.buffer(false), f.buffer(true)];
    const array = f.array(4);
    const isOdd = k.compare("eq", k.binary("irem", k.lane, k.constant("i32", 2)), k.constant("i32", 1));
    f.set(array, k.lane, f.constant(9));
    f.set(array, k.lane, f.load(from, k.lane), isOdd);
    f.store(to, k.lane, f.zero);
    f.store(to, k.lane, f.add(f.get(array, k.lane), f.read(to, k.lane)), k.compare("lt", k.lane, k.constant("i32", 3)));
    const result = undefinedBytes(4 * bytesOf({ type: "f64", isComplex }));
    const values = Array.from({ length: isComplex ? 8 : 4 }, (_, at) => at + 0.5);
    interpretKernel(k.finish(), [encodeValues(values, "f64", "numbers"), result]);
    assert.deepEqual(numbersIn(result, "f64"), isComplex ? [9, 0, 2.5, 3.5, 9, 0, 0, 0] : [9, 1.5, 9, 0]);
  }
});

test("loops carry numbers, up to a last round, and lanes share theirs; sums of lanes", () => {
  const [re, im, early, shared, ...doubled] = laneValues({ lanes: 4 }, (k) => {
    const f = new Field(k, KINDS.c128, settings);
    const step: Num = { re: k.constant("f64", 1), im: k.constant("f64", 2) };
    const [whole, other] = f.loop(5, [f.zero, step], (_, [sum, twice]) => [f.add(sum!, step), f.add(twice!, twice!)]);
    const exitAfter = (index: Parameters<KernelBuilder["unary"]>[1]) => k.compare("ge", index, k.constant("i32", 2));
    const [cut] = f.loop(5, [f.zero], (_, [sum]) => [f.add(sum!, step)], { exitAfter });
    const [own] = f.loop(7, [f.zero], (_, [sum]) => [f.add(sum!, step)], { isLaneLoop: true });
    return [whole!.re, whole!.im!, cut!.re, f.sumLanes(own!).im!, other!.re, other!.im!];
  });
  assert.deepEqual([re![0], im![0], early![0], shared], [5, 10, 3, [14, 14, 14, 14]]);
  assert.deepEqual([doubled[0]![0], doubled[1]![0]], [32, 64]);
});

test("the kind of a node, its shape without the axis of parts, and the bytes of a number", () => {
  const node = routineNode("lu", KINDS.c64, [[3, 4]]);
  assert.deepEqual(kindOf(node), { type: "f32", isComplex: true });
  assert.deepEqual([shapeOf(node, true), shapeOf(node, false)], [[3, 4], [3, 4, 2]]); // biome-ignore format: one line
  assert.deepEqual(Object.values(KINDS).map(bytesOf), [4, 8, 8, 16]);
});
