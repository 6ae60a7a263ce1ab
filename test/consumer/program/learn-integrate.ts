/** A consumer's program: `integrate` of `pumice/learn`. */
import { type Tensor, tensor } from "pumice";
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const device = "cpu";
const start = () => tensor([1, 2], { device });
const slope = (_t: Tensor, y: Tensor) => y.neg();

export const learnIntegrateCalls: Calls = {
  "integrate.check": async () => (await learn.integrate.check(learn.integrate.odeSolve(slope, start(), [0, 1]))).steps,
  "integrate.odeSolve": () => learn.integrate.odeSolve(slope, start(), [0, 1]).y,
};
