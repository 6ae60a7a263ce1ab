/** Barriers of recorded programs: one for each way in which a kernel may depend on one before it, and none otherwise. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { BufferPlace } from "../../../../src/engines/engine.js";
import { BarrierPlanner } from "../../../../src/engines/vulkan/submission/barrier-planner.js";

const arena = (start: number, byteLength = 64): BufferPlace => ({ from: "arena", start, byteLength, offset: 0 });
const argument = (index: number, offset = 0): BufferPlace => ({ from: "argument", index, offset });
const result = (index: number): BufferPlace => ({ from: "result", index, offset: 0 });

/** Whether each kernel needs a barrier, given what it reads and writes. */
function barriers(
  kernels: readonly { readonly reads?: readonly BufferPlace[]; readonly writes?: readonly BufferPlace[] }[],
  inPlace: readonly number[] = [-1, -1],
): boolean[] {
  const planner = new BarrierPlanner(inPlace);
  return kernels.map(({ reads = [], writes = [] }) =>
    planner.add(
      [...reads, ...writes],
      [...reads.map(() => ({ isWritten: false })), ...writes.map(() => ({ isWritten: true }))],
    ),
  );
}

test("a read after a write waits", () => {
  assert.deepEqual(barriers([{ writes: [arena(0)] }, { reads: [arena(0)], writes: [arena(64)] }]), [false, true]);
});

test("a write after a read waits", () => {
  assert.deepEqual(barriers([{ reads: [arena(0)], writes: [arena(64)] }, { writes: [arena(0)] }]), [false, true]);
});

test("a write after a write waits", () => {
  assert.deepEqual(barriers([{ writes: [arena(0)] }, { writes: [arena(0)] }]), [false, true]);
});

test("reads of one value do not wait for each other, nor do kernels apart in memory", () => {
  const kernels = [
    { reads: [argument(0)], writes: [arena(0)] },
    { reads: [argument(0)], writes: [arena(64)] },
  ];
  assert.deepEqual(barriers(kernels), [false, false]);
});

test("values that overlap in the arena by a byte are the same memory", () => {
  assert.deepEqual(barriers([{ writes: [arena(0, 65)] }, { writes: [arena(64)] }]), [false, true]);
});

test("a barrier settles what came before it", () => {
  const kernels = [
    { writes: [arena(0)] },
    { reads: [arena(0)], writes: [arena(64)] },
    { reads: [arena(0)], writes: [arena(128)] },
  ];
  assert.deepEqual(barriers(kernels), [false, true, false]);
});

test("a result that may take the place of an argument waits for its readers", () => {
  const kernels = [{ reads: [argument(0)], writes: [arena(0)] }, { writes: [result(0)] }];
  assert.deepEqual(barriers(kernels, [0, -1]), [false, true]);
  assert.deepEqual(barriers(kernels, [-1, 0]), [false, false]);
});

test("parts of an argument count as the whole", () => {
  const kernels = [{ writes: [argument(0)] }, { reads: [argument(0, 4096)], writes: [arena(0)] }];
  assert.deepEqual(barriers(kernels), [false, true]);
});

test("empty memory still has a place of its own", () => {
  assert.deepEqual(barriers([{ writes: [arena(0, 0)] }, { reads: [arena(0, 0)] }]), [false, true]);
});

test("a barrier also settles what was read before it", () => {
  const kernels = [
    { reads: [arena(0)], writes: [arena(64)] },
    { reads: [arena(64)], writes: [arena(128)] },
    { writes: [arena(0)] },
  ];
  assert.deepEqual(barriers(kernels), [false, true, false]);
});
