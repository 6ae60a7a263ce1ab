/** A consumer's program: pictures of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const { metrics, plots } = learn;
const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];
const numbers = [1, 2, 3, 5];
const labels = ["a", "b", "a", "b"];
const options = { splits: 2 };

export const plotsCalls: Calls = {
  learningCurve: async () =>
    plots.learningCurve(await learn.learningCurve(learn.ridge(), samples, numbers, { ...options, sizes: [1, 2] })).svg,
  validationCurve: async () => {
    const make = (alpha: number) => learn.ridge({ alpha });
    return plots.validationCurve(await learn.validationCurve(make, samples, numbers, { ...options, values: [1, 2] }))
      .svg;
  },
  "plots.Picture": () => plots.scatter(samples) instanceof plots.Picture,
  "plots.calibrationCurve": () => plots.calibrationCurve(metrics.calibrationCurve([0.1, 0.9], [0, 1])).svg,
  "plots.confusionMatrix": () =>
    plots.confusionMatrix(metrics.confusionMatrix(labels, labels), { labels: ["a", "b"] }).svg,
  "plots.decisionTree": async () => plots.decisionTree(await learn.decisionTreeClassifier().fit(samples, labels)).svg,
  "plots.dendrogram": async () =>
    plots.dendrogram((await learn.agglomerativeClustering().fit(samples)).learned.linkage).svg,
  "plots.importances": () => plots.importances([3, 1, 2], { names: ["a", "b", "c"] }).svg,
  "plots.learningCurve": () =>
    plots.learningCurve({ sizes: [1, 2], trainScores: { r2: [[1], [1]] }, scores: { r2: [[0], [1]] } }).svg,
  "plots.page": () => plots.page([plots.scatter(samples)], { title: "Samples" }).html,
  "plots.partialDependence": () => plots.partialDependence({ values: [1, 2], average: [3, 4] }, { name: "age" }).svg,
  "plots.precisionRecallCurve": () => plots.precisionRecallCurve(metrics.precisionRecallCurve([0.1, 0.9], [0, 1])).svg,
  "plots.residuals": () => plots.residuals(numbers, [1, 2, 3, 4]).svg,
  "plots.rocCurve": () => plots.rocCurve({ one: metrics.rocCurve([0.1, 0.9], [0, 1]) }).svg,
  "plots.scatter": () => plots.scatter(samples, { labels }).svg,
  "plots.silhouette": () => plots.silhouette(metrics.silhouetteSamples(samples, labels), labels).svg,
  "plots.validationCurve": () =>
    plots.validationCurve({ name: "c", values: ["x"], trainScores: { r2: [[1]] }, scores: { r2: [[0]] } }).svg,
};
