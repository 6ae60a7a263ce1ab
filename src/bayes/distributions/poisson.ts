/** Counts of events, by their rate or its logarithm. */
import { poisson as poissonNumbers } from "../../random/poisson.js";
import type { Argument } from "../argument.js";
import { count } from "../constraints/whole-numbers.js";
import { RandomVariable } from "../model/variable.js";
import { xLogY } from "./binomial.js";
import { bind, type Family, parameter } from "./distribution.js";

const poissonFamily: Family<"rate"> = {
  name: "poisson",
  parameters: { rate: parameter.positive },
  support: count,
  terms: (x, p) => [xLogY(x, p.rate.log()), p.rate.neg(), x.add(1).lgamma().neg()],
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
  terms: (x, p) => [x.mul(p.logRate), p.logRate.exp().neg(), x.add(1).lgamma().neg()],
  draw: ({ key, shape }, p) => poissonNumbers(key, p.logRate.exp(), shape),
  mean: (p) => p.logRate.exp(),
  variance: (p) => p.logRate.exp(),
};

/** How many events happen, by the logarithm of their rate: Poisson regression. */
export const poissonLog = (logRate: Argument): RandomVariable =>
  new RandomVariable(bind(poissonLogFamily, { logRate }));
