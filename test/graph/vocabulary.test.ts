/** The vocabulary of rules: functions of nodes, and derivatives and batches of whole graphs, all of one object. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makePlaceholder } from "../../src/graph/function.js";
import * as ops from "../../src/graph/ops.js";
import { g } from "../../src/graph/vocabulary.js";
import { given, input, numbers } from "../support/node-rules.js";

test("it has every function of nodes", () => {
  for (const [name, value] of Object.entries(ops)) assert.equal((g as Record<string, unknown>)[name], value, name);
});

test("derivatives and batches of a graph are graphs again, so that they can be repeated", () => {
  const [x, one] = [given(input([2], [2, 3])), given(input([2], [1, 1]))];
  const cube = g.mul(x, g.square(x));
  const [slope] = g.pullBack([cube], [one], [x]);
  const [second] = g.pushForward([slope!], [x], [one]);
  const own = makePlaceholder(x);
  const batch = given(input([2, 2], [1, 2, 3, 4]));
  const [squares] = g.vectorize([g.square(own)], [own], [{ node: batch, isBatched: true }], 2);
  assert.deepEqual(numbers(second!), [12, 18]);
  assert.deepEqual([numbers(squares!.node), squares!.isBatched], [[1, 4, 9, 16], true]);
});
