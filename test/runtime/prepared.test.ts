/** Programs as engines record them, and as they run step by step where nothing can be recorded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Program, type Step, withSteps } from "../../src/compiler/program/program.js";
import type { BufferPlace } from "../../src/engines/engine.js";
import { recordable } from "../../src/runtime/prepared.js";
import type { NamedKernel, NotedMemory } from "../support/noting-engine.js";
import { kernelStep, leaf, made, value } from "../support/steps.js";

const kernel = (...args: Parameters<typeof kernelStep>): Step<NamedKernel> => {
  const step = kernelStep(...args);
  return { ...step, code: { name: step.code, numbers: [] } };
};
const loop = (steps: readonly Step<NamedKernel>[], count = 3): Step<NamedKernel> => ({
  kind: "loop",
  loop: 0,
  count,
  steps,
});
/** What a program dispatches, with the place of each buffer. */
function dispatchesOf(program: Program<NamedKernel>, offsets: readonly number[], inPlace: readonly number[]) {
  const plan = { offsets: [...offsets], arenaBytes: 512, sumOfBytes: 0 };
  const recorded = recordable<NotedMemory, NamedKernel>({ program, plan, inPlace, isFromDisk: false }, []);
  const seen: [string, readonly BufferPlace[]][] = [];
  for (const { kernel, buffers } of recorded.dispatches()) seen.push([kernel.name, buffers]);
  return { recorded, seen };
}

test("buffers lie in arguments, in results, and between kernels where the plan puts them", () => {
  const steps = [
    kernel("a", [leaf(1)], [made(0)]),
    kernel(
      "b",
      [
        { ...made(0), offset: 8 },
        { ...leaf(0), offset: 4 },
      ],
      [made(2)],
    ),
    kernel("c", [made(0)], [made(1)]),
  ];
  const program = withSteps({ made: [value(16), value(32, 1), value(64, 0)], leaves: [] }, steps);
  const { recorded, seen } = dispatchesOf(program, [256, -1, -1], [-1, 1]);
  const between = (offset: number) => ({ from: "arena", start: 256, byteLength: 16, offset }) as const;
  assert.deepEqual(seen, [
    ["a", [{ from: "argument", index: 1, offset: 0 }, between(0)]],
    ["b", [between(8), { from: "argument", index: 0, offset: 4 }, { from: "result", index: 0, offset: 0 }]],
    ["c", [between(0), { from: "result", index: 1, offset: 0 }]],
  ]);
  assert.equal(recorded.arenaBytes, 512);
  // Results are in the order of the roots, not in that in which they are made.
  assert.deepEqual(recorded.results, [
    { byteLength: 64, inPlace: -1 },
    { byteLength: 32, inPlace: 1 },
  ]);
});

test("inside a loop each round has places of its own: slots move, and swap in odd rounds", () => {
  const moving = { ...leaf(0), offset: 40, moves: [{ loop: 0, bytes: -20 }] };
  const now = { ...made(0), swap: { loop: 0, index: 1 } };
  const next = { ...made(1), swap: { loop: 0, index: 0 } };
  const program = withSteps({ made: [value(8), value(8)], leaves: [] }, [
    loop([kernel("round", [moving, now], [next])]),
  ]);
  const { seen } = dispatchesOf(program, [0, 128], []);
  const rounds = seen.map(([, places]) => places.map((place) => (place.from === "arena" ? place.start : place.offset)));
  assert.deepEqual(rounds, [
    [40, 0, 128],
    [20, 128, 0],
    [0, 0, 128],
  ]);
});
