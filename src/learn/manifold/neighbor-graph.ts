/**
 * The nearest neighbours from which embeddings are drawn: those of each sample among all others, by a metric, or from a matrix of distances
 * that stands for the samples.
 */
import type { Tensor } from "../../tensor/index.js";
import type { DistanceOptions } from "../cluster/distances.js";
import { type Neighbors, neighborsOf, searched } from "../neighbors/search.js";

/** The options of a search among those of an embedding, which calls other things by the same names. */
export const searchFor = ({ metric, p, variances, covariance }: DistanceOptions): DistanceOptions => ({
  ...{ metric, p, variances, covariance },
});

/** The k nearest others of each sample, exactly. */
export function neighborGraph(operation: string, x: Tensor, k: number, options: DistanceOptions): Neighbors {
  const search = searchFor(options);
  return neighborsOf(operation, searched(operation, x, search), null, k, search);
}
