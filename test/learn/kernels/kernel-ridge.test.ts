/** Kernel ridge regression against scikit-learn; maps over penalties; kernels of other sorts; misuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor, vmap } from "../../../src/index.js";
import { kernelRidge, kernels } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { kernelsCases } from "./cases.js";

const { ridges } = kernelsCases();

describeOnTensorDevices("kernel ridge", (device) => {
  for (const [place, each] of ridges.entries()) {
    // Each compiles programs of its own: some are enough on Vulkan.
    if (device !== "cpu" && place % 3 !== 1) continue;
    for (const dtype of dtypesOf(device, place === 1)) {
      test(`${each.name}, ${dtype}: scikit-learn's weights and predictions`, async () => {
        const given = each.weights ? { weights: each.weights } : {};
        const model = await kernelRidge(each.options).fit(of(each.x, dtype), of(each.y, dtype), given);
        const within = dtype === "f64" ? 1e-9 : 5e-4;
        await closeTo(model.learned.dualCoefficients, each.dual, within, "weights");
        await closeTo(model.predict(of(each.new, dtype)), each.predicted, within, "predictions");
      });
    }
  }
});

const { x: rows, y: targets } = ridges[0]!;
const [x, y] = [f64(rows), f64(targets as number[])];

test("penalties are mapped over by vmap", async () => {
  const fit = (alpha: Tensor) => kernelRidge({ alpha, kernel: "rbf" }).fitTensors(x, y).learned.dualCoefficients;
  const alone = await kernelRidge({ alpha: 2, kernel: "rbf" }).fit(x, y);
  await closeTo(vmap(fit)(f64([0.5, 2])).at(1) as Tensor, numbersOf(alone.learned.dualCoefficients), 1e-10, "weights");
});

test("a kernel as a value and a function give what the name gives", async () => {
  const named = numbersOf((await kernelRidge({ kernel: "rbf", gamma: 0.125 }).fit(x, y)).predict(x));
  const value = await kernelRidge({ kernel: kernels.rbf(2) }).fit(x, y);
  await closeTo(value.predict(x), named, 1e-12, "a value");
  const byHand = (a: Tensor, b: Tensor): Tensor =>
    a.expandDims(1).sub(b).square().sum({ axis: 2 }).mul(-0.125).exp() as Tensor;
  await closeTo((await kernelRidge({ kernel: byHand }).fit(x, y)).predict(x), named, 1e-12, "a function");
});

test("misuse is refused by name", async () => {
  assert.throws(
    () => kernelRidge({ kernel: "gauss" as "rbf" }),
    /kernelRidge: kernel is "gauss"; it is "linear", "rbf"/,
  );
  assert.throws(() => kernelRidge({ gamma: 0 }), /gamma is 0; it is a number above zero/);
  assert.throws(() => kernelRidge({ alpha: -1 }), /alpha is -1/);
  await assert.rejects(
    async () => kernelRidge({ kernel: "precomputed" }).fit(x, y),
    /a precomputed kernel is \[samples, samples\]/,
  );
  await assert.rejects(async () => kernelRidge({ alpha: [1, 2] }).fit(x, y), /2 numbers in alpha and 1 outputs/);
  await assert.rejects(async () => kernelRidge({ kernel: (a) => a }).fit(x, y), /the kernel gives a tensor/);
  const same = tensor([[1, 1], [1, 1]], { dtype: "f64", device: "cpu" }); // biome-ignore format: a matrix
  await assert.rejects(async () => kernelRidge({ alpha: 0 }).fit(same, f64([1, 2])), /has no inverse; raise alpha/);
});
