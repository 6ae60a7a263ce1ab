/** Derivatives of graphs, forwards and backwards: against differences of values, and against one another. No device computes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pullBack, pushForward } from "../../src/graph/differentiate.js";
import type { Node } from "../../src/graph/node.js";
import { floor, quotient } from "../../src/graph/primitives/elementwise.js";
import { argsort } from "../../src/graph/primitives/order.js";
import { max, product } from "../../src/graph/primitives/reduce.js";
import { g } from "../../src/graph/vocabulary.js";
import { make, storedAs } from "../support/nodes.js";
import { plainValues } from "../support/plain-graph.js";
import { sizeOf } from "../support/plain-views.js";
import { randomFrom } from "../support/random.js";

const random = randomFrom(21);
const numbers = (size: number) => Array.from({ length: size }, () => (random.below(2000) + 1) / 1000 - 1.1);

/** Functions of x [3, 4] and y [4], of every kind of primitive. */
const functions: Readonly<Record<string, (x: Node, y: Node) => Node>> = {
  "elementwise, used twice": (x, y) => g.mul(g.mul(x, x), g.broadcast(g.exp(y), x.shape)),
  "a quotient": (x, y) => g.div(x, g.add(g.broadcast(g.square(y), x.shape), 1)),
  "a choice by what is compared": (x, y) => g.where(g.greater(x, 0), g.mul(x, 3), g.broadcast(y, x.shape)),
  movement: (x, y) => {
    const moved = g.pad(g.slice(g.permute(x, [1, 0]), [1, 0], [3, 2]), [0, 1], [0, 0]);
    return g.mul(moved, g.broadcast(g.reshape(g.slice(y, [0], [3]), [3, 1]), [3, 3]));
  },
  "parts put together": (x, y) => g.concat([x, g.reshape(y, [1, 4]), g.flip(x, [1])], 0),
  "sums and means": (x, y) => g.mul(g.sum(x, [0]), y),
  "the largest": (x, y) => g.mul(make(max, [x], { axes: [0] }), y),
  "a product": (x, y) => g.mul(make(product, [x], { axes: [0] }), y),
  "a product of matrices": (x, y) =>
    g.dot(g.reshape(x, [1, 3, 4]), g.reshape(g.concat([y, g.mul(y, y)], 0), [1, 4, 2])),
  "running sums": (x, y) => g.mul(g.cumulate(x, { axis: 1, op: "sum", isReverse: true }), g.broadcast(y, x.shape)),
};

const X = [3, 4];
const Y = [4];

function builtOf(f: (x: Node, y: Node) => Node) {
  const [x, y] = [storedAs("f64", ...X), storedAs("f64", ...Y)];
  return { x, y, result: f(x, y) };
}

const at = (node: Node, given: ReadonlyMap<Node, readonly number[]>) => plainValues([node], given)[0] as number[];

/** A node of zeros, where a derivative is none. */
const valuesOf = (node: Node | null, size: number, given: ReadonlyMap<Node, readonly number[]>): number[] =>
  node ? at(node, given) : new Array(size).fill(0);

for (const [title, f] of Object.entries(functions)) {
  test(`${title}: the way forwards is the slope of the values`, () => {
    const { x, y, result } = builtOf(f);
    const [xs, ys, tx, ty] = [numbers(12), numbers(4), numbers(12), numbers(4)];
    const [u, v] = [storedAs("f64", ...X), storedAs("f64", ...Y)];
    const [tangent] = pushForward(g, [result], [x, y], [u, v]);
    const given = new Map([
      [x, xs],
      [y, ys],
      [u, tx],
      [v, ty],
    ]);
    const moved = (by: number) =>
      at(
        result,
        new Map([
          [x, xs.map((value, i) => value + by * tx[i]!)],
          [y, ys.map((value, i) => value + by * ty[i]!)],
        ]),
      );
    const h = 1e-5;
    const [ahead, behind] = [moved(h), moved(-h)];
    valuesOf(tangent!, sizeOf(result.shape), given).forEach((slope, i) => {
      const difference = (ahead[i]! - behind[i]!) / (2 * h);
      assert.ok(
        Math.abs(slope - difference) <= 1e-6 * Math.max(1, Math.abs(difference)),
        `${i}: ${slope}, not ${difference}`,
      );
    });
  });

  test(`${title}: the way backwards is its transpose`, () => {
    const { x, y, result } = builtOf(f);
    const [u, v, w] = [storedAs("f64", ...X), storedAs("f64", ...Y), storedAs("f64", ...result.shape)];
    const given = new Map([
      [x, numbers(12)],
      [y, numbers(4)],
      [u, numbers(12)],
      [v, numbers(4)],
      [w, numbers(sizeOf(result.shape))],
    ]);
    const [tangent] = pushForward(g, [result], [x, y], [u, v]);
    const [ofX, ofY] = pullBack(g, [result], [w], [x, y]);
    const times = (a: readonly number[], b: readonly number[]) => a.reduce((sum, each, i) => sum + each * b[i]!, 0);
    const forwards = times(valuesOf(tangent!, sizeOf(result.shape), given), given.get(w)!);
    const backwards = times(valuesOf(ofX!, 12, given), given.get(u)!) + times(valuesOf(ofY!, 4, given), given.get(v)!);
    assert.ok(
      Math.abs(forwards - backwards) <= 1e-12 * Math.max(1, Math.abs(forwards)),
      `${forwards} and ${backwards}`,
    );
    if (ofX) assert.deepEqual(ofX.shape, x.shape);
    if (ofY) assert.deepEqual(ofY.shape, y.shape);
  });
}

test("what an output does not depend on has no derivative, and neither have integers on the way", () => {
  const [x, y, n] = [storedAs("f64", 3), storedAs("f64", 3), storedAs("i32", 3)];
  const w = storedAs("f64", 3);
  assert.deepEqual(pullBack(g, [g.neg(x)], [w], [y]), [null]);
  assert.deepEqual(pushForward(g, [g.neg(x)], [y], [w]), [null]);
  const counted = g.cast(g.mul(n, 2), "f64");
  assert.deepEqual(pullBack(g, [counted], [w], [n]), [null]);
  assert.deepEqual(pushForward(g, [make(floor, [x])], [x], [w]), [null], "a step is flat");
});

test("an output that is a variable gives its cotangent through, and several outputs add up", () => {
  const [x, w, v] = [storedAs("f64", 3), storedAs("f64", 3), storedAs("f64", 3)];
  assert.deepEqual(pullBack(g, [x], [w], [x]), [w]);
  assert.deepEqual(pushForward(g, [x], [x], [w]), [w]);
  const [both] = pullBack(g, [x, g.mul(x, 2)], [w, v], [x]);
  const given = new Map([
    [w, [1, 2, 3]],
    [v, [10, 20, 30]],
    [x, [0, 0, 0]],
  ]);
  assert.deepEqual(at(both!, given), [21, 42, 63]);
});

test("a cotangent of zero is not followed", () => {
  const x = storedAs("f64", 3);
  assert.deepEqual(pullBack(g, [g.neg(x)], [null], [x]), [null]);
});

test("the rule of a node that is used by many is asked once", () => {
  const x = storedAs("f64", 3);
  let asked = 0;
  const square = g.mul(x, x);
  const spied = {
    ...square.primitive,
    vjp: () => {
      asked++;
      return [null, null];
    },
  };
  const inner = make(spied, [x, x]);
  const outer = g.add(g.add(inner, inner), g.mul(inner, inner));
  pullBack(g, [outer], [storedAs("f64", 3)], [x]);
  assert.equal(asked, 1);
});

test("where there is no rule, the error says the operation and the remedy", () => {
  const x = storedAs("f64", 4);
  const order = make(argsort, [g.cast(x, "u32")]);
  const by = g.mul(x, g.cast(order, "f64"));
  assert.ok(pullBack(g, [by], [storedAs("f64", 4)], [x])[0], "positions are integers and stop the way");
  const withoutRule = make({ ...quotient, name: "mystery", infer: ([a]) => ({ shape: a!.shape, dtype: "f64" }) }, [
    x,
    x,
  ]);
  assert.throws(() => pullBack(g, [withoutRule], [storedAs("f64", 4)], [x]), /mystery has no derivative.*stopGradient/);
  assert.throws(() => pushForward(g, [withoutRule], [x], [storedAs("f64", 4)]), /mystery has no derivative/);
});
