/** Predictions from a number of nearest samples: the vote of their labels, or the mean of their numbers. */
import { checkWhole } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import { classifier, regressor } from "../core/sorts.js";
import { kNeighborsMethods } from "./neighbor-methods.js";
import { checkSearch, neighborsOf, SEARCH_KINDS, type Searched, type SearchOptions, searched } from "./search.js";
import { shareMethods, sharesOf, votesOf } from "./votes.js";
import { checkNeighborWeights, type NeighborWeights, neighborWeights } from "./weights.js";

/** Options of `kNeighborsClassifier` and `kNeighborsRegressor`. */
export interface KNeighborsPredictorOptions extends SearchOptions {
  /** How many neighbours count: 5 unless told. */
  readonly nNeighbors?: number;
  /** How much each counts: "uniform" unless told. */
  readonly weights?: NeighborWeights;
}

/** What `kNeighborsClassifier` and `kNeighborsRegressor` learn: samples, ready for searches, and their targets. */
export interface KNeighborsLearned extends Searched {
  /** Numbers, [samples] or [samples, outputs]; for a classification 1 for a sample's class, [samples, classes]. */
  readonly targets: Tensor;
  readonly [name: string]: Tensor | Searched["tree"];
}

const KINDS = { nNeighbors: "number", weights: "any", ...SEARCH_KINDS } as const;

const check =
  (kind: string) =>
  (options: KNeighborsPredictorOptions): void => {
    checkSearch(kind, options);
    checkNeighborWeights(kind, options.weights);
    checkWhole(kind, "nNeighbors", options.nNeighbors ?? 5, 1);
  };

/** Sums of the neighbours' targets by weight, [queries, columns], and of the weights, [queries, 1]. */
function weighed(kind: string, learned: KNeighborsLearned, x: Tensor, options: KNeighborsPredictorOptions) {
  const { distances, indices } = neighborsOf(`${kind}.predict`, learned, x, options.nNeighbors ?? 5, options);
  const weights = neighborWeights(`${kind}.predict`, distances, options.weights);
  const { targets } = learned;
  const columns = (targets.rank === 1 ? targets.expandDims(1) : targets).take(indices, { axis: 0 });
  return {
    sums: columns.mul(weights.expandDims(2)).sum({ axis: 1 }) as Tensor,
    total: weights.sum({ axis: 1, keepDims: true }) as Tensor,
  };
}

const shares = (learned: KNeighborsLearned, x: Tensor, options: KNeighborsPredictorOptions): Tensor =>
  sharesOf(weighed("kNeighborsClassifier", learned, x, options).sums);

const classifierMethods = {
  ...kNeighborsMethods<KNeighborsLearned, KNeighborsPredictorOptions>(neighborsOf),
  ...shareMethods<KNeighborsLearned, KNeighborsPredictorOptions>(shares),
};

/** Labels by the vote of the nearest samples; of classes with equal votes, the first. */
export const kNeighborsClassifier = classifier<KNeighborsLearned, KNeighborsPredictorOptions, typeof classifierMethods>(
  {
    kind: "kNeighborsClassifier",
    options: KINDS,
    takesWeights: false,
    check: check("kNeighborsClassifier"),
    learn: ({ x, y, classes }, options) => ({
      ...searched("kNeighborsClassifier.fit", x, options),
      targets: votesOf(x, y, classes),
    }),
    scores: shares,
    methods: classifierMethods,
  },
);

const regressorMethods = kNeighborsMethods<KNeighborsLearned, KNeighborsPredictorOptions>(neighborsOf);

/** Numbers by the weighted mean of the nearest samples. */
export const kNeighborsRegressor = regressor<KNeighborsLearned, KNeighborsPredictorOptions, typeof regressorMethods>({
  kind: "kNeighborsRegressor",
  options: KINDS,
  takesWeights: false,
  check: check("kNeighborsRegressor"),
  learn: ({ x, y }, options) => ({ ...searched("kNeighborsRegressor.fit", x, options), targets: y }),
  predict(learned, x, options) {
    const { sums, total } = weighed("kNeighborsRegressor", learned, x, options);
    const means = sums.div(total) as Tensor;
    return learned.targets.rank === 1 ? (means.squeeze(1) as Tensor) : means;
  },
  methods: regressorMethods,
});
