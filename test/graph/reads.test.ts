/**
 * Which elements an element is computed from. What the walk says is compared with graphs of counted elements: the
 * interpreter moves the positions themselves.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { constantExpr, evaluate, type IndexExpr, IndexSpace, ravel, type Variable } from "../../src/core/index-expr.js";
import { inputsFirst, type Node } from "../../src/graph/node.js";
import type { MovementPrimitive } from "../../src/graph/primitive.js";
import { gather, pad, take, window } from "../../src/graph/primitives/movement.js";
import { sum } from "../../src/graph/primitives/reduce.js";
import { forEachRead, indexKey, productAt, readingsAt, reductionAt } from "../../src/graph/reads.js";
import { g } from "../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../support/nodes.js";
import { plainValues } from "../support/plain-graph.js";
import { flatAt, forEachIndex, sizeOf } from "../support/plain-views.js";

interface Read {
  readonly node: Node;
  readonly index: readonly IndexExpr[];
  readonly isBounded: boolean;
}

function readsOf(space: IndexSpace, node: Node, index: readonly IndexExpr[]): Read[] {
  const reads: Read[] = [];
  forEachRead(space, node, index, (input, at, isBounded) => reads.push({ node: input, index: at, isBounded }));
  return reads;
}

const variablesFor = (space: IndexSpace, { shape }: Node): IndexExpr[] =>
  shape.map((extent, axis) => space.variable(`i${axis}`, extent));

/** The value of an expression over the axes of a node, at one of its indices. */
const valueAt = (x: IndexExpr, variables: readonly IndexExpr[], index: readonly number[]): number =>
  evaluate(x, (atom) => {
    const axis = variables.findIndex(({ terms }) => terms[0]?.atom === atom);
    return index[axis] ?? assert.fail(`an atom that is no axis: ${(atom as Variable).name}`);
  });

describe("the walk", () => {
  test("of an elementwise operation is over its inputs at the same index", () => {
    const space = new IndexSpace();
    const [x, y] = [stored(2, 3), stored(2, 3)];
    const index = variablesFor(space, x);
    const reads = readsOf(space, g.add(x, y), index);
    assert.deepEqual(reads, [
      { node: x, index, isBounded: false },
      { node: y, index, isBounded: false },
    ]);
  });

  test("of leaves, reductions, products and routines is over nothing: they read ranges, or are apart", () => {
    const space = new IndexSpace();
    const x = stored(2, 3);
    const index = variablesFor(space, x);
    const nodes = [x, g.sum(x, [0]), g.dot(stored(1, 2, 3), stored(1, 3, 2)), g.cumulate(x, { axis: 0, op: "sum" })];
    for (const node of nodes) assert.deepEqual(readsOf(space, node, index), []);
  });

  test("through movement of one tensor ends at the element that the interpreter moves there", () => {
    const x = stored(4, 6);
    const cases: Readonly<Record<string, Node>> = {
      reshape: g.reshape(x, [3, 8]),
      permute: g.permute(x, [1, 0]),
      expand: g.broadcast(g.slice(x, [1, 0], [1, 6]), [5, 6]),
      slice: g.slice(x, [3, 1], [2, 3], [-2, 2]),
      window: make(window, [x], { axes: [1], size: [2], stride: [3], dilation: [2] }),
      "several of them": g.permute(g.reshape(g.flip(x, [0, 1]), [2, 3, 4]), [2, 0, 1]),
    };
    const places = Array.from({ length: 24 }, (_, i) => i);
    for (const [title, node] of Object.entries(cases)) {
      const space = new IndexSpace();
      const variables = variablesFor(space, node);
      let at: Read = { node, index: variables, isBounded: false };
      while (at.node !== x) [at] = readsOf(space, at.node, at.index) as [Read];
      assert.equal(at.isBounded, false);
      const want = plainValues([node], new Map([[x, places]]))[0]!;
      forEachIndex(node.shape, (index, flat) => {
        assert.equal(valueAt(ravel(at.index, x.shape), variables, index), want[flat], `${title} at ${index}`);
      });
    }
  });

  test("marks what is read only where bounds hold, unless they hold everywhere", () => {
    const x = stored(4);
    const space = new IndexSpace();
    const padded = make(pad, [x], { low: [1], high: [2], interior: [0], value: 9 });
    const [read] = readsOf(space, padded, variablesFor(space, padded));
    assert.equal(read!.isBounded, true);
    const [inside] = readsOf(space, padded, [constantExpr(2)]);
    assert.deepEqual(inside, { node: x, index: [constantExpr(1)], isBounded: false });
    const joined = g.concat([x, stored(3)], 0);
    assert.deepEqual(
      readsOf(space, joined, variablesFor(space, joined)).map(({ isBounded }) => isBounded),
      [true, true],
    );
  });

  test("meets elements that are indices first, as they are, and what they index at some place inside the axis", () => {
    const [x, positions] = [stored(5, 7), storedAs("i32", 3)];
    const space = new IndexSpace();
    const node = make(take, [x, positions], { axis: 1 });
    const variables = variablesFor(space, node);
    const [element, indexed, ...others] = readsOf(space, node, variables);
    assert.equal(others.length, 0);
    assert.deepEqual(element, { node: positions, index: [variables[1]], isBounded: false });
    assert.equal(indexed!.node, x);
    assert.equal(indexKey([indexed!.index[0]!]), indexKey([variables[0]!]));
    assert.deepEqual([indexed!.index[1]!.min, indexed!.index[1]!.max], [0, 6]);
    const several = make(gather, [x, positions, storedAs("i32", 3)], { axes: [0, 1], at: 0 });
    const reads = readsOf(space, several, variablesFor(space, several));
    assert.deepEqual(
      reads.map((each) => several.inputs.indexOf(each.node)),
      [1, 2, 0],
    );
  });
});

describe("readings", () => {
  const readingsOf = (node: Node, index: readonly IndexExpr[], space = new IndexSpace()) =>
    readingsAt(space, node, node.primitive as MovementPrimitive, index);

  test("keep the bounds that are open, and know those that never hold", () => {
    const [x, y] = [stored(4), stored(3)];
    const joined = g.concat([x, y], 0);
    const space = new IndexSpace();
    const [variable] = variablesFor(space, joined);
    const open = readingsOf(joined, [variable!], space);
    assert.deepEqual(
      open.map(({ source }) => source),
      [x, y],
    );
    assert.deepEqual(
      open.map(({ tests, isNever }) => [tests.length > 0, isNever]),
      [
        [true, false],
        [true, false],
      ],
    );
    const [first, second] = readingsOf(joined, [constantExpr(2)]);
    assert.deepEqual([first!.tests.length, first!.isNever], [0, false]);
    const [, last] = readingsOf(joined, [constantExpr(5)]);
    assert.equal(readingsOf(joined, [constantExpr(5)])[0]!.isNever, true);
    assert.deepEqual([last!.tests.length, last!.isNever], [0, false]);
    assert.deepEqual(
      last!.index(() => assert.fail("no element is an index")),
      [constantExpr(1)],
    );
    assert.equal(second!.source, y);
  });

  test("ask where an axis is read that an element says", () => {
    const [x, positions] = [stored(5, 7), storedAs("i32", 3)];
    const node = make(take, [x, positions], { axis: 0 });
    const asked: unknown[] = [];
    const [reading] = readingsOf(node, [constantExpr(2), constantExpr(4)]);
    const index = reading!.index((element, at, extent) => {
      asked.push([element, at, extent]);
      return constantExpr(3);
    });
    assert.deepEqual(asked, [[positions, [constantExpr(2)], 5]]);
    assert.deepEqual(index, [constantExpr(3), constantExpr(4)]);
  });
});

describe("ranges", () => {
  test("a reduction goes over each element of its axes once, in row-major order", () => {
    const x = stored(2, 3, 4, 5);
    for (const axes of [[1], [0, 2], [3, 1], [0, 1, 2, 3]]) {
      const node = make(sum, [x], { axes });
      const space = new IndexSpace();
      const kept = [0, 1, 2, 3].filter((axis) => !axes.includes(axis));
      forEachIndex(node.shape, (index) => {
        const reduction = reductionAt(space, node, "sum", index.map(constantExpr));
        assert.deepEqual(
          [reduction.extents, reduction.extent],
          [axes.map((axis) => x.shape[axis]), sizeOf(reduction.extents)],
        );
        const seen = new Set<number>();
        for (let position = 0; position < reduction.extent; position++) {
          const at = reduction.at(constantExpr(position)).map(({ constant }) => constant);
          assert.deepEqual(
            kept.map((axis) => at[axis]),
            index,
          );
          seen.add(flatAt(x.shape, at));
          assert.equal(
            flatAt(
              reduction.extents,
              axes.map((axis) => at[axis]!),
            ),
            position,
          );
        }
        assert.equal(seen.size, reduction.extent);
      });
    }
  });

  test("positions along each axis name the same elements", () => {
    const x = stored(2, 3, 4);
    const node = make(sum, [x], { axes: [0, 2] });
    const { atEach } = reductionAt(new IndexSpace(), node, "sum", [constantExpr(1)]);
    assert.deepEqual(atEach([constantExpr(0), constantExpr(3)]), [0, 1, 3].map(constantExpr));
  });

  test("a product of matrices multiplies the row of one with the column of the other", () => {
    const [a, b] = [stored(2, 3, 4), stored(2, 4, 5)];
    const node = g.dot(a, b);
    assert.equal(inputsFirst([node], ({ inputs }) => inputs).length, 3);
    const reads = productAt(node, [1, 2, 3].map(constantExpr), constantExpr(0));
    assert.deepEqual(reads, [
      { node: a, index: [1, 2, 0].map(constantExpr) },
      { node: b, index: [1, 0, 3].map(constantExpr) },
    ]);
  });

  test("indices have one key where they are equal, and only there", () => {
    const space = new IndexSpace();
    const [i, j] = [space.variable("i", 4), space.variable("j", 5)];
    assert.equal(indexKey([i, j]), indexKey([i, j]));
    assert.equal(
      new Set([[i, j], [j, i], [i], [i, i], [], [constantExpr(1), j], [i, constantExpr(1)]].map(indexKey)).size,
      7,
    );
  });
});
