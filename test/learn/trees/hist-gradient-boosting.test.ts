/** Boosting on histograms against scikit-learn's trees: predictions and numbers of leaves, for every loss and option. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { histGradientBoostingClassifier, histGradientBoostingRegressor } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { treeCases, treeData } from "../../support/tree-cases.js";

describeOnTensorDevices("boosting", (device) => {
  for (const each of treeCases().boosting) {
    const { kind, data, options, weights, predicted, leaves } = each;
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${kind}, ${data}, ${JSON.stringify(options)}, ${dtype}: scikit-learn's predictions`, async () => {
        const { x, y, sampleWeights } = treeData(data, weights);
        const samples = of(x, dtype);
        const given = sampleWeights ? { weights: sampleWeights } : {};
        const first = samples.at(`:${predicted.length}`);
        const within = dtype === "f64" ? 1e-5 : 2e-3;
        if (kind === "histGradientBoostingRegressor") {
          const model = await histGradientBoostingRegressor(options).fit(samples, y, given);
          await closeTo(model.predict(first), predicted, within, "predictions");
          if (dtype === "f64") assert.deepEqual(leafCounts(numbersOf(model.learned.trees.left), leaves.length, model), leaves);
        } else {
          const model = await histGradientBoostingClassifier(options).fit(samples, y, given);
          await closeTo(model.predictProbability(first), predicted, within, "probabilities");
          if (dtype === "f64") assert.deepEqual(leafCounts(numbersOf(model.learned.trees.left), leaves.length, model), leaves);
        }
      });
    }
  }
});

/** Leaves of each tree: one more than it has splits. */
function leafCounts(left: readonly number[], trees: number, _model: unknown): number[] {
  const nodes = left.length / trees;
  return Array.from({ length: trees }, (_, t) => left.slice(t * nodes, (t + 1) * nodes).filter((l) => l >= 0).length + 1);
}
