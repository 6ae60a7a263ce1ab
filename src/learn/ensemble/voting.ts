/** Several estimators of the same samples, which vote: by labels, by the mean of their probabilities, or by the mean of their numbers. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError, UnsupportedError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { stack, type Tensor, tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data, FitProgress } from "../core/estimator.js";
import { categorySamples } from "../core/samples.js";
import { classifier, probabilityMethods, regressor } from "../core/sorts.js";
import {
  allAllowMissing,
  allTakeWeights,
  type ClassMembers,
  checkMembers,
  fitMember,
  type Member,
  placesOf,
  probabilitiesOf,
  votesOf,
} from "./members.js";

/** Options of `votingRegressor`. */
export interface VotingRegressorOptions {
  /** The estimators. */
  readonly estimators: readonly AnyEstimator[];
  /** The weight of each; all count the same unless told. */
  readonly weights?: readonly number[];
}

/** Options of `votingClassifier`. */
export interface VotingClassifierOptions extends VotingRegressorOptions {
  /** Labels are counted ("hard", unless told), or probabilities averaged ("soft"). */
  readonly voting?: "hard" | "soft";
}

function checkVoting(kind: string, { estimators, weights }: VotingRegressorOptions, labels: boolean): void {
  checkMembers(kind, estimators, labels);
  if (weights === undefined) return;
  const isRight =
    weights.length === estimators.length && weights.every((each) => each >= 0) && weights.some((each) => each > 0);
  if (isRight) return;
  throw new ArgumentError(
    `${kind}: weights are ${shown(weights)}; they are a number for each of the ${estimators.length} estimators.`,
  );
}

/** Fits one member after another; its progress counts them. */
async function* fitMembers(estimators: readonly AnyEstimator[], data: Data): AsyncGenerator<FitProgress, Member[]> {
  const models: Member[] = [];
  for (const estimator of estimators) {
    models.push(await fitMember(estimator, data, null));
    yield { step: models.length, steps: estimators.length };
  }
  return models;
}

/** The mean of what members say, each by its weight. */
function weightedMean(said: readonly Tensor[], weights: readonly number[] | undefined): Tensor {
  const all = stack(said as Tensor[]) as Tensor;
  if (!weights) return all.mean({ axis: 0 }) as Tensor;
  const total = weights.reduce((sum, each) => sum + each, 0);
  const shares = tensor(
    weights.map((each) => each / total),
    { device: all.device, dtype: all.dtype },
  ) as Tensor;
  return all.mul(shares.reshape([-1, ...all.shape.slice(1).map(() => 1)])).sum({ axis: 0 }) as Tensor;
}

function shares(
  { models, places }: ClassMembers,
  x: Tensor,
  { voting = "hard", weights }: VotingClassifierOptions,
): Tensor {
  const read = voting === "soft" ? probabilitiesOf : votesOf;
  return weightedMean(
    models.map((model) => read(model, x, places)),
    weights,
  );
}

const methods = probabilityMethods<ClassMembers, VotingClassifierOptions>((learned, x, options) => {
  if (options.voting === "soft") return shares(learned, x, options).log() as Tensor;
  throw new UnsupportedError('votingClassifier: votes are no probabilities; take { voting: "soft" }.');
});

/** Labels by the votes of several classifiers. */
export const votingClassifier = classifier<ClassMembers, VotingClassifierOptions, typeof methods>({
  kind: "votingClassifier",
  options: { estimators: "any", weights: "list", voting: "text" },
  samples: categorySamples,
  allowsMissing: ({ estimators }) => allAllowMissing(estimators),
  takesWeights: ({ estimators }) => allTakeWeights(estimators),
  check(options) {
    checkVoting("votingClassifier", options, true);
    checkChoice("votingClassifier", "voting", options.voting, ["hard", "soft"]);
  },
  async *learn(data, { estimators, voting }) {
    const models = yield* fitMembers(estimators, data);
    const silent = models.find((model) => !model.predictProbability);
    if (voting === "soft" && silent) {
      throw new ArgumentError(`votingClassifier.fit: ${silent.kind} knows no probabilities; take { voting: "hard" }.`);
    }
    return { models, places: placesOf(data.x, data.classes) };
  },
  scores: shares,
  methods,
});

/** The mean of what several regressions predict. */
export const votingRegressor = regressor<{ readonly models: readonly Member[] }, VotingRegressorOptions>({
  kind: "votingRegressor",
  options: { estimators: "any", weights: "list" },
  samples: categorySamples,
  allowsMissing: ({ estimators }) => allAllowMissing(estimators),
  takesWeights: ({ estimators }) => allTakeWeights(estimators),
  check: (options) => checkVoting("votingRegressor", options, false),
  async *learn(data, { estimators }) {
    return { models: yield* fitMembers(estimators, data) };
  },
  predict: ({ models }, x, { weights }) =>
    weightedMean(
      models.map((model) => model.predict(x)),
      weights,
    ),
});
