/** Runs: a promise and an iterable in one, which begins when it is needed and goes on by itself once somebody waits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Run } from "../../src/runs/run.js";

/** Work of so many pieces, and what was noted of it. */
function counting(pieces: number, fails = false) {
  const noted: unknown[] = [];
  const run = new Run<number, string>(async function* (isWatched) {
    noted.push(isWatched);
    for (let i = 1; i <= pieces; i++) {
      noted.push(i);
      yield i;
    }
    if (fails) throw new Error("broken");
    return "done";
  });
  return { run, noted };
}

test("nothing happens before somebody waits or watches", async () => {
  const { run, noted } = counting(2);
  assert.match(inspect(run), /Run \(begins when it is awaited or watched\)/);
  await new Promise(setImmediate);
  assert.deepEqual(noted, []);
  assert.equal(await run, "done");
  assert.deepEqual(noted, [false, 1, 2]);
  assert.match(inspect(run), /ended/);
});

test("a run goes as fast as it is watched, and on to the end when it is awaited in between", async () => {
  const { run, noted } = counting(5);
  for await (const piece of run) {
    assert.deepEqual(noted, [true, ...Array.from({ length: piece }, (_, i) => i + 1)]);
    if (piece === 2) break;
  }
  await new Promise(setImmediate);
  assert.equal(noted.length, 3);
  assert.equal(await run, "done");
  assert.equal(noted.length, 6);
});

test("a failure reaches those who wait and those who watch", async () => {
  await assert.rejects(counting(1, true).run, /broken/);
  const { run } = counting(1, true);
  await assert.rejects(async () => {
    for await (const _ of run);
  }, /broken/);
  assert.equal(await run.catch((error) => (error as Error).message), "broken");
});
