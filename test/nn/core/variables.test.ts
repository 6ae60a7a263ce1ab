/** Trees of variables: one of several. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { mergeTrees, parameterAt, type VariableTree } from "../../../src/nn/index.js";

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

test("parameterAt gives the tensor at a path, and says what is there instead", () => {
  const a = x(1);
  const params: VariableTree = { head: { weights: a, ["__proto__"]: a }, scale: a };
  assert.equal(parameterAt(params, "head.weights"), a);
  assert.equal(parameterAt(params, "scale").shape[0], 1);
  const refused: [path: string, message: RegExp][] = [
    ["hed.weights", /no tensor at "hed\.weights": the tree has head, scale\./],
    ["head.bias", /no tensor at "head\.bias": "head" has weights/],
    ["head", /no tensor at "head": "head" has weights/],
    ["scale.x", /no tensor at "scale\.x": "scale" is a tensor/],
    ["constructor", /the tree has head, scale/],
  ];
  for (const [path, message] of refused)
    assert.throws(() => parameterAt(params, path), { name: "ArgumentError", message });
  assert.throws(() => parameterAt(a as never, "w"), /parameterAt: takes a tree and a path/);
});
