/** Values of a kernel are found again by what they are, however many there are, and never mistaken for others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Statement, Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";

const builder = (): KernelBuilder => new KernelBuilder("table", 1);

test("what was asked for before is the value there is", () => {
  const k = builder();
  const x = k.load(k.buffer("f32", false), k.row, "f32");
  const sum = k.binary("add", x, k.constant("f32", 2));
  assert.equal(k.binary("add", x, k.constant("f32", 2)), sum);
  assert.equal(k.constant("i64", 7n), k.constant("i64", 7));
});

test("constants that print alike, or differ in type or in the last bit, are different", () => {
  const k = builder();
  const values = [
    k.constant("f32", 0),
    k.constant("f32", -0),
    k.constant("f64", 0),
    k.constant("i32", 0),
    k.constant("u32", 0),
    k.constant("bool", false),
    k.constant("bool", true),
    k.constant("i64", 0n),
    k.constant("u64", 0n),
    k.constant("u64", 1n << 32n),
    k.constant("f64", 0.1),
    k.constant("f64", 0.1 + 2 ** -56),
    k.constant("f64", Number.NaN),
  ];
  assert.equal(new Set(values).size, values.length);
  assert.equal(k.constant("f64", Number.NaN), values.at(-1));
});

test("operations on the same values in another order, and of another kind, are different", () => {
  const k = builder();
  const [a, b] = [0, 1].map(() => k.load(k.buffer("f32", false), k.row, "f32")) as [Value, Value];
  const values = [
    k.binary("sub", a, b),
    k.binary("sub", b, a),
    k.binary("add", a, b),
    k.compare("lt", a, b),
    k.mulAdd(a, b, b),
    k.mulAdd(a, a, b),
    k.unary("neg", a),
    k.unary("neg", b),
  ];
  assert.equal(new Set(values).size, values.length);
});

test("ten thousand values are each there once, also when asked for again", () => {
  const k = builder();
  const x = k.load(k.buffer("i32", false), k.row, "i32");
  const write = () => Array.from({ length: 10_000 }, (_, i) => k.binary("xor", x, k.constant("i32", 65_537 * i)));
  const first = write();
  assert.equal(new Set(first).size, 10_000);
  assert.deepEqual(
    write().map(({ id }) => id),
    first.map(({ id }) => id),
  );
});

test("what a branch computes is not known outside of it, and what is outside is known inside", () => {
  const k = builder();
  const output = k.buffer("f32", true);
  const x = k.load(k.buffer("f32", false), k.row, "f32");
  const outside = k.unary("neg", x);
  const inside: Value[] = [];
  const side = () => {
    inside.push(k.unary("neg", x), k.unary("abs", x));
    return [k.unary("abs", x)];
  };
  const [chosen] = k.when(k.compare("lt", x, outside), side, side);
  k.store(output, k.row, k.binary("add", chosen!, k.unary("abs", x)));
  assert.equal(inside[0], outside);
  assert.notEqual(inside[1], inside[3]);
  const absolute = ({ body }: { readonly body: readonly Statement[] }) =>
    body.filter((statement) => statement.kind === "let" && statement.value.op === "abs").length;
  assert.equal(absolute(k.finish()), 1);
});
