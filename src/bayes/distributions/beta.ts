/** The beta distribution, of probabilities. */
import { beta as betaNumbers } from "../../random/gamma.js";
import type { Argument } from "../argument.js";
import { unitInterval } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { bind, type Family, parameter } from "./distribution.js";

const betaFamily: Family<"successes" | "failures"> = {
  name: "beta",
  parameters: { successes: parameter.positive, failures: parameter.positive },
  support: unitInterval,
  terms: (x, p) => [
    x.log().mul(p.successes.sub(1)),
    x.neg().log1p().mul(p.failures.sub(1)),
    p.successes.add(p.failures).lgamma(),
    p.successes.lgamma().neg(),
    p.failures.lgamma().neg(),
  ],
  draw: ({ key, shape, dtype }, p) => betaNumbers(key, p.successes, p.failures, shape, { dtype }),
  mean: (p) => p.successes.div(p.successes.add(p.failures)),
  variance(p) {
    const total = p.successes.add(p.failures);
    return p.successes.mul(p.failures).div(total.square().mul(total.add(1)));
  },
};

/** Beta numbers of mean successes/(successes + failures), which need not be whole. */
export const beta = (successes: Argument, failures: Argument): RandomVariable =>
  new RandomVariable(bind(betaFamily, { successes, failures }));
