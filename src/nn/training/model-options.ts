/** The options of `train` that concern the model: what is minimised, by what, and in which dtypes. */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Variables } from "../core/variables.js";
import { checkOptimizer, type Optimizer, type OptimizerState } from "../optimizers/optimizer.js";
import type { LossChoice, LossWeights } from "./loss-choice.js";
import type { MetricChoice } from "./metric-choice.js";

/** What is minimised, and how. */
export interface ModelOptions {
  /**
   * The loss: a name as "meanSquaredError", a name with options as `["categoricalCrossEntropy", { fromLogits: true }]`, a function
   * `(predictions, targets, { weights }) => loss`, or one of these for each output by name, which are added up.
   */
  readonly loss: LossChoice;
  /** How much the loss of each output counts, where there are several: `{ head: 1, tail: 0.2 }`. 1 unless told. */
  readonly lossWeights?: LossWeights;
  /** The optimiser, as `optimizers.adam(1e-3)`. Clipping and schedules are part of it. */
  readonly optimizer: Optimizer;
  /** Metrics to report as means over the epoch: `["accuracy"]`, or functions by name; by output where there are several. */
  readonly metrics?: MetricChoice;
  /** Parameters and state to begin with; the model's `init` makes them unless told. */
  readonly variables?: Variables;
  /** The optimiser's state to begin with, as an earlier training gave it; without it the optimiser begins anew. */
  readonly optimizerState?: OptimizerState;
  /** The dtype that the model computes in, from parameters in f32: "f32" unless told. With "f16" the loss is scaled. */
  readonly precision?: "f32" | "bf16" | "f16";
  /** Updates the parameters by the mean gradient of so many batches; 1 unless told. */
  readonly accumulate?: number;
  /** Parts whose inner values are computed again for the gradient instead of kept: their paths; true for all parts. */
  readonly rematerialize?: boolean | readonly string[];
}

export function checkModelOptions({ loss, optimizer, variables, precision, ...others }: ModelOptions): void {
  if (loss === undefined) {
    throw new ArgumentError(`train: the option loss is missing; give one, as { loss: "meanSquaredError" }.`);
  }
  if (optimizer === undefined) {
    throw new ArgumentError(
      "train: the option optimizer is missing; give one, as { optimizer: optimizers.adam(1e-3) }.",
    );
  }
  checkOptimizer("train: the option optimizer", optimizer);
  checkChoice("train", "the option precision", precision, ["f32", "bf16", "f16"]);
  if (others.accumulate !== undefined) checkWhole("train", "the option accumulate", others.accumulate, 1);
  const { rematerialize } = others;
  const isPaths = Array.isArray(rematerialize) && rematerialize.every((path) => typeof path === "string");
  if (rematerialize !== undefined && typeof rematerialize !== "boolean" && !isPaths) {
    throw new ArgumentError(
      `train: the option rematerialize is true or paths of layers, as ["encoder"], not ${shown(rematerialize)}.`,
    );
  }
  if (variables !== undefined && (typeof variables !== "object" || variables === null || !("params" in variables))) {
    throw new ArgumentError("train: the option variables is { params, state }, as init of the model makes them.");
  }
}
