/**
 * The training loop: epochs of batches, a compiled step for each, a validation now and then, events for whoever listens. It is
 * short so that it can be read, and copied where something else is needed. training.ts has what it moves on.
 */
import { setImmediate } from "node:timers/promises";
import { ArgumentError } from "../../core/errors.js";
import type { Drawn } from "../data/drawn.js";
import type { TrainingProgress } from "./progress.js";
import type { Training } from "./training.js";

/** Saves a training: at times, or in any case. */
export interface Saving {
  isDue(): boolean;
  save(): Promise<void>;
}

/** Runs a training to its end. `isAsked` says whether somebody wants it to end. */
export async function* loop<C, B>(
  training: Training<C, B>,
  saving: Saving,
  isAsked: () => boolean,
): AsyncGenerator<TrainingProgress, void> {
  await training.emit("started");
  while (!training.isOver && !isAsked()) {
    if (training.place === 0) await training.emit("epochStarted");
    const isWhole = yield* epoch(training, training.batches(), saving, isAsked);
    if (!isWhole) break;
    await training.settled();
    if (training.plan.validateEvery === undefined) yield* judgement(training);
    await training.emit("epoch");
    training.beginNextEpoch();
    if (saving.isDue()) await saving.save();
  }
  if (training.place > 0) await training.settled();
  yield training.progress("training");
}

/** The rest of an epoch; whether it went through to its end. */
async function* epoch<C, B>(
  training: Training<C, B>,
  batches: AsyncIterable<B | Drawn>,
  saving: Saving,
  isAsked: () => boolean,
): AsyncGenerator<TrainingProgress, boolean> {
  const listened = training.plan.handlers;
  for await (const batch of batches) {
    if (training.isOver || isAsked()) return false;
    if (listened.has("stepStarted")) await training.emit("stepStarted");
    training.advance(batch);
    if (listened.has("step")) await training.emit("step");
    if (training.isValidationDue) {
      await training.settled();
      yield* judgement(training);
    }
    if (!training.isPieceGiven) continue;
    await training.endPiece();
    if (saving.isDue()) {
      await training.settled();
      await saving.save();
    }
    // Timers, sockets and signals have their turn.
    await setImmediate();
    yield training.progress("training");
  }
  if (training.place === 0) throw new ArgumentError("train: an epoch of the data has no batches.");
  return true;
}

/** Validates, and lets everything that follows a metric decide. */
async function* judgement<C, B>(training: Training<C, B>): AsyncGenerator<TrainingProgress, void> {
  yield* training.validate();
  if (training.plan.validation) await training.emit("validation");
  if (await training.judge()) await training.emit("improved");
  yield training.progress("training");
}
