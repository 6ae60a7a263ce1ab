/** The nearest samples, or those within a radius: searches without anything learned from them. */
import { checkChoice, checkOptions, checkWhole } from "../../core/arguments.js";
import { type Tensor, where } from "../../tensor/index.js";
import { estimator } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { noTargets } from "../core/sorts.js";
import { embedQueries } from "./metric.js";
import { type GraphMode, kNeighborsMethods, queriesFor } from "./neighbor-methods.js";
import { pairSpaceOf } from "./pair-metric.js";
import { checkRadius, listsWithin, overPairs, type RadiusNeighbors } from "./radius-search.js";
import { checkSearch, neighborsOf, SEARCH_KINDS, type Searched, type SearchOptions, searched } from "./search.js";

/** Options of `nearestNeighbors`. */
export interface NearestNeighborsOptions extends SearchOptions {
  /** How many neighbours `kNeighbors` gives: 5 unless told. */
  readonly nNeighbors?: number;
  /** The radius of `radiusNeighbors`: 1 unless told. */
  readonly radius?: number;
}

/** What `nearestNeighbors` learns: its samples, ready for searches. */
export interface NearestNeighborsLearned extends Searched {
  readonly [name: string]: Tensor | Searched["tree"];
}

/** Options of `radiusNeighbors`. */
export interface RadiusOptions {
  /** The radius that the estimator was told, unless told. */
  readonly radius?: number;
}

/** Options of `radiusNeighborsGraph`. */
export interface RadiusGraphOptions extends RadiusOptions {
  /** "connectivity" unless told. */
  readonly mode?: GraphMode;
}

type FittedNeighbors = Fitted<NearestNeighborsLearned, NearestNeighborsOptions>;

const embedded = ({ learned, options }: FittedNeighbors, queries: Tensor | null): Tensor | null =>
  queries && embedQueries(queries.cast(learned.samples.dtype) as Tensor, pairSpaceOf(options));

const methods = {
  ...kNeighborsMethods<NearestNeighborsLearned, NearestNeighborsOptions>(neighborsOf),
  /** The samples of the fit within a radius of each sample; of each sample of the fit, without itself, where samples are left out. */
  radiusNeighbors(
    model: FittedNeighbors,
    samples?: Samples | null,
    options: RadiusOptions = {},
  ): Promise<RadiusNeighbors> {
    const operation = "nearestNeighbors.radiusNeighbors";
    checkOptions(operation, options, { radius: "number" });
    const radius = checkRadius(operation, options.radius ?? model.options.radius ?? 1);
    const queries = embedded(model, queriesFor(model, "radiusNeighbors", samples));
    return listsWithin(model.learned.samples, queries, radius, model.options);
  },
  /** A matrix [samples, samples of the fit] of those within a radius: 1 or the distance, and 0 elsewhere. */
  radiusNeighborsGraph(model: FittedNeighbors, samples?: Samples | null, options: RadiusGraphOptions = {}): Tensor {
    const operation = "nearestNeighbors.radiusNeighborsGraph";
    checkOptions(operation, options, { radius: "number", mode: "text" });
    checkChoice(operation, "mode", options.mode, ["connectivity", "distance"]);
    const radius = checkRadius(operation, options.radius ?? model.options.radius ?? 1);
    const queries = embedded(model, queriesFor(model, "radiusNeighborsGraph", samples));
    return overPairs(model.learned.samples, queries, radius, model.options, (distances, isIn) =>
      options.mode === "distance" ? (where(isIn, distances, 0) as Tensor) : (isIn.cast(distances.dtype) as Tensor),
    );
  },
};

/** Searches of the nearest samples, exactly. */
export const nearestNeighbors = estimator({
  kind: "nearestNeighbors",
  options: { nNeighbors: "number", radius: "number", ...SEARCH_KINDS },
  takesWeights: false,
  targets: noTargets,
  check(options: NearestNeighborsOptions) {
    checkSearch("nearestNeighbors", options);
    checkWhole("nearestNeighbors", "nNeighbors", options.nNeighbors ?? 5, 1);
    checkRadius("nearestNeighbors", options.radius ?? 1);
  },
  allowsMissing: ({ metric }: NearestNeighborsOptions) => metric === "nanEuclidean",
  learn: ({ x }, options): NearestNeighborsLearned => ({ ...searched("nearestNeighbors.fit", x, options) }),
  methods,
});
