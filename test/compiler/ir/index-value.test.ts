/** Index expressions in kernels compute what they say: floors of negative numbers, clamps, and the width of the result. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clampedIndex, indexValue } from "../../../src/compiler/ir/index-value.js";
import type { Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import {
  type Atom,
  addConstant,
  atomsOf,
  evaluate,
  type IndexExpr,
  IndexSpace,
  add as plus,
  scale,
} from "../../../src/core/index-expr.js";
import { runKernel } from "../../support/kernels.js";
import { randomFrom } from "../../support/random.js";

const ROWS = 24;

/** The value of an expression of one variable, from 0 to ROWS - 1, as a kernel computes it. */
function computed(expression: (row: IndexExpr, space: IndexSpace) => IndexExpr): { got: number[]; want: number[] } {
  const space = new IndexSpace();
  const row = space.variable("row", ROWS);
  const x = expression(row, space);
  const k = new KernelBuilder("index", ROWS);
  const target = k.buffer("i32", true);
  const atoms = new Map<Atom, Value>([...atomsOf(row)].map((atom) => [atom, k.row]));
  k.store(target, k.row, indexValue(k, atoms, x));
  const [got] = runKernel("cpu", k.finish(), [new Int32Array(ROWS)]);
  return { got: [...got], want: Array.from({ length: ROWS }, (_, at) => evaluate(x, () => at) + 0) };
}

test("division and remainder of negative numbers floor, as index arithmetic means them", () => {
  for (const by of [2, 3, 5]) {
    const quotient = computed((row, space) => space.quotient(addConstant(row, -13), by));
    assert.deepEqual(quotient.got, quotient.want);
    assert.equal(quotient.want[0], Math.floor(-13 / by));
    const remainder = computed((row, space) => space.remainder(addConstant(row, -13), by));
    assert.deepEqual(remainder.got, remainder.want);
  }
});

test("random expressions give the values that evaluate gives", () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = randomFrom(seed);
    const grow = (row: IndexExpr, space: IndexSpace, depth: number): IndexExpr => {
      if (depth === 0) return random.below(3) === 0 ? addConstant(row, random.below(9) - 4) : row;
      const inner = grow(row, space, depth - 1);
      if (random.below(3) === 0) return space.quotient(inner, 1 + random.below(6));
      if (random.below(2) === 0) return space.remainder(inner, 1 + random.below(6));
      return plus(scale(inner, random.below(7) - 3), grow(row, space, depth - 1));
    };
    const { got, want } = computed((row, space) => grow(row, space, 3));
    assert.deepEqual(got, want, `seed ${seed}`);
  }
});

test("an index beyond 2^31 is an i64, a smaller one an i32", () => {
  const space = new IndexSpace();
  const k = new KernelBuilder("index", ROWS);
  const row = space.variable("row", ROWS);
  const atoms = new Map<Atom, Value>([...atomsOf(row)].map((atom) => [atom, k.row]));
  assert.equal(indexValue(k, atoms, scale(row, 1000)).type, "i32");
  assert.equal(indexValue(k, atoms, scale(row, 2 ** 30)).type, "i64");
});

test("positions outside an axis are clamped to its ends", () => {
  const k = new KernelBuilder("clamp", 5);
  const [source, target] = [k.buffer("i32", false), k.buffer("i32", true)];
  k.store(target, k.row, clampedIndex(k, k.load(source, k.row, "i32"), 3));
  const [, got] = runKernel("cpu", k.finish(), [Int32Array.of(-7, 0, 2, 3, 9), new Int32Array(5)]);
  assert.deepEqual([...got], [0, 0, 2, 3, 3]);
});
