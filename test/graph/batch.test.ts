/** A graph for one member made one for a batch: member by member it is what the graph gives. No device computes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { vectorize } from "../../src/graph/batch.js";
import { makePlaceholder } from "../../src/graph/function.js";
import type { Node } from "../../src/graph/node.js";
import { cumulate } from "../../src/graph/primitives/cumulate.js";
import { max } from "../../src/graph/primitives/reduce.js";
import { g } from "../../src/graph/vocabulary.js";
import { make, nowhere, storedAs } from "../support/nodes.js";
import { plainValues } from "../support/plain-graph.js";
import { sizeOf } from "../support/plain-views.js";
import { randomFrom } from "../support/random.js";

const SIZE = 3;
const random = randomFrom(31);

/** Functions of x [2, 4] and y [4] of whole numbers. */
const functions: Readonly<Record<string, (x: Node, y: Node) => Node>> = {
  elementwise: (x, y) => g.mul(g.add(x, 1), g.broadcast(y, x.shape)),
  "a choice": (x, y) => g.where(g.greater(x, 0), x, g.broadcast(y, x.shape)),
  "movement of all kinds": (x, y) =>
    g.concat(
      [
        g.pad(g.slice(g.permute(x, [1, 0]), [1, 0], [2, 2]), [0, 1], [1, 0]),
        g.broadcast(g.reshape(g.slice(y, [0], [3]), [1, 3]), [1, 3]),
      ],
      0,
    ),
  "a sum over one axis, the largest over all": (x, y) =>
    g.add(g.sum(g.mul(x, g.broadcast(y, x.shape)), [1]), g.broadcast(make(max, [x], { axes: [0, 1] }), [2])),
  "a product of matrices": (x, y) => g.dot(g.reshape(x, [1, 2, 4]), g.reshape(y, [1, 4, 1])),
  "running totals": (x, y) =>
    g.add(
      make(cumulate, [x], { axis: 1, op: "sum", isReverse: false, isExclusive: true }),
      g.broadcast(make(cumulate, [y], { axis: 0, op: "max", isReverse: true, isExclusive: false }), [2, 4]),
    ),
  "elements at positions": (x, y) => g.take(x, g.cast(g.greater(y, 0), "i32"), 0),
};

for (const [title, f] of Object.entries(functions)) {
  for (const [isXBatched, isYBatched] of [
    [true, true],
    [true, false],
    [false, true],
  ] as const) {
    test(`${title}, x ${isXBatched ? "" : "not "}batched, y ${isYBatched ? "" : "not "}batched`, () => {
      const [px, py] = [[2, 4], [4]].map((shape) => makePlaceholder({ shape, dtype: "i32", device: nowhere })) as [
        Node,
        Node,
      ];
      const result = f(px, py);
      const whole = (shape: readonly number[], isBatched: boolean) => (isBatched ? [SIZE, ...shape] : [...shape]);
      const [x, y] = [storedAs("i32", ...whole([2, 4], isXBatched)), storedAs("i32", ...whole([4], isYBatched))];
      const values = [x, y].map(({ shape }) => Array.from({ length: sizeOf(shape) }, () => random.below(11) - 5));
      const inputs = [
        { node: x, isBatched: isXBatched },
        { node: y, isBatched: isYBatched },
      ];
      const [all] = vectorize(g, [result], [px, py], inputs, SIZE);
      assert.equal(all!.isBatched, true);
      assert.deepEqual(all!.node.shape, [SIZE, ...result.shape]);
      const got = plainValues(
        [all!.node],
        new Map([
          [x, values[0]!],
          [y, values[1]!],
        ]),
      )[0]!;
      const size = sizeOf(result.shape);
      for (let member = 0; member < SIZE; member++) {
        const own = (list: readonly number[], count: number, isBatched: boolean) =>
          isBatched ? list.slice(member * count, (member + 1) * count) : list;
        const given = new Map([
          [px, own(values[0]!, 8, isXBatched)],
          [py, own(values[1]!, 4, isYBatched)],
        ]);
        assert.deepEqual(
          got.slice(member * size, (member + 1) * size),
          plainValues([result], given)[0],
          `member ${member}`,
        );
      }
    });
  }
}

test("what depends on nothing that is batched is computed once, for all", () => {
  const [px, py] = [0, 1].map(() => makePlaceholder({ shape: [4], dtype: "f32", device: nowhere })) as [Node, Node];
  const [x, y] = [storedAs("f32", SIZE, 4), storedAs("f32", 4)];
  const alone = g.mul(py, 2);
  const outputs = [g.add(px, alone), alone, py];
  const made = vectorize(
    g,
    outputs,
    [px, py],
    [
      { node: x, isBatched: true },
      { node: y, isBatched: false },
    ],
    SIZE,
  );
  assert.deepEqual(
    made.map(({ isBatched }) => isBatched),
    [true, false, false],
  );
  assert.deepEqual(made[1]!.node.shape, [4]);
  assert.equal(made[2]!.node, y);
});

test("what has no rule for batches says so by name", () => {
  const px = makePlaceholder({ shape: [4], dtype: "f32", device: nowhere });
  const without = { ...cumulate, name: "mystery", batch: undefined };
  const result = make(without, [px], { axis: 0, op: "sum" });
  const inputs = [{ node: storedAs("f32", SIZE, 4), isBatched: true }];
  assert.throws(() => vectorize(g, [result], [px], inputs, SIZE), /vmap: mystery has no rule for batches/);
});
