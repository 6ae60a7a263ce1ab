/** Four f64 at once, in two vectors: each operation gives in every lane what JavaScript's arithmetic gives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isForPairs } from "../../../../src/compiler/emit/wasm/pairs.js";
import { planVectors } from "../../../../src/compiler/emit/wasm/vector-plan.js";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { runKernel } from "../../../support/kernels.js";

// Vectors are compared with single numbers, which round a multiply-add twice.
process.env.PUMICE_FMA = "off";

const NUMBERS = [
  0,
  -0,
  1,
  -1.5,
  2.5,
  1e300,
  -1e-300,
  Infinity,
  -Infinity,
  Number.NaN,
  3.5,
  -7,
  0.1,
  8,
  -8,
  2 ** 31,
  5e9,
];
/** Vectors, and rounds that are left over. */
const ROUNDS = NUMBERS.length * NUMBERS.length;

const words = new Uint32Array(2);
const double = new Float64Array(words.buffer);
/** The lower and the upper half of a number. */
function wordsOf(x: number): [number, number] {
  double[0] = x;
  return [words[0]!, words[1]!];
}
function fromWords(low: number, high: number): number {
  words[0] = low;
  words[1] = high;
  return double[0]!;
}
const isNaNEither = (a: number, b: number) => Number.isNaN(a) || Number.isNaN(b);
const clamped = (x: number, low: number, high: number) =>
  Number.isNaN(x) ? 0 : Math.min(high, Math.max(low, Math.trunc(x) + 0));
/** Half to even. */
const rounded = (x: number) => {
  const whole = Math.round(x);
  return Math.abs(x % 1) === 0.5 && whole % 2 !== 0 ? whole - 1 : whole === 0 ? 0 * x : whole;
};

type Rule = readonly [write: (k: KernelBuilder, a: Value, b: Value) => Value, plain: (a: number, b: number) => number];

const rules: Record<string, Rule> = {
  add: [(k, a, b) => k.binary("add", a, b), (a, b) => a + b],
  sub: [(k, a, b) => k.binary("sub", a, b), (a, b) => a - b],
  mul: [(k, a, b) => k.binary("mul", a, b), (a, b) => a * b],
  div: [(k, a, b) => k.binary("div", a, b), (a, b) => a / b],
  neg: [(k, a) => k.unary("neg", a), (a) => -a],
  abs: [(k, a) => k.unary("abs", a), Math.abs],
  sqrt: [(k, a) => k.unary("sqrt", a), Math.sqrt],
  floor: [(k, a) => k.unary("floor", a), Math.floor],
  ceil: [(k, a) => k.unary("ceil", a), Math.ceil],
  trunc: [(k, a) => k.unary("trunc", a), Math.trunc],
  roundEven: [(k, a) => k.unary("roundEven", a), rounded],
  mulAdd: [(k, a, b) => k.mulAdd(a, b, a), (a, b) => a * b + a],
  lowWord: [(k, a) => k.convert("f64", k.word("lowWord", a)), (a) => wordsOf(a)[0]],
  highWord: [(k, a) => k.convert("f64", k.word("highWord", a)), (a) => wordsOf(a)[1]],
  fromWords: [
    (k, a, b) => k.fromWords(k.word("highWord", a), k.word("lowWord", b)),
    (a, b) => fromWords(wordsOf(b)[0], wordsOf(a)[1]),
  ],
  "to i32 and back": [(k, a) => k.convert("f64", k.convert("i32", a)), (a) => clamped(a, -(2 ** 31), 2 ** 31 - 1)],
  "to u32 and back": [(k, a) => k.convert("f64", k.convert("u32", a)), (a) => clamped(a, 0, 2 ** 32 - 1)],
  "to f32 and back": [(k, a) => k.convert("f64", k.convert("f32", a)), Math.fround],
  min: [(k, a, b) => k.binary("min", a, b), (a, b) => (isNaNEither(a, b) ? Number.NaN : a < b ? a : b)],
  max: [(k, a, b) => k.binary("max", a, b), (a, b) => (isNaNEither(a, b) ? Number.NaN : a > b ? a : b)],
};
const comparisons: Record<"eq" | "ne" | "lt" | "le" | "gt" | "ge", (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};
for (const [op, plain] of Object.entries(comparisons)) {
  rules[`select where ${op}`] = [
    (k, a, b) => k.select(k.compare(op as "eq", a, b), a, k.constant("f64", 42)),
    (a, b) => (plain(a, b) ? a : 42),
  ];
}

/** A kernel of one row that goes over all pairs of numbers in a loop, and has a branch besides, as kernels of chains do. */
function kernelOf(write: Rule[0]) {
  const k = new KernelBuilder("pairs", 1);
  const [a, b] = [0, 1].map(() => k.buffer("f64", false));
  const to = k.buffer("f64", true);
  k.loop(ROUNDS, [], (i) => {
    k.store(to, i, write(k, k.load(a!, i, "f64"), k.load(b!, i, "f64")));
    return [];
  });
  k.when(k.compare("lt", k.load(a!, k.constant("i32", 0), "f64"), k.constant("f64", -1)), () => {
    k.store(to, k.constant("i32", 0), k.constant("f64", 0));
    return [];
  });
  return k.finish();
}

for (const [name, [write, plain]] of Object.entries(rules)) {
  test(name, () => {
    const kernel = kernelOf(write);
    assert.equal(planVectors(kernel).loops.size, 1, "the loop is computed in vectors");
    const at = (i: number) => [NUMBERS[i % NUMBERS.length]!, NUMBERS[Math.floor(i / NUMBERS.length)]!] as const;
    const [a, b] = [0, 1].map((which) => Float64Array.from({ length: ROUNDS }, (_, i) => at(i)[which]!));
    const [, , found] = runKernel("cpu", kernel, [
      a,
      b,
      new Float64Array(ROUNDS),
    ] as never) as unknown as Float64Array[];
    found!.forEach((value, i) => {
      const wanted = plain(...at(i));
      assert.ok(Object.is(value, wanted), `${name} of ${at(i)}: ${value}, not ${wanted}`);
    });
  });
}

test("sums of f64 in kernels with branches are made four at a time, and hold what is left over", () => {
  const k = new KernelBuilder("sum", 1);
  const [from, to] = [k.buffer("f64", false), k.buffer("f64", true)];
  const [sum] = k.loop(19, [k.constant("f64", -0)], (i, [total]) => [k.binary("add", total!, k.load(from, i, "f64"))]);
  k.when(k.compare("gt", sum!, k.constant("f64", 0)), () => {
    k.store(to, k.constant("i32", 0), sum!);
    return [];
  });
  const kernel = k.finish();
  assert.equal(planVectors(kernel).loops.size, 1);
  const numbers = Float64Array.from({ length: 19 }, (_, i) => (i * 7) % 19);
  const [, found] = runKernel("cpu", kernel, [numbers, new Float64Array(1)] as never) as unknown as Float64Array[];
  assert.equal(found![0], 171);
});

test("what there is for pairs", () => {
  const k = new KernelBuilder("asked", 1);
  const [x, i] = [k.load(k.buffer("f64", false), k.row, "f64"), k.load(k.buffer("i64", false), k.row, "i64")];
  assert.ok(isForPairs(k.unary("sqrt", x)));
  assert.ok(!isForPairs(k.convert("f64", i)));
});
