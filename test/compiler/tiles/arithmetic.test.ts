/** The arithmetic of products by dtype: what wraps, what is added up wide, and what any means. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { castScalar } from "../../../src/core/cast.js";
import type { DType } from "../../../src/core/dtype.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { make } from "../../support/nodes.js";
import { lowered, matrix, run } from "./product-kernels.js";

const tile = { kind: "registers", rows: 2, columns: 2 } as const;

/** [1, k] × [k, 1]. */
function dotted(dtype: DType, x: readonly number[], y: readonly number[]): number {
  const [a, b] = [matrix(dtype, 1, 1, x.length), matrix(dtype, 1, x.length, 1)];
  const values = new Map([
    [a, x],
    [b, y],
  ]);
  return run(lowered(tile, a, b), values)[0]!;
}

test("narrow integers wrap at their width", () => {
  assert.equal(dotted("i8", [100, 100], [100, 3]), castScalar(10300, "i32", "i8"));
  assert.equal(dotted("u16", [60000, 60000], [2, 2]), castScalar(240000, "i32", "u16"));
});

test("they have wrapped before anything else is computed from them", () => {
  const [a, b] = [matrix("i8", 1, 1, 2), matrix("i8", 1, 2, 1)];
  const kernel = lowered(tile, a, b, (dot) => make(E.cast, [dot], { dtype: "i32" }));
  const values = new Map([
    [a, [100, 100]],
    [b, [100, 3]],
  ]);
  assert.deepEqual(run(kernel, values), [castScalar(10300, "i32", "i8")]);
});

test("f16 and bf16 are added up in f32 and rounded once", () => {
  const terms = 4096;
  const ones = new Array<number>(terms).fill(1);
  assert.equal(dotted("f16", ones, ones), terms);
  assert.equal(dotted("bf16", ones, ones), terms);
});

test("booleans say whether any pair is true", () => {
  assert.equal(dotted("bool", [1, 0, 1], [0, 1, 0]), 0);
  assert.equal(dotted("bool", [1, 0, 1], [0, 1, 1]), 1);
});
