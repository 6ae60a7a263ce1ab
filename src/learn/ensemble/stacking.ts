/**
 * Stacking: a last estimator learns from what others predict. It sees predictions for samples that they were not fitted to, from a
 * cross-validation; afterwards they are fitted to all samples. (Wolpert 1992.)
 */
import { ArgumentError } from "../../core/errors.js";
import { concat, type Tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Data, FitProgress } from "../core/estimator.js";
import { inputNames, numberedNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import { categorySamples, type Features, type Samples } from "../core/samples.js";
import { classifier, probabilityMethods, regressor, samplesFor } from "../core/sorts.js";
import { ridge } from "../linear/least-squares.js";
import { logisticRegression } from "../linear/logistic.js";
import type { Splitter } from "../selection/splits.js";
import {
  allAllowMissing,
  allTakeWeights,
  type ClassMembers,
  checkMember,
  checkMembers,
  fitMember,
  type Member,
  placesOf,
  probabilitiesOf,
} from "./members.js";
import { outOfFold, splitsOf } from "./out-of-fold.js";

/** Options of `stackingRegressor` and `stackingClassifier`. */
export interface StackingOptions {
  /** The estimators whose predictions the last one sees. */
  readonly estimators: readonly AnyEstimator[];
  /** The last estimator: `ridge()` for numbers and `logisticRegression()` for labels, unless told. */
  readonly finalEstimator?: AnyEstimator;
  /** The rule of splitting, or a number of folds: 5 unless told. Each sample is tested once. */
  readonly splits?: Splitter | number;
  /** True: the last estimator sees the samples, too. False unless told. */
  readonly passthrough?: boolean;
}

/** The estimators fitted to all samples, and the last one. */
interface Stack {
  readonly models: readonly Member[];
  readonly last: Member;
}

const KINDS = { estimators: "any", finalEstimator: "any", splits: "any", passthrough: "flag" } as const;

function checkStacking(kind: string, { estimators, finalEstimator }: StackingOptions, labels: boolean): void {
  checkMembers(kind, estimators, labels);
  if (finalEstimator !== undefined) checkMember(kind, "finalEstimator", finalEstimator, labels);
}

/** What a model says, as columns. */
type Say = (model: Member, x: Tensor) => Tensor;

const asColumns = (said: Tensor): Tensor => (said.rank === 1 ? said.expandDims(1) : said) as Tensor;

const beside = (columns: readonly Tensor[], x: Tensor, { passthrough = false }: StackingOptions): Tensor =>
  concat(passthrough ? [...columns, x] : [...columns], { axis: 1 }) as Tensor;

/** The columns that the last estimator sees: what was said, and with `passthrough` those of the samples. */
function seenFeatures(features: Features, count: number, { passthrough = false }: StackingOptions): Features {
  if (!passthrough) return { count, names: null, categories: null };
  const said = numberedNames("said", count - features.count);
  const { categories } = features;
  return {
    count,
    names: [...said, ...inputNames(features)],
    categories: categories && [...said.map(() => null), ...categories],
  };
}

async function* fitStack(
  kind: string,
  data: Data,
  options: StackingOptions,
  last: AnyEstimator,
  say: Say,
): AsyncGenerator<FitProgress, Stack> {
  const { estimators, splits = 5 } = options;
  const folds = await splitsOf(data, splits, last.predictsLabels);
  const columns: Tensor[] = [];
  const models: Member[] = [];
  for (const estimator of estimators) {
    columns.push(await outOfFold(`${kind}.fit`, estimator, data, folds, say));
    models.push(await fitMember(estimator, data, null));
    yield { step: models.length, steps: estimators.length + 1 };
  }
  const seen = beside(columns, data.x, options);
  const features = seenFeatures(data.facts.features, seen.shape[1] as number, options);
  const of = { ...data, x: seen, facts: { ...data.facts, features } };
  const weights = last.takesWeights === false ? null : data.weights;
  return { models, last: await fitMember(last, { ...of, weights }, null) };
}

/** The last estimator's view of samples. */
const seenBy = ({ models }: Stack, x: Tensor, options: StackingOptions, say: Say): Tensor =>
  beside(
    models.map((model) => say(model, x)),
    x,
    options,
  );

const numbers: Say = (model, x) => asColumns(model.predict(x));

/** A regression that learns from the predictions of others. */
export const stackingRegressor = regressor<Stack, StackingOptions>({
  kind: "stackingRegressor",
  options: KINDS,
  samples: categorySamples,
  allowsMissing: ({ estimators, passthrough }) => !passthrough && allAllowMissing(estimators),
  takesWeights: ({ estimators }) => allTakeWeights(estimators),
  check: (options) => checkStacking("stackingRegressor", options, false),
  async *learn(data, options) {
    return yield* fitStack("stackingRegressor", data, options, options.finalEstimator ?? ridge(), numbers);
  },
  predict: (stack, x, options) => stack.last.predict(seenBy(stack, x, options, numbers)),
});

/** Probabilities, of the second class alone where there are two; else decisions, else labels. */
const saidOf =
  (places: Tensor): Say =>
  (model, x) => {
    if (!model.predictProbability)
      return asColumns(model.decisionFunction?.(x) ?? (model.predict(x).cast(x.dtype) as Tensor));
    const all = probabilitiesOf(model, x, places);
    return places.shape[0] === 2 ? (all.at(":", "1:") as Tensor) : all;
  };

type ClassStack = Stack & ClassMembers;

const probabilities = (stack: ClassStack, x: Tensor, options: StackingOptions): Tensor =>
  probabilitiesOf(stack.last, seenBy(stack, x, options, saidOf(stack.places)), stack.places);

const methods = {
  ...probabilityMethods<ClassStack, StackingOptions>((stack, x, options) => {
    if (stack.last.predictProbability) return probabilities(stack, x, options).log() as Tensor;
    throw new ArgumentError(
      `stackingClassifier: ${stack.last.kind} knows no probabilities; take another finalEstimator.`,
    );
  }),
  /** The decisions of the last estimator. */
  decisionFunction(model: Fitted<ClassStack, StackingOptions>, samples: Samples): Tensor {
    const { last, places } = model.learned;
    if (!last.decisionFunction) {
      throw new ArgumentError(`stackingClassifier: ${last.kind} has no decisionFunction; take another finalEstimator.`);
    }
    const x = samplesFor(model as Fitted<unknown, object>, "decisionFunction", samples);
    return last.decisionFunction(seenBy(model.learned, x, model.options, saidOf(places)));
  },
};

/** A classifier that learns from the predictions of others. */
export const stackingClassifier = classifier<ClassStack, StackingOptions, typeof methods>({
  kind: "stackingClassifier",
  options: KINDS,
  samples: categorySamples,
  allowsMissing: ({ estimators, passthrough }) => !passthrough && allAllowMissing(estimators),
  takesWeights: ({ estimators }) => allTakeWeights(estimators),
  check: (options) => checkStacking("stackingClassifier", options, true),
  async *learn(data, options) {
    const places = placesOf(data.x, data.classes);
    const last = options.finalEstimator ?? logisticRegression();
    return { ...(yield* fitStack("stackingClassifier", data, options, last, saidOf(places))), places };
  },
  scores: probabilities,
  methods,
});
