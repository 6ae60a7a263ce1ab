/** Markers: the elements stay, and derivatives pass or stop. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as M from "../../../../src/graph/primitives/movement/markers.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { given, input, numbers } from "../../../support/node-rules.js";
import { testCases } from "./movement-rules.js";

const x23 = input([2, 3]);

testCases({
  stored: { primitive: M.stored, params: {}, inputs: [x23], shape: [2, 3], at: ([i, j], x) => x(i!, j!) },
  variable: { primitive: M.variable, params: {}, inputs: [x23], shape: [2, 3], at: ([i, j], x) => x(i!, j!) },
  recompute: { primitive: M.recompute, params: {}, inputs: [x23], shape: [2, 3], at: ([i, j], x) => x(i!, j!) },
});

test("a stopped tensor has its value and no derivative", () => {
  const x = given(x23);
  const y = g.move(M.stopped, [x], {});
  assert.deepEqual(numbers(y), x23.values);
  const both = g.add(y, x);
  const [t] = g.pushForward([y], [x], [given(input([2, 3], new Array(6).fill(1)))]);
  assert.equal(t, null);
  const [ct] = g.pullBack([both], [given(input([2, 3], new Array(6).fill(1)))], [x]);
  assert.deepEqual(numbers(ct!), new Array(6).fill(1));
});
