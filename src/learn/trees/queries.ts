/**
 * Queries: samples that are ranked among themselves, as rows of a matrix [queries, documents] that the shorter ones fill in part. The
 * ranker's loss and score are made of it.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { countingLike, type Tensor, tensor, where, zeros } from "../../tensor/index.js";
import type { Label } from "../core/targets.js";

/** The query of each sample; samples of a query need not stand together. */
export type Groups = ArrayLike<Label>;

/** Queries by number, in the order of their first samples; all samples are one query where none is told. */
export function queryOfSamples(operation: string, groups: Groups | undefined, samples: number): Int32Array {
  if (groups === undefined) return new Int32Array(samples);
  if (typeof groups !== "object" || groups === null || typeof groups.length !== "number") {
    throw new ArgumentError(`${operation}: groups are a list with the query of each sample, not ${shown(groups)}.`);
  }
  if (groups.length !== samples) {
    throw new ShapeError(`${operation}: there are ${samples} samples and ${groups.length} groups.`);
  }
  const numbers = new Map<Label, number>();
  return Int32Array.from(groups, (group) => {
    const known = numbers.get(group);
    if (known !== undefined) return known;
    numbers.set(group, numbers.size);
    return numbers.size - 1;
  });
}

/** Samples in the matrix of their queries. */
export interface QueryMatrix {
  /** Values of samples as [queries, documents]; empty places repeat the first sample. */
  spread(values: Tensor): Tensor;
  /** The way back: [samples]. */
  gather(values: Tensor): Tensor;
  /** Whether there is a document, bool [queries, documents]. */
  readonly isThere: Tensor;
  /** Samples of the query of each sample, [samples]. */
  readonly sizes: Float64Array;
  readonly queries: number;
}

export function queryMatrix(queryOf: Int32Array, device: string): QueryMatrix {
  const queries = queryOf.reduce((most, query) => Math.max(most, query), -1) + 1;
  const counts = new Int32Array(queries);
  const column = Int32Array.from(queryOf, (query) => {
    counts[query] = (counts[query] as number) + 1;
    return (counts[query] as number) - 1;
  });
  const width = Math.max(...counts);
  const rows = new Int32Array(queries * width);
  const filled = new Int32Array(queries * width);
  const slots = Int32Array.from(queryOf, (query, row) => query * width + (column[row] as number));
  slots.forEach((slot, row) => {
    rows[slot] = row;
    filled[slot] = 1;
  });
  const shape = [queries, width];
  const [place, back] = [tensor(rows, { device, shape }), tensor(slots, { device })];
  return {
    spread: (values) => values.flatten().take(place) as Tensor,
    gather: (values) => values.flatten().take(back) as Tensor,
    isThere: tensor(filled, { device, shape }).notEqual(0).realize() as Tensor,
    sizes: Float64Array.from(queryOf, (query) => counts[query] as number),
    queries,
  };
}

/** The rank of each document by its score, from 0 on; of equal scores the earlier document is first. Empty places have no meaning. */
export function ranksOf(scores: Tensor, isThere: Tensor): Tensor {
  const width = scores.shape[1] as number;
  const place = countingLike(scores, width);
  const [own, other] = [scores.expandDims(2), scores.expandDims(1)];
  const isEarlier = place.reshape([1, 1, width]).less(place.reshape([1, width, 1]));
  const isAhead = other.greater(own).logicalOr(other.equal(own).logicalAnd(isEarlier));
  return isAhead.logicalAnd(isThere.expandDims(1)).cast(scores.dtype).sum({ axis: 2 }) as Tensor;
}

/** 1/log2(rank + 2). */
export const discountOf = (ranks: Tensor): Tensor => ranks.add(2).log().reciprocal().mul(Math.LN2) as Tensor;

/** 2^relevance - 1. */
export const gainOf = (relevance: Tensor): Tensor => relevance.mul(Math.LN2).expm1() as Tensor;

/** The gain of the best `most` documents, discounted by their ranks, [queries, 1]. */
export function discountedGain(scores: Tensor, relevance: Tensor, isThere: Tensor, most: number): Tensor {
  const ranks = ranksOf(scores, isThere);
  const counts = isThere.logicalAnd(ranks.less(most));
  const gains = gainOf(relevance).mul(discountOf(ranks));
  return where(counts, gains, zeros([], { device: scores.device, dtype: scores.dtype })).sum({
    axis: 1,
    keepDims: true,
  }) as Tensor;
}

/** NDCG of each query, [queries, 1]; 1 where no document is relevant. */
export function ndcgOf(scores: Tensor, relevance: Tensor, isThere: Tensor, most: number): Tensor {
  const best = discountedGain(relevance, relevance, isThere, most);
  const found = discountedGain(scores, relevance, isThere, most);
  return where(best.greater(0), found.div(where(best.greater(0), best, 1)), 1) as Tensor;
}
