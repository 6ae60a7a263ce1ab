/** Counts of events, by their rate or its logarithm. */
import { poisson as poissonNumbers } from "../../random/poisson.js";
import { where } from "../../tensor/index.js";
import type { Argument } from "../argument.js";
import { count } from "../constraints/whole-numbers.js";
import { RandomVariable } from "../model/variable.js";
import { deviance, isDelicate, logPeak, sizeOf } from "./deviance.js";
import { bind, type Family, parameter } from "./distribution.js";
import { logOf, xLogY } from "./ends.js";

const poissonFamily: Family<"rate"> = {
  name: "poisson",
  parameters: { rate: parameter.nonNegative },
  support: count,
  magnitude: sizeOf,
  terms(x, p, { rate }, isTame) {
    const logRate = logOf(p.rate);
    if (!isTame && isDelicate(rate)) return [deviance(x, p.rate.sub(x), logRate).neg(), logPeak(x)];
    return [xLogY(x, logRate), p.rate.neg(), x.add(1).lgamma().neg()];
  },
  draw: ({ key, shape }, p) => poissonNumbers(key, p.rate, shape),
  mean: (p) => p.rate,
  variance: (p) => p.rate,
};

/** How many events of a rate happen. */
export const poisson = (rate: Argument): RandomVariable => new RandomVariable(bind(poissonFamily, { rate }));

const poissonLogFamily: Family<"logRate"> = {
  name: "poissonLog",
  parameters: { logRate: parameter.real },
  support: count,
  magnitude: sizeOf,
  terms(x, p, _, isTame) {
    if (isTame) return [x.mul(p.logRate), p.logRate.exp().neg(), x.add(1).lgamma().neg()];
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
export const poissonLog = (logRate: Argument): RandomVariable =>
  new RandomVariable(bind(poissonLogFamily, { logRate }));
