/** The nearest among candidates: lists of places that may hold a place twice, and -1 for none. Trees, forests and graphs gather them. */
import { arange, concat, type Tensor, where } from "../../tensor/index.js";
import type { Nearest } from "./brute-force.js";
import { normOf, type Space } from "./metric.js";

/**
 * The k nearest of each row of candidates, the nearest first; of equals, the first among the samples. A candidate that stands twice
 * counts once. Where there are fewer than k, the rest is -1 at an infinite distance.
 */
export function nearestOf(reduced: Tensor, places: Tensor, k: number): Nearest {
  const order = places.argsort({ axis: 1 });
  const sorted = places.takeAlongAxis(order, { axis: 1 });
  const before = concat([sorted.at(":", ":1").mul(0).sub(1), sorted.at(":", ":-1")], { axis: 1 });
  const isNone = sorted.less(0).logicalOr(sorted.equal(before));
  const distances = where(isNone, Number.POSITIVE_INFINITY, reduced.takeAlongAxis(order, { axis: 1 }));
  const { values, indices } = distances.topK(k, { largest: false });
  const chosen = where(isNone, -1, sorted).takeAlongAxis(indices, { axis: 1 });
  return { reduced: values as Tensor, indices: chosen as Tensor };
}

/** The same of samples: the distances of queries, [queries, features], to candidates, [queries, candidates], are computed here. */
export function nearestAmong(samples: Tensor, queries: Tensor, places: Tensor, k: number, space: Space): Nearest {
  const candidates = samples.take(places.maximum(0), { axis: 0 });
  return nearestOf(normOf(queries.expandDims(1).sub(candidates) as Tensor, space), places, k);
}

/** Candidates without the queries themselves; `rows` are their places, or null where queries are no samples. */
export const withoutRows = (places: Tensor, rows: Tensor | null): Tensor =>
  rows ? (where(places.equal(rows.expandDims(1)), -1, places) as Tensor) : places;

/** The places of all samples, i32. */
export const placesOf = ({ shape, device }: Tensor): Tensor =>
  arange(shape[0] as number, { device, dtype: "i32" }) as Tensor;
