/**
 * The adding problem (Hochreiter & Schmidhuber 1997): of a long row of numbers two are marked, and their sum is to be told at the
 * end. Whoever always says 1 has an error of 1/6; an LSTM learns to carry the first number along. In a clone:
 *
 *     npm run example -- lstm                 rows of 50 numbers: an error below 0.005, a thirtieth of that of guessing
 *
 * Batches are drawn on the device, from a key for each: data without end. The last line is JSON, for programs.
 */
import { arange, jit, random, stack, type Tensor } from "pumice";
import { type Batches, dense, lstm, optimizers, schedules, sequential, train } from "pumice/nn";
import { settings } from "./settings.js";

const { steps, length, batch, units, seed } = settings("lstm", "an LSTM adds two marked numbers of a long row", {
  steps: [3000, "steps of training"],
  length: [50, "numbers in a row"],
  batch: [128, "rows in a batch"],
  units: [64, "units of the LSTM"],
  seed: [0, "the same seed gives the same weights"],
});

/** Rows [batch, length, 2] of numbers and marks, one in each half, and the sums [batch, 1]. */
const drawn = jit((key: random.Key): { x: Tensor; y: Tensor } => {
  const [values, places] = random.split(key, 2) as [random.Key, random.Key];
  const numbers = random.uniform(values, [batch, length]);
  const half = Math.floor(length / 2);
  const marked = random.randint(places, [batch, 2], 0, half).add(arange(2, { dtype: "i32" }).mul(half));
  const marks = marked.oneHot(length).sum({ axis: 1 });
  return { x: stack([numbers, marks], { axis: -1 }), y: numbers.mul(marks).sum({ axis: 1, keepDims: true }) };
});

/** Batches by number. One epoch has all of them. */
const rows = (from: random.Key, count: number): Batches<{ x: Tensor; y: Tensor }> => ({
  batchesPerEpoch: count,
  async *epoch(_, first = 0) {
    for (let i = first; i < count; i++) yield drawn(random.foldIn(from, i));
  },
});

const [training, testing] = random.split(random.key(seed), 2) as [random.Key, random.Key];
const trained = await train(sequential(lstm(units), dense(1)), {
  data: rows(training, steps),
  loss: "meanSquaredError",
  optimizer: optimizers.chain(
    optimizers.clipByGlobalNorm(1),
    optimizers.adam(schedules.oneCycle(1e-2, Math.max(steps, 10))),
  ),
  epochs: 1,
  seed,
});
const { loss: error } = await trained.evaluate({ data: rows(testing, 8), loss: "meanSquaredError" });
console.log(`mean squared error ${error?.toFixed(5)}; always saying 1 gives ${(1 / 6).toFixed(5)}`);
console.log(JSON.stringify({ example: "lstm", steps, length, error, seconds: trained.milliseconds / 1000 }));
