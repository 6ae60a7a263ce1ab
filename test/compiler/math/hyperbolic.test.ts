/** sinh, cosh and tanh, next to zero and next to overflow. */
import * as exact from "../../support/exact-functions.js";
import { holdsOracle, holdsTable, negated, powers, spread } from "./function-checks.js";

holdsTable("sinh", [
  [0, 0],
  [-0, -0],
  [Infinity, Infinity],
  [-Infinity, -Infinity],
  [-800, -Infinity],
]);

holdsTable("cosh", [
  [0, 1],
  [-0, 1],
  [Infinity, Infinity],
  [-Infinity, Infinity],
  [800, Infinity],
]);

holdsTable("tanh", [
  [0, 0],
  [-0, -0],
  [Infinity, 1],
  [-Infinity, -1],
  [50, 1],
  [-50, -1],
]);

const SMALL = [...powers(-60, 0), ...negated(powers(-60, 0))];
// The polynomials end at 0.55 and 1.
const JOINTS = [0.5499, 0.55, 0.5501, 0.9999, 1, 1.0001].map((x) => [x]);
// exp overflows before sinh and cosh do.
const ENDS = {
  f32: [...spread(80, 89.4), [89.41], [-89.41]],
  f64: [...spread(700, 710.4), [710.47], [-710.47], ...powers(-1000, -100)],
};
holdsOracle("sinh", exact.sinh, { both: [...SMALL, ...JOINTS, ...spread(-20, 20, 60)], ...ENDS });
holdsOracle("cosh", exact.cosh, { both: [...SMALL, ...JOINTS, ...spread(-20, 20, 60)], ...ENDS });
holdsOracle("tanh", exact.tanh, { both: [...SMALL, ...JOINTS, ...spread(-9, 9, 80)], f64: spread(9, 20) });
