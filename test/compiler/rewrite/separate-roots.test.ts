/** Memory of its own for every root. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { separateRoots } from "../../../src/compiler/rewrite/separate-roots.js";
import { stored as copied } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored } from "../../support/nodes.js";

test("leaves, and one root under two names, are copied; others are as they were", () => {
  const x = stored(4);
  const [y, z] = [g.exp(x), g.neg(x)];
  const roots = separateRoots([x, y, z, y]);
  assert.equal(new Set(roots).size, 4);
  assert.deepEqual(roots.slice(1, 3), [y, z]);
  assert.deepEqual(
    [roots[0]!, roots[3]!].map(({ primitive, inputs }) => [primitive, inputs[0]]),
    [
      [copied, x],
      [copied, y],
    ],
  );
});
