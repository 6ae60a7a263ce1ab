/** A consumer's program: ensembles and selections of columns of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [[1, 2], [3, 5], [4, 4], [6, 1], [2, 2], [5, 3]]; // biome-ignore format: a matrix
const numbers = [1, 2, 3, 5, 4, 2];
const pairs = [[1, 0], [2, 1], [3, 0], [5, 1], [4, 0], [2, 1]]; // biome-ignore format: a matrix
const labels = ["a", "b", "a", "b", "a", "b"];
const on = { device: "cpu" };
const ridge = learn.ridge();
const logistic = learn.logisticRegression();

export const ensembleCalls: Calls = {
  adaBoostClassifier: async () =>
    (await learn.adaBoostClassifier({ nEstimators: 2 }).fit(samples, labels, on)).stagedPredictProbability(samples),
  adaBoostRegressor: async () =>
    (await learn.adaBoostRegressor({ nEstimators: 2 }).fit(samples, numbers, on)).predict(samples),
  baggingClassifier: async () =>
    (
      await learn.baggingClassifier({ estimator: logistic, bootstrap: false, nEstimators: 2 }).fit(samples, labels, on)
    ).predictProbability(samples),
  baggingRegressor: async () =>
    (await learn.baggingRegressor({ estimator: ridge, nEstimators: 3, oob: true }).fit(samples, numbers, on)).predict(
      samples,
    ),
  calibratedClassifier: async () =>
    (await learn.calibratedClassifier({ estimator: logistic, splits: 2 }).fit(samples, labels, on)).predictProbability(
      samples,
    ),
  classifierChain: async () => {
    const targets = labels.map((_, i) => [i % 2, (i + 1) % 2]);
    return (await learn.classifierChain({ estimator: logistic }).fit(samples, targets, on)).predictProbability(samples);
  },
  chi2: async () => (await learn.chi2(samples, labels)).pValues,
  dummyClassifier: async () => (await learn.dummyClassifier().fit(samples, labels, on)).predict(samples),
  dummyRegressor: async () => (await learn.dummyRegressor().fit(samples, numbers, on)).predict(samples),
  fClassif: async () => (await learn.fClassif(samples, labels)).scores,
  fRegression: async () => (await learn.fRegression(samples, numbers)).scores,
  multiOutputClassifier: async () => {
    const targets = labels.map((_, i) => [i % 2, (i + 1) % 2]);
    return (await learn.multiOutputClassifier({ estimator: logistic }).fit(samples, targets, on)).outputClasses()
      .length;
  },
  multiOutputRegressor: async () =>
    (await learn.multiOutputRegressor({ estimator: ridge }).fit(samples, pairs, on)).predict(samples),
  mutualInfoClassification: async () =>
    (await learn.mutualInfoClassification(samples, labels, { nNeighbors: 2 })).length,
  mutualInfoRegression: async () => (await learn.mutualInfoRegression(samples, numbers, { nNeighbors: 2 })).length,
  oneVsOne: async () => (await learn.oneVsOne({ estimator: logistic }).fit(samples, labels, on)).predict(samples),
  oneVsRest: async () => (await learn.oneVsRest({ estimator: logistic }).fit(samples, labels, on)).predict(samples),
  outputCode: async () => (await learn.outputCode({ estimator: logistic }).fit(samples, labels, on)).predict(samples),
  recursiveFeatureElimination: async () =>
    (await learn.recursiveFeatureElimination({ estimator: ridge }).fit(samples, numbers, on)).transform(samples),
  regressorChain: async () =>
    (await learn.regressorChain({ estimator: ridge, order: [1, 0] }).fit(samples, pairs, on)).predict(samples),
  genericUnivariateSelect: async () =>
    (await learn.genericUnivariateSelect({ mode: "kBest", param: 1 }).fit(samples, labels, on)).transform(samples),
  selectFdr: async () => (await learn.selectFdr({ alpha: 1 }).fit(samples, labels, on)).transform(samples),
  selectFpr: async () => (await learn.selectFpr({ alpha: 1 }).fit(samples, labels, on)).transform(samples),
  selectFwe: async () => (await learn.selectFwe({ alpha: 1 }).fit(samples, labels, on)).learned.scores,
  selectFromModel: async () =>
    (await learn.selectFromModel({ estimator: ridge }).fit(samples, numbers, on)).transform(samples),
  selectKBest: async () => (await learn.selectKBest({ k: 1 }).fit(samples, labels, on)).transform(samples),
  selectPercentile: async () =>
    (await learn.selectPercentile({ percentile: 50 }).fit(samples, labels, on)).transform(samples),
  sequentialFeatureSelection: async () =>
    (await learn.sequentialFeatureSelection({ estimator: ridge, splits: 2 }).fit(samples, numbers, on)).transform(
      samples,
    ),
  stackingClassifier: async () =>
    (await learn.stackingClassifier({ estimators: [logistic], splits: 2 }).fit(samples, labels, on)).predict(samples),
  stackingRegressor: async () =>
    (await learn.stackingRegressor({ estimators: [ridge], splits: 2 }).fit(samples, numbers, on)).predict(samples),
  varianceThreshold: async () => (await learn.varianceThreshold().fit(samples, undefined, on)).support().length,
  votingClassifier: async () =>
    (await learn.votingClassifier({ estimators: [logistic] }).fit(samples, labels, on)).predict(samples),
  votingRegressor: async () =>
    (await learn.votingRegressor({ estimators: [ridge] }).fit(samples, numbers, on)).predict(samples),
};
