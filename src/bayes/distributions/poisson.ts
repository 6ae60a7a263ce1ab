/** Counts of events, by their rate or its logarithm. */
import { refusingSurplus } from "../../core/arity.js";
import { poisson as poissonNumbers } from "../../random/poisson.js";
import { where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { count } from "../constraints/whole-numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { deviance, logPeak, magnitudeOf, mayCancel } from "../definition/deviance.js";
import { logOf, xLogY } from "../definition/ends.js";
import { RandomVariable } from "../variables/variable.js";

const poissonDefinition: Definition<"rate"> = {
  name: "poisson",
  parameters: { rate: parameter.nonNegative },
  support: count,
  magnitude: magnitudeOf,
  terms(x, p, { rate }, isShort) {
    const logRate = logOf(p.rate);
    if (!isShort && mayCancel(rate)) return [deviance(x, p.rate.sub(x), logRate).neg(), logPeak(x)];
    return [xLogY(x, logRate), p.rate.neg(), x.add(1).lgamma().neg()];
  },
  draw: ({ key, shape }, p) => poissonNumbers(key, p.rate, shape),
  mean: (p) => p.rate,
  variance: (p) => p.rate,
};

/** The number of events that happen at a rate. */
export const poisson = refusingSurplus(
  "poisson",
  (rate: Argument): RandomVariable => new RandomVariable(bind(poissonDefinition, { rate })),
);

const poissonLogDefinition: Definition<"logRate"> = {
  name: "poissonLog",
  parameters: { logRate: parameter.real },
  support: count,
  magnitude: magnitudeOf,
  terms(x, p, _, isShort) {
    if (isShort) return [x.mul(p.logRate), p.logRate.exp().neg(), x.add(1).lgamma().neg()];
    // The deviance is x (exp(d) - 1 - d), d = log(rate/x); for x = 0 the rate itself, which is exp(d) for d = log rate.
    const isNone = x.equal(0);
    const size = where(isNone, 1, x);
    const d = p.logRate.sub(size.log());
    return [x.mul(d).sub(size.mul(d.expm1())), where(isNone, -1, logPeak(x))];
  },
  draw: ({ key, shape }, p) => poissonNumbers(key, p.logRate.exp(), shape),
  mean: (p) => p.logRate.exp(),
  variance: (p) => p.logRate.exp(),
};

/** How many events happen, by the logarithm of their rate: Poisson regression. */
export const poissonLog = refusingSurplus(
  "poissonLog",
  (logRate: Argument): RandomVariable => new RandomVariable(bind(poissonLogDefinition, { logRate })),
);
