/**
 * Classifications that are learned round by round, each of which adds to decisions: boosting on histograms, AdaBoost. Their methods tell what
 * they predict, and what they would have predicted after each round.
 */
import type { Tensor } from "../../tensor/index.js";
import type { Fitted } from "./model.js";
import type { Samples } from "./samples.js";
import { labelsAt, type ProbabilityMethods, samplesFor } from "./sorts.js";
import type { Label } from "./targets.js";

/** How decisions come about: one for each sample of two classes, positive for the second; else one for each class. */
interface RoundDecisions<L, O> {
  /** Decisions of all rounds together, [samples, 1 or classes]. */
  total(learned: L, x: Tensor, options: O): Tensor;
  /** Decisions after each round, [rounds, samples, 1 or classes]. */
  stages(learned: L, x: Tensor, options: O): Tensor;
  /** The logarithms of the probabilities, [..., classes], from decisions [..., 1 or classes]. */
  logs(decisions: Tensor): Tensor;
}

/** Methods of classifications that are learned round by round. */
interface StagedMethods<L, O> extends ProbabilityMethods<L, O> {
  /** Decisions, [samples] for two classes, positive for the second; else [samples, classes]. */
  decisionFunction(model: Fitted<L, O>, samples: Samples): Tensor;
  /** Decisions after each round: [rounds, samples], or [rounds, samples, classes]. */
  stagedDecisionFunction(model: Fitted<L, O>, samples: Samples): Tensor;
  /** The class predicted after each round, [rounds, samples], as `predict` gives it. */
  stagedPredict(model: Fitted<L, O>, samples: Samples): Tensor;
  /** The probabilities of the classes after each round, [rounds, samples, classes]. */
  stagedPredictProbability(model: Fitted<L, O>, samples: Samples): Tensor;
}

/** One decision for two classes has no axis of its own. */
const plain = (decisions: Tensor): Tensor =>
  decisions.shape.at(-1) === 1 ? (decisions.squeeze(-1) as Tensor) : decisions;

export function stagedMethods<L, O extends object>(of: RoundDecisions<L, O>): StagedMethods<L, O> {
  type M = Fitted<L, O>;
  const found = (model: M, method: string, samples: Samples, part: "total" | "stages"): Tensor =>
    of[part](model.learned, samplesFor(model as Fitted<unknown, object>, method, samples), model.options);
  return {
    decisionFunction: (model: M, samples: Samples): Tensor => plain(found(model, "decisionFunction", samples, "total")),
    predictProbability: (model: M, samples: Samples): Tensor =>
      of.logs(found(model, "predictProbability", samples, "total")).exp() as Tensor,
    predictLogProbability: (model: M, samples: Samples): Tensor =>
      of.logs(found(model, "predictLogProbability", samples, "total")),
    stagedDecisionFunction: (model: M, samples: Samples): Tensor =>
      plain(found(model, "stagedDecisionFunction", samples, "stages")),
    stagedPredictProbability: (model: M, samples: Samples): Tensor =>
      of.logs(found(model, "stagedPredictProbability", samples, "stages")).exp() as Tensor,
    stagedPredict(model: M, samples: Samples): Tensor {
      const logs = of.logs(found(model, "stagedPredict", samples, "stages"));
      return labelsAt(logs.argmax({ axis: -1 }).cast("i32") as Tensor, model.classes as readonly Label[]);
    },
  };
}
