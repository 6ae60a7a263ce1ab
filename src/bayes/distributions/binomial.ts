/** How many of a number of trials succeed. */
import { binomial as binomialNumbers } from "../../random/binomial.js";
import { type Tensor, where } from "../../tensor/tensor.js";
import type { Argument } from "../argument.js";
import { countUpTo } from "../constraints/whole-numbers.js";
import { RandomVariable } from "../model/variable.js";
import { bind, type Family, parameter } from "./distribution.js";

/** log of n over k. */
export const logChoose = (n: Tensor, k: Tensor): Tensor =>
  n.add(1).lgamma().sub(k.add(1).lgamma()).sub(n.sub(k).add(1).lgamma());

/** x·log y, which is 0 for x = 0 whatever y is. */
export const xLogY = (x: Tensor, logY: Tensor): Tensor => where(x.equal(0), 0, x.mul(logY));

const binomialFamily: Family<"trials" | "probability"> = {
  name: "binomial",
  parameters: { trials: parameter.count, probability: parameter.probability },
  support: ({ trials }) => countUpTo(trials),
  terms: (x, p) => [
    xLogY(x, p.probability.log()).add(xLogY(p.trials.sub(x), p.probability.neg().log1p())),
    logChoose(p.trials, x),
  ],
  draw: ({ key, shape }, p) => binomialNumbers(key, p.trials, p.probability, shape),
  mean: (p) => p.trials.mul(p.probability),
  variance: (p) => p.trials.mul(p.probability).mul(p.probability.neg().add(1)),
};

/** How many of `trials` succeed, each with a probability. */
export const binomial = (trials: Argument, probability: Argument): RandomVariable =>
  new RandomVariable(bind(binomialFamily, { trials, probability }));

const binomialLogitsFamily: Family<"trials" | "logits"> = {
  name: "binomialLogits",
  parameters: { trials: parameter.count, logits: parameter.real },
  support: ({ trials }) => countUpTo(trials),
  terms: (x, p) => [x.mul(p.logits).sub(p.trials.mul(p.logits.softplus())), logChoose(p.trials, x)],
  draw: ({ key, shape }, p) => binomialNumbers(key, p.trials, p.logits.sigmoid(), shape),
  mean: (p) => p.trials.mul(p.logits.sigmoid()),
  variance: (p) => p.trials.mul(p.logits.sigmoid()).mul(p.logits.neg().sigmoid()),
};

/** How many of `trials` succeed, each with a probability given by its log-odds. */
export const binomialLogits = (trials: Argument, logits: Argument): RandomVariable =>
  new RandomVariable(bind(binomialLogitsFamily, { trials, logits }));
