/** The beta distribution, of probabilities. */
import { beta as betaNumbers } from "../../random/gamma.js";
import { type Tensor, where } from "../../tensor/tensor.js";
import type { Argument } from "../argument.js";
import type { Constraint } from "../constraints/constraint.js";
import { interval, unitInterval } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { deviance, isDelicate, logGammaPeak } from "./deviance.js";
import { bind, type Family, parameter, type Term } from "./distribution.js";

/** Without an end, or with it where the density is finite there: by whether 0 is in it, and 1. */
const supports: readonly (readonly Constraint[])[] = [
  [unitInterval, { ...unitInterval, holds: (x) => x.greater(0).logicalAnd(x.lessEqual(1)) }],
  [{ ...unitInterval, holds: (x) => x.greaterEqual(0).logicalAnd(x.less(1)) }, interval(0, 1)],
];

/** The terms for large parameters. */
function delicateTerms(x: Tensor, successes: Tensor, failures: Tensor): readonly Term[] {
  const rest = x.neg().add(1);
  const total = successes.add(failures);
  const excess = where(x.less(0.5), total.mul(x).sub(successes), failures.sub(total.mul(rest)));
  const [logX, logRest, logTotal] = [x.log(), x.neg().log1p(), total.log()];
  return [
    deviance(successes, excess, logTotal.add(logX))
      .add(deviance(failures, excess.neg(), logTotal.add(logRest)))
      .neg(),
    logX.add(logRest).neg(),
    logGammaPeak(successes).add(logGammaPeak(failures)).sub(logGammaPeak(total)),
  ];
}

const betaFamily: Family<"successes" | "failures"> = {
  name: "beta",
  parameters: { successes: parameter.positive, failures: parameter.positive },
  support: ({ successes, failures }) => supports[successes === 1 ? 1 : 0][failures === 1 ? 1 : 0],
  terms(x, p, { successes, failures }) {
    if (isDelicate(x, successes, failures)) return delicateTerms(x, p.successes, p.failures);
    return [
      successes === 1 ? 0 : x.log().mul(p.successes.sub(1)),
      failures === 1 ? 0 : x.neg().log1p().mul(p.failures.sub(1)),
      p.successes.add(p.failures).lgamma(),
      p.successes.lgamma().neg(),
      p.failures.lgamma().neg(),
    ];
  },
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
