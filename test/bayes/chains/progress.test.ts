/** The line of progress: what it says in the warmup and after, on a terminal and in a log. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatProgress, type Output, progressLine } from "../../../src/bayes/chains/progress.js";
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

function output(more: Partial<Output>): { readonly out: Output; readonly text: () => string } {
  let text = "";
  const write = (part: string | Uint8Array) => {
    text += part;
    return true;
  };
  return { out: { isTTY: true, columns: 200, write, ...more }, text: () => text };
}

test("tells of the warmup while there is one, then of the draws", () => {
  const warming = at({ phase: "warmup", warmup: Int32Array.of(100, 50), draws: Int32Array.of(30, 0) });
  assert.equal(formatProgress(warming, wanted), `warmup ${"█".repeat(18)}${"░".repeat(6)} 75 % · step 0.75 · 1.2 s`);
  const drawing = at({ draws: Int32Array.of(300, 100), divergences: Int32Array.of(2, 1), ess: 120.4 });
  assert.equal(
    formatProgress(drawing, wanted),
    `sampling ${"█".repeat(12)}${"░".repeat(12)} 50 % · 400 draws · step 0.75 · 3 divergences · ESS 120 · 1.2 s`,
  );
});

test("is never longer than the terminal is wide", () => {
  const { out, text } = output({ columns: 30 });
  const line = progressLine(wanted, out);
  line.update(at({ draws: Int32Array.of(300, 100) }));
  line.done();
  const begin = "\r\x1b[K";
  assert.ok(text().startsWith(begin) && text().endsWith("\n"));
  assert.equal(text().length, begin.length + 29 + 1);
});

test("where there is no terminal, there is a line now and then, and one at the end", () => {
  const { out, text } = output({ isTTY: false });
  const line = progressLine(wanted, out);
  for (let ms = 100; ms <= 25_000; ms += 100) line.update(at({ draws: Int32Array.of(100, 100), milliseconds: ms }));
  assert.equal(text().match(/\n/g)?.length, 2);
  line.done();
  const lines = text().trimEnd().split("\n");
  assert.deepEqual(
    lines.map((each) => / ([\d.]+) s$/.exec(each)?.[1]),
    ["10.0", "20.0", "25.0"],
  );
  const none = output({ isTTY: false });
  progressLine(wanted, none.out).done();
  assert.equal(none.text(), "");
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
