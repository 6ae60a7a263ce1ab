/** Predictions of a cross-validation: what an estimator says of each sample when it was fitted without it. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { concat, isTensor, type Tensor, tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/pipeline.js";
import { countOf, samplesAt, targetsAt } from "../core/rows.js";
import type { Samples } from "../core/samples.js";
import { type Label, type Labels, labelsOf, sortedClasses } from "../core/targets.js";
import { type CrossValidateOptions, splitsFor } from "./cross-validate.js";

/** Options of `crossValPredict`. */
export interface CrossPredictOptions extends Pick<CrossValidateOptions, "splits" | "groups" | "signal"> {
  /**
   * The method of the models that is asked: "predict" unless told, "predictLabels" for labels as a list, "predictProbability",
   * "decisionFunction" or another one of samples.
   */
  readonly method?: string;
  /** One weight for each sample, for fits. */
  readonly weights?: Tensor | ArrayLike<number>;
}

/** Labels as a list, by the models' `predictLabels`. */
export function crossValPredict<Y>(
  estimator: AnyEstimator,
  samples: Samples,
  targets: Y,
  options: CrossPredictOptions & { readonly method: "predictLabels" },
): Promise<Label[]>;
/** Predictions in the order of the samples: [samples, …]. */
export function crossValPredict<Y>(
  estimator: AnyEstimator,
  samples: Samples,
  targets: Y,
  options?: CrossPredictOptions,
): Promise<Tensor>;
export async function crossValPredict<Y>(
  estimator: AnyEstimator,
  samples: Samples,
  targets: Y,
  options: CrossPredictOptions = {},
): Promise<Tensor | Label[]> {
  const operation = "crossValPredict";
  checkOptions(operation, options, { splits: "any", groups: "any", signal: "signal", method: "text", weights: "any" });
  const { method = "predict", signal, weights } = options;
  const splits = await splitsFor(operation, estimator, samples, targets, options);
  // All fits know all classes, so that positions and columns of classes mean the same in each.
  const classes = estimator.predictsLabels
    ? sortedClasses(operation, await labelsOf(operation, targets as Labels))
    : undefined;
  const count = countOf(operation, samples);
  const places = new Int32Array(count).fill(-1);
  const said: unknown[] = [];
  let at = 0;
  for (const { train, test } of splits) {
    signal?.throwIfAborted();
    const given = { signal, classes, ...(weights === undefined ? {} : { weights: targetsAt(weights, train) }) };
    const model = await estimator.fit(samplesAt(samples, train), targetsAt(targets, train), given);
    const asked = (model as unknown as Readonly<Record<string, unknown>>)[method];
    if (typeof asked !== "function")
      throw new ArgumentError(`${operation}: models of ${model.kind} have no ${method}.`);
    said.push(await asked.call(model, samplesAt(samples, test)));
    for (const i of test) places[i] = at++;
  }
  if (at !== count || places.includes(-1))
    throw new ArgumentError(`${operation}: the splits must test each sample once, as kFold and stratifiedKFold do.`);
  if (said.every(isTensor)) {
    const all = concat(said as Tensor[]);
    return all.take(tensor(places, { device: all.device }), { axis: 0 }) as Tensor;
  }
  const list = (said as Label[][]).flat();
  return Array.from(places, (place) => list[place] as Label);
}
