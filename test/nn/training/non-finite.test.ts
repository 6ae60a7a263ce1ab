/** A loss that is NaN or infinite stops the training, and the error names what was not finite first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import {
  activations,
  block,
  dense,
  layer,
  NonFiniteLossError,
  optimizers,
  sequential,
  train,
} from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

describeOnTensorDevices("a loss that is not finite", (device) => {
  const [x, y] = [
    random.normal(random.key(1, { device }), [12, 3]).realize(),
    random.normal(random.key(2, { device }), [12, 1]).realize(),
  ];
  const options = { batchSize: 4, loss: "meanSquaredError", optimizer: optimizers.sgd(0.01), epochs: 40 } as const;
  const expectError = (run: PromiseLike<unknown>, expected: RegExp, step?: number) =>
    assert.rejects(
      async () => void (await run),
      (error: Error) => {
        assert.ok(error instanceof NonFiniteLossError, String(error));
        assert.match(error.message, expected);
        assert.match(error.message, /Try a smaller rate, clip gradients/);
        if (step !== undefined) assert.equal(error.step, step);
        return true;
      },
    );

  test("comes from a layer, which is named by its path", async () => {
    // The logarithm of a negative number, at the step where the weight has fallen below zero.
    const falling = layer("falling", {}, (scope, z: Tensor) => {
      const at = scope.parameter("at", [], (_, shape, { dtype }) => tensor(1, { dtype, device }).reshape([...shape]));
      return z.add(at.log());
    });
    const model = sequential({ body: sequential(dense(4), activations.relu), odd: falling, head: dense(1) });
    const sinking = {
      init: () => ({}),
      update: (g: never, s: never) => [mapped(g), s],
    } as never as optimizers.Optimizer;
    const run = train(model, { ...options, data: { x, y }, optimizer: sinking });
    await expectError(
      run,
      /the loss of step 6 \(epoch 2\) is not finite: first, the output of falling "odd" has 16 NaN among 16/,
      6,
    );
  });

  test("comes from the data", async () => {
    const bad = x
      .mul(tensor([[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [Infinity], [1]], { device }))
      .realize();
    const run = train(sequential(dense(1)), { ...options, data: { x: bad, y }, epochs: 1 });
    await expectError(run, /first, the input x has 3 infinite among 12 numbers/);
  });

  test("comes from a gradient of the step before", async () => {
    // The root of zero has an infinite slope, and no infinity itself.
    const model = sequential({ first: dense(2), second: dense(1, { useBias: false }) });
    const root = (p: Tensor, t: Tensor) => p.sub(p).abs().sqrt().mean().add(t.mean().mul(0)) as Tensor;
    const run = train(model, { ...options, data: { x, y }, loss: root });
    await expectError(
      run,
      /first, the parameter second\.weights .* since a gradient was not finite in the step before/,
      2,
    );
  });

  test("comes from labels that the loss refuses where it sees them", async () => {
    const labels = tensor([[1], [2], [1], [2], [1], [0], [1], [2], [1], [2], [1], [2]], { dtype: "i32", device });
    const wide = random.normal(random.key(3, { device }), [12, 5, 3]).realize();
    const loss = "connectionistTemporalClassification";
    const run = train(sequential(dense(3)), {
      ...options,
      data: { x: wide, y: labels },
      batchSize: 12,
      loss,
      epochs: 1,
    });
    await expectError(run, /first, the loss refuses the batch \(.*: example \d+ has the label 0, which is the blank/);
  });

  test("is not that of an output in which nothing counts", async () => {
    const heads = block({ a: dense(3), b: dense(1) }, ({ a, b }, input: Tensor) => ({ a: a(input), b: b(input) }));
    const ignored = tensor(new Int32Array(12).fill(9), { device });
    const infinite = (p: Tensor) => p.mul(0).add(1).sum().div(0);
    const run = train(heads, {
      ...options,
      data: { x, y: { a: ignored, b: y } },
      loss: { a: ["categoricalCrossEntropy", { fromLogits: true, ignoreIndex: 9 }], b: infinite },
      epochs: 1,
    });
    await expectError(run, /first, loss\.b is infinite\./);
  });

  test("goes on where that was asked for", async () => {
    const bad = x.mul(Number.NaN).realize();
    const { metrics, step } = await train(sequential(dense(1)), {
      ...options,
      data: { x: bad, y },
      epochs: 1,
      stopOnNonFinite: false,
    });
    assert.equal(step, 3);
    assert.ok(Number.isNaN(metrics.loss));
  });
});

/** Updates of -0.3 for the parameter "at", and of zero for the others. */
function mapped(tree: unknown, isAt = false): unknown {
  if (typeof tree === "object" && tree !== null && !("dtype" in tree)) {
    return Object.fromEntries(Object.entries(tree).map(([name, each]) => [name, mapped(each, name === "at")]));
  }
  return (tree as Tensor).mul(0).sub(isAt ? 0.201 : 0);
}
