/**
 * The local outlier factor (Breunig, Kriegel, Ng & Sander 2000): how much sparser the surroundings of a sample are than those of its
 * neighbours. A function of tensors, so that fits trace.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { outlierDetector, samplesFor } from "../core/sorts.js";
import { nearestOfAll } from "./brute-force.js";
import { embedQueries, queriesOf, type Space } from "./metric.js";
import {
  checkOwnDistances,
  checkPairMetric,
  PAIR_METRIC_KINDS,
  type PairMetricOptions,
  pairSpaceOf,
} from "./pair-metric.js";

/** Options of `localOutlierFactor`. */
export interface LocalOutlierFactorOptions extends PairMetricOptions {
  /** Neighbours that make up a sample's surroundings: 20 unless told, and at most all other samples. */
  readonly nNeighbors?: number;
  /** The share of outliers among the samples of the fit, up to 0.5; "auto" unless told: those with a factor above 1.5. */
  readonly contamination?: number | "auto";
}

/** What `localOutlierFactor` learns. */
export interface LocalOutlierFactorLearned {
  /** The samples of the fit, as the metric compares them. */
  readonly samples: Tensor;
  /** How dense the surroundings of each are, [samples]. */
  readonly densities: Tensor;
  /** The distance of each to its last neighbour, [samples]. */
  readonly reaches: Tensor;
  /** The negative of each sample's factor: about -1 for usual samples, less for outliers, [samples]. */
  readonly negativeOutlierFactors: Tensor;
  /** 1 for a usual sample of the fit, -1 for an outlier, [samples], i32. */
  readonly labels: Tensor;
  /** The factor below which a sample is an outlier. */
  readonly offset: Tensor;
  readonly [name: string]: Tensor;
}

interface Surroundings {
  readonly distances: Tensor;
  readonly indices: Tensor;
}

const neighborsOf = (samples: Tensor, queries: Tensor, k: number, space: Space, isSelf: boolean): Surroundings => {
  const { reduced, indices } = nearestOfAll(samples, queries, k, space, isSelf);
  return { distances: space.distances(reduced), indices };
};

/** The inverse of the mean distance by which samples are reached from their neighbours. */
const densitiesOf = ({ distances, indices }: Surroundings, reaches: Tensor): Tensor =>
  distances.maximum(reaches.take(indices)).mean({ axis: 1 }).add(1e-10).reciprocal() as Tensor;

const negativeFactors = (own: Tensor, all: Tensor, { indices }: Surroundings): Tensor =>
  all.take(indices).div(own.expandDims(1)).mean({ axis: 1 }).neg() as Tensor;

function scoresOf(learned: LocalOutlierFactorLearned, x: Tensor, options: LocalOutlierFactorOptions): Tensor {
  const { samples, densities, reaches } = learned;
  const space = pairSpaceOf(options);
  const count = samples.shape[0] as number;
  const k = Math.min(options.nNeighbors ?? 20, count - 1);
  const near = neighborsOf(samples, embedQueries(x.cast(samples.dtype) as Tensor, space), k, space, false);
  return negativeFactors(densitiesOf(near, reaches), densities, near);
}

const methods = {
  /** The negative factor of samples that are new, [samples]: less for outliers. */
  scoreSamples: (model: Fitted<LocalOutlierFactorLearned, LocalOutlierFactorOptions>, samples: Samples): Tensor =>
    scoresOf(model.learned, samplesFor(model, "scoreSamples", samples), model.options),
};

/**
 * Outliers by the density of their surroundings. `model.learned` has the factors and labels of the samples of the fit, each beside
 * its neighbours without itself. The methods are for new samples (scikit-learn's `novelty`): one of the fit would find itself.
 */
export const localOutlierFactor = outlierDetector<LocalOutlierFactorLearned, LocalOutlierFactorOptions, typeof methods>(
  {
    kind: "localOutlierFactor",
    options: { nNeighbors: "number", contamination: "any", ...PAIR_METRIC_KINDS },
    check(options) {
      checkPairMetric("localOutlierFactor", options);
      const { nNeighbors = 20, contamination = "auto" } = options;
      checkWhole("localOutlierFactor", "nNeighbors", nNeighbors, 1);
      if (contamination === "auto" || (contamination > 0 && contamination <= 0.5)) return;
      throw new ArgumentError(
        `localOutlierFactor: contamination is ${shown(contamination)}; it is "auto" or a share above 0, at most 0.5.`,
      );
    },
    learn({ x }, options) {
      const { nNeighbors = 20, contamination = "auto" } = options;
      const count = x.shape[0] as number;
      if (count < 2) {
        throw new ArgumentError(
          "localOutlierFactor.fit: there is one sample, which has no neighbours; give two or more.",
        );
      }
      checkOwnDistances("localOutlierFactor.fit", x, options);
      const space = pairSpaceOf(options);
      const samples = space.embed(x);
      const k = Math.min(nNeighbors, count - 1);
      const near = neighborsOf(samples, queriesOf(samples, space), k, space, true);
      const reaches = near.distances.at(":", k - 1) as Tensor;
      const densities = densitiesOf(near, reaches);
      const negativeOutlierFactors = negativeFactors(densities, densities, near);
      const offset = (
        contamination === "auto"
          ? full([], -1.5, { device: x.device, dtype: x.dtype })
          : negativeOutlierFactors.quantile(contamination)
      ) as Tensor;
      const labels = where(negativeOutlierFactors.less(offset), -1, 1).cast("i32") as Tensor;
      return { samples, densities, reaches, negativeOutlierFactors, labels, offset };
    },
    decision: (learned, x, options) => scoresOf(learned, x, options).sub(learned.offset) as Tensor,
    methods,
  },
);
