/**
 * What a training loop needs of the thing that is trained: how it begins, and one step. `train` makes this of a model, a loss and
 * an optimiser (model-trainer.ts); for anything else, two networks that play against each other for example, users write it
 * themselves. The functions are pure and are traced: a step becomes one compiled program.
 */
import { checkFunction } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Key } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";

/** Scalars of a batch, by name. `loss` is one of them: training stops where it is not finite. */
export interface StepMetrics {
  readonly loss: Tensor;
  readonly [name: string]: Tensor;
}

/** A way to train. `C`: the carry, a tree of tensors that goes from step to step; `B`: a batch. */
export interface Trainer<C, B> {
  /** The carry before the first step, for batches of this form. */
  init(key: Key, batch: B): C;
  /** One step: the next carry, of the same form, and scalars of this batch to report. The key is new at each step. */
  step(carry: C, batch: B, key: Key): readonly [carry: C, metrics: StepMetrics];
  /** Scalars of a batch of the validation. */
  evaluate?(carry: C, batch: B): Readonly<Record<string, Tensor>>;
  /** How much a batch counts in means: the extent of its first axis unless told, without the copies that `padLast` of a loader adds. */
  weigh?(batch: B): number | Tensor;
  /** The same carry with updates that are multiplied by this. `setRate` and `reduceOnPlateau` need it. */
  withRate?(carry: C, factor: number): C;
  /**
   * What this is made of, in words: `{ model: { layers: "…" }, loss: { name: "huber" } }`. A checkpoint of a run that was made of
   * something else is refused.
   */
  describe?(): Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  /** Whether a step failed although its loss is finite, a bool: training stops there, too. */
  hasFailed?(before: C, after: C): Tensor;
  /** Says in words where a loss that is not finite came from, given the carry before that step. */
  explain?(carry: C, batch: B, key: Key): Promise<string>;
  /** Whether `explain` looks at the tensor of this path of the carry; at all of them unless told. */
  explainsBy?(path: string): boolean;
}

/** A way to train, from functions of the user's own: `train(trainer({ init, step }), { data, epochs: 10 })`. */
export function trainer<C, B>(functions: Trainer<C, B>): Trainer<C, B> {
  checkTrainer("trainer", functions);
  return functions;
}

export function checkTrainer(operation: string, value: unknown): void {
  if (typeof value !== "object" || value === null) {
    throw new ArgumentError(`${operation}: takes functions by name, as { init, step }, not ${shown(value)}.`);
  }
  const { init, step, ...others } = value as Record<string, unknown>;
  checkFunction(operation, init, "init");
  checkFunction(operation, step, "step");
  for (const name of ["evaluate", "weigh", "withRate", "describe", "hasFailed", "explain", "explainsBy"]) {
    if (others[name] !== undefined) checkFunction(operation, others[name], name);
  }
}
