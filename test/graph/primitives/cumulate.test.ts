/** Running totals: in both directions, without the element itself, in segments; their derivatives and batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError, ShapeError } from "../../../src/core/errors.js";
import type { Node } from "../../../src/graph/node.js";
import { byDoubling, type CumulateOp, cumulate, runningTotal } from "../../../src/graph/primitives/cumulate.js";
import { g } from "../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, fixed, input, valuesOf } from "../../support/node-rules.js";
import { make, storedAs } from "../../support/nodes.js";

interface Options {
  readonly isReverse?: boolean;
  readonly isExclusive?: boolean;
}

const OPS: readonly CumulateOp[] = ["sum", "product", "max", "min", "logsumexp"];
const COMBINE: Readonly<Record<string, { start: number; join: (a: number, b: number) => number }>> = {
  sum: { start: 0, join: (a, b) => a + b },
  product: { start: 1, join: (a, b) => a * b },
  max: { start: -Infinity, join: Math.max },
  min: { start: Infinity, join: Math.min },
  logsumexp: { start: -Infinity, join: (a, b) => (a === -Infinity ? b : Math.log(Math.exp(a) + Math.exp(b))) },
};
const FORMS: readonly Options[] = [
  {},
  { isReverse: true },
  { isExclusive: true },
  { isReverse: true, isExclusive: true },
];

/** By a loop over one line. */
function plainTotals(
  op: CumulateOp,
  line: readonly number[],
  segments: readonly number[] | null,
  options: Options,
): number[] {
  const { start, join } = COMBINE[op]!;
  const { isReverse = false, isExclusive = false } = options;
  const order = line.map((_, i) => (isReverse ? line.length - 1 - i : i));
  const out: number[] = [];
  let total = start;
  order.forEach((at, i) => {
    if (segments && i > 0 && segments[at] !== segments[order[i - 1]!]) total = start;
    const next = join(total, line[at]!);
    out[at] = isExclusive ? total : next;
    total = next;
  });
  return out;
}

const totals =
  (op: CumulateOp, axis: number, { isReverse = false, isExclusive = false }: Options = {}) =>
  (...inputs: Node[]) =>
    g.move(cumulate, inputs, { op, axis, isReverse, isExclusive });

const near = (got: readonly number[], want: readonly number[]) =>
  got.every((x, i) => x === want[i] || Math.abs(x - want[i]!) < 1e-12);

const line = [0.5, -2, 3, 3, 1, -1.5, 0.25];
const segments = [0, 0, 0, 2, 2, 3, 3];

test("totals of every operation and form are those of a loop, with and without segments", () => {
  for (const op of OPS) {
    for (const form of FORMS) {
      const whole = valuesOf(totals(op, 0, form), [input([7], line)])[0]!;
      assert.ok(near(whole, plainTotals(op, line, null, form)), `${op} ${JSON.stringify(form)}: ${whole}`);
      const parts = valuesOf(totals(op, 0, form), [input([7], line), fixed([7], segments)])[0]!;
      assert.ok(near(parts, plainTotals(op, line, segments, form)), `${op} ${JSON.stringify(form)}: ${parts}`);
    }
  }
});

test("doubling steps give the same totals, for any length", () => {
  for (const op of OPS) {
    for (const form of FORMS) {
      for (const length of [0, 1, 2, 3, 7]) {
        const given = line.slice(0, length);
        const params = { op, axis: 0, isReverse: false, isExclusive: false, ...form };
        const [got] = valuesOf((x) => byDoubling(g, { params, inputs: [x] }), [input([length], given)]);
        assert.ok(near(got!, plainTotals(op, given, null, form)), `${op} of ${length}: ${got}`);
      }
      const params = { op, axis: 0, isReverse: false, isExclusive: false, ...form };
      const [got] = valuesOf(
        (x, s) => byDoubling(g, { params, inputs: [x, s] }),
        [input([7], line), fixed([7], segments)],
      );
      assert.ok(near(got!, plainTotals(op, line, segments, form)), `${op} in segments: ${got}`);
    }
  }
});

test("the axis is the one that is named", () => {
  const x = input([2, 3], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(valuesOf(totals("sum", 0), [x])[0], [1, 2, 3, 5, 7, 9]);
  assert.deepEqual(valuesOf(totals("sum", 1), [x])[0], [1, 3, 6, 4, 9, 15]);
});

test("log Σ exp of equal infinities is no NaN", () => {
  assert.deepEqual(valuesOf(totals("logsumexp", 0), [input([3], [-Infinity, -Infinity, 0])])[0], [
    -Infinity,
    -Infinity,
    0,
  ]);
});

test("derivatives of every operation and form, along either axis, and in segments", () => {
  for (const op of OPS) {
    for (const form of FORMS) {
      // The totals before the first element of an extreme are infinite.
      if (form.isExclusive && op !== "sum" && op !== "product") continue;
      checkDerivatives(totals(op, 1, form), [input([2, 5])]);
      checkDerivatives(totals(op, 0, form), [input([5, 2]), fixed([5], [0, 0, 1, 1, 1])]);
    }
  }
  checkDerivatives(totals("product", 0), [input([4], [2, 0, 3, -1])]);
});

test("batches, also of segments that differ from member to member", () => {
  checkBatches(totals("sum", 0), [input([5, 2])]);
  checkBatches(totals("max", 1, { isReverse: true }), [input([2, 4])]);
  const rising = (each: { values: readonly number[] }, m: number) => [...each.values].map((s, i) => (i < m ? 0 : s));
  checkBatches(totals("sum", 0), [input([5, 2]), fixed([5], [0, 0, 1, 1, 2])], (each, m) =>
    each.isFixed ? { ...each, values: rising(each, m) } : { ...each, values: each.values.map((x) => x + m) },
  );
});

test("dtypes and segments that do not fit are refused", () => {
  const params = { op: "max", axis: 0, isReverse: false, isExclusive: false };
  assert.throws(() => make(cumulate, [storedAs("bool", 3)], params), DTypeError);
  assert.throws(() => make(cumulate, [storedAs("c64", 3)], params), /real\(\), imag\(\) or abs\(\)/);
  assert.throws(() => make(cumulate, [storedAs("i32", 3)], { ...params, op: "logsumexp" }), DTypeError);
  assert.throws(() => make(cumulate, [storedAs("f32", 3), storedAs("i32", 4)], params), ShapeError);
  assert.throws(() => make(cumulate, [storedAs("f32", 3), storedAs("i64", 3)], params), ShapeError);
  assert.equal(runningTotal("sum").combineOp, "add");
  assert.equal(runningTotal("logsumexp").combineOp, null);
});
