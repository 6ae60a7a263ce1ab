/** asinh, acosh and atanh, by logarithms to hundreds of bits. */
import * as exact from "../../support/exact-functions.js";
import { largest } from "../../support/floats.js";
import { holdsOracle, holdsTable, negated, powers, spread } from "./function-checks.js";

holdsTable("asinh", [
  [0, 0],
  [-0, -0],
  [Infinity, Infinity],
  [-Infinity, -Infinity],
]);

holdsTable("acosh", [
  [1, 0],
  [Infinity, Infinity],
  [0.5, NaN],
  [-1, NaN],
  [-Infinity, NaN],
]);

holdsTable("atanh", [
  [0, 0],
  [-0, -0],
  [1, Infinity],
  [-1, -Infinity],
  [1.5, NaN],
  [-Infinity, NaN],
]);

holdsOracle("asinh", exact.asinh, {
  both: [...spread(-4, 4, 60), ...powers(-100, 120), ...negated(powers(-100, 120)), [largest.f32]],
  f64: [...powers(-1000, 1000), [largest.f64]],
});
holdsOracle("acosh", exact.acosh, {
  both: [...spread(1.0001, 4, 60), ...powers(0.1, 120), [1 + 2 ** -23], [1 + 2 ** -20], [largest.f32]],
  f64: [...powers(1, 1000), [largest.f64], [1 + 2 ** -52]],
});
holdsOracle("atanh", exact.atanh, {
  both: [
    ...spread(-0.999, 0.999, 80),
    ...powers(-100, -1),
    ...negated(powers(-100, -1)),
    [1 - 2 ** -24],
    [2 ** -24 - 1],
  ],
  f64: [...powers(-1000, -100), [1 - 2 ** -53]],
});
