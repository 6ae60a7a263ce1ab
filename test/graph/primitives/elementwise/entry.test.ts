/** The form of entries: operands that fit, dtypes of results, names in messages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../../../src/core/dtype.js";
import { DTypeError, ShapeError } from "../../../../src/core/errors.js";
import type { Node } from "../../../../src/graph/node.js";
import {
  ANY,
  elementwise,
  FLOAT,
  NUMBER,
  notHolomorphic,
  oneLike,
  zeroLike,
} from "../../../../src/graph/primitives/elementwise/entry.js";
import * as E from "../../../../src/graph/primitives/elementwise.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { given, input, numbers } from "../../../support/node-rules.js";
import { make, stored, storedAs } from "../../../support/nodes.js";

type Entry = E.ElementwiseEntry;

test("operands are of one shape, and of a kind that the operation takes", () => {
  assert.throws(() => make(E.add, [stored(2), stored(3)]), ShapeError);
  assert.throws(
    () => make(E.exp, [storedAs("i32", 2)]),
    (error: Error) => error instanceof DTypeError && /exp: takes float, complex, not i32; cast it/.test(error.message),
  );
  assert.throws(() => make(E.less, [storedAs("c64", 2), storedAs("c64", 2)]), /take its real\(\), imag\(\) or abs\(\)/);
  assert.throws(() => make(E.and, [storedAs("f32", 2), storedAs("f32", 2)]), /bitwiseAnd: takes bool, int, uint/);
  assert.throws(() => make(E.add, [storedAs("bool", 2), storedAs("bool", 2)]), DTypeError);
});

test("the dtype of the result: bool of comparisons, real of sizes, that of a cast, else the first operand's", () => {
  const one = (dtype: DType) => storedAs(dtype, 2);
  const dtypeOf = (entry: Entry, ...inputs: Node[]) => make(entry, inputs, { dtype: "u8" }).dtype;
  for (const entry of [E.equal, E.notEqual, E.less, E.lessEqual, E.greater, E.greaterEqual]) {
    assert.equal(dtypeOf(entry, one("f32"), one("f32")), "bool");
  }
  for (const entry of [E.abs, E.real, E.imag, E.phase]) assert.equal(dtypeOf(entry, one("c128")), "f64", entry.name);
  assert.equal(dtypeOf(E.complex, one("f32"), one("f32")), "c64");
  assert.equal(dtypeOf(E.conj, one("c64")), "c64");
  assert.equal(dtypeOf(E.cast, one("c64")), "u8");
  assert.equal(dtypeOf(E.where, one("bool"), one("i16"), one("i16")), "i16");
  assert.equal(dtypeOf(E.isNan, one("f16")), "bool");
});

test("an entry has a cost of 1 unless told, and messages call it as users do", () => {
  const entry = elementwise("inner", 1, { kinds: FLOAT, called: "outer", lower: (_k, [x]) => x! });
  assert.equal(entry.cost, 1);
  assert.equal(elementwise("dear", 1, { ...entry, cost: 80 }).cost, 80);
  assert.throws(() => make(entry, [storedAs("i8", 1)]), /^DTypeError: outer: takes float/);
  assert.ok(NUMBER.includes("complex") && !ANY.includes("complex"));
});

test("rules of a function that is not holomorphic: the map of a change, and its transpose", () => {
  const rules = notHolomorphic(
    (own, t) => own.mul(t, 2),
    (own, ct) => own.mul(ct, 3),
  );
  const [x, t] = [given(input([2], [1, 2])), given(input([2], [5, 7]))];
  assert.deepEqual(numbers(rules.jvp!(g, x, [t])!), [10, 14]);
  assert.equal(rules.jvp!(g, x, [null]), null);
  assert.deepEqual(numbers(rules.vjp!(g, x, t, () => true)[0]!), [15, 21]);
});

test("constants of an operand's own dtype", () => {
  const made: unknown[] = [];
  const ops = { dtypeOf: () => "i8", constant: (dtype: string, value: number) => made.push([dtype, value]) } as never;
  zeroLike(ops, null);
  oneLike(ops, null);
  assert.deepEqual(made, [
    ["i8", 0],
    ["i8", 1],
  ]);
});
