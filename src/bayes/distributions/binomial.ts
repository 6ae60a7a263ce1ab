/** Binomial distributions: successes in a number of trials. */
import { refusingSurplus } from "../../core/arity.js";
import { binomial as binomialNumbers } from "../../random/binomial.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { countUpTo } from "../constraints/whole-numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { deviance, excessOf, logPeak, magnitudeOf, mayCancel } from "../definition/deviance.js";
import { log1mOf, logOf, xLogY } from "../definition/ends.js";
import type { Term } from "../numerics/terms.js";
import { RandomVariable } from "../variables/variable.js";

/** log of n over k. */
export const logChoose = (n: Tensor, k: Tensor): Tensor =>
  n.add(1).lgamma().sub(k.add(1).lgamma()).sub(n.sub(k).add(1).lgamma());

/** The terms for many trials; `rest` is 1 - p. */
function stableTerms(x: Tensor, n: Tensor, p: Tensor, rest: Tensor, logP: Tensor, logRest: Tensor): readonly Term[] {
  const excess = excessOf(x, n, p, rest);
  const logN = where(n.equal(0), 1, n).log();
  const failures = n.sub(x);
  return [
    deviance(x, excess, logN.add(logP))
      .add(deviance(failures, excess.neg(), logN.add(logRest)))
      .neg(),
    logPeak(x).add(logPeak(failures)).sub(logPeak(n)),
  ];
}

const binomialDefinition: Definition<"trials" | "probability"> = {
  name: "binomial",
  parameters: { trials: parameter.count, probability: parameter.probability },
  support: ({ trials }) => countUpTo(trials),
  magnitude: (_, p) => magnitudeOf(p.trials),
  terms(x, p, { trials }, isShort) {
    const [logP, logRest] = [logOf(p.probability), log1mOf(p.probability)];
    if (!isShort && mayCancel(trials))
      return stableTerms(x, p.trials, p.probability, p.probability.neg().add(1), logP, logRest);
    return [xLogY(x, logP).add(xLogY(p.trials.sub(x), logRest)), logChoose(p.trials, x)];
  },
  draw: ({ key, shape }, p) => binomialNumbers(key, p.trials, p.probability, shape),
  mean: (p) => p.trials.mul(p.probability),
  variance: (p) => p.trials.mul(p.probability).mul(p.probability.neg().add(1)),
};

/** The number of `trials` that succeed, each with a probability. */
export const binomial = refusingSurplus(
  "binomial",
  (trials: Argument, probability: Argument): RandomVariable =>
    new RandomVariable(bind(binomialDefinition, { trials, probability })),
);

const binomialLogitsDefinition: Definition<"trials" | "logits"> = {
  name: "binomialLogits",
  parameters: { trials: parameter.count, logits: parameter.real },
  support: ({ trials }) => countUpTo(trials),
  magnitude: (_, p) => magnitudeOf(p.trials),
  terms(x, p, { trials }, isShort) {
    if (isShort || !mayCancel(trials)) {
      return [x.mul(p.logits).sub(p.trials.mul(p.logits.softplus())), logChoose(p.trials, x)];
    }
    const [logP, logRest] = [p.logits.neg().softplus().neg(), p.logits.softplus().neg()];
    return stableTerms(x, p.trials, p.logits.sigmoid(), p.logits.neg().sigmoid(), logP, logRest);
  },
  draw: ({ key, shape }, p) => binomialNumbers(key, p.trials, p.logits.sigmoid(), shape),
  mean: (p) => p.trials.mul(p.logits.sigmoid()),
  variance: (p) => p.trials.mul(p.logits.sigmoid()).mul(p.logits.neg().sigmoid()),
};

/** The number of `trials` that succeed, each with a probability given by its log-odds. */
export const binomialLogits = refusingSurplus(
  "binomialLogits",
  (trials: Argument, logits: Argument): RandomVariable =>
    new RandomVariable(bind(binomialLogitsDefinition, { trials, logits })),
);
