/** Kernels against scikit-learn's: values, gradients with respect to their parameters, composition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor, tensor } from "../../../src/index.js";
import { kernels } from "../../../src/learn/index.js";
import { leaves } from "../../../src/transforms/tree.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { kernelOf, kernelsCases } from "./cases.js";

const cases = kernelsCases();
const tilt = Array.from({ length: 5 }, (_, i) => Array.from({ length: 5 }, (_, j) => Math.cos(i + 2 * j)));

describeOnTensorDevices("kernels", (device) => {
  for (const [place, each] of cases.kernels.entries()) {
    // Each compiles programs of its own: some are enough on Vulkan.
    if (device !== "cpu" && place % 3 !== 2) continue;
    for (const dtype of dtypesOf(device, false)) {
      test(`${each.name}, ${dtype}: scikit-learn's covariances and their slopes`, async () => {
        const kernel = kernelOf(each.kernel);
        const [x, y] = [of(each.x, dtype), of(each.y, dtype)];
        const within = dtype === "f64" ? 1e-11 : 1e-5;
        await closeTo(kernels.matrix(kernel, x), each.own, within, "covariances");
        await closeTo(kernels.matrix(kernel, x, y), each.cross, within, "covariances with others", 1);
        const weighted = (parameters: ReturnType<typeof kernels.parameters>): Tensor =>
          kernels.matrix(kernel, x, null, { parameters }).mul(of(tilt, dtype)).sum() as Tensor;
        const slopes = leaves(grad(weighted)(kernels.parameters(kernel, x))) as Tensor[];
        const found = slopes.flatMap((slope) => numbersOf(slope)).sort((a, b) => a - b);
        await closeTo(f64(found), each.slopes, 10 * within, "slopes", 1);
      });
    }
  }

  test("periods of their own along each feature, and a smoother Matérn kernel", async () => {
    const { x, y, cross, smooth } = cases.periodic;
    const [a, b] = [of(x, "f32"), of(y, "f32")];
    const kernel = kernels.periodic({ lengthScale: [1.3, 0.8], periodicity: [2.1, 1.4] });
    await closeTo(kernels.matrix(kernel, a, b), cross, 1e-5, "covariances");
    await closeTo(kernels.matrix(kernels.matern([0.8, 2], { nu: 3.5 }), a, b), smooth, 1e-5, "covariances");
    const rough = kernels.matrix(kernels.matern(2, { nu: Number.POSITIVE_INFINITY }), a, b);
    await closeTo(rough, await kernels.matrix(kernels.rbf(2), a, b).array(), 1e-6, "the limit");
  });
});

test("kernels that are none are refused by name", () => {
  assert.throws(() => kernels.rbf(-1), /kernels.rbf: lengthScale is -1; it is a number above zero, or a list/);
  assert.throws(() => kernels.white([1] as never), /noise is .*; it is a number above zero\./);
  assert.throws(() => kernels.rbf(1, { lengthScaleBounds: [2, 1] }), /lengthScaleBounds is .* the least first/);
  assert.throws(() => kernels.matern(1, { nu: 2 }), /nu is 2; it is half of an odd number/);
  assert.throws(() => kernels.sum(kernels.rbf(), 2 as never), /2 is no kernel; for a number write kernels.constant/);
  assert.throws(() => kernels.power(kernels.rbf(), 0), /the exponent is 0/);
  assert.throws(
    () => kernels.matrix(kernels.rbf([1, 2, 3]), tensor([[1, 2]])),
    /has 3 numbers for lengthScale, .* 2 features/,
  );
  assert.throws(() => kernels.parameters("rbf" as never, tensor([1])), /the kernel is "rbf"; make one/);
});
