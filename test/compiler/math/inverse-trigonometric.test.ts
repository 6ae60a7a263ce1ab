/** asin, acos, atan and atan2, and in which quadrant an angle lies. */
import * as exact from "../../support/exact-functions.js";
import { holdsAngles, holdsOracle, holdsTable, negated, powers, spread } from "./function-checks.js";

holdsTable("asin", [
  [0, 0],
  [-0, -0],
  [1.5, NaN],
  [-Infinity, NaN],
  [2, NaN],
]);

holdsTable("acos", [
  [1, 0],
  [1.5, NaN],
  [-2, NaN],
  [Infinity, NaN],
]);

holdsTable("atan", [
  [0, 0],
  [-0, -0],
]);

holdsTable("atan2", [
  [0, 0, 0],
  [-0, 0, -0],
  [0, 1, 0],
  [-0, 1, -0],
  [1, Infinity, 0],
  [-1, Infinity, -0],
  [0, NaN, NaN],
  [NaN, 1, NaN],
  [Infinity, NaN, NaN],
  [0, Infinity, 0],
  [-0, Infinity, -0],
]);

const { PI } = Math;
holdsAngles("atan", [
  [Infinity, PI / 2],
  [-Infinity, -PI / 2],
  [1, PI / 4],
]);
holdsAngles("asin", [
  [1, PI / 2],
  [-1, -PI / 2],
]);
holdsAngles("acos", [
  [0, PI / 2],
  [-1, PI],
]);
holdsAngles("atan2", [
  [0, -0, PI],
  [-0, -0, -PI],
  [0, -1, PI],
  [-0, -1, -PI],
  [1, 0, PI / 2],
  [-1, -0, -PI / 2],
  [Infinity, 1, PI / 2],
  [-Infinity, -1, -PI / 2],
  [1, -Infinity, PI],
  [-1, -Infinity, -PI],
  [Infinity, Infinity, PI / 4],
  [-Infinity, Infinity, -PI / 4],
  [Infinity, -Infinity, (3 * PI) / 4],
  [-Infinity, -Infinity, (-3 * PI) / 4],
]);

const UNIT = [...spread(-1, 1, 80), ...powers(-60, -1), ...negated(powers(-60, -1)), [1 - 2 ** -24], [-1 + 2 ** -24]];
holdsOracle("asin", exact.asin, { both: UNIT, f64: [[1 - 2 ** -53], ...powers(-1000, -500)] });
holdsOracle("acos", exact.acos, { both: UNIT, f64: [[1 - 2 ** -53]] });
holdsOracle("atan", exact.atan, {
  both: [...spread(-4, 4, 80), ...powers(-100, 100), ...negated(powers(-100, 100))],
  f64: [...powers(-1000, 1000)],
});

const quadrants = spread(0.1, 4).flatMap(([y], i) => {
  const x = 0.05 + i / 7;
  return [
    [y!, x],
    [y!, -x],
    [-y!, x],
    [-y!, -x],
  ];
});
holdsOracle("atan2", exact.atan2, {
  both: [...quadrants, [1e-10, 1e10], [1e10, 1e-10], [-1e-10, -1e10], [1e30, -1e30]],
  f64: [
    [1e300, -1e-10],
    [1e-300, 1e5],
    [1e-200, -1e200],
  ],
});
