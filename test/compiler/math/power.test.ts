/** pow, against exp(y log x) to hundreds of bits. */
import * as exact from "../../support/exact-functions.js";
import { largest, smallestDenormal } from "../../support/floats.js";
import { holdsOracle, holdsTable, spread } from "./function-checks.js";

holdsTable("pow", [
  [0, 0, 1],
  [-0, 0, 1],
  [NaN, 0, 1],
  [NaN, -0, 1],
  [Infinity, 0, 1],
  [-Infinity, -0, 1],
  [1, NaN, 1],
  [1, Infinity, 1],
  [1, -Infinity, 1],
  [1, 5, 1],
  [-1, Infinity, 1],
  [-1, -Infinity, 1],
  [-1, 3, -1],
  [-1, 4, 1],
  [-1, 2 ** 60, 1],
  [0, 3, 0],
  [-0, 3, -0],
  [0, 2, 0],
  [-0, 2, 0],
  [-0, 0.5, 0],
  [0, Infinity, 0],
  [-0, Infinity, 0],
  [0, -3, Infinity],
  [-0, -3, -Infinity],
  [0, -2, Infinity],
  [-0, -2, Infinity],
  [-0, -0.5, Infinity],
  [0, -Infinity, Infinity],
  [-0, -Infinity, Infinity],
  [0.5, -Infinity, Infinity],
  [-0.5, -Infinity, Infinity],
  [2, -Infinity, 0],
  [-2, -Infinity, 0],
  [0.5, Infinity, 0],
  [-0.5, Infinity, 0],
  [2, Infinity, Infinity],
  [-2, Infinity, Infinity],
  [-Infinity, 3, -Infinity],
  [-Infinity, 2, Infinity],
  [-Infinity, 0.5, Infinity],
  [-Infinity, -3, -0],
  [-Infinity, -2, 0],
  [-Infinity, -0.5, 0],
  [-Infinity, Infinity, Infinity],
  [Infinity, 2, Infinity],
  [Infinity, -2, 0],
  [Infinity, Infinity, Infinity],
  [Infinity, -Infinity, 0],
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
  [2, 5000, Infinity],
  [-2, 5001, -Infinity],
  [2, -5000, 0],
  [-2, -5001, -0],
]);

const pairs = (xs: readonly number[][], ys: readonly number[][]) => xs.map(([x], i) => [x!, ys[i]![0]!]);

holdsOracle("pow", exact.pow, {
  both: [
    ...pairs(spread(0.01, 4), spread(-15, 15)),
    // Next to 1 the exponent may be large.
    ...pairs(spread(0.9999, 1.0001), spread(-30000, 30000)),
    [1 + 2 ** -23, 2 ** 23],
    [1 - 2 ** -24, 2 ** 24],
    [3, 4],
    [10, -3],
    [0.1, 7],
  ],
  f32: [
    [largest.f32, 0.5],
    [smallestDenormal.f32, 0.25],
    [smallestDenormal.f32, -0.8],
    [10, 38],
    [10, -44],
    [2, -148.5],
  ],
  f64: [
    [largest.f64, 0.5],
    [smallestDenormal.f64, 0.25],
    [smallestDenormal.f64, -0.95],
    [10, 308],
    [10, -320],
    [1 + 2 ** -52, 2 ** 52],
    ...pairs(spread(1e100, 1e200), spread(-1.5, 1.5)),
  ],
});

/** A negative base has the sign of an odd exponent; the size is that of its magnitude. */
holdsOracle(
  "pow",
  (x, y) => {
    const { high, low } = exact.pow(-x, y);
    return y % 2 === 0 ? { high, low } : { high: -high, low: -low };
  },
  {
    both: [
      [-3, 3],
      [-3, 4],
      [-1.5, -7],
      [-0.1, 5],
      [-1.25, 2 ** 8],
      [-1.25, 2 ** 8 + 1],
    ],
  },
);
