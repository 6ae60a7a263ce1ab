/** Every dtype through the memory of the CPU, four rows at once where that is possible, and atomics. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { computeType } from "../../../../src/compiler/elements/elements.js";
import type { CombineOp } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { DTYPE_NAMES, DTYPES, isPacked } from "../../../../src/core/dtype.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { concat, tensor } from "../../../../src/index.js";
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

describe("bounds that four neighbours are on one side of, or on both", () => {
  for (const dtype of ["f32", "f64", "i32", "u8", "bool", "i64"] as const) {
    test(`parts of ${dtype} that are joined, and padding, of whole vectors and of others`, async () => {
      for (const parts of [
        [16, 48],
        [4, 12, 20],
        [64, 33],
        [7, 8, 1],
        [1, 4],
      ]) {
        const rows = [0, 1, 2].map((row) =>
          parts.map((length, part) => Array.from({ length }, (_, at) => (row * 5 + part * 3 + at) % 2)),
        );
        const joined = parts.map((_, part) =>
          tensor(
            rows.map((row) => row[part]!),
            { dtype, device: "cpu" },
          ),
        );
        const found = await concat(joined, { axis: 1 }).cast("i32").array();
        assert.deepEqual(
          found,
          rows.map((row) => row.flat()),
          `${parts}`,
        );
        for (const [low, high] of [[4, 16] as const, [3, 0] as const]) {
          const padded = await joined[0]!
            .pad([
              [0, 0],
              [low, high],
            ])
            .cast("i32")
            .array();
          const around = (row: readonly number[]) => [...Array(low).fill(0), ...row, ...Array(high).fill(0)];
          assert.deepEqual(
            padded,
            rows.map((row) => around(row[0]!)),
          );
        }
      }
    });
  }
});
