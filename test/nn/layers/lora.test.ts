/** LoRA: begins as the dense layer, trains two matrices, and merges into the weights. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, random, type Tensor } from "../../../src/index.js";
import { conv, dense, lora, mergeLora, sequential, summary, type VariableTree } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeOnTensorDevices("lora", (device) => {
  const key = random.key(5, { device });
  const x = random.normal(key, [6, 4]);

  test("begins as its dense layer, whose own parameters stay", () => {
    const model = lora(dense(3), { rank: 2, alpha: 8 });
    const { params } = model.init(key, x);
    assert.deepEqual(Object.keys(params), ["base", "down", "up"]);
    assert.deepEqual(numbersOf(model.apply(params, x)), numbersOf(dense(3).apply(params.base as VariableTree, x)));
    const slopes = grad((p: typeof params) => model.apply(p, x).square().sum())(params);
    const base = slopes.base as VariableTree;
    for (const each of [base.weights, base.biases]) assert.ok(numbersOf(each as Tensor).every((value) => value === 0));
    assert.ok(numbersOf(slopes.up as Tensor).some((value) => value !== 0));
  });

  test("merges into the dense layers of a model, at any depth", () => {
    const tanh = (h: Tensor) => h.tanh() as Tensor;
    const plain = sequential({ body: sequential(dense(5), tanh), head: dense(3, { useBias: false }) });
    const model = plain
      .replace("body.dense0", (layer) => lora(layer, { rank: 1 }))
      .replace("head", (layer) => lora(layer, { rank: 2, alpha: 3 }));
    const { params } = model.init(key, x);
    const body = (params.body as VariableTree).dense0 as VariableTree;
    const up = (of: VariableTree, seed: number) => ({
      ...of,
      up: random.normal(random.key(seed, { device }), (of.up as Tensor).shape),
    });
    const trained = { body: { dense0: up(body, 1) }, head: up(params.head as VariableTree, 2) };
    const merged = mergeLora(model, trained);
    assert.equal(merged.model.at("body.dense0").kind, "dense");
    assert.deepEqual(Object.keys(merged.params.head!), ["weights"]);
    const [wanted, found] = [numbersOf(model.apply(trained, x)), numbersOf(plain.apply(merged.params, x))];
    found.forEach((value, i) => {
      assert.ok(Math.abs(value - wanted[i]!) < 2e-5, `${value} for ${wanted[i]}`);
    });
    assert.deepEqual(numbersOf(merged.model.apply(merged.params, x)), found);
    assert.ok(Math.abs(found[0]! - numbersOf(model.apply(params, x))[0]!) > 1e-3, "the change counts");
  });
});

test("wrong arguments are refused by name", () => {
  assert.throws(() => lora(conv(3, 2), { rank: 1 }), { message: /lora: takes a dense layer.*not the layer conv/ });
  assert.throws(() => lora(dense(3), { rank: 0 }), { message: /lora: the rank is a whole number from 1 on/ });
  assert.throws(() => lora(dense(3), { rank: 1, beta: 1 } as never), { message: /lora: there is no option "beta"/ });
  assert.throws(() => mergeLora(lora(dense(3), { rank: 1 }), {}), {
    message: /mergeLora: the parameters are not those/,
  });
  assert.equal(summary(lora(dense(3), { rank: 2 }), [5, 4]).multiplyAdds, 5 * 4 * 3 + 5 * 4 * 2 + 5 * 2 * 3);
});
