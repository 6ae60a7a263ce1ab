/** How far the neighbours in an embedding can be trusted (Venna & Kaski 2001): whether they are neighbours of the samples, too. */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import {
  checkDistances,
  checkSquareShape,
  DISTANCE_KINDS,
  type DistanceOptions,
  isPrecomputed,
  spaceFor,
} from "../cluster/distances.js";
import { numberSamples, type Placing, type Samples } from "../core/samples.js";
import { checkRows } from "../core/targets.js";
import { inBands } from "../neighbors/brute-force.js";
import { normOf } from "../neighbors/metric.js";
import { neighborGraph } from "./neighbor-graph.js";

/** Options of `trustworthiness`. The metric is that of the samples; places are compared by Euclidean distances. */
export interface TrustworthinessOptions extends DistanceOptions, Placing {
  /** Neighbours in the embedding, fewer than half of the samples: 5 unless told. */
  readonly nNeighbors?: number;
}

const OPTIONS: OptionKinds<TrustworthinessOptions> = {
  nNeighbors: "number",
  device: "text",
  dtype: "dtype",
  ...DISTANCE_KINDS,
};

/** Distances in memory at a time. */
const BAND = 1 << 24;

/**
 * 1 where the nearest in the embedding are the nearest of the samples; less by the ranks of those who are not, down to 0. About a half for
 * places by chance.
 */
export function trustworthiness(samples: Samples, embedding: Samples, options: TrustworthinessOptions = {}): Tensor {
  const operation = "trustworthiness";
  checkOptions(operation, options, OPTIONS);
  checkDistances(operation, options);
  const { nNeighbors: k = 5 } = options;
  const { matrix: x } = numberSamples.read(operation, samples, options, options);
  const { matrix: places } = numberSamples.read(
    operation,
    embedding,
    { device: x.device, dtype: x.dtype as "f32" },
    {},
  );
  checkRows(operation, "places", places, x);
  const count = x.shape[0] as number;
  if (checkWhole(operation, "nNeighbors", k, 1) >= count / 2) {
    throw new ArgumentError(
      `${operation}: nNeighbors is ${k}, and there are ${count} samples; it is fewer than half of them.`,
    );
  }
  const { indices } = neighborGraph(operation, places, k, {});
  const isGiven = isPrecomputed(options);
  if (isGiven) checkSquareShape(operation, "distances", x);
  const space = spaceFor(isGiven ? {} : options);
  const queries = isGiven ? x : space.embed(x);
  const { ranks } = inBands(queries, Math.max(1, Math.floor(BAND / count)), (band, rows) => {
    const distances = isGiven ? band : normOf(band.expandDims(1).sub(queries) as Tensor, space);
    const own = distances.takeAlongAxis(indices.take(rows, { axis: 0 }), { axis: 1 });
    // A sample is no neighbour of itself, and is nearer than all that lie elsewhere.
    const self = distances.takeAlongAxis(rows.expandDims(1), { axis: 1 }).less(own);
    const nearer = distances.expandDims(1).less(own.expandDims(2)).cast("i32").sum({ axis: 2 });
    return { ranks: nearer.sub(self.cast("i32")).add(1) as Tensor };
  });
  const excess = ranks.sub(k).maximum(0).cast(x.dtype).sum();
  return excess.mul(-2 / (count * k * (2 * count - 3 * k - 1))).add(1) as Tensor;
}
