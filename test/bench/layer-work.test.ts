/** Layers cost nothing: a training step of `pumice/nn` compiles to the kernels of the same step written by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cnnOfLayers, digitsByLayers, mlpOfLayers, transformerByLayers } from "../../bench/layer-work.js";
import { cnnWork, mlpWork } from "../../bench/networks.js";
import { startTransformer, type TransformerShape } from "../../bench/sequence-work.js";
import { startTraining } from "../../bench/training-work.js";
import { describeOnTensorDevices } from "../support/tensors.js";

/** The kernels of a program, by what they compute: without the loss, whose formula is another one, and signs. */
const productsIn = (kernels: string): string[] =>
  kernels.split("\n").filter((line) => /^\d+\. /.test(line) && / in \d+×\d+/.test(line)).map((line) => line.replace(/^\d+\. /, "")); // biome-ignore format: a row
const countIn = (kernels: string): number => kernels.split("\n").filter((line) => /^\d+\. /.test(line)).length;

const SHAPE: TransformerShape = { blocks: 2, width: 96, heads: 3, tokens: 64, batch: 4 };

describeOnTensorDevices("layers", (device) => {
  for (const [name, work, model] of [
    ["a dense network", mlpWork, mlpOfLayers],
    ["a convolutional network", cnnWork, cnnOfLayers],
  ] as const) {
    test(`${name} has no kernel more than by hand, and the same products`, () => {
      const [layered, byHand] = [digitsByLayers(device, model(), work.shapes, 64), startTraining(device, work, 64)];
      const [ours, plain] = [layered.lower().kernels, byHand.lower().kernels];
      assert.ok(countIn(ours) <= countIn(plain), `${countIn(ours)} kernels, by hand ${countIn(plain)}`);
      assert.deepEqual(productsIn(ours), productsIn(plain));
      layered.free();
      byHand.free();
    });
  }

  // The step is counted on the device: vectors that are updated join in another order, and one of them may be left alone.
  test("transformer blocks have one short kernel more than by hand at most, and train alike", async () => {
    const [layered, byHand] = [transformerByLayers(device, SHAPE, "bf16"), startTransformer(device, SHAPE, "bf16")];
    const [ours, plain] = [countIn(layered.lower().kernels), countIn(byHand.lower().kernels)];
    assert.ok(ours <= plain + 1, `${ours} kernels, by hand ${plain}`);
    for (let i = 0; i < 3; i++) {
      const [seen, right] = [Number(await layered.step().item()), Number(await byHand.step().item())];
      assert.ok(Math.abs(seen - right) < 1e-2 * right, `${seen}, by hand ${right}`);
    }
    layered.free();
    byHand.free();
  });
});
