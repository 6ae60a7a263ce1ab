/** Predictions from all samples within a radius: the vote of their labels, or the mean of their numbers. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { arange, concat, full, type Tensor, tensor, where } from "../../tensor/index.js";
import { classifier, regressor } from "../core/sorts.js";
import type { Label } from "../core/targets.js";
import { embedQueries } from "./metric.js";
import {
  checkOwnDistances,
  checkPairMetric,
  PAIR_METRIC_KINDS,
  type PairMetricOptions,
  pairSpaceOf,
} from "./pair-metric.js";
import { checkRadius, sumsWithin } from "./radius-search.js";
import { shareMethods, sharesOf, votesOf } from "./votes.js";
import { checkNeighborWeights, type NeighborWeights } from "./weights.js";

/** Options of `radiusNeighborsRegressor`. */
export interface RadiusNeighborsOptions extends PairMetricOptions {
  /** The radius within which samples count: 1 unless told. */
  readonly radius?: number;
  /** How much each counts: "uniform" unless told. */
  readonly weights?: NeighborWeights;
}

/** Options of `radiusNeighborsClassifier`. */
export interface RadiusNeighborsClassifierOptions extends RadiusNeighborsOptions {
  /** The class of samples that have nobody within the radius: one of the classes, or "mostFrequent". It must be told. */
  readonly outlierLabel: Label | "mostFrequent";
}

/** What `radiusNeighborsRegressor` learns. */
export interface RadiusNeighborsLearned {
  /** The samples of the fit, as the metric compares them. */
  readonly samples: Tensor;
  /** Numbers, [samples] or [samples, outputs]; for a classification 1 for a sample's class, [samples, classes]. */
  readonly targets: Tensor;
  readonly [name: string]: Tensor;
}

/** What `radiusNeighborsClassifier` learns. */
export interface RadiusNeighborsClassifierLearned extends RadiusNeighborsLearned {
  /** The position of the class of samples that have nobody within the radius, i32. */
  readonly outlier: Tensor;
}

const KINDS = { radius: "number", weights: "any", ...PAIR_METRIC_KINDS } as const;

function check(kind: string, options: RadiusNeighborsOptions): void {
  checkPairMetric(kind, options);
  checkNeighborWeights(kind, options.weights);
  checkRadius(kind, options.radius ?? 1);
}

/** The samples of a fit, as the metric compares them. */
function keptOf(kind: string, x: Tensor, options: PairMetricOptions): Tensor {
  checkOwnDistances(`${kind}.fit`, x, options);
  return pairSpaceOf(options).embed(x);
}

/** Sums of targets within the radius by weight, [queries, columns], and of the weights, [queries, 1]. */
function weighed(kind: string, learned: RadiusNeighborsLearned, x: Tensor, options: RadiusNeighborsOptions) {
  const { samples, targets } = learned;
  const { device, dtype } = samples;
  const columns = (targets.rank === 1 ? targets.expandDims(1) : targets) as Tensor;
  const ones = full([samples.shape[0] as number, 1], 1, { device, dtype });
  const values = concat([columns, ones], { axis: 1 }) as Tensor;
  const queries = embedQueries(x.cast(dtype) as Tensor, pairSpaceOf(options));
  const sums = sumsWithin(`${kind}.predict`, samples, queries, values, options.radius ?? 1, options);
  return { sums: sums.at(":", ":-1") as Tensor, total: sums.at(":", "-1:") as Tensor };
}

function shares(
  learned: RadiusNeighborsClassifierLearned,
  x: Tensor,
  options: RadiusNeighborsClassifierOptions,
): Tensor {
  const { sums, total } = weighed("radiusNeighborsClassifier", learned, x, options);
  const all = arange(sums.shape[1] as number, { device: x.device, dtype: "i32" });
  return where(total.equal(0), all.equal(learned.outlier).cast(sums.dtype), sharesOf(sums)) as Tensor;
}

function outlierPlace(label: Label, classes: readonly Label[], votes: Tensor): Tensor {
  if (label === "mostFrequent" && !classes.includes(label)) {
    return votes.sum({ axis: 0 }).argmax().cast("i32") as Tensor;
  }
  const place = classes.indexOf(label);
  if (place >= 0) return tensor(place, { device: votes.device, dtype: "i32" }) as Tensor;
  throw new ArgumentError(
    `radiusNeighborsClassifier.fit: outlierLabel is ${shown(label)}; it is "mostFrequent" or one of the classes ` +
      `${shown(classes)}. For a class of its own, name all classes: fit(x, y, { classes: [-1, 0, 1] }).`,
  );
}

const classifierMethods = shareMethods<RadiusNeighborsClassifierLearned, RadiusNeighborsClassifierOptions>(shares);

const checkClassifier = (options: RadiusNeighborsClassifierOptions): void => {
  check("radiusNeighborsClassifier", options);
  if (options.outlierLabel !== undefined) return;
  throw new ArgumentError(
    "radiusNeighborsClassifier: outlierLabel is missing, the class of samples that have nobody within the radius; " +
      'give a class or "mostFrequent".',
  );
};

/** Labels by the vote of all samples within a radius; of classes with equal votes, the first. */
export const radiusNeighborsClassifier = classifier<
  RadiusNeighborsClassifierLearned,
  RadiusNeighborsClassifierOptions,
  typeof classifierMethods
>({
  kind: "radiusNeighborsClassifier",
  options: { ...KINDS, outlierLabel: "any" },
  takesWeights: false,
  check: checkClassifier,
  learn({ x, y, classes, facts }, options) {
    const targets = votesOf(x, y, classes);
    const outlier = outlierPlace(options.outlierLabel, facts.classes ?? [], targets);
    return { samples: keptOf("radiusNeighborsClassifier", x, options), targets, outlier };
  },
  scores: shares,
  methods: classifierMethods,
});

/** Numbers by the weighted mean of all samples within a radius; NaN where there are none. */
export const radiusNeighborsRegressor = regressor<RadiusNeighborsLearned, RadiusNeighborsOptions>({
  kind: "radiusNeighborsRegressor",
  options: KINDS,
  takesWeights: false,
  check: (options) => check("radiusNeighborsRegressor", options),
  learn: ({ x, y }, options) => ({ samples: keptOf("radiusNeighborsRegressor", x, options), targets: y }),
  predict(learned, x, options) {
    const { sums, total } = weighed("radiusNeighborsRegressor", learned, x, options);
    const means = sums.div(total) as Tensor;
    return learned.targets.rank === 1 ? (means.squeeze(1) as Tensor) : means;
  },
});
