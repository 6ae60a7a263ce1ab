/** A consumer's program: linear models and `optimize` of `pumice/learn`. */
import { type Tensor, tensor } from "pumice";
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];
const numbers = [1, 2, 3, 5];
const labels = ["a", "b", "a", "b"];
const device = "cpu";
const start = () => tensor([2.5], { device });
const line = (x: Tensor) => x.sub(1);
const bowl = (x: Tensor) => x.sub(1).square().sum();

export const learnLinearCalls: Calls = {
  bayesianRidge: async () =>
    (await learn.bayesianRidge().fit(samples, numbers, { device })).predictWithStd(samples).std,
  elasticNet: async () =>
    (await learn.elasticNet({ alpha: 0.1, l1Ratio: 0.3 }).fit(samples, numbers, { device })).predict(samples),
  gammaRegressor: async () => (await learn.gammaRegressor().fit(samples, numbers, { device })).score(samples, numbers),
  huberRegressor: async () =>
    (await learn.huberRegressor({ epsilon: 1.5 }).fit(samples, numbers, { device })).predict(samples),
  isotonicRegression: async () =>
    (await learn.isotonicRegression({ outOfBounds: "clip" }).fit([[1], [2], [3], [4]], numbers, { device })).predict([
      [9],
    ]),
  lasso: async () => (await learn.lasso({ alpha: 0.1 }).fit(samples, numbers, { device })).learned.dualityGap,
  linearSvc: async () =>
    (await learn.linearSvc({ loss: "hinge" }).fit(samples, labels, { device })).decisionFunction(samples),
  linearSvr: async () => (await learn.linearSvr({ epsilon: 0.1 }).fit(samples, numbers, { device })).predict(samples),
  logisticRegression: async () =>
    (await learn.logisticRegression({ penalty: "l1" }).fit(samples, labels, { device })).predictProbability(samples),
  poissonRegressor: async () =>
    (await learn.poissonRegressor({ alpha: 0.1 }).fit(samples, numbers, { device })).predict(samples),
  polynomialRegression: async () =>
    (await learn.polynomialRegression({ degree: 2 }).fit(samples, numbers, { device })).predict(samples),
  tweedieRegressor: async () =>
    (await learn.tweedieRegressor({ power: 1.5 }).fit(samples, numbers, { device })).predict(samples),
  "optimize.bfgs": () => learn.optimize.bfgs(bowl, start()).x,
  "optimize.bisect": () => learn.optimize.bisect(line, 0, 3).x,
  "optimize.bracket": () => learn.optimize.bracket(bowl, 0, 1).middle,
  "optimize.brent": () => learn.optimize.brent(bowl, 0, 3).value,
  "optimize.brentq": () => learn.optimize.brentq(line, 0, 3).x,
  "optimize.broyden": () => learn.optimize.broyden(line, start()).x,
  "optimize.goldenSection": () => learn.optimize.goldenSection(bowl, 0, 3, { tol: 1e-3 }).x,
  "optimize.lbfgs": () => learn.optimize.lbfgs(bowl, start(), { memory: 3 }).converged,
  "optimize.levenbergMarquardt": () => learn.optimize.levenbergMarquardt(line, start()).x,
  "optimize.nelderMead": () => learn.optimize.nelderMead(bowl, start()).iterations,
  "optimize.newton": () => learn.optimize.newton(line, start()).residual,
};
