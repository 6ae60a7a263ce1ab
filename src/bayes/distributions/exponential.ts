/** The exponential distribution: waiting times. */
import { refusingSurplus } from "../../core/arity.js";
import { exponential as exponentialNumbers } from "../../random/exponential.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { nonNegative } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { log1mExp } from "../definition/normal-probability.js";
import { RandomVariable } from "../variables/variable.js";

const exponentialDefinition: Definition<"rate"> = {
  name: "exponential",
  parameters: { rate: parameter.positive },
  support: nonNegative,
  terms: (x, p) => [x.mul(p.rate).neg(), p.rate.log()],
  draw: ({ key, shape, dtype }, p) => exponentialNumbers(key, shape, { dtype }).div(p.rate),
  mean: (p) => p.rate.reciprocal(),
  variance: (p) => p.rate.square().reciprocal(),
  logCdf: (x, p) => log1mExp(x.mul(p.rate)),
  logSurvival: (x, p) => x.mul(p.rate).neg(),
};

/** Exponential numbers of mean 1/rate. */
export const exponential = refusingSurplus(
  "exponential",
  (rate: Argument): RandomVariable => new RandomVariable(bind(exponentialDefinition, { rate })),
);
