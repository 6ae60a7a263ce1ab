/** The marks of values that are computed again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dropRecomputeMarks } from "../../../src/compiler/rewrite/recompute.js";
import { inputsFirst } from "../../../src/graph/node.js";
import { recompute } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, stored } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

test("they are gone, with all else as it was, and it is known what became of each node", () => {
  const x = stored(2);
  const marked = make(recompute, [x]);
  const powers = g.exp(marked);
  const { roots, copies } = dropRecomputeMarks([g.add(g.neg(x), powers)]);
  const behind = inputsFirst(roots, ({ inputs }) => inputs);
  assert.ok(behind.every(({ primitive }) => primitive !== recompute));
  assert.equal(copies.get(marked), x);
  assert.equal(copies.get(powers)!.inputs[0], x);
  assert.deepEqual(plainValues(roots, new Map([[x, [0, 0]]])), [[1, 1]]);
});
