/** The first column of a sweep: a multiple of (H - σ₁)(H - σ₂) e₁ for real matrices, of (H - σ) e₁ for complex ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../../src/compiler/ir/kernel-builder.js";
import { complexStart, realStart } from "../../../../../src/compiler/routines/linalg/eigen/francis-shifts.js";
import { Field, type Num } from "../../../../../src/compiler/routines/linalg/field.js";
import { runKernel } from "../../../../support/kernels.js";

/** The numbers that a start gives for a 4 × 4 matrix, as (re, im). */
function started(h: readonly (readonly [number, number])[], isComplex: boolean, sweeps: number): [number, number][] {
  const k = new KernelBuilder("start", 1);
  const field = new Field(k, { type: "f64", isComplex }, { division: "native" });
  const [re, im, result] = [k.buffer("f64", false), k.buffer("f64", false), k.buffer("f64", true)];
  const i = (value: number) => k.constant("i32", value);
  const rows = { first: i(0), last: i(3), sweeps: i(sweeps) };
  const get = (row: Num["re"], column: Num["re"]): Num => {
    const place = k.binary("add", k.binary("mul", row, i(4)), column);
    return { re: k.load(re, place, "f64"), im: isComplex ? k.load(im, place, "f64") : null };
  };
  const numbers = (isComplex ? complexStart : realStart)(k, field, rows, get);
  numbers.forEach((x, at) => {
    k.store(result, i(2 * at), x.re);
    k.store(result, i(2 * at + 1), x.im ?? k.constant("f64", 0));
  });
  const parts = [0, 1].map((part) => Float64Array.from(h, (x) => x[part]!)) as [Float64Array, Float64Array];
  const [, , found] = runKernel("cpu", k.finish(), [...parts, new Float64Array(2 * numbers.length)]);
  return numbers.map((_, at) => [found[2 * at]!, found[2 * at + 1]!]);
}

const near = (x: number, y: number) => assert.ok(Math.abs(x - y) < 1e-13 * (1 + Math.abs(y)), `${x} and ${y}`);

test("two conjugate shifts of a real matrix, or twice the nearer of two real ones", () => {
  // biome-ignore format: matrices
  for (const [block, [sum, product]] of [
    [[1, 2, -3, 0.5], [1.5, 6.5]],
    [[3, 1, 2, 0], [3 - Math.sqrt(17), ((3 - Math.sqrt(17)) / 2) ** 2]],
  ] as const) {
    // biome-ignore format: a matrix
    const h = [
      0.3, 0.7, 1, 2,
      0.9, -0.4, 3, 4,
      0, 0.6, block[0], block[1],
      0, 0, block[2], block[3],
    ];
    const [x, y, z] = started(h.map((re) => [re, 0]), false, 1);
    // H² - sum H + product, first column.
    const expected = [0.3 * 0.3 + 0.7 * 0.9 - sum * 0.3 + product, 0.9 * (0.3 - 0.4 - sum), 0.6 * 0.9];
    const factor = z![0] / expected[2]!;
    near(x![0], factor * expected[0]!);
    near(y![0], factor * expected[1]!);
  }
});

test("the shift of a complex matrix is the eigenvalue of the last block next to its last element", () => {
  // The block [[1 + i, 2], [1, 1 - i]] has eigenvalues 1 ± 1; [[2i, 1], [0, 3]] has 3.
  for (const [block, shift] of [
    [
      [
        [1, 1],
        [2, 0],
        [1, 0],
        [1.25, -1],
      ],
      null,
    ],
    [
      [
        [0, 2],
        [1, 0],
        [0, 0],
        [3, 0],
      ],
      [3, 0],
    ],
  ] as const) {
    const h: (readonly [number, number])[] = Array.from({ length: 16 }, (_, i) => [Math.sin(i), Math.cos(i)]);
    [10, 11, 14, 15].forEach((place, i) => {
      h[place] = block[i]!;
    });
    const [head, below] = started(h, true, 1);
    assert.deepEqual(below, h[4]);
    const found = [h[0]![0] - head![0], h[0]![1] - head![1]];
    if (shift) {
      near(found[0]!, shift[0]);
      near(found[1]!, shift[1]);
      continue;
    }
    // It is a root: (a - σ)(d - σ) = b c.
    const times = ([a, b]: readonly number[], [c, d]: readonly number[]) => [a! * c! - b! * d!, a! * d! + b! * c!];
    const less = (x: readonly number[]) => [x[0]! - found[0]!, x[1]! - found[1]!];
    const left = times(less(block[0]), less(block[3]));
    near(left[0]!, 2);
    near(left[1]!, 0);
    assert.ok(Math.hypot(...less(block[3])) < Math.hypot(...less(block[0])));
  }
});

test("every tenth sweep takes other shifts", () => {
  const h: (readonly [number, number])[] = Array.from({ length: 16 }, (_, i) => [Math.sin(i), Math.cos(i)]);
  for (const isComplex of [false, true]) {
    const [usual, ten, twenty] = [1, 10, 20].map((sweeps) => JSON.stringify(started(h, isComplex, sweeps)));
    assert.equal(new Set([usual, ten, twenty]).size, 3);
    assert.equal(JSON.stringify(started(h, isComplex, 9)), usual);
  }
});
