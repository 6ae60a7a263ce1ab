/** Graphs copied with other nodes in some places. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rewriteNodes } from "../../../src/compiler/rewrite/rewriter.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { scan, scanNode } from "../../../src/graph/primitives/control/scan.js";
import { exp, neg } from "../../../src/graph/primitives/elementwise.js";
import { g } from "../../../src/graph/vocabulary.js";
import { nowhere, stored } from "../../support/nodes.js";

const asIs = () => null;

test("what is in memory stays; the rest is copied once each, and copies that there are already are taken", () => {
  const [x, y] = [stored(2), stored(2)];
  const shared = g.exp(x);
  const sum = g.add(shared, g.mul(shared, y));
  const copies = new Map<Node, Node>();
  const [root] = rewriteNodes([sum], copies, asIs);
  assert.notEqual(root, sum);
  assert.equal(root!.inputs[0], root!.inputs[1]!.inputs[0]);
  assert.equal(copies.get(shared), root!.inputs[0]);
  assert.equal(root!.inputs[0]!.inputs[0], x);
  const other = stored(2);
  assert.equal(rewriteNodes([g.neg(shared)], new Map([[shared, other]]), asIs)[0]!.inputs[0], other);
});

test("a replacement gets the inputs as they have become, and stands for the node everywhere", () => {
  const x = stored(2);
  const powers = g.exp(g.neg(x));
  const [root] = rewriteNodes([g.add(powers, powers)], new Map(), ({ primitive }, [input]) => {
    if (primitive === neg) return g.square(input!);
    return primitive === exp ? input! : null;
  });
  assert.equal(root!.inputs[0], root!.inputs[1]);
  assert.equal(root!.inputs[0]!.primitive.name, "square");
});

test("the parts of an operation with several results are those of its replacement", () => {
  const [c, x] = [0, 1].map(() => makePlaceholder({ shape: [], dtype: "f32", device: nowhere })) as [Node, Node];
  const body = new GraphFunction([c, x], [g.add(c, x), c]);
  const params = { body, constants: 0, carries: 1, length: 3, isReverse: false };
  const [last, stacked] = scanNode([stored(), stored(3)], params);
  const results = [stored(), stored(3), stored(3)];
  const roots = rewriteNodes([g.neg(last!), stacked!], new Map(), ({ primitive }) =>
    primitive === scan ? results : null,
  );
  assert.equal(roots[0]!.inputs[0], results[0]);
  assert.equal(roots[1], results[1]);
});
