/** Cross-validation: an estimator fitted to parts of the samples and scored on the rest. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/pipeline.js";
import { countOf, samplesAt, targetsAt } from "../core/rows.js";
import type { Samples } from "../core/samples.js";
import { type Label, type Labels, labelsOf } from "../core/targets.js";
import { type Scorer, scorer } from "../metrics/scorers.js";
import { kFold, type Split, type Splitter, stratifiedKFold } from "./splits.js";

export type { Scorer };

/** A score by its name (`metrics.scorerNames()`), several, or a function. */
export type Scoring = string | readonly string[] | Scorer;

/** Options of `crossValidate`. */
export interface CrossValidateOptions {
  /** The rule of splitting, or a number of folds: 5 unless told, stratified for labels. */
  readonly splits?: Splitter | number;
  /** The score: by its name, as in "rocAuc", under which results stand then; or a function, called "score". */
  readonly scoring?: Scoring;
  /** Scores of one's own by name, beside those of `scoring`. The estimator's own `score` where neither is told. */
  readonly scores?: Readonly<Record<string, Scorer>>;
  /** A group for each sample, for rules that keep groups whole. */
  readonly groups?: readonly Label[];
  /** One weight for each sample, for the fits. All count the same unless told. */
  readonly weights?: Tensor | ArrayLike<number>;
  /** Scores on the samples of each fit, too. */
  readonly trainScores?: boolean;
  readonly signal?: AbortSignal;
}

/** Scores of a cross-validation, by name, one for each split. */
export interface CrossValidated {
  readonly scores: Readonly<Record<string, readonly number[]>>;
  /** The same on the samples of each fit, where the options ask for it; else null. */
  readonly trainScores: Readonly<Record<string, readonly number[]>> | null;
  /** Milliseconds of each fit and of each scoring. */
  readonly fitMilliseconds: readonly number[];
  readonly scoreMilliseconds: readonly number[];
  readonly splits: readonly Split[];
}

/** The score that a model has itself. `operation` is named in the error. */
const ownScore =
  (operation: string): Scorer =>
  (model, samples, targets) => {
    if (typeof model.score === "function") return model.score(samples, targets);
    throw new ArgumentError(
      `${operation}: ${model.kind} has no score of its own; give one: { scores: { name: (model, x, y) => … } }.`,
    );
  };

export const CROSS_VALIDATE: OptionKinds<CrossValidateOptions> = {
  splits: "any",
  scoring: "any",
  scores: "any",
  groups: "any",
  weights: "any",
  trainScores: "flag",
  signal: "signal",
};

/** The scores that options ask for, by name. */
export function scorersOf(
  operation: string,
  { scoring, scores }: Pick<CrossValidateOptions, "scoring" | "scores">,
): Readonly<Record<string, Scorer>> {
  if (scoring === undefined) return scores ?? { score: ownScore(operation) };
  if (typeof scoring === "function") return { ...scores, score: scoring };
  const names = typeof scoring === "string" ? [scoring] : scoring;
  return { ...scores, ...Object.fromEntries(names.map((name) => [name, scorer(name)])) };
}

/** Fits and scores an estimator on every split. */
export async function crossValidate<Y>(
  estimator: AnyEstimator,
  samples: Samples,
  targets: Y,
  options: CrossValidateOptions = {},
): Promise<CrossValidated> {
  checkOptions("crossValidate", options, CROSS_VALIDATE);
  const { signal, weights, trainScores: isOfTraining = false } = options;
  const scores = scorersOf("crossValidate", options);
  const splits = await splitsFor("crossValidate", estimator, samples, targets, options);
  const unscored = (): Record<string, number[]> => Object.fromEntries(Object.keys(scores).map((name) => [name, []]));
  const [found, ofTraining] = [unscored(), isOfTraining ? unscored() : null];
  const scored = async (into: Record<string, number[]>, ...given: Parameters<Scorer>): Promise<void> => {
    for (const [name, score] of Object.entries(scores)) (into[name] as number[]).push(await numberOf(score(...given)));
  };
  const [fitMilliseconds, scoreMilliseconds]: [number[], number[]] = [[], []];
  for (const { train, test } of splits) {
    signal?.throwIfAborted();
    const began = performance.now();
    const [x, y] = [samplesAt(samples, train), targetsAt(targets, train)];
    const model = await estimator.fit(x, y, { signal, ...(weights && { weights: targetsAt(weights, train) }) });
    const fitted = performance.now();
    await scored(found, model, samplesAt(samples, test), targetsAt(targets, test));
    fitMilliseconds.push(fitted - began);
    scoreMilliseconds.push(performance.now() - fitted);
    if (ofTraining) await scored(ofTraining, model, x, y);
  }
  return { scores: found, trainScores: ofTraining, fitMilliseconds, scoreMilliseconds, splits };
}

/** A score as a number. */
export async function numberOf(score: number | Tensor | Promise<number | Tensor>): Promise<number> {
  const value = await score;
  return isTensor(value) ? Number(await value.item()) : value;
}

/** The splits of the options. Labels are stratified unless told, as scikit-learn does for classifications. */
export async function splitsFor<Y>(
  operation: string,
  estimator: AnyEstimator,
  samples: Samples,
  targets: Y,
  { splits = 5, groups }: Pick<CrossValidateOptions, "splits" | "groups">,
): Promise<Split[]> {
  if (typeof estimator?.fit !== "function") {
    throw new ArgumentError(`${operation}: ${shown(estimator)} stands where an estimator does, as in ridge().`);
  }
  const labels = estimator.predictsLabels ? await labelsOf(operation, targets as Labels) : undefined;
  const rule = typeof splits === "number" ? (labels ? stratifiedKFold(splits) : kFold(splits)) : splits;
  return rule.split({ samples: countOf(operation, samples), labels, groups });
}
