/** cbrt, hypot and rsqrt, against roots of whole numbers. */
import * as exact from "../../support/exact-functions.js";
import { largest, smallestDenormal, smallestNormal } from "../../support/floats.js";
import { holdsOracle, holdsTable, negated, powers, spread } from "./function-checks.js";

holdsTable("cbrt", [
  [0, 0],
  [-0, -0],
  [Infinity, Infinity],
  [-Infinity, -Infinity],
  [27, 3],
  [-8, -2],
  [1e9, 1000],
  [2 ** -120, 2 ** -40],
]);

holdsTable("hypot", [
  [0, 0, 0],
  [-0, -0, 0],
  [3, 4, 5],
  [-3, 4, 5],
  [Infinity, NaN, Infinity],
  [NaN, -Infinity, Infinity],
  [1, Infinity, Infinity],
  [1, NaN, NaN],
  [5, -12, 13],
  [0, -7, 7],
  [3 * 2 ** 100, 4 * 2 ** 100, 5 * 2 ** 100],
]);

holdsOracle("cbrt", exact.cbrt, {
  both: [...spread(-8, 8, 100), ...powers(-126, 127, 80), ...negated(powers(-126, 127))],
  f32: [[largest.f32], [smallestNormal.f32], [smallestDenormal.f32], [5 * smallestDenormal.f32]],
  f64: [...powers(-1074, 1023, 80), [largest.f64], [smallestNormal.f64], [smallestDenormal.f64]],
});

// The squares of the larger side over- and underflow here.
const sides = (low: number, high: number) => powers(low, high).map(([x], i) => [x!, x! * (i / 20)]);
holdsOracle("hypot", exact.hypot, {
  both: [...spread(-4, 4).map(([x], i) => [x!, i / 10 - 2]), ...sides(-60, 60)],
  f32: [...sides(-126, -40), ...sides(60, 126), [largest.f32, 1], [2e38, 2e38], [smallestDenormal.f32, 0]],
  f64: [...sides(-1022, -450), ...sides(500, 1021), [largest.f64, 1], [1e308, 1e308], [smallestDenormal.f64, 0]],
});

holdsTable("rsqrt", [
  [0, Infinity],
  [-0, -Infinity],
  [Infinity, 0],
  [-Infinity, NaN],
  [-1, NaN],
  [NaN, NaN],
  [1, 1],
  [4, 0.5],
  [0.0625, 4],
  [2 ** 100, 2 ** -50],
  [2 ** -126, 2 ** 63],
]);

holdsOracle("rsqrt", exact.rsqrt, {
  both: [...spread(0.01, 8, 100), ...powers(-126, 127, 80)],
  f32: [[largest.f32], [smallestNormal.f32], [smallestDenormal.f32], [5 * smallestDenormal.f32]],
  f64: [...powers(-1074, 1023, 80), [largest.f64], [smallestNormal.f64], [smallestDenormal.f64]],
});
