/** A consumer's program: every function and class of `pumice/learn`. */
import * as learn from "pumice/learn";
import { clusterCalls } from "./learn-cluster.js";
import { decompositionCalls } from "./learn-decomposition.js";
import { discriminantCalls } from "./learn-discriminant.js";
import { ensembleCalls } from "./learn-ensemble.js";
import { learnIntegrateCalls } from "./learn-integrate.js";
import { learnInterpolateCalls } from "./learn-interpolate.js";
import { kernelCalls } from "./learn-kernels.js";
import { learnLinearCalls } from "./learn-linear.js";
import { manifoldCalls } from "./learn-manifold.js";
import { metricsCalls } from "./learn-metrics.js";
import { bayesClassifierCalls } from "./learn-naive-bayes.js";
import { neighborsCalls } from "./learn-neighbors.js";
import { plotsCalls } from "./learn-plots.js";
import { preprocessingCalls } from "./learn-preprocessing.js";
import { statsCalls } from "./learn-stats.js";
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
  ...ensembleCalls,
  ...metricsCalls,
  ...manifoldCalls,
  ...clusterCalls,
  ...neighborsCalls,
  ...bayesClassifierCalls,
  ...decompositionCalls,
  ...discriminantCalls,
  ...statsCalls,
  ...treeCalls,
  ...kernelCalls,
  ...learnIntegrateCalls,
  ...learnInterpolateCalls,
  ...learnLinearCalls,
  ...plotsCalls,
  ...preprocessingCalls,
  Table: () => new learn.Table(new Map(), 0).names,
  crossValidate: () => learn.crossValidate(learn.ridge(), samples, numbers, { splits: 2 }),
  crossValPredict: () => learn.crossValPredict(learn.ridge(), samples, numbers, { splits: 2 }),
  gridSearch: async () =>
    (await learn.gridSearch(learn.ridge(), { alpha: [0.1, 1] }, { splits: 2 }).fit(samples, numbers)).predict(samples),
  groupKFold: () => learn.groupKFold(2).split({ samples: 4, groups: [1, 1, 2, 2] }),
  groupShuffleSplit: () => learn.groupShuffleSplit(2).split({ samples: 4, groups: [1, 1, 2, 2] }),
  halvingSearch: async () => {
    const search = learn.halvingSearch(learn.ridge(), { alpha: [0.1, 1] }, { splits: 2, factor: 2, minResources: 4 });
    return (await search.fit(samples, numbers)).best.scores.score?.mean ?? 0;
  },
  kFold: () => learn.kFold(2, { seed: 1 }).split({ samples: 4 }),
  leaveOneGroupOut: () => learn.leaveOneGroupOut().split({ samples: 4, groups: [1, 1, 2, 2] }),
  leaveOneOut: () => learn.leaveOneOut().split({ samples: 4 }),
  linearRegression: async () => (await learn.linearRegression().fit(samples, numbers, { device })).predict(samples),
  maxAbsScaler: async () => (await learn.maxAbsScaler().fit(samples)).transform(samples),
  minMaxScaler: async () => (await learn.minMaxScaler({ range: [0, 2] }).fit(samples)).transform(samples),
  partialDependence: async () =>
    learn.partialDependence(await learn.ridge().fit(samples, numbers, { device }), samples, [0, 1], { grid: 3 }),
  permutationImportance: async () =>
    learn.permutationImportance(await learn.ridge().fit(samples, numbers, { device }), samples, numbers, {
      nRepeats: 2,
    }),
  pipeline: async () =>
    (await learn.pipeline(learn.standardScaler(), learn.ridge({ alpha: 2 })).fit(samples, numbers)).predict(samples),
  predefinedSplit: () => learn.predefinedSplit([0, 1, 0, -1]).split({ samples: 4 }),
  randomSearch: async () =>
    (
      await learn
        .randomSearch(learn.ridge(), { alpha: { low: 1, high: 2 } }, { splits: 2, nIter: 2 })
        .fit(samples, numbers)
    ).results.length,
  repeatedKFold: () => learn.repeatedKFold(2, { repeats: 2 }).split({ samples: 4 }),
  repeatedStratifiedKFold: () => learn.repeatedStratifiedKFold(2, { repeats: 2 }).split({ samples: 4, labels }),
  ridge: async () => (await learn.ridge({ alpha: 2 }).fit(samples, numbers, { device })).score(samples, numbers),
  robustScaler: async () => (await learn.robustScaler().fit(samples)).inverseTransform(samples),
  shuffleSplit: () => learn.shuffleSplit(2, { testSize: 0.5 }).split({ samples: 4 }),
  standardScaler: async () => (await learn.standardScaler().fit(samples)).transform(samples),
  stratifiedGroupKFold: () => learn.stratifiedGroupKFold(2).split({ samples: 4, labels, groups: [1, 1, 2, 2] }),
  stratifiedKFold: () => learn.stratifiedKFold(2).split({ samples: 4, labels }),
  stratifiedShuffleSplit: () => learn.stratifiedShuffleSplit(2, { testSize: 0.5 }).split({ samples: 4, labels }),
  table: async () => (await learn.standardScaler().fit(learn.table({ age: [1, 2, 3] }))).learned.shift,
  trainTestSplit: async () => (await learn.trainTestSplit(samples, numbers, { testSize: 0.5 })).xTrain,
  timeSeriesSplit: () => learn.timeSeriesSplit(2).split({ samples: 6 }),
};
