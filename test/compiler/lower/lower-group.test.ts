/** A group as one kernel: rows, columns and lanes as the scheduler chose them, run and compared with the interpreter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { lowerGroup } from "../../../src/compiler/lower/lower-group.js";
import type { Group, RowTiling } from "../../../src/compiler/schedule/group.js";
import type { Node } from "../../../src/graph/node.js";
import { max } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { runKernel } from "../../support/kernels.js";
import { make, stored } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";
import { sizeOf } from "../../support/plain-views.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const ALONE: RowTiling = { lanes: 1, width: 1, unroll: 1, elementsPerLane: 4 };
const SETTINGS = { division: "corrected" } as const;

const groupOf = (
  results: readonly (readonly [Node, readonly number[]])[],
  tiling = ALONE,
  rowsPerThread = 1,
): Group => ({
  results: results.map(([node, rowAxes]) => ({ node, rowAxes })),
  tiling,
  rowsPerThread,
  isLoaded: ({ storage }) => storage !== null,
});

const stretched = (reduced: Node, x: Node): Node => g.unreduce(reduced, x.shape, [1]);
/** x less the largest of its row; whole numbers, so that every order gives the same. */
const lowered = (x: Node): Node => g.sub(x, stretched(make(max, [x], { axes: [1] }), x));

describeOnTensorDevices("a group", (device) => {
  /** Runs the kernel of a group over whole numbers, and compares each result. */
  function check(group: Group, leaves: readonly Node[]): Kernel {
    const { kernel, buffers } = lowerGroup(group, "tested", SETTINGS);
    const given = new Map(
      leaves.map((leaf, k) => [leaf, Array.from({ length: sizeOf(leaf.shape) }, (_, i) => ((i * 37 + k) % 23) - 11)]),
    );
    const results = group.results.map(({ node }) => node);
    const memory = buffers.map((node) =>
      Float32Array.from(given.get(node) ?? new Array(sizeOf(node.shape)).fill(Number.NaN)),
    );
    const after = runKernel(device, kernel, memory);
    const want = plainValues(results, given);
    for (const [i, node] of results.entries()) {
      assert.deepEqual([...after[buffers.indexOf(node)]!], want[i], node.primitive.name);
    }
    return kernel;
  }

  const lanes = device === "cpu" ? 4 : 32;

  test("has a row for each index along its row axes, and loops over the rest", () => {
    const x = stored(6, 40);
    assert.equal(check(groupOf([[lowered(x), [0]]]), [x]).rows, 6);
    assert.equal(check(groupOf([[g.neg(x), [0, 1]]]), [x]).rows, 240);
    const cube = stored(3, 4, 5);
    assert.equal(check(groupOf([[g.neg(g.permute(cube, [0, 2, 1])), [0]]]), [cube]).rows, 3);
    const y = stored(40, 6);
    assert.equal(check(groupOf([[g.sum(y, [0]), [0]]]), [y]).rows, 6);
  });

  test("is shared by lanes, also where they do not come out even", () => {
    for (const columns of [lanes, 4 * lanes, device === "cpu" ? 8 * lanes : 100]) {
      const x = stored(5, columns);
      const kernel = check(groupOf([[lowered(x), [0]]], { lanes, width: 1, unroll: 2, elementsPerLane: 2 }), [x]);
      assert.equal(kernel.lanes, lanes);
      const less = g.sub(x, stretched(g.sum(x, [1]), x));
      check(groupOf([[less, [0]]], { lanes, width: 1, unroll: 2, elementsPerLane: 2 }), [x]);
    }
  });

  test("computes several rows in a thread, lanes each their own", () => {
    const x = stored(16 * lanes);
    const kernel = check(groupOf([[g.square(x), [0]]], { ...ALONE, lanes }, 4 * lanes), [x]);
    assert.equal(kernel.rows, 4);
  });

  test("writes all its results: of the row, of its columns, and of other columns", () => {
    const [x, y] = [stored(6, 40), stored(6, 10)];
    const sums = g.sum(x, [1]);
    const group = groupOf([
      [sums, [0]],
      [g.sub(x, stretched(sums, x)), [0]],
      [g.mul(y, stretched(sums, y)), [0]],
    ]);
    check(group, [x, y]);
  });

  test("takes its memory in the order of its buffers, with a place for a result that has no elements", () => {
    const x = stored(3, 0);
    const result = g.neg(x);
    const { kernel, buffers } = lowerGroup(groupOf([[result, [0]]]), "empty", SETTINGS);
    assert.equal(kernel.buffers.length, buffers.length);
    assert.ok(buffers.includes(result));
    assert.equal(kernel.buffers[buffers.indexOf(result)]!.isWritten, true);
  });

  test("that would be too long written out is written with loops", () => {
    const x = stored(4, 64);
    let y: Node = x;
    for (let i = 0; i < 30; i++) y = g.add(g.mul(y, 0.5), 1);
    const unrolled = { lanes: 1, width: 1, unroll: 64, elementsPerLane: 64 };
    const { kernel } = lowerGroup(groupOf([[y, [0]]], unrolled), "long", SETTINGS);
    assert.ok(kernel.size < 500, String(kernel.size));
    const short = lowerGroup(groupOf([[g.neg(x), [0]]], unrolled), "short", SETTINGS).kernel;
    assert.ok(short.body.every(({ kind }) => kind !== "loop"));
  });
});
