/** Yes or no, with a probability or its log-odds. */
import { refusingSurplus } from "../../core/arity.js";
import { bernoulli as coins } from "../../random/uniform.js";
import { where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { zeroOrOne } from "../constraints/whole-numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { log1mOf, logOf } from "../definition/ends.js";
import { RandomVariable } from "../variables/variable.js";

const bernoulliDefinition: Definition<"probability"> = {
  name: "bernoulli",
  parameters: { probability: parameter.probability },
  support: zeroOrOne,
  terms: (x, p) => [where(x.equal(1), logOf(p.probability), log1mOf(p.probability))],
  draw: ({ key, shape }, p) => coins(key, p.probability, shape),
  mean: (p) => p.probability,
  variance: (p) => p.probability.mul(p.probability.neg().add(1)),
};

/** 1 with a probability, else 0. */
export const bernoulli = refusingSurplus(
  "bernoulli",
  (probability: Argument): RandomVariable => new RandomVariable(bind(bernoulliDefinition, { probability })),
);

const bernoulliLogitsDefinition: Definition<"logits"> = {
  name: "bernoulliLogits",
  parameters: { logits: parameter.real },
  support: zeroOrOne,
  terms: (x, p) => [x.mul(p.logits).sub(p.logits.softplus())],
  draw: ({ key, shape }, p) => coins(key, p.logits.sigmoid(), shape),
  mean: (p) => p.logits.sigmoid(),
  variance: (p) => p.logits.sigmoid().mul(p.logits.neg().sigmoid()),
};

/** 1 with a probability given by its log-odds, else 0: logistic regression. */
export const bernoulliLogits = refusingSurplus(
  "bernoulliLogits",
  (logits: Argument): RandomVariable => new RandomVariable(bind(bernoulliLogitsDefinition, { logits })),
);
