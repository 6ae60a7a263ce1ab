/** sin, cos and tan, up to the largest floats. */
import * as exact from "../../support/exact-functions.js";
import { largest } from "../../support/floats.js";
import { holdsOracle, holdsTable, negated, powers, spread } from "./function-checks.js";

holdsTable("sin", [
  [0, 0],
  [-0, -0],
  [Infinity, NaN],
  [-Infinity, NaN],
]);

holdsTable("cos", [
  [0, 1],
  [-0, 1],
  [Infinity, NaN],
  [-Infinity, NaN],
]);

holdsTable("tan", [
  [0, 0],
  [-0, -0],
  [Infinity, NaN],
  [-Infinity, NaN],
]);

/** The f64 and the f32 that are nearest to a multiple of pi/2 (Muller, Elementary Functions, ch. 11). */
const NEAREST = { f64: 6381956970095103 * 2 ** 797, f32: 16367173 * 2 ** 72 };
const SAMPLES = {
  both: [
    ...spread(-7, 7, 60),
    ...powers(-20, 100),
    ...negated(powers(-20, 100)),
    ...[1, 2, 3, 4, 5, 355, 710].map((n) => [(n * Math.PI) / 2]),
    [Math.PI / 4],
    [largest.f32],
  ],
  f32: [[NEAREST.f32]],
  f64: [[NEAREST.f64], [largest.f64], [-largest.f64], [1e22], ...powers(-1000, 1023)],
};

holdsOracle("sin", exact.sin, SAMPLES);
holdsOracle("cos", exact.cos, SAMPLES);
holdsOracle("tan", exact.tan, SAMPLES);
