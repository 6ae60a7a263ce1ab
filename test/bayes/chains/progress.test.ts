/** What a run says of itself: the line of progress, and step sizes as the chains have them. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { formatProgress } from "../../../src/bayes/chains/progress.js";
import { model, normal, type Progress } from "../../../src/bayes/index.js";
import { setDefaultDevice } from "../../../src/tensor/devices.js";

before(() => setDefaultDevice("cpu"));

describe("the line of progress", () => {
  const half: Progress = {
    phase: "sampling",
    draws: Int32Array.of(40, 60),
    divergences: Int32Array.of(0, 0),
    leapfrogs: Int32Array.of(1000, 2000),
    stepSizes: Float64Array.of(0.2, 0.3),
    ess: Number.NaN,
    milliseconds: 1260,
  };

  test("says how far all chains have come, their step size and the time", () => {
    const bar = `${"█".repeat(12)}${"░".repeat(12)}`;
    assert.equal(formatProgress(half, 100), `sampling ${bar} 50 % · 100 draws · step 0.25 · 1.3 s`);
  });

  test("speaks of divergences and the effective sample size where there are any", () => {
    const line = formatProgress({ ...half, phase: "warmup", divergences: Int32Array.of(2, 1), ess: 412.6 }, 50);
    assert.equal(line, `warmup ${"█".repeat(24)} 100 % · 100 draws · step 0.25 · 3 divergences · ESS 413 · 1.3 s`);
  });
});

test("whoever watches sees the step sizes that are noted with the draws", async () => {
  const run = model(() => ({ x: normal(0, 1).shape(3) }))
    .given({})
    .sample({ chains: 3, draws: 50, warmup: 100, seed: 4, dtype: "f64", device: "cpu" });
  let last: Progress | null = null;
  for await (const progress of run) last = progress;
  const { values, draws } = (await run).draws.stat("stepSize")!;
  last!.stepSizes.forEach((step, chain) => {
    // Noted in f32.
    assert.equal(Math.fround(step), values[chain * draws + draws - 1]);
  });
  assert.equal(new Set(last!.stepSizes).size, 3);
});
