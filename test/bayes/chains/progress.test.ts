/** The line of progress: what it says in the warmup and after. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatProgress } from "../../../src/bayes/chains/progress.js";
import type { Progress } from "../../../src/bayes/chains/run.js";
import { model, normal } from "../../../src/bayes/index.js";

const at = (more: Partial<Progress>): Progress => ({
  phase: "sampling",
  warmup: Int32Array.of(100, 100),
  draws: Int32Array.of(0, 0),
  divergences: Int32Array.of(0, 0),
  leapfrogs: Int32Array.of(0, 0),
  stepSizes: Float64Array.of(0.5, 1),
  ess: Number.NaN,
  milliseconds: 1234,
  ...more,
});
const wanted = { warmup: 100, draws: 400 };

test("tells of the warmup while there is one, then of the draws", () => {
  const warming = at({ phase: "warmup", warmup: Int32Array.of(100, 50), draws: Int32Array.of(30, 0) });
  assert.equal(formatProgress(warming, wanted), `warmup ${"█".repeat(18)}${"░".repeat(6)} 75 % · step 0.75 · 1.2 s`);
  const drawing = at({ draws: Int32Array.of(300, 100), divergences: Int32Array.of(2, 1), ess: 120.4 });
  assert.equal(
    formatProgress(drawing, wanted),
    `sampling ${"█".repeat(12)}${"░".repeat(12)} 50 % · 400 draws · step 0.75 · 3 divergences · ESS 120 · 1.2 s`,
  );
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
