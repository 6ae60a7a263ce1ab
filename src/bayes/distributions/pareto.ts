/** The Pareto distribution: power laws from a least value on. */
import { refusingSurplus } from "../../core/arity.js";
import { exponential } from "../../random/exponential.js";
import { where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { above } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { log1mExp } from "../definition/normal-probability.js";
import { positiveFloats } from "../numerics/float-range.js";
import { RandomVariable } from "../variables/variable.js";

const paretoDefinition: Definition<"exponent" | "least"> = {
  name: "pareto",
  parameters: { exponent: parameter.positive, least: parameter.positive },
  support: ({ least }) => above(least),
  terms: (x, p) => [x.log().mul(p.exponent.add(1)).neg(), p.exponent.log(), p.exponent.mul(p.least.log())],
  draw: ({ key, shape, dtype }, p) =>
    positiveFloats(exponential(key, shape, { dtype }).div(p.exponent).exp().mul(p.least)),
  mean: (p) => where(p.exponent.greater(1), p.exponent.mul(p.least).div(p.exponent.sub(1)), Infinity),
  variance(p) {
    const excess = p.exponent.sub(1);
    const variance = p.least
      .square()
      .mul(p.exponent)
      .div(excess.square().mul(excess.sub(1)));
    return where(p.exponent.greater(2), variance, Infinity);
  },
  logCdf: (x, p) => log1mExp(x.log().sub(p.least.log()).mul(p.exponent)),
  logSurvival: (x, p) => p.least.log().sub(x.log()).mul(p.exponent),
};

/** Pareto numbers: P(X > x) = (least/x)^exponent. */
export const pareto = refusingSurplus(
  "pareto",
  (exponent: Argument, least: Argument): RandomVariable =>
    new RandomVariable(bind(paretoDefinition, { exponent, least })),
);
