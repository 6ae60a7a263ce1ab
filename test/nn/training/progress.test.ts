/** The line of progress of a training, and the table of its record. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { historyTable } from "../../../src/nn/training/history.js";
import { formatTraining, type TrainingProgress } from "../../../src/nn/training/progress.js";

const at = (more: Partial<TrainingProgress>): TrainingProgress => ({
  phase: "training",
  step: 30,
  steps: 120,
  epoch: 2,
  epochs: 5,
  metrics: { loss: 0.123456, accuracy: 0.5 },
  stepsPerSecond: 41.7,
  secondsLeft: 2.2,
  milliseconds: 700,
  ...more,
});

test("tells of the epoch, the share, the rate, the time left and the metrics", () => {
  const bar = `${"█".repeat(6)}${"░".repeat(18)} 25 %`;
  assert.equal(formatTraining(at({})), `epoch 2/5 · ${bar} · 42 steps/s · 2 s left · loss 0.1235 · accuracy 0.5`);
  assert.equal(
    formatTraining(at({ phase: "validating", stepsPerSecond: 0.5, secondsLeft: 7265, metrics: {} })),
    `epoch 2/5 · ${bar} · validating · 0.50 steps/s · 2:01:05 left`,
  );
});

test("where nobody knows how long it will be, it tells of the steps", () => {
  const line = formatTraining(at({ steps: null, epochs: null, secondsLeft: null, metrics: { loss: Number.NaN } }));
  assert.equal(line, "epoch 2 · step 30 · 42 steps/s · loss NaN");
});

test("a long record is shown by its beginning and its end", () => {
  const record = (epoch: number) => ({
    epoch,
    step: 10 * epoch,
    metrics: { loss: 1 / epoch },
    rate: 1,
    seconds: epoch,
  });
  assert.equal(historyTable([]), "no epoch was completed");
  assert.equal(
    historyTable([record(1), record(3)]),
    ["epoch  step    loss    s", "    1    10       1  1.0", "    3    30  0.3333  3.0"].join("\n"),
  );
  const lines = historyTable(Array.from({ length: 100 }, (_, i) => record(i + 1))).split("\n");
  assert.equal(lines.length, 14);
  assert.match(lines[4]!, /^ +… +… +… +…$/);
  assert.match(lines.at(-1)!, /^ +100 +1000 +0\.01 +100\.0$/);
});
