/** What C99's annex F (and NumPy, SciPy for what C lacks) says about zeros, infinities, NaN and exact cases. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FloatType } from "../../../src/compiler/math/scalar-ops.js";
import { compiled, type MathFunctionName, names } from "./math-cases.js";

const Inf = Infinity;

/** Rows of arguments and the exact result; the same for f32 and f64. */
const table: Readonly<Record<MathFunctionName, readonly (readonly number[])[]>> = {
  exp: [
    [0, 1],
    [-0, 1],
    [Inf, Inf],
    [-Inf, 0],
    [800, Inf],
    [-800, 0],
  ],
  exp2: [
    [0, 1],
    [-0, 1],
    [Inf, Inf],
    [-Inf, 0],
    [10, 1024],
    [-3, 0.125],
    [1024, Inf],
    [-1100, 0],
    [-149, 2 ** -149],
  ],
  expm1: [
    [0, 0],
    [-0, -0],
    [Inf, Inf],
    [-Inf, -1],
    [-100, -1],
    [800, Inf],
  ],
  log: [
    [1, 0],
    [0, -Inf],
    [-0, -Inf],
    [Inf, Inf],
    [-1, NaN],
    [-Inf, NaN],
  ],
  log2: [
    [1, 0],
    [0, -Inf],
    [-0, -Inf],
    [Inf, Inf],
    [-1, NaN],
    [8, 3],
    [2 ** -149, -149],
    [2 ** 100, 100],
    [0.5, -1],
  ],
  log10: [
    [1, 0],
    [0, -Inf],
    [-0, -Inf],
    [Inf, Inf],
    [-1, NaN],
    [10, 1],
    [1000, 3],
    [1e10, 10],
  ],
  log1p: [
    [0, 0],
    [-0, -0],
    [-1, -Inf],
    [Inf, Inf],
    [-2, NaN],
    [-Inf, NaN],
  ],
  pow: [
    [0, 0, 1],
    [-0, 0, 1],
    [NaN, 0, 1],
    [NaN, -0, 1],
    [Inf, 0, 1],
    [-Inf, -0, 1],
    [1, NaN, 1],
    [1, Inf, 1],
    [1, -Inf, 1],
    [1, 5, 1],
    [-1, Inf, 1],
    [-1, -Inf, 1],
    [-1, 3, -1],
    [-1, 4, 1],
    [-1, 2 ** 60, 1],
    [0, 3, 0],
    [-0, 3, -0],
    [0, 2, 0],
    [-0, 2, 0],
    [-0, 0.5, 0],
    [0, Inf, 0],
    [-0, Inf, 0],
    [0, -3, Inf],
    [-0, -3, -Inf],
    [0, -2, Inf],
    [-0, -2, Inf],
    [-0, -0.5, Inf],
    [0, -Inf, Inf],
    [-0, -Inf, Inf],
    [0.5, -Inf, Inf],
    [-0.5, -Inf, Inf],
    [2, -Inf, 0],
    [-2, -Inf, 0],
    [0.5, Inf, 0],
    [-0.5, Inf, 0],
    [2, Inf, Inf],
    [-2, Inf, Inf],
    [-Inf, 3, -Inf],
    [-Inf, 2, Inf],
    [-Inf, 0.5, Inf],
    [-Inf, -3, -0],
    [-Inf, -2, 0],
    [-Inf, -0.5, 0],
    [-Inf, Inf, Inf],
    [Inf, 2, Inf],
    [Inf, -2, 0],
    [Inf, Inf, Inf],
    [Inf, -Inf, 0],
    [-2, 0.5, NaN],
    [-2, 3, -8],
    [-2, -3, -0.125],
    [2, 10, 1024],
    [3, 3, 27],
    [10, 2, 100],
    [4, 0.5, 2],
    [-2, 2, 4],
    [2, NaN, NaN],
    [NaN, 2, NaN],
    [-2, NaN, NaN],
    [0, NaN, NaN],
    [2, 5000, Inf],
    [-2, 5001, -Inf],
    [2, -5000, 0],
    [-2, -5001, -0],
  ],
  sin: [
    [0, 0],
    [-0, -0],
    [Inf, NaN],
    [-Inf, NaN],
  ],
  cos: [
    [0, 1],
    [-0, 1],
    [Inf, NaN],
    [-Inf, NaN],
  ],
  tan: [
    [0, 0],
    [-0, -0],
    [Inf, NaN],
    [-Inf, NaN],
  ],
  asin: [
    [0, 0],
    [-0, -0],
    [1.5, NaN],
    [-Inf, NaN],
    [2, NaN],
  ],
  acos: [
    [1, 0],
    [1.5, NaN],
    [-2, NaN],
    [Inf, NaN],
  ],
  atan: [
    [0, 0],
    [-0, -0],
  ],
  atan2: [
    [0, 0, 0],
    [-0, 0, -0],
    [0, 1, 0],
    [-0, 1, -0],
    [1, Inf, 0],
    [-1, Inf, -0],
    [0, NaN, NaN],
    [NaN, 1, NaN],
    [Inf, NaN, NaN],
    [0, Inf, 0],
    [-0, Inf, -0],
  ],
  sinh: [
    [0, 0],
    [-0, -0],
    [Inf, Inf],
    [-Inf, -Inf],
    [-800, -Inf],
  ],
  cosh: [
    [0, 1],
    [-0, 1],
    [Inf, Inf],
    [-Inf, Inf],
    [800, Inf],
  ],
  tanh: [
    [0, 0],
    [-0, -0],
    [Inf, 1],
    [-Inf, -1],
    [50, 1],
    [-50, -1],
  ],
  asinh: [
    [0, 0],
    [-0, -0],
    [Inf, Inf],
    [-Inf, -Inf],
  ],
  acosh: [
    [1, 0],
    [Inf, Inf],
    [0.5, NaN],
    [-1, NaN],
    [-Inf, NaN],
  ],
  atanh: [
    [0, 0],
    [-0, -0],
    [1, Inf],
    [-1, -Inf],
    [1.5, NaN],
    [-Inf, NaN],
  ],
  sigmoid: [
    [0, 0.5],
    [-0, 0.5],
    [Inf, 1],
    [-Inf, 0],
    [1000, 1],
    [-1000, 0],
  ],
  softplus: [
    [Inf, Inf],
    [-Inf, 0],
    [1000, 1000],
    [-1000, 0],
  ],
  erf: [
    [0, 0],
    [-0, -0],
    [Inf, 1],
    [-Inf, -1],
    [10, 1],
    [-10, -1],
  ],
  erfc: [
    [0, 1],
    [-0, 1],
    [Inf, 0],
    [-Inf, 2],
    [30, 0],
    [-30, 2],
  ],
  erfInv: [
    [0, 0],
    [-0, -0],
    [1, Inf],
    [-1, -Inf],
    [1.5, NaN],
    [-Inf, NaN],
  ],
  lgamma: [
    [1, 0],
    [2, 0],
    [0, Inf],
    [-0, Inf],
    [-1, Inf],
    [-2, Inf],
    [-3, Inf],
    [-Inf, Inf],
    [Inf, Inf],
  ],
  digamma: [
    [0, -Inf],
    [-0, Inf],
    [-1, NaN],
    [-2, NaN],
    [Inf, Inf],
    [-Inf, NaN],
  ],
  trigamma: [
    [0, Inf],
    [-0, Inf],
    [-1, Inf],
    [-2, Inf],
    [-(2 ** 60), Inf],
    [Inf, 0],
    [-Inf, NaN],
  ],
  cbrt: [
    [0, 0],
    [-0, -0],
    [Inf, Inf],
    [-Inf, -Inf],
    [27, 3],
    [-8, -2],
    [1e9, 1000],
    [2 ** -120, 2 ** -40],
  ],
  hypot: [
    [0, 0, 0],
    [-0, -0, 0],
    [3, 4, 5],
    [-3, 4, 5],
    [Inf, NaN, Inf],
    [NaN, -Inf, Inf],
    [1, Inf, Inf],
    [1, NaN, NaN],
    [5, -12, 13],
    [0, -7, 7],
    [3 * 2 ** 100, 4 * 2 ** 100, 5 * 2 ** 100],
  ],
};

/** Angles at the ends of the axes, rounded to the type. */
const angles: readonly (readonly [MathFunctionName, readonly number[], number])[] = [
  ["atan", [Inf], Math.PI / 2],
  ["atan", [-Inf], -Math.PI / 2],
  ["atan", [1], Math.PI / 4],
  ["asin", [1], Math.PI / 2],
  ["asin", [-1], -Math.PI / 2],
  ["acos", [0], Math.PI / 2],
  ["acos", [-1], Math.PI],
  ["atan2", [0, -0], Math.PI],
  ["atan2", [-0, -0], -Math.PI],
  ["atan2", [0, -1], Math.PI],
  ["atan2", [-0, -1], -Math.PI],
  ["atan2", [1, 0], Math.PI / 2],
  ["atan2", [-1, -0], -Math.PI / 2],
  ["atan2", [Inf, 1], Math.PI / 2],
  ["atan2", [-Inf, -1], -Math.PI / 2],
  ["atan2", [1, -Inf], Math.PI],
  ["atan2", [-1, -Inf], -Math.PI],
  ["atan2", [Inf, Inf], Math.PI / 4],
  ["atan2", [-Inf, Inf], -Math.PI / 4],
  ["atan2", [Inf, -Inf], (3 * Math.PI) / 4],
  ["atan2", [-Inf, -Inf], (-3 * Math.PI) / 4],
];

const types: FloatType[] = ["f32", "f64"];

describe("special values are those of C99", () => {
  for (const name of names) {
    test(name, () => {
      for (const type of types) {
        const f = compiled(name, type);
        for (const row of table[name]) {
          const args = row.slice(0, -1);
          const expected = row[row.length - 1];
          // Some rows are exact in f64 only because they overflow or vanish in f32.
          const limit = type === "f32" ? Math.fround(expected) : expected;
          if (args.some((x) => type === "f32" && Math.fround(x) !== x && !Number.isNaN(x))) continue;
          const got = f(...args);
          assert(Object.is(got, limit), `${name}(${args.join(", ")}) in ${type} is ${got}, not ${limit}`);
        }
      }
    });
    test(`${name} of NaN is NaN`, () => {
      for (const type of types) {
        const f = compiled(name, type);
        assert(Number.isNaN(f(NaN, 2)), type);
        assert(Number.isNaN(f(2, NaN)) || f.length === 1, type);
      }
    });
  }

  test("angles at the ends of the axes are the nearest floats", () => {
    for (const [name, args, angle] of angles) {
      for (const type of types) {
        const got = compiled(name, type)(...args);
        assert.equal(got, type === "f32" ? Math.fround(angle) : angle, `${name}(${args.join(", ")}) in ${type}`);
      }
    }
  });
});
