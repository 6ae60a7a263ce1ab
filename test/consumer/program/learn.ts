/** A consumer's program: every function and class of `pumice/learn`. */
import * as learn from "pumice/learn";
import { clusterCalls } from "./learn-cluster.js";
import { decompositionCalls } from "./learn-decomposition.js";
import { discriminantCalls } from "./learn-discriminant.js";
import { learnIntegrateCalls } from "./learn-integrate.js";
import { kernelCalls } from "./learn-kernels.js";
import { learnLinearCalls } from "./learn-linear.js";
import { metricsCalls } from "./learn-metrics.js";
import { bayesClassifierCalls } from "./learn-naive-bayes.js";
import { neighborsCalls } from "./learn-neighbors.js";
import { plotsCalls } from "./learn-plots.js";
import { preprocessingCalls } from "./learn-preprocessing.js";
import { learnTableCalls } from "./learn-tables.js";
import { treeCalls } from "./learn-trees.js";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];
const numbers = [1, 2, 3, 5];
const labels = ["a", "b", "a", "b"];
const device = "cpu";

export const learnCalls: Calls = {
  ...learnTableCalls,
  ...metricsCalls,
  ...clusterCalls,
  ...neighborsCalls,
  ...bayesClassifierCalls,
  ...decompositionCalls,
  ...discriminantCalls,
  ...treeCalls,
  ...kernelCalls,
  ...learnIntegrateCalls,
  ...learnLinearCalls,
  ...plotsCalls,
  ...preprocessingCalls,
  Table: () => new learn.Table(new Map(), 0).names,
  crossValidate: () => learn.crossValidate(learn.ridge(), samples, numbers, { splits: 2 }),
  groupKFold: () => learn.groupKFold(2).split({ samples: 4, groups: [1, 1, 2, 2] }),
  kFold: () => learn.kFold(2, { seed: 1 }).split({ samples: 4 }),
  leaveOneOut: () => learn.leaveOneOut().split({ samples: 4 }),
  linearRegression: async () => (await learn.linearRegression().fit(samples, numbers, { device })).predict(samples),
  maxAbsScaler: async () => (await learn.maxAbsScaler().fit(samples)).transform(samples),
  minMaxScaler: async () => (await learn.minMaxScaler({ range: [0, 2] }).fit(samples)).transform(samples),
  pipeline: async () =>
    (await learn.pipeline(learn.standardScaler(), learn.ridge({ alpha: 2 })).fit(samples, numbers)).predict(samples),
  ridge: async () => (await learn.ridge({ alpha: 2 }).fit(samples, numbers, { device })).score(samples, numbers),
  robustScaler: async () => (await learn.robustScaler().fit(samples)).inverseTransform(samples),
  shuffleSplit: () => learn.shuffleSplit(2, { testSize: 0.5 }).split({ samples: 4 }),
  standardScaler: async () => (await learn.standardScaler().fit(samples)).transform(samples),
  stratifiedKFold: () => learn.stratifiedKFold(2).split({ samples: 4, labels }),
  table: async () => (await learn.standardScaler().fit(learn.table({ age: [1, 2, 3] }))).learned.shift,
  timeSeriesSplit: () => learn.timeSeriesSplit(2).split({ samples: 6 }),
};
