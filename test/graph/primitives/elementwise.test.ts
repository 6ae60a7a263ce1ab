/**
 * Elementwise primitives: kinds and dtypes, values at the edges of their definitions, and slopes against difference
 * quotients. The sweep over all dtypes and devices is test/tensor/sweep-elementwise.test.ts.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../../src/core/dtype.js";
import { DTypeError, ShapeError } from "../../../src/core/errors.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { g } from "../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, fixed, given, input, numbers, valuesOf } from "../../support/node-rules.js";
import { make, stored, storedAs } from "../../support/nodes.js";

type Entry = E.ElementwiseEntry;
const entries = Object.values(E).filter((each): each is Entry => (each as Entry).kind === "elementwise");
const apply =
  (entry: Entry, params = {}) =>
  (...nodes: Node[]) =>
    g.move(entry, nodes, params);

/** The results of an operation on columns of operands. */
function results(entry: Entry, dtype: DType, rows: readonly (readonly number[])[], params = {}): number[] {
  const columns = rows[0]!.map((_, i) =>
    input(
      [rows.length],
      rows.map((row) => row[i]!),
      dtype,
    ),
  );
  return valuesOf(apply(entry, params), columns)[0]!;
}

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

test("quotients and remainders go towards zero, and by zero", () => {
  const rows = [
    [7, 2],
    [-7, 2],
    [7, -2],
    [-7, -2],
    [5, 0],
  ];
  assert.deepEqual(results(E.quotient, "i32", rows), [3, -3, -3, 3, 0]);
  assert.deepEqual(results(E.rem, "i32", rows.slice(0, 4)), [1, -1, 1, -1]);
  assert.deepEqual(
    results(E.rem, "f64", [
      [7.5, 2],
      [-7.5, 2],
      [7.5, Infinity],
      [-0, 3],
      [1, 0],
    ]),
    [1.5, -1.5, 7.5, -0, NaN],
  );
});

test("NaN wins over numbers in extremes, and passes through signs and relu", () => {
  const rows = [
    [NaN, 1],
    [1, NaN],
    [2, 1],
    [-Infinity, Infinity],
  ];
  assert.deepEqual(results(E.maximum, "f64", rows), [NaN, NaN, 2, Infinity]);
  assert.deepEqual(results(E.minimum, "f64", rows), [NaN, NaN, 1, -Infinity]);
  assert.deepEqual(results(E.sign, "f64", [[NaN], [-0], [0], [-3], [1e-300]]), [NaN, -0, 0, -1, 1]);
  assert.deepEqual(results(E.relu, "f64", [[NaN], [-0], [-3], [2]]), [NaN, 0, 0, 2]);
  assert.deepEqual(results(E.isNan, "f64", [[NaN], [Infinity], [0]]), [1, 0, 0]);
  assert.deepEqual(results(E.isInf, "f64", [[NaN], [-Infinity], [0]]), [0, 1, 0]);
});

test("halves round to the even number, and zeros keep their sign", () => {
  assert.deepEqual(results(E.round, "f64", [[0.5], [1.5], [2.5], [-0.5], [-1.5], [2.6]]), [0, 2, 2, -0, -2, 3]);
  assert.deepEqual(results(E.trunc, "f64", [[-0.5], [-1.7], [1.7]]), [-0, -1, 1]);
  assert.deepEqual(results(E.floor, "f64", [[-0.5], [1.7]]), [-1, 1]);
  assert.deepEqual(results(E.ceil, "f64", [[-0.5], [1.2]]), [-0, 2]);
});

test("bits: shifts, ones and leading zeros, signed and unsigned", () => {
  assert.deepEqual(
    results(E.shiftLeft, "i32", [
      [3, 4],
      [-1, 31],
    ]),
    [48, -(2 ** 31)],
  );
  assert.deepEqual(
    results(E.shiftRight, "i32", [
      [-16, 2],
      [16, 2],
    ]),
    [-4, 4],
  );
  assert.deepEqual(results(E.shiftRight, "u32", [[2 ** 32 - 16, 2]]), [2 ** 30 - 4]);
  assert.deepEqual(results(E.popcount, "i32", [[0], [-1], [0x0f0f00ff]]), [0, 32, 16]);
  assert.deepEqual(results(E.popcount, "u8", [[255], [0x55]]), [8, 4]);
  assert.deepEqual(results(E.countLeadingZeros, "i32", [[0], [1], [-1], [0x00ff0000]]), [32, 31, 0, 8]);
  assert.deepEqual(results(E.countLeadingZeros, "u8", [[0], [1], [16]]), [8, 7, 3]);
  assert.deepEqual(results(E.not, "i32", [[0], [5]]), [-1, -6]);
  assert.deepEqual(results(E.not, "bool", [[0], [1]]), [1, 0]);
  assert.deepEqual(results(E.bitcast, "f32", [[1], [-0]], { dtype: "u32" }), [0x3f800000, 0x80000000]);
});

test("powers of integers wrap, and negative exponents give 0", () => {
  assert.deepEqual(
    results(E.integerPower, "i32", [
      [3, 4],
      [-2, 31],
      [2, 32],
      [5, -1],
      [7, 0],
    ]),
    [81, -(2 ** 31), 0, 0, 1],
  );
});

test("log(eˣ + eʸ) of equal infinities, of far apart and of large operands", () => {
  const rows = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
    [1000, 1000],
    [0, -1000],
    [-Infinity, 3],
  ];
  assert.deepEqual(results(E.logaddexp, "f64", rows), [Infinity, -Infinity, 1000 + Math.LN2, 0, 3]);
});

test("the phase of a negative number is pi", () => {
  assert.deepEqual(results(E.phase, "f64", [[2], [-2]]), [0, Math.PI]);
});

/** Points inside the domain of each function, away from its kinks. */
function operandsOf({ arity, domain = [-3, 3], name }: Entry) {
  const [low, high] = [Math.max(domain[0], -3), Math.min(domain[1], 3)];
  const places = [0.23, 0.41, 0.62, 0.87].map((part) => low + part * (high - low));
  const positive = name === "pow" || name === "rem";
  return Array.from({ length: arity }, (_, i) =>
    input(
      [4],
      places.map((x, k) => (positive ? 0.4 + Math.abs(x) : x) + 0.11 * i * (k % 2 ? 1 : -1)),
    ),
  );
}

const differentiable = entries.filter(
  ({ kinds, slopes, jvp, name }) =>
    kinds.includes("float") &&
    (slopes || jvp) &&
    !["where", "cast", "complex", "bitcast"].includes(name) &&
    !/Equal|equal|less|greater|is(Nan|Inf)/.test(name),
);

for (const entry of differentiable) {
  test(`${entry.name}: slopes and batches`, () => {
    const operands = operandsOf(entry);
    checkDerivatives(apply(entry), operands, 2e-6);
    checkBatches(apply(entry), operands, (each, m) => ({ ...each, values: each.values.map((x) => x * (1 - m / 64)) }));
  });
}

test("a choice passes its derivative to the side that is taken", () => {
  checkDerivatives((c, a, b) => g.where(c, a, b), [fixed([4], [1, 0, 0, 1], "bool"), input([4]), input([4])]);
});

test("slopes at kinks and corners: ties are shared, flat powers are flat", () => {
  const slopesAt = (entry: Entry, ...operands: number[]) => {
    const nodes = operands.map((x) => given(input([], [x])));
    return g
      .pullBack([apply(entry)(...nodes)], [given(input([], [1]))], nodes)
      .map((ct) => (ct ? numbers(ct)[0] : null));
  };
  assert.deepEqual(slopesAt(E.maximum, 2, 2), [0.5, 0.5]);
  assert.deepEqual(slopesAt(E.minimum, 2, 3), [1, 0]);
  assert.deepEqual(slopesAt(E.pow, 0, 0)[0], 0);
  assert.deepEqual(slopesAt(E.pow, 0, 2), [0, 0]);
  assert.deepEqual(slopesAt(E.hypot, 0, 0), [0, 0]);
  assert.deepEqual(slopesAt(E.abs, 0), [0]);
  assert.deepEqual(slopesAt(E.logaddexp, Infinity, 0), [1, 0]);
});
