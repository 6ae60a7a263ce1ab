/** Where a recorded program needs barriers: pure, so that a missing one is noticed without a driver that reorders. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BufferPlace } from "../../../src/engines/engine.js";
import { BarrierPlanner } from "../../../src/engines/vulkan/barrier-planner.js";

const arena = (start: number, byteLength: number): BufferPlace => ({ from: "arena", start, byteLength, offset: 0 });
const argument = (index: number): BufferPlace => ({ from: "argument", index, offset: 0 });
const result = (index: number): BufferPlace => ({ from: "result", index, offset: 0 });

interface Kernel {
  readonly reads?: readonly BufferPlace[];
  readonly writes?: readonly BufferPlace[];
}

/** Whether a barrier stands before each kernel. */
function barriersBefore(kernels: readonly Kernel[], inPlace: readonly number[] = [-1, -1]): boolean[] {
  const planner = new BarrierPlanner(inPlace);
  return kernels.map(({ reads = [], writes = [] }) =>
    planner.add(
      [...reads, ...writes],
      [...reads.map(() => ({ isWritten: false })), ...writes.map(() => ({ isWritten: true }))],
    ),
  );
}

describe("a barrier stands between two kernels", () => {
  const [a, b] = [arena(0, 64), arena(64, 64)];
  const rows: [claim: string, first: Kernel, second: Kernel, isExpected: boolean][] = [
    ["when the second reads what the first wrote", { writes: [a] }, { reads: [a], writes: [b] }, true],
    ["when the second writes what the first read", { reads: [a], writes: [b] }, { writes: [a] }, true],
    ["when both write the same memory", { writes: [a] }, { writes: [a] }, true],
    ["when their parts of the arena overlap by a byte", { writes: [arena(0, 65)] }, { writes: [b] }, true],
    ["but not when both read", { reads: [a], writes: [result(0)] }, { reads: [a], writes: [result(1)] }, false],
    ["but not when their parts of the arena are neighbours", { writes: [a] }, { writes: [b] }, false],
    ["but not between an argument and a result of its own", { reads: [argument(0)] }, { writes: [result(0)] }, false],
  ];
  for (const [claim, first, second, isExpected] of rows) {
    test(claim, () => assert.deepEqual(barriersBefore([first, second]), [false, isExpected]));
  }
});

test("a result that may take over an argument's memory is written after the argument was read", () => {
  const sequence = [{ reads: [argument(3)], writes: [arena(0, 4)] }, { writes: [result(1)] }];
  assert.deepEqual(barriersBefore(sequence, [-1, 3]), [false, true]);
  assert.deepEqual(barriersBefore(sequence, [3, -1]), [false, false]);
});

test("a barrier orders everything before it", () => {
  const a = arena(0, 4);
  const kernels = [{ writes: [a] }, { reads: [a], writes: [arena(4, 4)] }, { reads: [a], writes: [arena(8, 4)] }];
  assert.deepEqual(barriersBefore(kernels), [false, true, false]);
});

test("empty memory still has a place of its own", () => {
  assert.deepEqual(barriersBefore([{ writes: [arena(0, 0)] }, { reads: [arena(0, 0)] }]), [false, true]);
});
