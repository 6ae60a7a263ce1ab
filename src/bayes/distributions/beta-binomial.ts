/** Successes among trials whose probability is itself a beta number: counts that vary more than binomial ones. */
import { refusingSurplus } from "../../core/arity.js";
import { binomial as binomialNumbers } from "../../random/binomial.js";
import { beta as betaNumbers } from "../../random/gamma.js";
import { split } from "../../random/key.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { countUpTo } from "../constraints/whole-numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { deviance, logGammaPeak, logPeak, magnitudeOf, mayCancel } from "../definition/deviance.js";
import { shareFloats } from "../numerics/float-range.js";
import type { Term } from "../numerics/terms.js";
import { RandomVariable } from "../variables/variable.js";
import { logChoose } from "./binomial.js";

type Name = "trials" | "successes" | "failures";

/** log of the beta function. */
const logBeta = (a: Tensor, b: Tensor): Tensor => a.lgamma().add(b.lgamma()).sub(a.add(b).lgamma());

/**
 * The terms for many trials or large parameters. The numbers are a table: x and n - x in one row, successes and failures in the
 * other. All that grows with them is how far the cells are from (sum of the row)·(sum of the column)/(sum of all).
 */
function stableTerms(x: Tensor, { trials, successes, failures }: Readonly<Record<Name, Tensor>>): readonly Term[] {
  const rest = trials.sub(x);
  const prior = successes.add(failures);
  const [inX, inRest] = [x.add(successes), rest.add(failures)];
  const all = trials.add(prior);
  const excess = rest.mul(successes.div(all)).sub(x.mul(failures.div(all)));
  const less = excess.neg();
  const logRow = where(trials.equal(0), 1, trials).log().sub(all.log());
  const logPrior = prior.log().sub(all.log());
  const [logX, logRest] = [inX.log(), inRest.log()];
  return [
    deviance(x, excess, logRow.add(logX))
      .add(deviance(rest, less, logRow.add(logRest)))
      .add(deviance(successes, less, logPrior.add(logX)))
      .add(deviance(failures, excess, logPrior.add(logRest)))
      .neg(),
    logPeak(x).add(logPeak(rest)).sub(logPeak(trials)),
    logGammaPeak(all).sub(logGammaPeak(inX)).sub(logGammaPeak(inRest)),
    logGammaPeak(successes).add(logGammaPeak(failures)).sub(logGammaPeak(prior)),
  ];
}

const betaBinomialDefinition: Definition<Name> = {
  name: "betaBinomial",
  parameters: { trials: parameter.count, successes: parameter.positive, failures: parameter.positive },
  support: ({ trials }) => countUpTo(trials),
  magnitude: (_, p) => magnitudeOf(p.trials.add(p.successes).add(p.failures)),
  terms(x, p, { trials, successes, failures }, isShort) {
    if (!isShort && mayCancel(trials, successes, failures)) return stableTerms(x, p);
    return [
      logBeta(x.add(p.successes), p.trials.sub(x).add(p.failures)),
      logBeta(p.successes, p.failures).neg(),
      logChoose(p.trials, x),
    ];
  },
  draw({ key, shape, dtype }, p) {
    const [first, second] = split(key);
    const share = shareFloats(betaNumbers(first, p.successes, p.failures, shape, { dtype }));
    return binomialNumbers(second, p.trials, share, shape);
  },
  mean: (p) => p.trials.mul(p.successes).div(p.successes.add(p.failures)),
  variance(p) {
    const total = p.successes.add(p.failures);
    const binomial = p.trials.mul(p.successes).mul(p.failures).div(total.square());
    return binomial.mul(total.add(p.trials)).div(total.add(1));
  },
};

/**
 * The number of `trials` that succeed, with a probability that is beta(successes, failures) and the same for all trials of a
 * draw.
 */
export const betaBinomial = refusingSurplus(
  "betaBinomial",
  (trials: Argument, successes: Argument, failures: Argument): RandomVariable =>
    new RandomVariable(bind(betaBinomialDefinition, { trials, successes, failures })),
);
