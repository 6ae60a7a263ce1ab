/** Running steps: the order of kernels, which memory a slot is in each round, and loops that end by a flag. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FLAG_BYTES,
  MAX_ROUNDS_AHEAD,
  type Slot,
  type Step,
  type WhileStep,
} from "../../../src/compiler/program/program.js";
import { resolveSlot, runKernels, runSteps } from "../../../src/compiler/program/run-steps.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { kernelStep, made } from "../../support/steps.js";

/** The kernels that run, with where their first slot is. */
function trace(steps: readonly Step<string>[]): string[] {
  const seen: string[] = [];
  runSteps(
    steps,
    runKernels<string>(({ code, slots }, counters) => {
      const { index, offset } = resolveSlot(slots[0] as Slot, counters);
      seen.push(`${code}@${index}+${offset}`);
    }),
  );
  return seen;
}

test("a loop runs its steps round by round; a slot moves by its bytes and swaps between two values", () => {
  const moving: Slot = { ...made(0), offset: 4, moves: [{ loop: 7, bytes: 16 }] };
  const swapping: Slot = { ...made(1), swap: { loop: 7, index: 2 } };
  const inner = [kernelStep("a", [moving], []), kernelStep("b", [swapping], [])];
  assert.deepEqual(trace([{ kind: "loop", loop: 7, count: 3, steps: inner }]), [
    "a@0+4",
    "b@1+0",
    "a@0+20",
    "b@2+0",
    "a@0+36",
    "b@1+0",
  ]);
});

test("a loop inside a loop counts by itself, and moves add up", () => {
  const slot: Slot = {
    ...made(0),
    moves: [
      { loop: 0, bytes: 100 },
      { loop: 1, bytes: 1 },
    ],
  };
  const steps: Step<string>[] = [
    {
      kind: "loop",
      loop: 0,
      count: 2,
      steps: [{ kind: "loop", loop: 1, count: 3, steps: [kernelStep("a", [slot], [])] }],
    },
  ];
  assert.deepEqual(trace(steps), ["a@0+0", "a@0+1", "a@0+2", "a@0+100", "a@0+101", "a@0+102"]);
});

test("a kernel without rows does not run", () => {
  assert.deepEqual(trace([kernelStep("a", [made(0)], [], 0), kernelStep("b", [made(0)], [])]), ["b@0+0"]);
});

const whileStep = (ahead: number | null, maxRounds: number): WhileStep<string> => ({
  kind: "while",
  loop: 0,
  maxRounds,
  ahead,
  test: [kernelStep("test", [made(0)], [])],
  flag: made(1),
  steps: [kernelStep("body", [{ ...made(0), moves: [{ loop: 0, bytes: 1 }] }], [])],
  finish: [kernelStep("finish", [{ ...made(0), moves: [{ loop: 0, bytes: 1 }] }], [])],
});

/** Runs a loop whose condition holds `rounds` times. Returns the rounds whose bodies counted, and the round of the end. */
function runUntil(step: WhileStep<string>, rounds: number) {
  let tested = 0;
  let batch = 0;
  let bodies = 0;
  let flags = 0;
  let end = -1;
  runSteps([step], {
    kernel: ({ code, slots }, counters) => {
      const round = counters.get(0) ?? 0;
      if (code === "test") {
        if (counters.get(step.ahead ?? -1) === 0) batch = round;
        tested++;
      }
      // A body that was sent off behind a flag that does not hold computes nothing.
      if (code === "body" && round < rounds) bodies++;
      if (code === "finish") end = resolveSlot(slots[0] as Slot, counters).offset;
    },
    flag: () => {
      flags++;
      if (step.ahead === null) return Uint8Array.of(tested - 1 < rounds ? 1 : 0);
      const words = new Uint8Array(FLAG_BYTES * (MAX_ROUNDS_AHEAD + 1));
      for (let i = 0; i < MAX_ROUNDS_AHEAD; i++) words[FLAG_BYTES * (i + 1)] = batch + i < rounds ? 1 : 0;
      return words;
    },
  });
  return { bodies, flags, end };
}

for (const ahead of [null, 1]) {
  const how = ahead === null ? "asked before every round" : "asked after batches of rounds";
  test(`a while loop, ${how}, runs as often as its condition holds`, () => {
    for (const rounds of [0, 1, 3, 4, 5, 11, 12, 200]) {
      const { bodies, end, flags } = runUntil(whileStep(ahead, 1000), rounds);
      assert.equal(bodies, rounds);
      assert.equal(end, rounds, "the loop's number is known to what comes after it");
      if (ahead !== null) assert.ok(flags <= 4 + rounds / MAX_ROUNDS_AHEAD + 1, `${flags} waits for ${rounds} rounds`);
    }
  });

  test(`and one ${how} that goes on beyond its limit is an error, not one that ends there`, () => {
    assert.equal(runUntil(whileStep(ahead, 20), 20).bodies, 20);
    assert.throws(() => runUntil(whileStep(ahead, 20), 21), ArgumentError);
  });
}
