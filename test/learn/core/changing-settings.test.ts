/** Fits repeated with other settings, as searches for good ones do: after a few of them nothing is compiled any more. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, setDefaultDevice, type Tensor } from "../../../src/index.js";
import {
  bayesianRidge,
  elasticNet,
  factorAnalysis,
  fastIca,
  gaussianMixture,
  huberRegressor,
  lasso,
  linearSvc,
  logisticRegression,
  nmf,
  ridge,
} from "../../../src/learn/index.js";
import { workOf } from "../../support/jit-check.js";

/** So many fits see each number change; those after them compile nothing. */
const FIRST = 5;
const ALL = 9;

test("fits with other penalties and tolerances take the programs of those before", async () => {
  setDefaultDevice("cpu");
  const x = random.normal(random.key(0), [40, 3]).realize();
  const y = x.at(":", 0).mul(2).add(x.at(":", 1).sin()).realize() as Tensor;
  const classes = x.at(":", 0).greater(0).cast("i32").realize() as Tensor;
  const fits: Readonly<Record<string, (size: number) => unknown>> = {
    ridge: (size) => ridge({ alpha: size }).fit(x, y),
    lasso: (size) => lasso({ alpha: size / 50, tol: size / 1000 }).fit(x, y),
    elasticNet: (size) => elasticNet({ alpha: size / 50, l1Ratio: size / 3 }).fit(x, y),
    huberRegressor: (size) => huberRegressor({ alpha: size, epsilon: 1 + size }).fit(x, y),
    bayesianRidge: (size) => bayesianRidge({ alpha1: size / 100, tol: size / 1000 }).fit(x, y),
    logisticRegression: (size) => logisticRegression({ c: size }).fit(x, classes),
    linearSvc: (size) => linearSvc({ c: size }).fit(x, classes),
    gaussianMixture: (size) => gaussianMixture({ nComponents: 2, regCovar: size / 1e4, seed: 1 }).fit(x),
    nmf: (size) => nmf({ nComponents: 2, alphaW: size / 100, maxIter: 5 }).fit(x.abs()),
    fastIca: (size) => fastIca({ tol: size / 1000, maxIter: 5, seed: 1 }).fit(x),
    factorAnalysis: (size) => factorAnalysis({ tol: size / 100, maxIter: 20 }).fit(x),
  };
  const compiling: string[] = [];
  for (const [name, fit] of Object.entries(fits)) {
    for (let i = 0; i < FIRST; i++) await fit(0.5 + i / 10);
    const before = workOf("cpu").compiled;
    for (let i = FIRST; i < ALL; i++) await fit(0.5 + i / 10);
    const compiled = workOf("cpu").compiled - before;
    if (compiled > 0) compiling.push(`${name}: ${compiled}`);
  }
  assert.deepEqual(compiling, []);
});
