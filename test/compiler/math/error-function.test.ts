/** erf, erfc and erfInv, by series and by Newton steps to hundreds of bits. */
import * as exact from "../../support/exact-functions.js";
import { holdsOracle, holdsTable, negated, powers, spread } from "./function-checks.js";
import { compiled } from "./math-cases.js";

holdsTable("erf", [
  [0, 0],
  [-0, -0],
  [Infinity, 1],
  [-Infinity, -1],
  [10, 1],
  [-10, -1],
]);

holdsTable("erfc", [
  [0, 1],
  [-0, 1],
  [Infinity, 0],
  [-Infinity, 2],
  [30, 0],
  [-30, 2],
]);

holdsTable("erfInv", [
  [0, 0],
  [-0, -0],
  [1, Infinity],
  [-1, -Infinity],
  [1.5, NaN],
  [-Infinity, NaN],
]);

const SMALL = [...powers(-60, 0), ...negated(powers(-60, 0))];
holdsOracle("erf", exact.erf, {
  both: [...SMALL, ...spread(-4, 4, 80)],
  f64: [...spread(4, 6), ...powers(-1000, -100)],
});
// Beyond 10 the results are denormals of f32.
holdsOracle("erfc", exact.erfc, { both: [...SMALL, ...spread(-4, 9, 100)], f32: spread(9, 10.1), f64: spread(9, 12) });

const inverse = compiled("erfInv", "f64");
holdsOracle("erfInv", (y) => exact.erfInv(y, inverse(y)), {
  both: [...SMALL.filter(([y]) => Math.abs(y!) < 1), ...spread(-0.999, 0.999, 60), [1 - 2 ** -24], [2 ** -24 - 1]],
  f64: [[1 - 2 ** -53], [1 - 2 ** -40], [2 ** -50 - 1]],
});
