/** Gradient boosting on histograms that learns to rank: LambdaMART on the trees of its regressor and classifier. */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import { estimator } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import { categorySamples, type Samples } from "../core/samples.js";
import { numberTargets, samplesFor } from "../core/sorts.js";
import { type Numbers, numbersBeside } from "../core/targets.js";
import { type BoostingLearned, boost } from "./boosting.js";
import { rawPrediction } from "./boosting-model.js";
import { BOOSTING, type BoostingOptions, checkBoosting } from "./boosting-options.js";
import { lambdaLoss } from "./lambda-loss.js";
import { type Groups, ndcgOf, queryMatrix, queryOfSamples } from "./queries.js";
import { treeMethods } from "./tree-methods.js";

/** Options of `histGradientBoostingRanker`. */
export interface HistGradientBoostingRankerOptions extends BoostingOptions {
  /** Pairs count where one of both is among so many first ranks, and NDCG is of so many: 30 unless told. */
  readonly truncationLevel?: number;
}

type RankerModel = Fitted<BoostingLearned, HistGradientBoostingRankerOptions>;

const KIND = "histGradientBoostingRanker";

const scoresOf = (model: RankerModel, method: string, samples: Samples): Tensor =>
  rawPrediction(model.learned, samplesFor(model as Fitted<unknown, object>, method, samples)).squeeze(1) as Tensor;

const methods = {
  ...treeMethods<BoostingLearned, HistGradientBoostingRankerOptions>(),
  /** Scores of samples, [samples]: of one query, the larger the earlier. */
  predict: (model: RankerModel, samples: Samples): Tensor => scoresOf(model, "predict", samples),
  /** NDCG of the first `truncationLevel` ranks, the mean over queries; 1 for a query without anything relevant. */
  score(model: RankerModel, samples: Samples, targets: Numbers, groups?: Groups): Tensor {
    const scores = scoresOf(model, "score", samples);
    const relevance = numbersBeside(`${KIND}.score`, targets, scores);
    const matrix = queryMatrix(queryOfSamples(`${KIND}.score`, groups, scores.size), scores.device);
    const { truncationLevel = 30 } = model.options;
    return ndcgOf(matrix.spread(scores), matrix.spread(relevance), matrix.isThere, truncationLevel).mean() as Tensor;
  },
};

/**
 * Boosted trees that rank the samples of each query by relevance: `fit(x, relevance, { groups })` with the query of each sample. The
 * gradients are LambdaMART's, as in LightGBM without its normalisation.
 */
export const histGradientBoostingRanker = estimator<
  Numbers,
  BoostingLearned,
  HistGradientBoostingRankerOptions,
  typeof methods
>({
  kind: KIND,
  options: { ...BOOSTING, truncationLevel: "number" },
  allowsMissing: true,
  takesGroups: true,
  samples: categorySamples,
  targets: numberTargets,
  check(options) {
    checkBoosting(KIND, options);
    checkWhole(KIND, "truncationLevel", options.truncationLevel ?? 30, 1);
  },
  async checkTargets(operation, y) {
    if (y.rank !== 1)
      throw new ArgumentError(`${operation}: there are ${y.shape[1]} targets for each sample; it learns one.`);
    const least = Number(await y.min().item());
    if (least < 0) throw new ArgumentError(`${operation}: a relevance is ${least}; relevances are zero or more.`);
  },
  learn({ x, y, weights, groups, signal, facts: { features } }, options) {
    const queries = queryOfSamples(`${KIND}.fit`, groups ?? undefined, x.shape[0] as number);
    const data = { kind: KIND, x, y: y as Tensor, weights, signal, features, labels: null, groups: queries };
    const lossOf = async (rows: Tensor | null) => {
      const own = rows ? Int32Array.from((await rows.data()) as Int32Array, (row) => queries[row] as number) : queries;
      const matrix = queryMatrix(queryOfSamples(`${KIND}.fit`, own, own.length), x.device);
      return lambdaLoss(matrix, options.truncationLevel ?? 30);
    };
    return boost(data, lossOf, options);
  },
  methods,
});
