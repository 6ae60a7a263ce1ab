/** Elements selected by positions: which they are, also outside an axis, and shapes that do not fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ShapeError } from "../../../../src/core/errors.js";
import type { Node } from "../../../../src/graph/node.js";
import type { MovementPrimitive, Params } from "../../../../src/graph/primitive.js";
import * as M from "../../../../src/graph/primitives/movement/selection.js";
import { fixed, input } from "../../../support/node-rules.js";
import { make, stored } from "../../../support/nodes.js";
import { clamp, testCases } from "./movement-rules.js";

const x45 = input([4, 5]);

testCases({
  take: {
    primitive: M.take,
    params: { axis: 1 },
    inputs: [x45, fixed([2, 2], [4, 0, -3, 9])],
    shape: [4, 2, 2],
    at: ([i, j, k], x, p) => x(i!, clamp(p(j!, k!), 5)),
  },
  takeAlongAxis: {
    primitive: M.takeAlongAxis,
    params: { axis: 0 },
    inputs: [x45, fixed([2, 5], [0, 1, 2, 3, 3, 9, -2, 1, 1, 0])],
    shape: [2, 5],
    at: ([i, j], x, p) => x(clamp(p(i!, j!), 4), j!),
  },
  gather: {
    primitive: M.gather,
    params: { axes: [0, 2], at: 1 },
    inputs: [input([3, 2, 4]), fixed([3], [2, 0, 7]), fixed([3], [1, -1, 3])],
    shape: [2, 3],
    at: ([i, j], x) => x([2, 0, 2][j!]!, i!, [1, 0, 3][j!]!),
  },
});

test("shapes that do not fit are refused, and say by how much", () => {
  const x = stored(4, 5);
  const refused: readonly [MovementPrimitive, readonly Node[], Params, RegExp][] = [
    [M.take, [stored(0, 5), x], { axis: 0 }, /no elements to take/],
    [M.takeAlongAxis, [x, stored(4, 4)], { axis: 0 }, /positions of \[4,4\]/],
    [M.gather, [stored(0, 5), stored(2)], { axes: [0], at: 0 }, /no elements along axes \[0\]/],
  ];
  for (const [primitive, inputs, params, message] of refused) {
    assert.throws(
      () => make(primitive, inputs, params),
      (error: Error) => error instanceof ShapeError && message.test(error.message),
      primitive.name,
    );
  }
});
