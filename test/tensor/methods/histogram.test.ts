/** Histograms, against what NumPy gave (make-histogram-cases.py wrote it down): how the edges round decides the counts. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { DType } from "../../../src/core/dtype.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { backendFor, type HistogramOptions, tensor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

interface Case {
  readonly counts: readonly number[];
  /** The first of them. */
  readonly edges: readonly number[];
}

const cases: Record<string, Case> = JSON.parse(
  readFileSync(new URL("../../../../test/tensor/methods/histogram-cases.json", import.meta.url), "utf8"),
);

/** The same numbers as in the script. */
function uniforms(count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 32;
  });
}

function normals(count: number, seed: number): number[] {
  const parts = uniforms(12 * count, seed);
  return Array.from({ length: count }, (_, i) => parts.slice(12 * i, 12 * i + 12).reduce((sum, u) => sum + u) - 6);
}

const n = normals(100003, 1);
const whole = uniforms(20001, 2).map((u) => Math.floor(u * 1000));

const given: Record<string, [DType, readonly number[], HistogramOptions]> = {
  "f32 within a range": ["f32", n, { bins: 1000, range: [-8, 8] }],
  "f32 within an odd range": ["f32", n, { bins: 97, range: [-0.7, 1.1] }],
  "f32 from least to most": ["f32", n, { bins: 101 }],
  "f64 within a range": ["f64", n, { bins: 1000, range: [-8, 8] }],
  "f64 from least to most": ["f64", n, { bins: 101 }],
  "i32 beyond 2^24": ["i32", whole.map((v) => v + 2 ** 24 * 100), { bins: 500 }],
  "i32 between edges": [
    "i32",
    whole.map((v) => v + 2 ** 24),
    { bins: [2 ** 24 - 0.5, 2 ** 24 + 1, 2 ** 24 + 500.5, 2 ** 24 + 999] },
  ],
  "i64 within a range": ["i64", whole.map((v) => v + 2 ** 40), { bins: 77, range: [2 ** 40, 2 ** 40 + 900] }],
  "u32 from least to most": ["u32", whole.map((v) => v * 4294967), { bins: 333 }],
};

describeOnTensorDevices("histogram", (device) => {
  const skip = backendFor(device).hasDoubles ? false : `${device} has no f64`;
  for (const [name, { counts, edges }] of Object.entries(cases)) {
    test(`${name} is NumPy's`, { skip }, () => {
      const [dtype, values, options] = given[name]!;
      const found = tensor(values, { dtype }).histogram(options);
      assert.deepEqual(numbersOf(found.counts), counts);
      const rounded = dtype === "f64" ? edges : edges.map(Math.fround);
      assert.deepEqual(numbersOf(found.edges).slice(0, edges.length), rounded.slice(0, found.edges.size));
      assert.equal(found.edges.dtype, dtype === "f64" ? "f64" : "f32");
    });
  }

  test("narrow floats have as many bins as are asked for", () => {
    const x = tensor([0, 1, 2, 4096], { dtype: "f16" });
    const { counts, edges } = x.histogram({ bins: 4096 });
    assert.deepEqual([...numbersOf(edges).slice(0, 3), numbersOf(edges).at(-1)], [0, 1, 2, 4096]);
    assert.deepEqual(numbersOf(counts.at(":3")), [1, 1, 1]);
  });

  test("edges that fall, or a range beside edges, are refused", () => {
    const x = tensor([1, 2]);
    assert.throws(
      () => x.histogram({ bins: [0, 2, 1] }),
      /^ArgumentError: histogram: the edges \[0, 2, 1\] do not rise/,
    );
    assert.throws(() => x.histogram({ bins: [0, Number.NaN, 1] }), ArgumentError);
    assert.throws(() => x.histogram({ bins: [0, 1], range: [0, 1] }), /^ArgumentError: histogram: .*range/);
    assert.throws(() => x.histogram({ bins: tensor([0, 1]), range: [0, 1] }), ArgumentError);
    assert.deepEqual(numbersOf(x.histogram({ bins: [0, 1, 1, 3] }).counts), [0, 0, 2]);
  });
});
