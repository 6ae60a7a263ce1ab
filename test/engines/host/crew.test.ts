/** Which threads a kernel runs on: a choice that is made of measured times, tried here with times that the tests make up. */
import assert from "node:assert/strict";
import { beforeEach, describe, mock, test } from "node:test";
import { CrewChoice, MissedSavings } from "../../../src/engines/host/crew.js";

let now = 1000;
beforeEach(() => {
  mock.restoreAll();
  mock.method(performance, "now", () => now);
});

/** A device of four threads, with three workers that sleep. */
function staffOf({ hasWorkers = true } = {}) {
  const notedAlone: number[] = [];
  const pool = { awake: 0, missed: new MissedSavings(0.05) };
  const noteAlone = (milliseconds: number) => void notedAlone.push(milliseconds);
  return { threads: 4, threadsFor: () => (hasWorkers ? 4 : 1), noteAlone, pool, notedAlone };
}

/** Runs a kernel as an engine does that computes half of the rows, a quarter at first. Returns who did it. */
function runOf(choice: CrewChoice, milliseconds: number): string {
  const crew = choice.next();
  const began = choice.begin();
  for (const share of crew.calls ? [1 / 4, 1 / 2] : []) {
    now = began + share * milliseconds;
    if (!crew.calls?.(share)) continue;
    now += ((1 - share) * milliseconds) / crew.threads;
    return "called";
  }
  const isAlone = choice.isLeftAlone(crew);
  now = began + milliseconds / (isAlone ? 1 : crew.threads);
  if (isAlone) choice.noteRunAlone(began, now);
  return isAlone ? "alone" : crew.wakes ? `${crew.threads} woken` : `${crew.threads} awake`;
}

const runsOf = (choice: CrewChoice, milliseconds: number, count: number, pause = 1): string[] =>
  Array.from({ length: count }, () => {
    now += pause;
    return runOf(choice, milliseconds);
  });

describe("the threads of a kernel", () => {
  test("this one for short work, whatever the estimate said", () => {
    assert.deepEqual(runsOf(new CrewChoice(staffOf(), 0.8), 0.006, 5), Array(5).fill("alone"));
  });

  test("all for long work by estimate, at once", () => {
    assert.deepEqual(runsOf(new CrewChoice(staffOf(), 2), 0.006, 5), Array(5).fill("4 woken"));
  });

  test("all for work that turns out to be long, in its first run too; trials become rare", () => {
    const runs = runsOf(new CrewChoice(staffOf(), 0.8), 5, 100);
    assert.equal(runs[0], "called");
    assert.equal(runs[1], "4 woken");
    assert.deepEqual(new Set(runs), new Set(["called", "4 woken"]));
    assert.equal(runs.filter((each) => each === "called").length, 4, "runs 0, 5, 22 and 87");
  });

  test("work that is long now and then keeps its threads each time", () => {
    const choice = new CrewChoice(staffOf(), 0.8);
    for (let round = 0; round < 5; round++) {
      assert.notEqual(runOf(choice, 5), "alone");
      runsOf(choice, 0.006, 12);
    }
    assert.deepEqual(runsOf(choice, 0.006, 3), Array(3).fill("alone"));
  });

  test("those that are awake for work in between", () => {
    const staff = staffOf();
    const choice = new CrewChoice(staff, 0.8);
    assert.deepEqual(runsOf(choice, 0.1, 3), Array(3).fill("alone"), "all sleep");
    staff.pool.awake = 2;
    assert.equal(runOf(choice, 0.1), "3 awake");
  });

  test("all, for short work that comes without pause for longer than waking takes", () => {
    assert.deepEqual(runsOf(new CrewChoice(staffOf(), 0.8), 0.04, 4, 0.01), ["alone", "alone", "alone", "4 woken"]);
    assert.deepEqual(runsOf(new CrewChoice(staffOf(), 0.8), 0.04, 4, 1), Array(4).fill("alone"), "with pauses");
  });

  test("one until there has been enough work to start workers, and it is counted", () => {
    const staff = staffOf({ hasWorkers: false });
    assert.deepEqual(runsOf(new CrewChoice(staff, 0.8), 0.5, 3), Array(3).fill("alone"));
    assert.deepEqual(
      staff.notedAlone.map((each) => each.toFixed(3)),
      ["0.500", "0.500", "0.500"],
    );
  });
});
