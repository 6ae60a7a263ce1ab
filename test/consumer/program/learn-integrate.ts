/** A consumer's program: `integrate` of `pumice/learn`. */
import { type Tensor, tensor } from "pumice";
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const device = "cpu";
const fall = () => learn.integrate.odeSolve((_, y: Tensor) => y.neg(), tensor([1, 2], { device }), [0, 1]);

export const learnIntegrateCalls: Calls = {
  "integrate.check": async () => (await learn.integrate.check(fall())).steps,
  "integrate.odeSolve": () => fall().y,
};
