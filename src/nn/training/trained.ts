/** The results of training: plain values, with the record of how they came about. */
import type { Layer } from "../core/layer.js";
import type { Variables, VariableTree } from "../core/variables.js";
import type { OptimizerState } from "../optimizers/optimizer.js";
import { type EvaluateOptions, evaluate, type PredictOptions, predict } from "./evaluate.js";
import { type HistoryRecord, historyTable } from "./history.js";
import type { Metrics } from "./meter.js";
import type { ModelCarry } from "./model-trainer.js";
import type { Best, Ending, Training } from "./training.js";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** The result of a training. `C`: what was trained. */
export class TrainingResult<C> {
  /** What was trained; with `keepBest` the best of it. */
  readonly carry: C;
  /** Metrics by epoch. */
  readonly history: readonly HistoryRecord[];
  /** The metrics that were read last. */
  readonly metrics: Metrics;
  readonly step: number;
  /** Epochs that were completed. */
  readonly epochs: number;
  /** Why it ended: "completed", or early by "until", "earlyStop", "halted", "aborted" or "interrupted". */
  readonly ending: Ending;
  /** The best value of the metric that `keepBest` follows, and when it was; null without. */
  readonly best: Omit<Best<C>, "carry"> | null;
  readonly milliseconds: number;

  /** @internal */
  constructor(training: Training<C, never>) {
    const { best } = training;
    this.carry = best?.carry ?? training.state.carry;
    this.history = training.history;
    this.metrics = training.metrics;
    this.step = training.step;
    this.epochs = training.epoch;
    this.ending = training.ending ?? "completed";
    this.best = best && { value: best.value, epoch: best.epoch, step: best.step };
    this.milliseconds = training.milliseconds;
  }

  toString(): string {
    const { epochs, step, ending, best } = this;
    const kept = best ? `, best at epoch ${best.epoch}` : "";
    const head = `${this.constructor.name} (${epochs} epochs, ${step} steps, ${ending}${kept})`;
    return `${head}\n${historyTable(this.history)}`;
  }

  [INSPECT](): string {
    return this.toString();
  }
}

/** A trained model: `{ params, state }` for `model.apply`, and the record of the training. */
export class Trained<In, Out> extends TrainingResult<ModelCarry> implements Variables {
  readonly params: VariableTree;
  readonly state: VariableTree;
  /** For a training that goes on from here. */
  readonly optimizerState: OptimizerState;

  /** @internal */
  constructor(
    readonly model: Layer<In, Out>,
    training: Training<ModelCarry, never>,
  ) {
    super(training);
    this.params = this.carry.params;
    this.state = this.carry.state;
    this.optimizerState = this.carry.optimizer;
  }

  /** The model's output for an input of any number of examples, in batches. */
  predict(input: In, options: PredictOptions = {}): Out {
    return predict(this.model, this, input, options);
  }

  /** Metrics of the model on other data. */
  evaluate(options: EvaluateOptions<In>): Promise<Metrics> {
    return evaluate(this.model, this, options);
  }

  /** Fields that hold tensors are named and not listed. */
  override [INSPECT](): string {
    return `${this.toString()}\nparams: ${Object.keys(this.params).join(", ")}`;
  }
}
