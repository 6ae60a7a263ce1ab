/**
 * All samples within a radius. How many there are is not known before. So lists of them are awaited: the host walks a tree or reads a bit
 * for each pair (within.ts). Sums over them need no lists: they are products with a matrix of weights, band by band, and trace.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { boxesOf, rowDistance, visitWithin } from "./boxes.js";
import { inBands } from "./brute-force.js";
import { placesOf } from "./candidates.js";
import { queriesOf, type Space } from "./metric.js";
import { pairSpaceOf, reducedBetween, reducedOfPairs } from "./pair-metric.js";
import type { SearchOptions } from "./search.js";
import { type NeighborWeights, neighborWeights } from "./weights.js";
import { forBits, hostValues, isForTree, pairBits } from "./within.js";

/** The samples within a radius of each query, as rows of a sparse matrix (CSR). Those of query i stand from `offsets[i]` up to `offsets[i + 1]`. */
export interface RadiusNeighbors {
  /** i32 [queries + 1]. */
  readonly offsets: Tensor;
  /** Places among the samples of the fit, i32 [pairs], rising for each query. */
  readonly indices: Tensor;
  /** [pairs]. */
  readonly distances: Tensor;
}

/** Distances in memory at a time. */
const BAND = 1 << 22;

/** Throws unless a radius is a distance. */
export function checkRadius(operation: string, radius: number): number {
  if (radius >= 0) return radius;
  throw new ArgumentError(`${operation}: radius is ${shown(radius)}; it is a number, zero or more.`);
}

/** The samples within a radius of each query; of each sample, without itself, where queries are null. All are embedded. */
export async function listsWithin(
  samples: Tensor,
  queries: Tensor | null,
  radius: number,
  options: SearchOptions,
): Promise<RadiusNeighbors> {
  const { algorithm = "auto" } = options;
  const space = pairSpaceOf(options);
  const asking = queries ?? queriesOf(samples, space);
  const lists: number[][] = Array.from({ length: asking.shape[0] as number }, () => []);
  const tell = (query: number, place: number): void => {
    if (queries || query !== place) (lists[query] as number[]).push(place);
  };
  const isInTree = algorithm === "auto" ? isForTree(samples, space) : algorithm === "kdTree";
  if (isInTree) await tellFromTree(samples, asking, space.reduced(radius), space, tell);
  else {
    for await (const { row, words, width } of pairBits(samples, asking, space.reduced(radius), space)) {
      for (let i = 0; i < words.length / width; i++) forBits(words, i * width, width, (place) => tell(row + i, place));
    }
  }
  return packed(samples, asking, lists, space);
}

async function tellFromTree(
  samples: Tensor,
  queries: Tensor,
  radius: number,
  space: Space,
  tell: (query: number, place: number) => void,
): Promise<void> {
  const features = samples.shape[1] as number;
  const [values, asked] = await Promise.all([hostValues(samples), hostValues(queries)]);
  const boxes = boxesOf(values, features);
  const distance = rowDistance(asked, boxes.points, features, space);
  for (let query = 0; query < (queries.shape[0] as number); query++) {
    visitWithin(boxes, asked, asked, query * features, radius, space, (node, isWithin) => {
      for (let place = boxes.starts[node] as number; place < (boxes.ends[node] as number); place++) {
        if (isWithin || distance(query, place) <= radius) tell(query, boxes.order[place] as number);
      }
    });
  }
}

/** Lists as one, with distances from the device. */
function packed(samples: Tensor, queries: Tensor, lists: readonly number[][], space: Space): RadiusNeighbors {
  const { device } = samples;
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, i) => {
    offsets[i + 1] = (offsets[i] as number) + list.length;
  });
  const indices = new Int32Array(offsets[lists.length] as number);
  const rows = new Int32Array(indices.length);
  lists.forEach((list, i) => {
    const [start, end] = [offsets[i] as number, offsets[i + 1] as number];
    indices.set(list, start);
    indices.subarray(start, end).sort();
    rows.fill(i, start, end);
  });
  const places = tensor(indices, { device }) as Tensor;
  const reduced = reducedOfPairs(queries, tensor(rows, { device }) as Tensor, samples, places, space);
  return {
    offsets: tensor(offsets, { device }) as Tensor,
    indices: places,
    distances: space.distances(reduced),
  };
}

/** Pairs of queries and samples by band: distances, and which are within the radius. */
export function overPairs(
  samples: Tensor,
  queries: Tensor | null,
  radius: number,
  options: SearchOptions,
  compute: (distances: Tensor, isIn: Tensor) => Tensor,
): Tensor {
  const space = pairSpaceOf(options);
  const most = Math.max(1, Math.floor(BAND / (samples.shape[0] as number)));
  const { values } = inBands(queries ?? queriesOf(samples, space), most, (band, rows) => {
    const reduced = reducedBetween(band, samples, space);
    const isNear = reduced.lessEqual(space.reduced(radius)) as Tensor;
    const isIn = queries ? isNear : isNear.logicalAnd(rows.expandDims(1).notEqual(placesOf(samples)));
    return { values: compute(space.distances(reduced), isIn as Tensor) };
  });
  return values as Tensor;
}

/** Weighted sums of what belongs to the samples within a radius, [queries, columns]; its last column is the sum of the weights. */
export function sumsWithin(
  operation: string,
  samples: Tensor,
  queries: Tensor,
  values: Tensor,
  radius: number,
  options: SearchOptions & { readonly weights?: NeighborWeights },
): Tensor {
  return overPairs(
    samples,
    queries,
    radius,
    options,
    (distances, isIn) => neighborWeights(operation, distances, options.weights, isIn).matmul(values) as Tensor,
  );
}
