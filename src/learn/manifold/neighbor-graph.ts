/**
 * The nearest neighbours from which embeddings are drawn: those of each sample among all others, by a metric, or from a matrix of distances
 * that stands for the samples.
 */
import { eye, type Tensor, where } from "../../tensor/index.js";
import { checkSquareShape, type DistanceOptions } from "../cluster/distances.js";
import type { Metric } from "../neighbors/metric.js";
import { type Neighbors, neighborsOf, searched } from "../neighbors/search.js";

/** The k nearest others of each sample, exactly. */
export function neighborGraph(operation: string, x: Tensor, k: number, { metric, p }: DistanceOptions): Neighbors {
  if (metric !== "precomputed") {
    const options = { metric: metric as Metric | undefined, p };
    return neighborsOf(operation, searched(x, options), null, k, options);
  }
  checkSquareShape(operation, "distances", x);
  const isOwn = eye(x.shape[0] as number, { device: x.device, dtype: x.dtype }).equal(1);
  const { values, indices } = where(isOwn, Number.POSITIVE_INFINITY, x).topK(k, { largest: false });
  return { distances: values as Tensor, indices: indices.cast("i32") as Tensor };
}
