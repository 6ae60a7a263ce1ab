/** A single tree of scikit-learn, and whether one of ours is the same. */
import assert from "node:assert/strict";
import { decisionTreeClassifier, decisionTreeRegressor } from "../../src/learn/index.js";
import { forestCases, forestData, type SingleTree } from "./forest-cases.js";
import { of } from "./learn-cases.js";
import { numbersOf } from "./tensors.js";

const near = (got: readonly number[], want: readonly number[], within: number, what: string): void => {
  assert.equal(got.length, want.length, what);
  const size = Math.max(1e-9, ...want.map(Math.abs));
  const worst = Math.max(...got.map((value, i) => Math.abs(value - want[i]!))) / size;
  assert.ok(worst <= within, `${what}: off by ${worst} of the largest`);
};

/** Fits the tree of a case, and holds its nodes against scikit-learn's. */
export async function assertSameTree(tree: SingleTree, dtype: "f32" | "f64"): Promise<void> {
  const { x, y } = forestData(tree.data);
  const given = tree.weights ? { weights: forestCases().weights.slice(0, y.length) } : {};
  const samples = of(x, dtype);
  const model =
    tree.kind === "decisionTreeClassifier"
      ? await decisionTreeClassifier(tree.options).fit(samples, y, given)
      : await decisionTreeRegressor(tree.options).fit(samples, y, given);
  const learned = model.learned.trees;
  const feature = numbersOf(learned.feature).map((f, i) => (tree.left[i]! < 0 ? -1 : f));
  assert.deepEqual(numbersOf(learned.left), tree.left);
  assert.deepEqual(numbersOf(learned.right), tree.right);
  assert.deepEqual(feature, tree.feature);
  assert.deepEqual(numbersOf(learned.count), tree.count);
  const within = dtype === "f64" ? 1e-6 : 1e-5;
  near(numbersOf(learned.threshold), tree.threshold, within, "thresholds");
  near(numbersOf(learned.value), tree.value.flat(), within, "values");
  near(numbersOf(learned.impurity), tree.impurity, within, "impurities");
  near(numbersOf(model.featureImportances()), tree.importances, within, "importances");
}
