/** How often each of several classes comes up in a number of trials. */
import { binomial } from "../../random/binomial.js";
import { split } from "../../random/key.js";
import { stack } from "../../tensor/creation.js";
import type { Argument } from "../argument.js";
import { countsOf } from "../constraints/whole-numbers.js";
import { RandomVariable } from "../model/variable.js";
import { bind, type Family, parameter } from "./distribution.js";
import { logOf, xLogY } from "./ends.js";
import { sumToOne } from "./together.js";

const multinomialFamily: Family<"trials" | "probabilities"> = {
  name: "multinomial",
  parameters: {
    trials: parameter.count,
    probabilities: { ...parameter.probabilities, together: sumToOne("probabilities") },
  },
  eventShape: ({ probabilities }) => probabilities.slice(-1),
  support: ({ trials }) => countsOf(trials),
  terms: (x, p) => [
    xLogY(x, logOf(p.probabilities)).sum({ axis: -1 }),
    p.trials.add(1).lgamma(),
    x.add(1).lgamma().sum({ axis: -1 }).neg(),
  ],
  /** Class by class: of the trials that are left, a binomial number. */
  draw({ key, shape, dtype }, p) {
    const classes = p.probabilities.shape.at(-1) as number;
    const keys = split(key, classes);
    let left = p.trials.broadcastTo(shape);
    let remaining = p.probabilities.sum({ axis: -1 });
    const counts = keys.map((own, i) => {
      if (i === classes - 1) return left;
      const probability = p.probabilities.at("...", i);
      const found = binomial(own, left, probability.div(remaining).clip(0, 1), shape, { dtype });
      left = left.sub(found);
      remaining = remaining.sub(probability);
      return found;
    });
    return stack(counts, { axis: -1 });
  },
  mean: (p) => p.probabilities.mul(p.trials.expandDims(-1)),
  variance: (p) => p.probabilities.mul(p.probabilities.neg().add(1)).mul(p.trials.expandDims(-1)),
};

/** Counts of classes in so many trials, with probabilities along the last axis, which sum to 1. */
export const multinomial = (trials: Argument, probabilities: Argument): RandomVariable =>
  new RandomVariable(bind(multinomialFamily, { trials, probabilities }));
