/** Counts that vary more than Poisson's, and the number of failures before a success. */
import { refusingSurplus } from "../../core/arity.js";
import { gamma } from "../../random/gamma.js";
import { split } from "../../random/key.js";
import { poisson } from "../../random/poisson.js";
import { uniform } from "../../random/uniform.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { count } from "../constraints/whole-numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { deviance, logGammaPeak, logPeak } from "../definition/deviance.js";
import { log1mOf, logOf, xLogY } from "../definition/ends.js";
import { RandomVariable } from "../variables/variable.js";

const negativeBinomialDefinition: Definition<"mean" | "concentration"> = {
  name: "negativeBinomial",
  parameters: { mean: parameter.nonNegative, concentration: parameter.positive },
  support: count,
  /** The terms of x successes in x + concentration trials. */
  terms(x, { mean, concentration }) {
    const whole = mean.add(concentration);
    const excess = mean.sub(x).mul(concentration.div(whole));
    const total = x.add(concentration);
    const logScale = total.log().sub(whole.log());
    return [
      deviance(x, excess, logOf(mean).add(logScale))
        .add(deviance(concentration, excess.neg(), concentration.log().add(logScale)))
        .neg(),
      logGammaPeak(total).neg(),
      logGammaPeak(concentration),
      logPeak(x),
    ];
  },
  draw({ key, shape, dtype }, p) {
    const [first, second] = split(key);
    const rate = gamma(first, p.concentration, shape, { dtype }).mul(p.mean.div(p.concentration));
    return poisson(second, rate, shape);
  },
  mean: (p) => p.mean,
  variance: (p) => p.mean.square().div(p.concentration).add(p.mean),
};

/** Poisson numbers of a gamma-distributed rate: mean `mean`, variance mean + mean²/concentration. */
export const negativeBinomial = refusingSurplus(
  "negativeBinomial",
  (mean: Argument, concentration: Argument): RandomVariable =>
    new RandomVariable(bind(negativeBinomialDefinition, { mean, concentration })),
);

const geometricDefinition: Definition<"probability"> = {
  name: "geometric",
  parameters: { probability: parameter.probability },
  support: count,
  terms: (x, p) => [xLogY(x, log1mOf(p.probability)), logOf(p.probability)],
  draw: ({ key, shape, dtype }, p) =>
    uniform(key, shape, { dtype }).neg().log1p().div(p.probability.neg().log1p()).floor(),
  mean: (p) => p.probability.reciprocal().sub(1),
  variance: (p) => p.probability.neg().add(1).div(p.probability.square()),
};

/** The number of failures before the first success. */
export const geometric = refusingSurplus(
  "geometric",
  (probability: Argument): RandomVariable => new RandomVariable(bind(geometricDefinition, { probability })),
);
