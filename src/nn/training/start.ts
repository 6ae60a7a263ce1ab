/** How a training begins: by its first batch, which tells the device and the shapes of the inputs. */
import { ArgumentError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/index.js";
import { leaves } from "../../transforms/tree.js";
import { fingerprintOf } from "./fingerprint.js";
import { startMeans } from "./meter.js";
import { keyFor, type Plan } from "./options.js";
import { noFailure } from "./program.js";
import type { Trainer } from "./trainer.js";
import { type OpenedData, Training } from "./training.js";

/** A training before its first step, with parameters for the first batch of the data. */
export async function startTraining<C, B>(trainer: Trainer<C, B>, plan: Plan<C, B>): Promise<Training<C, B>> {
  const opened = await openedData(plan);
  const { first: batch } = opened;
  const device = leaves(batch)[0]?.device;
  if (device === undefined) throw new ArgumentError("train: the first batch holds no tensor.");
  const key = keyFor(plan, device);
  const [initKey, stepKey] = split(key, 3) as [Key, Key, Key];
  const carry = trainer.init(initKey, batch);
  const means = startMeans((c: C, b: B, k: Key) => trainer.step(c, b, k)[1], carry, batch, foldIn(stepKey, 0));
  const isSaved = plan.checkpoint !== undefined || (plan.resume ?? false) !== false;
  const print = isSaved ? await fingerprintOf(trainer, plan, carry, batch) : {};
  return new Training(trainer, plan, device, key, { carry, means, bad: noFailure(device) }, opened, print);
}

async function openedData<C, B>({ data }: Plan<C, B>): Promise<OpenedData<B>> {
  const iterator = data.epoch(0)[Symbol.asyncIterator]();
  const { done, value } = await iterator.next();
  if (done) throw new ArgumentError("train: the data have no batches.");
  return { first: value as B, iterator };
}
