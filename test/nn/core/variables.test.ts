/** Trees of variables: one of several. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { mergeTrees, type VariableTree } from "../../../src/nn/index.js";

const x = (value: number) => tensor([value], { device: "cpu" });

test("mergeTrees joins trees at every depth, the later tensor counts, and no tree is changed", () => {
  const [a, b, c] = [x(1), x(2), x(3)];
  const first: VariableTree = { body: { dense0: { weights: a } }, head: { weights: a } };
  const second: VariableTree = {
    body: { dense0: { biases: b }, cache: { length: c } },
    head: { weights: c },
    ["__proto__"]: { w: b },
  };
  const merged = mergeTrees(first, second);
  assert.deepEqual(Object.keys(merged), ["body", "head", "__proto__"]);
  assert.equal((merged.body as { dense0: VariableTree }).dense0.weights, a);
  assert.equal((merged.body as { dense0: VariableTree }).dense0.biases, b);
  assert.equal((merged.head as VariableTree).weights, c);
  assert.equal((first.head as VariableTree).weights, a);
  assert.deepEqual(Object.keys(first.body as VariableTree), ["dense0"]);
  assert.deepEqual(mergeTrees(), {});
  assert.equal(mergeTrees({ a: { w: a } }, { a: b }).a, b);
  assert.throws(() => mergeTrees(a as never), /mergeTrees: takes trees of tensors/);
});
