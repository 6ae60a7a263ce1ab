/** The memory of a program's leaves: each tensor's own, or that of the tensor it is a slice of, from its first byte on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { slice } from "../../src/graph/primitives/movement.js";
import { slicedMemory, wholeMemory } from "../../src/runtime/leaf-memory.js";
import { make, storedAs } from "../support/nodes.js";

const rows = (source: ReturnType<typeof storedAs>, from: number, to: number) =>
  make(slice, [source], { start: [from, 0], step: [1, 1], shape: [to - from, source.shape[1]] });

test("tensors in memory are taken whole, in their order", () => {
  const [a, b] = [storedAs("f32", 4, 3), storedAs("f64", 2, 2)];
  const { memory, starts } = wholeMemory([b, a, b]);
  assert.equal(starts, null);
  assert.deepEqual(
    memory.map((each) => [a.storage, b.storage].indexOf(each as never)),
    [1, 0, 1],
  );
});

test("a slice is its source's memory from its first byte on, whatever the size of an element", () => {
  const [a, b] = [storedAs("f32", 8, 3), storedAs("f64", 8, 5)];
  const { memory, starts } = slicedMemory([rows(a, 2, 4), b, rows(b, 7, 8), rows(rows(a, 1, 6), 3, 4)]);
  assert.deepEqual(
    memory.map((each) => (each as unknown) === a.storage),
    [true, false, false, true],
  );
  assert.ok((memory[2] as unknown) === b.storage);
  assert.deepEqual(starts, [2 * 3 * 4, 0, 7 * 5 * 8, (1 + 3) * 3 * 4]);
});

test("a slice that is there twice is given once; slices of one source at other places are not", () => {
  const a = storedAs("f32", 8, 3);
  assert.deepEqual(slicedMemory([rows(a, 2, 4), rows(a, 2, 4), rows(a, 2, 5), rows(a, 3, 5)]).starts, [24, 24, 36]);
});

test("a slice that was computed has memory of its own", () => {
  const a = storedAs("f32", 8, 3);
  const part = rows(a, 2, 4);
  const own = { byteLength: 24 };
  part.realize(own);
  const { memory, starts } = slicedMemory([part]);
  assert.ok((memory[0] as unknown) === own);
  assert.deepEqual(starts, [0]);
});
