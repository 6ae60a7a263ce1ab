/** Naive Bayes of categories: a traced fit. discrete.test.ts holds it against scikit-learn. */
import { test } from "node:test";
import { jit, type Tensor, tensor } from "../../../src/index.js";
import { categoricalNaiveBayes } from "../../../src/learn/index.js";
import { closeTo } from "../../support/learn-cases.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

describeOnTensorDevices("naive Bayes of categories", () => {
  test("a fit that is told the number of categories goes through jit", async () => {
    const x = tensor([[0, 1], [2, 0], [1, 1], [2, 1]]); // biome-ignore format: a matrix
    const y = tensor([0, 1, 0, 1], { dtype: "i32" }) as Tensor;
    const fit = jit((a: Tensor, b: Tensor) =>
      categoricalNaiveBayes({ nCategories: [3, 2] }).fitTensors(a, b, { classes: [0, 1] }),
    );
    const plain = await categoricalNaiveBayes().fit(x, y);
    const inside = fit(x, y).predictProbability(x);
    await closeTo(inside, await plain.predictProbability(x).array(), 1e-6, "probabilities");
    // By hand: of class 0, the first feature has 0 and 1 once each, the second 1 twice; one is added to every count.
    const joint = [0.5 * (2 / 5) * (3 / 4), 0.5 * (1 / 5) * (2 / 4)];
    const sum = joint[0]! + joint[1]!;
    await closeTo(inside.at(0) as Tensor, [joint[0]! / sum, joint[1]! / sum], 1e-6, "the first sample");
  });
});
