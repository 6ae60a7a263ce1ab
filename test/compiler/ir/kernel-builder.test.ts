/** Where the builder places values: common subexpressions once, loop-invariant code outside, branches closed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Loop, Statement } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { ArgumentError } from "../../../src/core/errors.js";

const i = (k: KernelBuilder, value: number) => k.constant("i32", value);

/** The operations that a list of statements computes itself. */
const opsOf = (statements: readonly Statement[]): string[] =>
  statements.flatMap((statement) => (statement.kind === "let" ? statement.value.op : []));

function kernelWith(write: (k: KernelBuilder, source: number, target: number) => void, lanes = 1) {
  const k = new KernelBuilder("test", 8, lanes);
  write(k, k.buffer("f32", false), k.buffer("f32", true));
  return k.finish();
}

describe("placement", () => {
  test("a value asked for twice is computed once", () => {
    const kernel = kernelWith((k, source, target) => {
      const x = k.load(source, k.row, "f32");
      const sum = k.binary("add", x, x);
      assert.equal(k.binary("add", k.load(source, k.row, "f32"), x), sum);
      k.store(target, k.row, sum);
    });
    assert.deepEqual(opsOf(kernel.body), ["load", "add"]);
  });

  test("code that does not depend on a loop stands before it", () => {
    const kernel = kernelWith((k, source, target) => {
      k.loop(4, [], (at) => {
        const fixed = k.unary("neg", k.load(source, k.row, "f32"));
        k.store(target, at, k.binary("mul", fixed, k.convert("f32", at)));
        return [];
      });
    });
    assert.deepEqual(opsOf(kernel.body), ["load", "neg"]);
    const loop = kernel.body.find(({ kind }) => kind === "loop") as Loop;
    assert.deepEqual(opsOf(loop.body), ["convert", "mul"]);
  });

  test("code inside a branch stays inside, and is not reused outside", () => {
    const kernel = kernelWith((k, source, target) => {
      const x = k.load(source, k.row, "f32");
      const inside = () => [k.unary("sqrt", x)];
      const [y] = k.when(k.compare("gt", x, k.constant("f32", 0)), inside, () => [x]);
      k.store(target, k.row, k.binary("add", y!, k.unary("sqrt", x)));
    });
    assert.deepEqual(opsOf(kernel.body), ["load", "gt", "sqrt", "add"]);
    const branch = kernel.body.find(({ kind }) => kind === "branch") as Extract<Statement, { kind: "branch" }>;
    assert.deepEqual(opsOf(branch.whenTrue), ["sqrt"]);
  });

  test("values that nothing uses are left out", () => {
    const kernel = kernelWith((k, source, target) => {
      k.unary("sqrt", k.load(source, k.row, "f32"));
      k.store(target, k.row, k.constant("f32", 1));
    });
    assert.deepEqual(opsOf(kernel.body), []);
  });
});

describe("folding", () => {
  const k = new KernelBuilder("test", 8);
  const [zero, one, six] = [0, 1, 6].map((value) => i(k, value)) as [never, never, never];

  test("integer identities cost nothing", () => {
    assert.equal(k.binary("add", k.row, zero), k.row);
    assert.equal(k.binary("add", zero, k.row), k.row);
    assert.equal(k.binary("sub", k.row, zero), k.row);
    assert.equal(k.binary("mul", k.row, one), k.row);
    assert.equal(k.binary("idiv", k.row, one), k.row);
    assert.equal(k.binary("mul", k.row, zero), zero);
  });

  test("sums and products of constants are constants, wrapped to 32 bits", () => {
    assert.equal(k.binary("mul", six, six), i(k, 36));
    assert.equal(k.binary("add", i(k, 2 ** 31 - 1), one), i(k, -(2 ** 31)));
  });

  test("floats are left alone: x + 0 is not x for -0", () => {
    const [x, y] = [k.constant("f32", 0), k.convert("f32", k.row)];
    assert.notEqual(k.binary("add", y, x), y);
  });

  test("0 and -0 are two constants", () => {
    assert.notEqual(k.constant("f32", 0), k.constant("f32", -0));
  });

  test("a branch on a constant is decided while writing", () => {
    const [value] = k.when(
      k.constant("bool", true),
      () => [one],
      () => assert.fail("the other side is written"),
    );
    assert.equal(value, one);
  });
});

describe("mistakes are refused", () => {
  const k = new KernelBuilder("test", 8);
  const x = k.constant("f32", 1);
  const cases: [what: string, write: () => unknown, message: RegExp][] = [
    ["operands of two types", () => k.binary("add", x, k.row), /add: operands of f32 and i32/],
    ["sides of two types", () => k.select(k.constant("bool", true), x, k.row), /select: sides of f32 and i32/],
    ["an array without elements", () => k.array("f32", 0), /array: 0 elements/],
    [
      "a value of another type in an array",
      () => k.set(k.array("i32", 4), k.row, x),
      /set: a value of f32 in an array/,
    ],
    ["an array that does not exist", () => k.get(99, k.row), /there is no array 99/],
  ];
  for (const [what, write, message] of cases) {
    test(what, () => assert.throws(write, (error) => error instanceof ArgumentError && message.test(error.message)));
  }

  test("a loop whose body forgets an accumulator", () => {
    assert.throws(() => new KernelBuilder("t", 1).loop(3, [x], () => []), /one value per accumulator/);
  });
});

test("lanes of one have no barriers, exchanges or combinations", () => {
  const k = new KernelBuilder("test", 8, 1);
  const x = k.convert("f32", k.row);
  k.barrier();
  assert.equal(k.combineLanes("add", x), x);
  assert.equal(k.fromLane(x, k.lane), x);
  assert.deepEqual(k.finish().body, []);
});

test("groups of lanes are powers of two that divide the lanes; a lane alone has what it has", () => {
  const k = new KernelBuilder("test", 8, 16);
  const x = k.convert("f32", k.lane);
  assert.equal(k.combineLanes("add", x, 1), x);
  assert.equal(k.combineLanes("add", x, 16), k.combineLanes("add", x));
  assert.notEqual(k.combineLanes("add", x, 4), k.combineLanes("add", x, 8));
  for (const count of [3, 32, 0, 2.5]) assert.throws(() => k.combineLanes("add", x, count), /give a power of two/);
});

test("a store takes what was rounded, unless rounding was cheap; it is told what needs no rounding", () => {
  const k = new KernelBuilder("stored", 4);
  const [source, target] = [k.buffer("bf16", false), k.buffer("bf16", true)];
  const x = k.load(source, k.row, "f32");
  const [half, third] = [2, 3].map((by) => k.binary("mul", x, k.constant("f32", 1 / by)));
  const [slow, cheap] = [half!, third!].map((from) => k.unary("neg", from));
  k.noteRounding(slow!, half!, "bf16");
  k.noteRounding(cheap!, third!, "bf16", true);
  for (const value of [x, half!, slow!, cheap!]) k.store(target, k.row, value);
  const stores = k
    .finish()
    .body.flatMap((each) => (each.kind === "store" ? [[each.value, each.isRounded === true]] : []));
  assert.deepEqual(stores, [
    [x, true],
    [half, false],
    [half, false],
    [cheap, true],
  ]);
});
