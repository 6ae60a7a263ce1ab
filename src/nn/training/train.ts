/** `train`: a model, or anything with an `init` and a `step`, trained on batches. It returns a run. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { removeUnfinished } from "../../files/replace-file.js";
import { type Key, split } from "../../random/index.js";
import { CheckpointTimes } from "../../runs/checkpoint-times.js";
import { listenForInterrupt } from "../../runs/interrupt.js";
import { progressLine } from "../../runs/progress-line.js";
import { Run } from "../../runs/run.js";
import { Layer } from "../core/layer.js";
import { resumed, writeCheckpoint } from "./checkpoint.js";
import { type DataSource, dataOf, deviceOfData, isBatches } from "./data-source.js";
import { loop, type Saving } from "./loop.js";
import { checkModelOptions, type ModelOptions } from "./model-options.js";
import { type Example, type ModelCarry, modelTrainer } from "./model-trainer.js";
import { keyFor, LOOP_KINDS, type LoopOptions, type Plan, planOf } from "./options.js";
import { formatTraining, type TrainingProgress } from "./progress.js";
import { startTraining } from "./start.js";
import { Trained, TrainingResult } from "./trained.js";
import { checkTrainer, type Trainer } from "./trainer.js";
import type { Training } from "./training.js";

/** Options of `train` for a model. */
export interface TrainOptions<In>
  extends ModelOptions,
    Omit<LoopOptions<ModelCarry, Example<In>>, "data" | "validation"> {
  /** Batches `{ x, y }` by epoch, as `loader` gives; or `{ x, y }` of all examples, which are shuffled anew in each epoch. */
  readonly data: DataSource<Example<In>>;
  readonly validation?: DataSource<Example<In>>;
  /** Examples in a batch, where the data are whole tensors: 32 unless told. */
  readonly batchSize?: number;
}

/** A training as users hold it: awaited for its result, watched with `for await`. It begins when somebody does either. */
export class TrainingRun<R> extends Run<TrainingProgress, R> {
  override readonly [Symbol.toStringTag] = "TrainingRun";
}

const MODEL_KINDS: OptionKinds<TrainOptions<never>> = {
  ...LOOP_KINDS,
  batchSize: "number",
  loss: "any",
  lossWeights: "any",
  optimizer: "any",
  metrics: "any",
  variables: "any",
  optimizerState: "any",
  precision: "any",
  accumulate: "number",
  rematerialize: "any",
};

/**
 * Trains a model: `const { params, state } = await train(model, { data, loss, optimizer, epochs: 10 })`. The run begins when it is
 * awaited or watched.
 */
export function train<In, Out>(model: Layer<In, Out>, options: TrainOptions<In>): TrainingRun<Trained<In, Out>>;
/** Trains by functions of the user's own. */
export function train<C, B>(trainer: Trainer<C, B>, options: LoopOptions<C, B>): TrainingRun<TrainingResult<C>>;
export function train(what: unknown, options: object): TrainingRun<unknown> {
  if (what instanceof Layer) return trainModel(what, options as TrainOptions<never>);
  checkTrainer("train", what);
  return trainBy(what as Trainer<unknown, unknown>, options as LoopOptions<unknown, unknown>);
}

function trainBy<C, B>(what: Trainer<C, B>, options: LoopOptions<C, B>): TrainingRun<TrainingResult<C>> {
  checkOptions("train", options, LOOP_KINDS as unknown as OptionKinds<LoopOptions<C, B>>);
  const plan = planOf(options);
  return new TrainingRun((isWatched) =>
    running(what, plan, isWatched, (training) => new TrainingResult(training as never)),
  );
}

function trainModel<In, Out>(model: Layer<In, Out>, options: TrainOptions<In>): TrainingRun<Trained<In, Out>> {
  checkOptions("train", options, MODEL_KINDS as unknown as OptionKinds<TrainOptions<In>>);
  checkModelOptions(options);
  const { batchSize, data, validation, ...rest } = options;
  const key = keyFor(options, deviceOfData(data));
  if (batchSize !== undefined && isBatches(data) && (validation === undefined || isBatches(validation))) {
    throw new ArgumentError("train: the option batchSize is for whole tensors; these data come in batches already.");
  }
  const plan = planOf<ModelCarry, Example<In>>({
    ...rest,
    data: dataOf("train: the option data", data, { batchSize: batchSize ?? 32, order: split(key, 3)[2] as Key }),
    ...(validation !== undefined && {
      validation: dataOf("train: the option validation", validation, { batchSize: batchSize ?? 256 }),
    }),
  });
  const trainer = modelTrainer(model, options);
  return new TrainingRun((isWatched) =>
    running(trainer, plan, isWatched, (training) => new Trained(model, training as never)),
  );
}

/** The work of a run: the loop, with what is around it. */
async function* running<C, B, R>(
  trainer: Trainer<C, B>,
  plan: Plan<C, B>,
  _isWatched: boolean,
  resultOf: (training: Training<C, B>) => R,
): AsyncGenerator<TrainingProgress, R> {
  const { signal, progress = process.stderr.isTTY === true, interrupts = true, checkpoint } = plan;
  const training = await startTraining(trainer, plan);
  // Before anything is written: the disk may be full of it. What cannot be tidied up stays.
  if (checkpoint !== undefined) await removeUnfinished(checkpoint).catch(() => {});
  await resumed(training);
  const show = progress ? progressLine(formatTraining) : null;
  const interrupt = interrupts
    ? listenForInterrupt("train: ends after this step; Ctrl-C again kills the process.")
    : null;
  const saving = savingOf(training);
  const isAsked = () => {
    if (interrupt?.hasCome) training.ending ??= "interrupted";
    else if (signal?.aborted) training.ending ??= "aborted";
    return training.ending !== null;
  };
  try {
    for await (const each of loop(training, saving, isAsked)) {
      show?.update(each);
      yield each;
    }
    if (checkpoint !== undefined) await saving.save();
    await training.emit(training.ending === null ? "completed" : "halted");
    return resultOf(training);
  } finally {
    interrupt?.stop();
    show?.done();
    await training.close();
  }
}

function savingOf<C, B>(training: Training<C, B>): Saving {
  const times = new CheckpointTimes();
  const { plan } = training;
  return {
    isDue: () => times.isDue(plan),
    async save() {
      const { checkpoint } = plan;
      if (checkpoint === undefined) throw new ArgumentError("train: there is no file to save to.");
      if (await times.write(() => writeCheckpoint(training, checkpoint))) await training.emit("checkpoint");
    },
  };
}
