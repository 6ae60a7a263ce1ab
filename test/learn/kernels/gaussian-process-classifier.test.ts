/** Gaussian process classification against scikit-learn: probabilities, classes, likelihoods; misuse. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gaussianProcessClassifier, kernels } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { kernelOf, kernelsCases } from "./cases.js";

const { classifications } = kernelsCases();

describeOnTensorDevices("Gaussian process classification", (device) => {
  for (const [place, each] of classifications.entries()) {
    // Each compiles programs of its own: the first is enough on Vulkan.
    if (device !== "cpu" && place > 0) continue;
    for (const dtype of dtypesOf(device, false)) {
      const isWide = dtype === "f64";
      test(`${each.name}, ${dtype}: scikit-learn's probabilities and likelihood`, async () => {
        const tol = { tol: isWide ? 1e-8 : 1e-3 };
        const model = await gaussianProcessClassifier({ kernel: kernelOf(each.kernel), ...tol, ...each.options }).fit(
          of(each.x, dtype),
          each.y,
        );
        const some = of(each.x, dtype).at("::3");
        const searches = each.options.optimizer !== "none";
        const within = isWide ? (searches ? 1e-5 : 1e-8) : 1e-3;
        // In f32 the likelihood's top is flat: parameters on it differ, and probabilities with them.
        if (isWide || !searches)
          await closeTo(model.predictProbability(some), each.probabilities, within, "probabilities");
        assert.deepEqual(numbersOf(model.predict(some)), each.predicted);
        await closeTo(
          model.logMarginalLikelihood(),
          each.likelihood,
          isWide ? 1e-8 : searches ? 2e-2 : 1e-3,
          "likelihood",
        );
      });
    }
  }
});

test("far from all samples nothing is known: the probability is a half", async () => {
  const model = await gaussianProcessClassifier({ kernel: kernels.rbf(1) }).fit(
    f64([[0], [1], [4], [5]]),
    [0, 0, 1, 1],
  );
  const [, far, , near] = numbersOf(model.predictProbability(f64([[1000], [4.5]])));
  assert.ok(Math.abs(far! - 0.5) < 1e-6 && near! > 0.6, `${far} and ${near}`);
});

test("misuse is refused by name", async () => {
  assert.throws(() => gaussianProcessClassifier({ maxIterPredict: 0 }), /maxIterPredict/);
  await assert.rejects(async () => gaussianProcessClassifier().fit([[1], [2]], [1, 1]), /all labels are 1/);
});
