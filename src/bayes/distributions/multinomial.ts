/** The multinomial distribution: counts of several classes in a number of trials. */
import { refusingSurplus } from "../../core/arity.js";
import { binomial } from "../../random/binomial.js";
import { type Key, split } from "../../random/key.js";
import { type Tensor, where } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import type { Argument } from "../arguments/argument.js";
import { probabilityVector, sumToOne } from "../arguments/joint-rules.js";
import { parameter } from "../arguments/parameter.js";
import { countsOf } from "../constraints/whole-numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { logOf, xLogY } from "../definition/ends.js";
import { RandomVariable } from "../variables/variable.js";

const multinomialDefinition: Definition<"trials" | "probabilities"> = {
  name: "multinomial",
  parameters: {
    trials: parameter.count,
    probabilities: { ...parameter.probabilities, joint: sumToOne("probabilities"), kind: probabilityVector },
  },
  eventShape: ({ probabilities }) => probabilities.slice(-1),
  support: ({ trials }) => countsOf(trials),
  terms: (x, p) => [
    xLogY(x, logOf(p.probabilities)).sum({ axis: -1 }),
    p.trials.add(1).lgamma(),
    x.add(1).lgamma().sum({ axis: -1 }).neg(),
  ],
  /**
   * Class by class: of the trials that are left, a binomial number. A loop, so that one binomial is compiled, however many
   * classes there are. What is left of the probabilities is added up from the end, so that the last class that has any
   * takes all trials that are left, without an error of rounding.
   */
  draw({ key, shape, dtype }, { trials, probabilities }) {
    const classes = probabilities.shape.at(-1) as number;
    const remaining = probabilities.flip(-1).cumsum({ axis: -1 }).flip(-1);
    const chances = where(remaining.equal(0), 0, probabilities.div(remaining)).clip(0, 1);
    const draw = (left: Tensor, [own, chance]: readonly [Key, Tensor]) => {
      const found = binomial(own, left, chance, shape, { dtype });
      return [left.sub(found), found] as const;
    };
    const [, counts] = scan(draw, trials.broadcastTo(shape), [split(key, [classes]), chances.moveAxis(-1, 0)] as const);
    return counts.moveAxis(0, -1);
  },
  mean: (p) => p.probabilities.mul(p.trials.expandDims(-1)),
  variance: (p) => p.probabilities.mul(p.probabilities.neg().add(1)).mul(p.trials.expandDims(-1)),
};

/** Counts of classes in `trials` trials, with probabilities along the last axis, which sum to 1. */
export const multinomial = refusingSurplus(
  "multinomial",
  (trials: Argument, probabilities: Argument): RandomVariable =>
    new RandomVariable(bind(multinomialDefinition, { trials, probabilities })),
);
