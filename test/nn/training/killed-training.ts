/**
 * A training that is meant to be killed: dropout, batch norm, shuffled data, adam with a schedule, plateau, early stopping and the
 * best parameters, with a checkpoint every few milliseconds. `node killed-training.js <checkpoint> <device>` goes on from the
 * checkpoint where there is one, prints "started" before its first step, and a hash of everything when it is through. Each step waits a little, so that there is
 * time to be killed and little work.
 */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { random, setDefaultDevice, type Tensor, tree } from "../../../src/index.js";
import {
  activations,
  batchNorm,
  dense,
  dropout,
  optimizers,
  schedules,
  sequential,
  type TrainingResult,
  train,
} from "../../../src/nn/index.js";

const [, file, path, device, pause] = process.argv;
/** Whether this is the program, and not a test that takes something from it. */
const isChild = file?.endsWith("killed-training.js") === true;

/** The training; `pause`: milliseconds after each step. */
export function killedTraining(checkpoint: string | undefined, pause: number, more: object = {}) {
  const model = sequential(dense(8), batchNorm(), activations.relu, dropout(0.2), dense(1));
  const x = random.normal(random.key(1), [90, 4]).realize();
  const y = x.sum({ axis: 1, keepDims: true }).tanh().realize();
  return train(model, {
    data: { x, y },
    // The last batch of an epoch is smaller.
    batchSize: 8,
    validation: { x, y },
    loss: "meanSquaredError",
    metrics: ["meanAbsoluteError"],
    optimizer: optimizers.chain(optimizers.clipByGlobalNorm(1), optimizers.adam(schedules.cosine(0.02, 400))),
    epochs: 24,
    seed: 7,
    reduceOnPlateau: { patience: 1, factor: 0.5, monitor: "loss" },
    earlyStop: { patience: 50 },
    keepBest: true,
    progress: false,
    on: { step: () => (pause > 0 ? wait(pause) : undefined), started: () => void (isChild && console.log("started")) },
    ...(checkpoint !== undefined && { checkpoint, checkpointSeconds: 0.02, resume: true }),
    ...more,
  });
}

/** A hash of all that a training gives. */
export async function hashOf(result: TrainingResult<unknown>): Promise<string> {
  const hash = createHash("sha256");
  for (const leaf of tree.leaves(result.carry)) {
    const values = (await (leaf as Tensor).data()) as ArrayBufferView;
    hash.update(`${leaf.shape} `).update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }
  const record = result.history.map(({ seconds: _, ...rest }) => rest);
  hash.update(JSON.stringify([result.step, result.epochs, result.best, record]));
  return hash.digest("hex");
}

if (isChild && path !== undefined) {
  setDefaultDevice(device ?? "cpu");
  console.log(await hashOf(await killedTraining(path, Number(pause ?? 6))));
}
