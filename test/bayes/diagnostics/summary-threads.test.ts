/** Summaries on other threads: the rows are those of this one, and nothing depends on their help. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { summarizeScalar } from "../../../src/bayes/diagnostics/scalar-summary.js";
import { Helper, shareOut, summarizeAll } from "../../../src/bayes/diagnostics/summary-threads.js";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { autoregressive, independent } from "../chains.js";

async function startedHelper(): Promise<Helper> {
  const helper = new Helper();
  while (!helper.isIdle) await setTimeout(5);
  return helper;
}

function someDraws(): Draws {
  const draws = new Draws({ chains: 4, variables: { x: [7] }, superchains: 2 });
  const values = Array.from({ length: 7 }, (_, e) => [...autoregressive(4, 60, 0.1 * e, 30 + e).values]);
  draws.appendByScalar({ values: { x: Float64Array.from(values.flat()) } });
  return draws;
}

const expectedRows = (draws: Draws) => draws.names.map((name) => summarizeScalar(name, draws.scalar(name), 2));

test("a thread says the same of a scalar, and of the next one", async () => {
  const helper = await startedHelper();
  for (const seed of [1, 2]) {
    const x = independent(4, 50, seed);
    helper.give({ name: "x", x, superchains: 2 });
    assert.deepEqual(helper.take(60_000), summarizeScalar("x", x, 2));
    assert.ok(helper.isIdle);
  }
  helper.end();
});

test("scalars shared out among threads come back in their order", async () => {
  const draws = someDraws();
  const helpers = [await startedHelper(), await startedHelper()];
  assert.deepEqual(shareOut(draws, draws.names, helpers), expectedRows(draws));
  for (const helper of helpers) helper.end();
});

test("what threads that end, or never start, do not deliver is done here", async () => {
  const draws = someDraws();
  const [lost, late] = [await startedHelper(), new Helper()];
  lost.end();
  assert.deepEqual(shareOut(draws, draws.names, [lost, late]), expectedRows(draws));
  late.end();
});

test("many draws are summarised on the threads there are", () => {
  const draws = new Draws({ chains: 1024, variables: { x: [9] } });
  const one = autoregressive(1024, 500, 0.3, 5).values;
  draws.appendByScalar({
    values: { x: Float64Array.from({ length: 9 * one.length }, (_, i) => one[i % one.length]!) },
  });
  const rows = summarizeAll(draws, draws.names);
  const expected = summarizeScalar("x", draws.scalar("x[0]"));
  rows.forEach((row, i) => {
    assert.deepEqual(row, { ...expected, name: `x[${i}]` });
  });
  assert.equal(rows.length, 9);
});
