/** Kernels in slices on the main thread: every row once, others in between, and an end in place for who cannot wait. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInSlices } from "../../../src/engines/host/background.js";

const explain = (error: Error) => new Error(`explained: ${error.message}`);

/** A kernel whose rows take half a millisecond, and the rows that it has computed. */
function slowKernel() {
  const rows: number[] = [];
  const run = (_: number, start: number, end: number) => {
    const began = performance.now();
    while (performance.now() - began < 0.5 * (end - start));
    for (let row = start; row < end; row++) rows.push(row);
  };
  return { rows, run };
}

const upTo = (length: number): number[] => Array.from({ length }, (_, i) => i);

test("every row is computed once, in order, and timers run in between", async () => {
  for (const length of [1, 2, 100, 255, 1000]) {
    const { rows, run } = slowKernel();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const background = runInSlices(run, 0, length, explain);
    await background.over;
    clearInterval(timer);
    assert.deepEqual(rows, upTo(length));
    assert.ok(background.isOver && background.failure === null);
    if (length >= 100) assert.ok(turns >= 3, `${turns} turns in ${length} rows`);
  }
});

test("the rest is computed in place when someone cannot wait", async () => {
  const { rows, run } = slowKernel();
  const background = runInSlices(run, 0, 500, explain);
  assert.ok(rows.length < 500);
  background.finish();
  assert.ok(background.isOver);
  assert.deepEqual(rows, upTo(500));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(rows.length, 500, "and no more afterwards");
});

test("a row that fails ends it, with what is said of it", async () => {
  const failing = (_: number, start: number) => {
    if (start >= 3) throw new Error("trap");
  };
  const background = runInSlices(failing, 0, 1000, explain);
  await background.over;
  assert.equal(background.failure?.message, "explained: trap");
});
