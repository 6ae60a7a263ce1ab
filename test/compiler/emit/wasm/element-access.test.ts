/** Every dtype through the memory of the CPU, four rows at once where that is possible, and atomics. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { computeType } from "../../../../src/compiler/elements/elements.js";
import type { CombineOp } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { DTYPE_NAMES, DTYPES, isPacked } from "../../../../src/core/dtype.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { runKernel } from "../../../support/kernels.js";

const ROWS = 37;

/** Dtypes that kernels load and store: complex numbers are two real ones, packed integers words. */
const PLAIN = DTYPE_NAMES.filter((name) => DTYPES[name].kind !== "complex" && !isPacked(name));

describe("a copy keeps every bit", () => {
  for (const dtype of PLAIN) {
    for (const [how, indexOf] of [
      ["row by row", (k: KernelBuilder) => k.row],
      ["backwards", (k: KernelBuilder) => k.binary("sub", k.constant("i32", ROWS - 1), k.row)],
    ] as const) {
      test(`${dtype}, ${how}`, () => {
        const k = new KernelBuilder("copy", ROWS);
        const [source, target] = [k.buffer(dtype, false), k.buffer(dtype, true)];
        k.store(target, k.row, k.load(source, indexOf(k), computeType(dtype)));
        const kind = DTYPES[dtype].kind;
        const values = Array.from({ length: ROWS }, (_, i) =>
          kind === "bool" ? i % 3 === 0 : kind === "uint" ? i : i - 18,
        );
        const given = encodeValues(values, dtype, "test");
        const want = encodeValues(how === "backwards" ? values.toReversed() : values, dtype, "test");
        const got = runKernel("cpu", k.finish(), [given, new Uint8Array(given.length)])[1];
        assert.deepEqual(got, want);
      });
    }
  }
});

describe("four lanes store an element each", () => {
  for (const dtype of PLAIN) {
    test(dtype, () => {
      const k = new KernelBuilder("lanes", 3, 4);
      const target = k.buffer(dtype, true);
      const at = k.binary("add", k.binary("mul", k.row, k.constant("i32", 4)), k.lane);
      const type = computeType(dtype);
      const value = type === "bool" ? k.compare("gt", at, k.constant("i32", 5)) : k.convert(type, at);
      k.store(target, at, value, false);
      const want = encodeValues(
        Array.from({ length: 12 }, (_, i) => (type === "bool" ? i > 5 : i)),
        dtype,
        "test",
      );
      assert.deepEqual(runKernel("cpu", k.finish(), [new Uint8Array(want.length)])[0], want);
    });
  }
});

describe("atomics combine all rows into one element", () => {
  const rules: Record<CombineOp & ("add" | "mul" | "min" | "max"), (a: number, b: number) => number> = {
    add: (a, b) => a + b,
    mul: (a, b) => a * b,
    min: (a, b) => Math.min(a, b),
    max: (a, b) => Math.max(a, b),
  };
  for (const op of Object.keys(rules) as (keyof typeof rules)[]) {
    for (const type of ["i32", "f32", "f64"] as const) {
      test(`${op} of ${type}`, () => {
        const k = new KernelBuilder("update", 8);
        const target = k.buffer(type, true);
        const value = k.convert(type, k.binary("add", k.row, k.constant("i32", 1)));
        k.atomic(op, target, k.constant("i32", 0), value);
        const Numbers = { i32: Int32Array, f32: Float32Array, f64: Float64Array }[type];
        const [got] = runKernel("cpu", k.finish(), [Numbers.of(2)]);
        assert.equal(got[0], [1, 2, 3, 4, 5, 6, 7, 8].reduce(rules[op], 2));
      });
    }
  }
});
