/** One of several classes, numbered from 0, with probabilities or unnormalised log-probabilities along the last axis. */
import { refusingSurplus } from "../../core/arity.js";
import { categorical as choices } from "../../random/exponential.js";
import { countingLike, type Tensor, where } from "../../tensor/index.js";
import { type Argument, shapeOfArgument } from "../arguments/argument.js";
import { probabilityVector, sumToOne } from "../arguments/joint-rules.js";
import { parameter } from "../arguments/parameter.js";
import { countUpTo } from "../constraints/whole-numbers.js";
import type { DrawRequest } from "../definition/completed.js";
import { bind, type Definition } from "../definition/definition.js";
import { RandomVariable } from "../variables/variable.js";

const support = (classes: Argument) => countUpTo((shapeOfArgument(classes).at(-1) as number) - 1);

/** The element of the last axis that x names: a sum over all of them, which melts into the kernel and its gradient. */
function chosen(x: Tensor, scores: Tensor): Tensor {
  const classes = countingLike(scores, scores.shape.at(-1) as number).cast(x.dtype);
  return where(x.expandDims(-1).equal(classes), scores, 0).sum({ axis: -1 });
}

function draw({ key, shape }: DrawRequest, logits: Tensor): Tensor {
  const spread = logits.broadcastTo([...shape, logits.shape.at(-1) as number]);
  return choices(key, spread);
}

const categoricalDefinition: Definition<"probabilities"> = {
  name: "categorical",
  parameters: {
    probabilities: {
      ...parameter.probabilities,
      joint: sumToOne("probabilities", "categoricalLogits"),
      kind: probabilityVector,
    },
  },
  support: ({ probabilities }) => support(probabilities),
  terms: (x, p) => [chosen(x, p.probabilities).log()],
  draw: (draws, p) => draw(draws, p.probabilities.log()),
};

/** A class with probabilities along the last axis, which sum to 1. */
export const categorical = refusingSurplus(
  "categorical",
  (probabilities: Argument): RandomVariable => new RandomVariable(bind(categoricalDefinition, { probabilities })),
);

const categoricalLogitsDefinition: Definition<"logits"> = {
  name: "categoricalLogits",
  parameters: { logits: parameter.vector },
  support: ({ logits }) => support(logits),
  terms: (x, p) => [chosen(x, p.logits), p.logits.logsumexp({ axis: -1 }).neg()],
  draw: (draws, p) => draw(draws, p.logits),
};

/** A class with probabilities in proportion to exp(logits) along the last axis. */
export const categoricalLogits = refusingSurplus(
  "categoricalLogits",
  (logits: Argument): RandomVariable => new RandomVariable(bind(categoricalLogitsDefinition, { logits })),
);
