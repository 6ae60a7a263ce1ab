/** Contractions as one product of matrices, sums that keep the dtype, diagonals: against loops over indices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../src/core/dtype.js";
import { contractNodes, type DotAxes, diagonalNode, dotNode, sumNode } from "../../src/graph/contraction.js";
import { dot } from "../../src/graph/primitives/dot.js";
import { storedAs } from "../support/nodes.js";
import { plainValues } from "../support/plain-graph.js";
import { flatAt, forEachIndex, sizeOf } from "../support/plain-views.js";
import { randomFrom } from "../support/random.js";

const random = randomFrom(5);

/** A tensor in memory with small whole numbers in it. */
function filled(dtype: DType, ...shape: number[]) {
  const values = Array.from({ length: sizeOf(shape) }, () =>
    dtype === "bool" ? random.below(2) : random.below(7) - 3,
  );
  return { node: storedAs(dtype, ...shape), values, shape };
}

type Filled = ReturnType<typeof filled>;
const given = (...all: readonly Filled[]) => new Map(all.map(({ node, values }) => [node, values]));

/** Contraction by its definition: a sum over all indices of the axes in pairs. */
function contracted(a: Filled, b: Filled, { contract, batch }: DotAxes): { shape: number[]; values: number[] } {
  const free = ({ shape }: Filled, side: 0 | 1) =>
    shape.map((_, i) => i).filter((i) => !contract[side].includes(i) && !batch[side].includes(i));
  const [freeA, freeB] = [free(a, 0), free(b, 1)];
  const pick = ({ shape }: Filled, axes: readonly number[]) => axes.map((axis) => shape[axis]!);
  const shape = [...pick(a, batch[0]), ...pick(a, freeA), ...pick(b, freeB)];
  const values: number[] = [];
  forEachIndex(shape, (index) => {
    let sum = 0;
    forEachIndex(pick(a, contract[0]), (inner) => {
      const place = (x: Filled, side: 0 | 1, own: readonly number[], from: number) =>
        x.shape.map((_, axis) => {
          const pair = contract[side].indexOf(axis);
          if (pair >= 0) return inner[pair]!;
          const shared = batch[side].indexOf(axis);
          return shared >= 0 ? index[shared]! : index[from + own.indexOf(axis)]!;
        });
      const first = batch[0].length;
      const left = a.values[flatAt(a.shape, place(a, 0, freeA, first))]!;
      const right = b.values[flatAt(b.shape, place(b, 1, freeB, first + freeA.length))]!;
      sum += left * right;
    });
    values.push(sum);
  });
  return { shape, values };
}

test("any pairs of axes are summed over, any others kept in pairs, in the order that was asked for", () => {
  const cases: readonly (readonly [number[], number[], DotAxes])[] = [
    [[2, 3], [3, 4], { contract: [[1], [0]], batch: [[], []] }],
    [[3, 2], [4, 3], { contract: [[0], [1]], batch: [[], []] }],
    [[2, 3, 4], [4, 5, 2], { contract: [[2], [0]], batch: [[0], [2]] }],
    [
      [2, 3, 4],
      [3, 4, 2],
      {
        contract: [
          [2, 1],
          [1, 0],
        ],
        batch: [[0], [2]],
      },
    ],
    [
      [2, 3],
      [3, 2],
      {
        contract: [
          [0, 1],
          [1, 0],
        ],
        batch: [[], []],
      },
    ],
    [[2, 3], [4], { contract: [[], []], batch: [[], []] }],
    [
      [5, 2],
      [2, 5],
      {
        contract: [[], []],
        batch: [
          [0, 1],
          [1, 0],
        ],
      },
    ],
    [[2, 0], [0, 3], { contract: [[1], [0]], batch: [[], []] }],
  ];
  for (const [shapeA, shapeB, axes] of cases) {
    const [a, b] = [filled("f32", ...shapeA), filled("f32", ...shapeB)];
    const node = contractNodes(a.node, b.node, axes);
    const want = contracted(a, b, axes);
    assert.deepEqual(node.shape, want.shape, JSON.stringify(axes));
    assert.deepEqual(plainValues([node], given(a, b))[0], want.values, JSON.stringify(axes));
  }
});

test("a product of matrices is the one primitive, and keeps the dtype of its operands", () => {
  for (const dtype of ["f16", "f32", "i32", "bool"] as const) {
    const node = dotNode(storedAs(dtype, 2, 3, 4), storedAs(dtype, 2, 4, 5));
    assert.deepEqual([node.primitive, node.shape, node.dtype], [dot, [2, 3, 5], dtype]);
  }
});

test("a sum by the rules of contractions keeps the dtype: halves are added in f32, of bools one true is enough", () => {
  const half = filled("f16", 3, 4);
  const sums = sumNode(half.node, [0]);
  assert.equal(sums.dtype, "f16");
  assert.equal(sums.inputs[0]!.dtype, "f32", "the sum itself is of f32");
  assert.deepEqual(
    plainValues([sums], given(half))[0],
    [0, 1, 2, 3].map((j) => [0, 1, 2].reduce((sum, i) => sum + half.values[4 * i + j]!, 0)),
  );
  const truth = filled("bool", 2, 3);
  const any = sumNode(truth.node, [1]);
  assert.equal(any.dtype, "bool");
  assert.deepEqual(
    plainValues([any], given(truth))[0],
    [0, 1].map((i) => Math.max(...truth.values.slice(3 * i, 3 * i + 3))),
  );
  assert.equal(sumNode(half.node, []), half.node);
});

test("a diagonal takes the elements with one index along two axes, and has it last", () => {
  const x = filled("i32", 3, 2, 3);
  for (const [first, second] of [
    [0, 2],
    [2, 0],
  ] as const) {
    const node = diagonalNode(x.node, first, second);
    assert.deepEqual(node.shape, [2, 3]);
    const want = [0, 1].flatMap((j) => [0, 1, 2].map((i) => x.values[flatAt(x.shape, [i, j, i])]!));
    assert.deepEqual(plainValues([node], given(x))[0], want);
  }
});
