/** Products of cooperative matrices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kernel, textOf } from "../building.js";

test("products of integer matrices say which of them are signed", () => {
  const product = (element: "i8" | "u8", sum: "i32" | "u32", saturate: boolean) =>
    textOf((m) => {
      const A = m.matrix(m[element], 16, 32, "A");
      const B = m.matrix(m[element], 32, 16, "B");
      const C = m.matrix(m[sum], 16, 16, "accumulator");
      kernel((f) => void f.matrix.mulAdd(f.splat(A, 1), f.splat(B, 1), f.splat(C, 1), { saturate }))(m);
    });
  const all = ["MatrixA", "MatrixB", "MatrixC", "MatrixResult"].map((name) => `${name}SignedComponentsKHR`);
  assert(product("i8", "i32", false).includes(` ${all.join("|")}\n`));
  assert(product("i8", "u32", true).includes(` ${all[0]}|${all[1]}|SaturatingAccumulationKHR\n`));
  assert.match(product("u8", "u32", false), /OpCooperativeMatrixMulAddKHR %\d+ %\d+ %\d+ %\d+\n/);
});
