/**
 * Scores by name, as cross-validation and searches take them: which metric, and what of a model it looks at. More is better, so losses
 * are negated and say so in their names.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import type { Label, Labels, Numbers } from "../core/targets.js";
import { accuracy, balancedAccuracy, topKAccuracy } from "./agreement.js";
import { averagePrecision, rocAuc } from "./areas.js";
import {
  adjustedMutualInfo,
  adjustedRand,
  completeness,
  fowlkesMallows,
  homogeneity,
  mutualInfo,
  normalizedMutualInfo,
  randScore,
  vMeasure,
} from "./cluster-agreement.js";
import { classLikelihoodRatios, cohenKappa, matthewsCorrelation } from "./confusion.js";
import { d2Tweedie, meanGammaDeviance, meanPoissonDeviance } from "./deviances.js";
import { brierScore, logLoss } from "./probabilities.js";
import {
  d2AbsoluteError,
  explainedVariance,
  maxError,
  meanAbsoluteError,
  meanAbsolutePercentageError,
  meanSquaredError,
  meanSquaredLogError,
  medianAbsoluteError,
  r2,
  rootMeanSquaredError,
} from "./regression.js";
import { type Average, f1, jaccard, precision, recall, type ShareOptions } from "./shares.js";

/** A score of a fitted model on samples; more is better. */
// biome-ignore lint/suspicious/noExplicitAny: a model of any kind
export type Scorer = (model: any, samples: Samples, targets: any) => number | Tensor | Promise<number | Tensor>;

/** What scorers look at of a model. */
type Scored = Fitted<unknown, object> & {
  predict?(samples: Samples): Tensor;
  predictLabels?(samples: Samples): Promise<Label[]>;
  predictProbability?(samples: Samples): Tensor;
  decisionFunction?(samples: Samples): Tensor;
};

const lacking = (model: Scored, name: string, method: string): ArgumentError =>
  new ArgumentError(`${model.kind} has no ${method}, which the score "${name}" looks at; take another score.`);

type Named = (name: string) => Scorer;

const ofNumbers =
  (metric: (predictions: Numbers, targets: Numbers) => Tensor, sign: 1 | -1 = 1): Named =>
  (name) =>
  (model: Scored, samples: Samples, targets: Numbers) => {
    if (!model.predict) throw lacking(model, name, "predict");
    return metric(model.predict(samples), targets).mul(sign) as Tensor;
  };

interface Classes {
  readonly labels: readonly Label[];
}

const ofLabels =
  (metric: (predictions: Labels, targets: Labels, classes: Classes) => Tensor): Named =>
  (name) =>
  async (model: Scored, samples: Samples, targets: Labels) => {
    if (!model.predictLabels || !model.classes) throw lacking(model, name, "predictLabels");
    return metric(await model.predictLabels(samples), targets, { labels: model.classes });
  };

/** Of the groups that a model puts samples into, whatever they are called. */
const ofGroups =
  (metric: (found: Labels, targets: Labels) => Tensor): Named =>
  (name) =>
  (model: Scored, samples: Samples, targets: Labels) => {
    if (!model.predict) throw lacking(model, name, "predict");
    return metric(model.predict(samples), targets);
  };

/** Of probabilities, or of decision values where a metric asks for an order only. Of two classes those of the second count. */
const ofScores =
  (
    metric: (scores: Numbers, targets: Labels, classes: Classes) => Tensor,
    { isOrder = false, sign = 1 }: { readonly isOrder?: boolean; readonly sign?: 1 | -1 } = {},
  ): Named =>
  (name) =>
  (model: Scored, samples: Samples, targets: Labels) => {
    if (!model.classes) throw lacking(model, name, "classes");
    const decide = isOrder ? model.decisionFunction : undefined;
    const read = model.predictProbability ?? decide;
    if (!read) throw lacking(model, name, isOrder ? "predictProbability or decisionFunction" : "predictProbability");
    const scores = read.call(model, samples);
    const isOfTwo = scores.rank === 2 && model.classes.length === 2;
    const given = (isOfTwo ? scores.at(":", -1) : scores) as Tensor;
    return metric(given, targets, { labels: model.classes }).mul(sign) as Tensor;
  };

const shares = (
  name: string,
  metric: (predictions: Labels, targets: Labels, options: ShareOptions) => Tensor,
): Readonly<Record<string, Named>> => {
  const averages: readonly [string, Average][] = [["", "binary"], ["Micro", "micro"], ["Macro", "macro"], ["Weighted", "weighted"]]; // biome-ignore format: a table
  return Object.fromEntries(
    averages.map(([suffix, average]) => [
      name + suffix,
      ofLabels((predictions, targets, classes) => metric(predictions, targets, { ...classes, average })),
    ]),
  );
};

const area =
  (multiClass: "ovr" | "ovo", average: "macro" | "weighted") =>
  (scores: Numbers, targets: Labels, classes: Classes): Tensor =>
    rocAuc(scores, targets, { ...classes, multiClass, average });

const SCORERS: Readonly<Record<string, Named>> = {
  accuracy: ofLabels((predictions, targets) => accuracy(predictions, targets)),
  balancedAccuracy: ofLabels(balancedAccuracy),
  matthewsCorrelation: ofLabels(matthewsCorrelation),
  cohenKappa: ofLabels(cohenKappa),
  ...shares("precision", precision),
  ...shares("recall", recall),
  ...shares("f1", f1),
  ...shares("jaccard", jaccard),
  positiveLikelihoodRatio: ofLabels((...given) => classLikelihoodRatios(...given).positive),
  negNegativeLikelihoodRatio: ofLabels((...given) => classLikelihoodRatios(...given).negative.neg() as Tensor),
  topKAccuracy: ofScores(topKAccuracy, { isOrder: true }),
  rocAuc: ofScores((scores, targets, classes) => rocAuc(scores, targets, classes), { isOrder: true }),
  rocAucOvr: ofScores(area("ovr", "macro")),
  rocAucOvo: ofScores(area("ovo", "macro")),
  rocAucOvrWeighted: ofScores(area("ovr", "weighted")),
  rocAucOvoWeighted: ofScores(area("ovo", "weighted")),
  averagePrecision: ofScores(averagePrecision, { isOrder: true }),
  negLogLoss: ofScores(logLoss, { sign: -1 }),
  negBrierScore: ofScores(brierScore, { sign: -1 }),
  adjustedMutualInfo: ofGroups(adjustedMutualInfo),
  adjustedRand: ofGroups(adjustedRand),
  completeness: ofGroups(completeness),
  fowlkesMallows: ofGroups(fowlkesMallows),
  homogeneity: ofGroups(homogeneity),
  mutualInfo: ofGroups(mutualInfo),
  normalizedMutualInfo: ofGroups(normalizedMutualInfo),
  randScore: ofGroups(randScore),
  vMeasure: ofGroups(vMeasure),
  r2: ofNumbers(r2),
  explainedVariance: ofNumbers(explainedVariance),
  d2AbsoluteError: ofNumbers(d2AbsoluteError),
  d2Tweedie: ofNumbers(d2Tweedie),
  negMaxError: ofNumbers(maxError, -1),
  negMeanSquaredError: ofNumbers(meanSquaredError, -1),
  negRootMeanSquaredError: ofNumbers(rootMeanSquaredError, -1),
  negMeanAbsoluteError: ofNumbers(meanAbsoluteError, -1),
  negMedianAbsoluteError: ofNumbers(medianAbsoluteError, -1),
  negMeanSquaredLogError: ofNumbers(meanSquaredLogError, -1),
  negMeanAbsolutePercentageError: ofNumbers(meanAbsolutePercentageError, -1),
  negMeanPoissonDeviance: ofNumbers(meanPoissonDeviance, -1),
  negMeanGammaDeviance: ofNumbers(meanGammaDeviance, -1),
};

/** The names that `scorer` knows. */
export const scorerNames = (): readonly string[] => Object.keys(SCORERS).sort();

/** The score of this name, as a function of a model, samples and targets. */
export function scorer(name: string): Scorer {
  if (Object.hasOwn(SCORERS, name)) return (SCORERS[name] as Named)(name);
  throw new ArgumentError(`metrics.scorer: there is no score ${shown(name)}; there are ${scorerNames().join(", ")}.`);
}
