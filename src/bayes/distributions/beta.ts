/** The beta distribution, of probabilities. */
import { beta as betaNumbers } from "../../random/gamma.js";
import { type Tensor, where } from "../../tensor/tensor.js";
import type { Argument } from "../argument.js";
import { closedUnitInterval, unitInterval } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { deviance, isDelicate, logGammaPeak, sizeOf } from "./deviance.js";
import { bind, type Family, parameter, type Term } from "./distribution.js";
import { atEnd, finiteLog, finiteLog1m, isOne, isZero, withEnds } from "./ends.js";
import { shareFloats } from "./float-range.js";

/** The terms for large parameters. */
function delicateTerms(x: Tensor, successes: Tensor, failures: Tensor, ends: Tensor): readonly Term[] {
  const rest = x.neg().add(1);
  const total = successes.add(failures);
  const excess = where(x.less(0.5), total.mul(x).sub(successes), failures.sub(total.mul(rest)));
  const [logX, logRest, logTotal] = [finiteLog(x), finiteLog1m(x), total.log()];
  return [
    deviance(successes, excess, logTotal.add(logX))
      .add(deviance(failures, excess.neg(), logTotal.add(logRest)))
      .neg()
      .add(ends),
    logX.add(logRest).neg(),
    logGammaPeak(successes).add(logGammaPeak(failures)).sub(logGammaPeak(total)),
  ];
}

const betaFamily: Family<"successes" | "failures"> = {
  name: "beta",
  parameters: { successes: parameter.positive, failures: parameter.positive },
  support: closedUnitInterval,
  domain: ({ successes, failures }) =>
    withEnds(unitInterval, closedUnitInterval, [
      { isEnd: isZero, argument: successes, value: 1 },
      { isEnd: isOne, argument: failures, value: 1 },
    ]),
  magnitude: (_, p) => sizeOf(p.successes.add(p.failures)),
  terms(x, p, { successes, failures }, isTame) {
    const powers = [p.successes.sub(1), p.failures.sub(1)];
    const [first, last] = [atEnd(isZero(x), powers[0]), atEnd(isOne(x), powers[1])];
    if (!isTame && isDelicate(successes, failures)) return delicateTerms(x, p.successes, p.failures, first.add(last));
    return [
      successes === 1 ? 0 : finiteLog(x).mul(powers[0]).add(first),
      failures === 1 ? 0 : finiteLog1m(x).mul(powers[1]).add(last),
      p.successes.add(p.failures).lgamma(),
      p.successes.lgamma().neg(),
      p.failures.lgamma().neg(),
    ];
  },
  draw: ({ key, shape, dtype }, p) => shareFloats(betaNumbers(key, p.successes, p.failures, shape, { dtype })),
  mean: (p) => p.successes.div(p.successes.add(p.failures)),
  variance(p) {
    const total = p.successes.add(p.failures);
    return p.successes.mul(p.failures).div(total.square().mul(total.add(1)));
  },
};

/** Beta numbers of mean successes/(successes + failures), which need not be whole. */
export const beta = (successes: Argument, failures: Argument): RandomVariable =>
  new RandomVariable(bind(betaFamily, { successes, failures }));
