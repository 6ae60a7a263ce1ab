/** Parts of memory: which slices are some, where they begin, and what of that makes a program another one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contiguousSliceOf, isPartOfMemory, isUnaligned, repeatsAmong } from "../../src/graph/contiguous-slice.js";
import type { Node } from "../../src/graph/node.js";
import { add, neg } from "../../src/graph/primitives/elementwise.js";
import { stored as copied, expand, permute, reshape, slice } from "../../src/graph/primitives/movement.js";
import { ProgramTable } from "../../src/runtime/program-table.js";
import { make, stored } from "../support/nodes.js";
import { randomFrom } from "../support/random.js";
import { flatIndex, indicesOf } from "../support/tensors.js";

const cut = (x: Node, start: readonly number[], shape: readonly number[], step = start.map(() => 1)) =>
  make(slice, [x], { start, step, shape });

/** Where a node's elements begin in memory, in elements; null where they do not lie side by side. */
function beginOf(node: Node): number | null {
  const slice = contiguousSliceOf(node);
  return slice && slice.start / 4;
}

test("leading indices, one range and whole axes behind it are side by side; nothing else is", () => {
  const x = stored(5, 4, 3);
  assert.equal(beginOf(x), 0);
  assert.equal(beginOf(cut(x, [2, 0, 0], [1, 4, 3])), 24);
  assert.equal(beginOf(cut(x, [1, 0, 0], [3, 4, 3])), 12);
  assert.equal(beginOf(cut(x, [3, 2, 0], [1, 2, 3])), 42);
  assert.equal(beginOf(cut(x, [4, 3, 1], [1, 1, 2])), 58);
  assert.equal(beginOf(cut(x, [4, 3, 2], [1, 1, 1], [-7, 0, 5])), 59, "of one element the step does not matter");
  assert.equal(beginOf(cut(x, [1, 1, 0], [2, 2, 3])), null);
  assert.equal(beginOf(cut(x, [0, 0, 1], [5, 4, 1])), null);
  assert.equal(beginOf(cut(x, [0, 0, 0], [3, 4, 3], [2, 1, 1])), null);
  assert.equal(beginOf(cut(x, [1, 0, 0], [2, 4, 3], [-1, 1, 1])), null);
  assert.equal(beginOf(cut(stored(5, 1, 3), [0, 0, 0], [2, 1, 3])), 0, "an axis of one is no obstacle");
});

test("slices of all kinds are side by side just where plain loops find them so", () => {
  const random = randomFrom(3);
  let found = 0;
  for (let round = 0; round < 3000; round++) {
    const shape = Array.from({ length: 1 + random.below(4) }, () => 1 + random.below(4));
    const start = shape.map((extent) => random.below(extent));
    const step = shape.map(() => random.below(4) - 1);
    const counts = shape.map((extent, axis) => {
      const room = step[axis]! > 0 ? extent - start[axis]! : step[axis]! < 0 ? start[axis]! + 1 : 1;
      return random.below(Math.ceil(room / Math.max(1, Math.abs(step[axis]!))) + 1);
    });
    const places = indicesOf(counts).map((index) =>
      flatIndex(
        shape,
        index.map((i, axis) => start[axis]! + i * step[axis]!),
      ),
    );
    const isRun = places.every((place, i) => place === places[0]! + i);
    const expected = isRun ? (places[0] ?? 0) : null;
    assert.equal(beginOf(cut(stored(...shape), start, counts, step)), expected, JSON.stringify([shape, start, step]));
    if (expected) found++;
  }
  assert.ok(found > 100, `${found} of them are`);
});

test("slices of slices, other shapes and axes of one in between add up", () => {
  const x = stored(6, 4);
  const flat = make(reshape, [x], { shape: [24] });
  assert.equal(beginOf(cut(make(reshape, [cut(flat, [5], [12])], { shape: [3, 4] }), [1, 0], [2, 4])), 9);
  const column = make(permute, [cut(x, [2, 0], [1, 4])], { axes: [1, 0] });
  assert.equal(beginOf(column), 8);
  assert.equal(beginOf(make(permute, [x], { axes: [1, 0] })), null);
  assert.equal(beginOf(make(expand, [cut(x, [2, 0], [1, 4])], { shape: [3, 4] })), null);
  assert.equal(beginOf(make(copied, [x])), null, "what is to be a copy is not the memory itself");
  assert.equal(beginOf(cut(make(neg, [x]), [1, 0], [2, 4])), null, "what waits has no memory");
});

test("places beyond 32 bits are whole numbers of bytes", () => {
  const x = stored(3_000_000_000, 4);
  assert.equal(contiguousSliceOf(cut(x, [2_999_999_999, 0], [1, 4]))?.start, 16 * 2_999_999_999);
});

test("only what is less than the whole is a part; the whole under another shape is read as it is", () => {
  const x = stored(6, 4);
  assert.ok(isPartOfMemory(cut(x, [0, 0], [5, 4])));
  assert.ok(isPartOfMemory(cut(x, [0, 0], [0, 4])));
  assert.ok(!isPartOfMemory(cut(x, [0, 0], [6, 4])));
  assert.ok(!isPartOfMemory(make(reshape, [x], { shape: [24] })));
  assert.ok(!isPartOfMemory(x));
  assert.ok(!isPartOfMemory(make(neg, [cut(x, [0, 0], [5, 4])])));
});

test("a part is unaligned where it begins between vectors and has room for one", () => {
  const x = stored(100);
  const at = (start: number, count = 10) => isUnaligned(cut(x, [start], [count]), 16);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 8].map((start) => at(start)),
    [false, true, true, true, false, false],
  );
  assert.equal(at(1, 3), false, "12 bytes hold no vector");
  assert.equal(at(1, 4), true);
  assert.equal(isUnaligned(cut(x, [1], [10]), 1), false);
  assert.equal(isUnaligned(x, 16), false);
});

test("the same part twice is one, parts that differ in place, shape or memory are not", () => {
  const [x, y] = [stored(10, 4), stored(10, 4)];
  const leaves = [
    cut(x, [1, 0], [2, 4]),
    cut(x, [1, 0], [2, 4]),
    cut(x, [2, 0], [2, 4]),
    cut(x, [1, 0], [3, 4]),
    cut(y, [1, 0], [2, 4]),
    x,
    cut(make(reshape, [x], { shape: [40] }), [4], [8]),
    cut(x, [1, 0], [2, 4]),
  ];
  assert.deepEqual(
    [...repeatsAmong(leaves)],
    [
      [leaves[1], leaves[0]],
      [leaves[7], leaves[0]],
    ],
  );
});

test("where parts begin is no part of the form, but whether they are aligned is, and whether they are the same", () => {
  const table = new ProgramTable<string>(100, 16);
  const x = stored(64, 4);
  const y = stored(1000);
  const sum = (a: Node, b: Node) => [make(add, [a, b])];
  const row = (i: number) => cut(x, [i, 0], [1, 4]);
  const use = (roots: readonly Node[], name: string) => {
    const found = table.find(roots);
    if (found.program === null) table.add(found, name);
    return found.program;
  };
  assert.equal(use(sum(row(0), row(1)), "two rows"), null);
  assert.equal(use(sum(row(7), row(3)), "again"), "two rows");
  assert.equal(use(sum(stored(1, 4), stored(1, 4)), "again"), "two rows", "tensors of their own are the same to it");
  assert.equal(use(sum(row(5), row(5)), "one row"), null);
  assert.equal(use(sum(row(6), row(6)), "again"), "one row");
  const slice = (start: number) => cut(y, [start], [8]);
  const aligned = (start: number) => use([make(neg, [slice(start)])], `from ${start}`);
  assert.deepEqual([0, 1, 2, 4, 7, 8, 3].map(aligned), [null, null, "from 1", "from 0", "from 1", "from 0", "from 1"]);
});

test("leaves are listed where the walk ends: a part in the place of what it is a part of", () => {
  const table = new ProgramTable<string>(100);
  const [x, y] = [stored(8, 4), stored(1, 4)];
  const part = cut(x, [3, 0], [1, 4]);
  const { leaves } = table.find([make(add, [part, y])]);
  assert.deepEqual(leaves, [part, y]);
  // Beside the whole, both.
  assert.deepEqual(table.find([make(add, [part, y]), make(neg, [x])]).leaves, [part, y, x]);
});

test("of many parts in one graph eight are leaves, and the others are read from the memory they are in", () => {
  const table = new ProgramTable<string>(100);
  const x = stored(40, 4);
  let total = cut(x, [0, 0], [1, 4]);
  for (let i = 1; i < 20; i++) total = make(add, [total, cut(x, [i, 0], [1, 4])]);
  const { leaves } = table.find([total]);
  assert.equal(leaves.filter((leaf) => leaf !== x).length, 8);
  assert.ok(leaves.includes(x));
});
