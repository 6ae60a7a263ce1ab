/** A consumer's program: `integrate` of `pumice/learn`. */
import { type Tensor, tensor } from "pumice";
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const device = "cpu";
const start = () => tensor([1, 2], { device });
const slope = (_t: Tensor, y: Tensor) => y.neg();

export const learnIntegrateCalls: Calls = {
  "integrate.check": async () => (await learn.integrate.check(learn.integrate.odeSolve(slope, start(), [0, 1]))).steps,
  "integrate.cumulativeSimpson": () => learn.integrate.cumulativeSimpson(start(), { dx: 0.5 }),
  "integrate.cumulativeTrapezoid": () => learn.integrate.cumulativeTrapezoid(start(), { axis: 0 }),
  "integrate.gaussLegendre": () => learn.integrate.gaussLegendre((x) => x.exp(), 0, 1, { points: 5, device }),
  "integrate.odeSolve": () => learn.integrate.odeSolve(slope, start(), [0, 1]).y,
  "integrate.quad": async () =>
    (await learn.integrate.check(learn.integrate.quad((x) => x.neg().exp(), 0, Number.POSITIVE_INFINITY, { device })))
      .value,
  "integrate.romberg": () => learn.integrate.romberg((x) => x.exp(), 0, 1, { levels: 4, device }).error,
  "integrate.simpson": () => learn.integrate.simpson(start()),
  "integrate.trapezoid": () => learn.integrate.trapezoid(start(), { x: [0, 2] }),
};
