/** The text of a graph: the same for the same graph built again, another as soon as anything about it differs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numberAt } from "../../src/compiler/rewrite/given-places.js";
import type { DType } from "../../src/core/dtype.js";
import { makePlaceholder } from "../../src/graph/function.js";
import { Node } from "../../src/graph/node.js";
import type { Params, Primitive } from "../../src/graph/primitive.js";
import * as E from "../../src/graph/primitives/elementwise.js";
import * as L from "../../src/graph/primitives/leaf.js";
import * as M from "../../src/graph/primitives/movement.js";
import { scan, Tensor } from "../../src/index.js";
import { graphText } from "../../src/runtime/graph-text.js";
import { backendFor } from "../../src/tensor/index.js";

const device = backendFor("cpu");
const leaf = (shape: readonly number[] = [2, 3], dtype: DType = "f32"): Node =>
  makePlaceholder({ shape, dtype, device });
function make(primitive: Primitive, inputs: readonly Node[], params: Params = {}): Node {
  const { shape, dtype } = primitive.infer(inputs, params);
  return new Node(primitive, params, inputs, shape, dtype, device);
}
const constant = (value: number | bigint, dtype: DType = "f32"): Node =>
  make(L.constant, [], { value, dtype, shape: [2, 3] });

/** x·c + y and x·c, in the order asked for. */
function textOf(change: { c?: Node; shape?: number[]; dtype?: DType; isTurned?: boolean; isWeak?: boolean } = {}) {
  const [x, y] = [leaf(change.shape, change.dtype), leaf(change.shape, change.dtype)];
  x.isWeak = change.isWeak ?? false;
  const product = make(E.mul, [x, change.c ?? constant(2)]);
  const sum = make(E.add, change.isTurned ? [y, product] : [product, y]);
  return graphText([sum, product], [x, y]);
}

test("the same graph, built again, has the same text", () => {
  assert.equal(textOf(), textOf());
});

test("constants, shapes, dtypes, the order of operands and of results, and what counts as a number tell graphs apart", () => {
  const [x, y] = [leaf(), leaf()];
  const [sum, product] = [make(E.add, [x, y]), make(E.mul, [x, y])];
  const texts = [
    textOf(),
    textOf({ c: constant(0) }),
    textOf({ c: constant(-0) }),
    textOf({ c: constant(Number.NaN) }),
    textOf({ c: constant(2 + 2 ** -50) }),
    textOf({ c: make(L.constant, [], { value: 2, dtype: "f32", shape: [1, 3] }), shape: [1, 3] }),
    textOf({ c: constant(2, "f64"), dtype: "f64" }),
    textOf({ c: constant(2n, "i64"), dtype: "i64" }),
    textOf({ c: constant(2, "i64"), dtype: "i64" }),
    textOf({ isTurned: true }),
    textOf({ isWeak: true }),
    graphText([sum, product], [x, y]),
    graphText([product, sum], [x, y]),
    graphText([sum, product], [y, x]),
    graphText([sum], [x, y]),
    graphText([sum], [x, y, leaf()]),
    graphText([make(M.permute, [sum], { axes: [0, 1] })], [x, y]),
    graphText([make(M.permute, [sum], { axes: [1, 0] })], [x, y]),
  ];
  assert.equal(new Set(texts).size, texts.length);
});

test("what happens inside a loop is part of the text", () => {
  const loop = (factor: number) => {
    const leaves = [[3], [5, 3]].map((shape) => leaf(shape));
    const [last] = scan(
      (c: Tensor, x: Tensor) => [c.mul(factor).add(x), x],
      new Tensor(leaves[0]!),
      new Tensor(leaves[1]!),
    );
    return graphText([last.node], leaves);
  };
  assert.equal(loop(2), loop(2));
  assert.notEqual(loop(2), loop(3));
});

test("a parameter that is a function has no text", () => {
  const x = leaf();
  const odd = new Node(E.exp, { of: (n: number) => n + 1 }, [x], x.shape, x.dtype, device);
  assert.throws(() => graphText([odd], [x]), /never a function/);
});

test("the value of a number that a program is given is not in the text, but that it is given is", () => {
  const given = (value: number, isGiven = true) => {
    const [x, c] = [leaf(), constant(value)];
    return graphText([make(E.mul, [x, c])], isGiven ? [x, c] : [x]);
  };
  const [x, y] = [leaf(), leaf()];
  assert.equal(given(2), given(3));
  assert.notEqual(given(2), given(2, false));
  assert.notEqual(given(2), graphText([make(E.mul, [x, y])], [x, y]));
});

test("where a movement begins is not in the text along an axis where a program is told", () => {
  const x = leaf();
  const text = (start: readonly number[], ...axes: readonly number[]) => {
    const part = make(M.slice, [x], { start, step: [1, 1], shape: [1, 1] });
    return graphText([part], [x, ...axes.map((axis) => numberAt(part, axis, start[axis]!))]);
  };
  assert.equal(text([0, 1], 1), text([0, 0], 1));
  assert.notEqual(text([0, 1], 1), text([1, 1], 1));
  assert.notEqual(text([0, 1], 1), text([0, 1]));
  assert.notEqual(text([0, 0], 0), text([0, 0], 1));
  assert.notEqual(text([0, 0], 0, 1), text([0, 0], 1, 0));
  assert.notEqual(text([0, 1]), text([0, 0]));
});
