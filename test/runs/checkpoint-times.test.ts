/** When checkpoints are due, and what happens where they cannot be written. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { CheckpointTimes } from "../../src/runs/checkpoint-times.js";

test("a checkpoint is due when its time has passed since the last one, and never without a file", async () => {
  const times = new CheckpointTimes();
  const options = { checkpoint: "x", checkpointSeconds: 0.02 };
  assert.equal(times.isDue(options), false);
  await wait(30);
  assert.deepEqual([times.isDue(options), times.isDue({})], [true, false]);
  assert.equal(await times.write(async () => {}), true);
  assert.equal(times.isDue(options), false);
});

test("where one cannot be written, there is one warning, and the run goes on", async () => {
  const warnings: string[] = [];
  const heard = (warning: Error) => void warnings.push(warning.message);
  process.on("warning", heard);
  const times = new CheckpointTimes();
  const failing = () => Promise.reject(new Error("The disk is full."));
  assert.deepEqual([await times.write(failing), await times.write(failing)], [false, false]);
  await new Promise(setImmediate);
  process.removeListener("warning", heard);
  assert.deepEqual(warnings, ["The disk is full. The run goes on without."]);
});
