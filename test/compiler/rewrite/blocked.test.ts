/** Factorisations and triangular equations in blocks: equal to those of one kernel, and no kernel gets more than a block. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inBlocks, isBlocked } from "../../../src/compiler/rewrite/blocked.js";
import { kindOf } from "../../../src/compiler/routines/linalg/field.js";
import { choleskyOrder, luColumns, solveOrder } from "../../../src/compiler/routines/linalg/plan.js";
import type { TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { lu, luNodes } from "../../../src/graph/primitives/linalg/lu.js";
import { cholesky, solveLower } from "../../../src/graph/primitives/linalg/triangular.js";
import { g } from "../../../src/graph/vocabulary.js";
import { given, input, numbers } from "../../support/node-rules.js";
import { make, storedAs } from "../../support/nodes.js";

/** So little memory that a block has eight rows. */
const tiles: TileProfile = { kind: "registers", sharedBytes: 64, maxLanes: 64, units: 4 };
const BLOCK = 8;
const N = 21;

/** x xᵀ + 1, so that it has a factor, in a batch of two. */
function definite(): Node {
  const x = given(input([2, N, N]));
  const shape = x.shape;
  const isOne = g.equal(g.counting(shape, 1, x), g.counting(shape, 2, x));
  return given({ shape, values: numbers(g.add(g.matmul(x, g.transposed(x)), g.cast(isOne, "f64"))) });
}

/** The extents of the matrices that a kernel factors or solves with. */
const kernelsIn = (roots: readonly Node[], primitive: Node["primitive"]): (readonly number[])[] =>
  inputsFirst(roots, ({ inputs }) => inputs)
    .filter((node) => node.primitive === primitive)
    .map(({ inputs: [a] }) => a!.shape.slice(-2));

function assertNear(got: Node, want: Node): void {
  assert.deepEqual(got.shape, want.shape);
  const right = numbers(want);
  numbers(got).forEach((x, i) => {
    assert.ok(Math.abs(x - right[i]!) < 1e-9, `element ${i} is ${x}, not ${right[i]}`);
  });
}

test("only nodes larger than a block are cut", () => {
  const kind = kindOf(g.neg(storedAs("f64", 1)));
  assert.deepEqual([choleskyOrder(kind, tiles), solveOrder(kind, tiles)], [BLOCK, BLOCK]);
  assert.equal(isBlocked(make(cholesky, [storedAs("f64", BLOCK, BLOCK)]), tiles), false);
  assert.equal(isBlocked(make(cholesky, [storedAs("f64", BLOCK + 1, BLOCK + 1)]), tiles), true);
  const solution = make(solveLower, [storedAs("f64", 9, 9), storedAs("f64", 9, 1)], { isUnit: false });
  assert.equal(isBlocked(solution, tiles), true);
  assert.equal(isBlocked(g.add(solution, solution), tiles), false);
  // A wide matrix is cut by its columns.
  assert.equal(isBlocked(luNodes(g, storedAs("f64", 3, 9))[0].inputs[0]!, tiles), true);
  assert.equal(isBlocked(luNodes(g, storedAs("f64", 9, 3))[0].inputs[0]!, tiles), false);
});

test("a Cholesky factor", () => {
  const a = definite();
  const node = g.move(cholesky, [a], {});
  const found = inBlocks(node, [a], tiles) as Node;
  const kernels = kernelsIn([found], cholesky);
  assert.equal(kernels.length, Math.ceil(N / BLOCK));
  assert.ok(kernels.every(([n]) => n! <= BLOCK));
  assertNear(found, node);
});

test("solutions, with the diagonal and with ones in its place", () => {
  for (const isUnit of [false, true]) {
    const [l, b] = [
      given({ shape: [2, N, N], values: numbers(g.move(cholesky, [definite()], {})) }),
      given(input([2, N, 3])),
    ];
    // Small elements beside the diagonal, so that a unit triangle is far from singular.
    const small = g.mul(l, 0.05);
    const node = g.solveLower(small, b, isUnit);
    const found = inBlocks(node, [small, b], tiles) as Node;
    assert.ok(kernelsIn([found], solveLower).every(([n]) => n! <= BLOCK));
    const [got, want] = [numbers(found), numbers(node)];
    const size = Math.max(...want.map(Math.abs));
    got.forEach((x, i) => {
      assert.ok(Math.abs(x - want[i]!) < 1e-9 * size);
    });
  }
});

test("LU factors, pivots and orders of square, tall and wide matrices", () => {
  for (const [m, n] of [
    [N, N],
    [N + 4, 10],
    [5, N],
  ] as const) {
    const a = given(input([2, m, n]));
    const [factors, pivots, order] = luNodes(g, a);
    const found = inBlocks(factors.inputs[0]!, [a], tiles) as readonly Node[];
    const kernels = kernelsIn(found, lu);
    // Together they eliminate each column once.
    assert.equal(
      kernels.reduce((sum, [, columns]) => sum + columns!, 0),
      Math.min(m, n),
    );
    for (const [rows, columns] of kernels) assert.ok(columns! <= luColumns(rows!, kindOf(factors.inputs[0]!), tiles));
    [factors, pivots, order].forEach((want, i) => {
      assertNear(found[i]!, want);
    });
  }
});
