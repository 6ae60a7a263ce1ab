/**
 * First centres of k-means: samples drawn by chance, or spread over the data by k-means++ (Arthur & Vassilvitskii 2007), in its greedy
 * form: of several draws, the one that lowers the inertia most.
 */
import { choice, type Key, key, split } from "../../random/index.js";
import { concat, isTensor, type Tensor } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";

/** A number that decides the random numbers of a fit, or a key, so that `vmap` can go over keys. */
export type Seed = number | Tensor;

/** The key of a seed, beside the samples. */
export const keyOf = (seed: Seed, { device }: Tensor): Key => (isTensor(seed) ? (seed as Key) : key(seed, { device }));

/** Distinct samples as centres, [clusters, features]; those of more weight are likelier. */
export function randomCenters(from: Key, x: Tensor, weights: Tensor | null, clusters: number): Tensor {
  const count = x.shape[0] as number;
  const p = weights ?? undefined;
  return x.take(choice(from, count, { shape: [clusters], replace: false, p }), { axis: 0 }) as Tensor;
}

/** Columns of the least tile of a product: 2 + ln k draws, as in scikit-learn, cost less when filled up to it. */
const TILE = 8;

/** Samples as centres, [clusters, features], each drawn in proportion to its squared distance to those before. */
export function spreadCenters(from: Key, x: Tensor, weights: Tensor | null, clusters: number): Tensor {
  const count = x.shape[0] as number;
  const trials = TILE * Math.ceil((2 + Math.floor(Math.log(clusters))) / TILE);
  const [firstKey, restKey] = split(from) as [Key, Key];
  const squares = x.square().sum({ axis: 1, keepDims: true }) as Tensor;
  const distances = (candidates: Tensor): Tensor =>
    x
      .matmul(candidates.T)
      .mul(-2)
      .add(squares)
      .add(candidates.square().sum({ axis: 1 }))
      .maximum(0) as Tensor;
  const p = weights ?? undefined;
  const first = x.take(choice(firstKey, count, { shape: [1], p }), { axis: 0 }) as Tensor;
  if (clusters === 1) return first;
  const round = (closest: Tensor, roundKey: Tensor): readonly [Tensor, Tensor] => {
    const chances = (weights ? closest.mul(weights) : closest) as Tensor;
    // Sums of chances are rounded: the last draw may lie beyond them.
    const draws = choice(roundKey as Key, count, { shape: [trials], p: chances }).minimum(count - 1);
    const candidates = x.take(draws, { axis: 0 }) as Tensor;
    const reached = distances(candidates).minimum(closest.expandDims(1)) as Tensor;
    const best = (weights ? reached.mul(weights.expandDims(1)) : reached).sum({ axis: 0 }).argmin();
    return [reached.take(best, { axis: 1 }) as Tensor, candidates.take(best, { axis: 0 }) as Tensor];
  };
  const [, rest] = scan(round, distances(first).squeeze(1) as Tensor, split(restKey, [clusters - 1]) as Tensor);
  return concat([first, rest]) as Tensor;
}
