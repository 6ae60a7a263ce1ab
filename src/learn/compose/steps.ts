/** Steps of estimators that are made of others: what a fitted one gives to the next, and the options that each is fitted with. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import type { Estimator, FitOptions, FitProgress } from "../core/estimator.js";
import { numberedNames } from "../core/feature-names.js";
import type { Features, Samples } from "../core/samples.js";

/** Any estimator. */
// biome-ignore lint/suspicious/noExplicitAny: estimators of all targets and models are steps
export type AnyEstimator = Estimator<any, any, any>;

/** A fitted step that changes samples. */
export interface FittedTransformer {
  readonly kind: string;
  transform(samples: Samples): Tensor;
  featureNames?(): readonly string[];
  featureCategories?(): Features["categories"];
}

/** Names of the columns that a step gave. */
export const namesOf = (model: FittedTransformer, x: Tensor): readonly string[] =>
  model.featureNames?.() ?? numberedNames(model.kind, x.shape[1] as number);

/** Options of the step after this one, which gave x. */
export const optionsAfter = (options: FitOptions, model: FittedTransformer, x: Tensor): FitOptions => ({
  ...options,
  featureNames: namesOf(model, x),
  featureCategories: model.featureCategories?.() ?? null,
});

/** Options of a step that changes samples: no groups, and weights only where they have a meaning. */
export function transformerOptions({ takesWeights }: AnyEstimator, options: FitOptions): FitOptions {
  const { groups: _, weights, ...rest } = options;
  return takesWeights === false || weights === undefined ? rest : { ...rest, weights };
}

/** A fitted step, if it changes samples. `where` is named in the error: "pipeline: step 0, ridge,". */
export function transforming(where: string, model: FittedTransformer, remedy: string): FittedTransformer {
  if (typeof model.transform === "function") return model;
  throw new ArgumentError(`${where} does not transform samples; ${remedy}.`);
}

/** Whether some step makes other columns of the samples of its fit than its model does. */
export const somePartTells = (steps: readonly unknown[]): boolean =>
  steps.some((step) => typeof step === "object" && (step as AnyEstimator | null)?.fitTransform !== undefined);

/** Fits a step. The progress of its fit is told as one within this step of the whole. */
export async function* fittedWithin(
  estimator: AnyEstimator,
  samples: Samples,
  targets: unknown,
  options: FitOptions,
  at: Pick<FitProgress, "step" | "steps">,
): AsyncGenerator<FitProgress, FittedTransformer> {
  const run = estimator.fit(samples, targets, options);
  for await (const within of run) yield { ...at, within: { kind: estimator.kind, ...within } };
  return (await run) as FittedTransformer;
}

/** A fitted step, and the samples of its fit as they go on. `checked` throws where the step does not transform. */
export async function* fittedAndTransformed(
  step: AnyEstimator,
  samples: Samples,
  targets: unknown,
  options: FitOptions,
  at: Pick<FitProgress, "step" | "steps">,
  checked: (model: FittedTransformer) => FittedTransformer,
): AsyncGenerator<FitProgress, { readonly model: FittedTransformer; readonly transformed: Tensor }> {
  if (step.fitTransform) return step.fitTransform(samples, targets, options);
  const model = checked(yield* fittedWithin(step, samples, targets, options, at));
  return { model, transformed: model.transform(samples) };
}

/** Throws unless a step is an estimator. */
export function checkEstimator(where: string, step: AnyEstimator, example: string): void {
  if (typeof step?.fit === "function") return;
  throw new ArgumentError(`${where} is ${shown(step)}; steps are estimators, as in ${example}.`);
}
