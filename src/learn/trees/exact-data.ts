/**
 * Samples and targets as exact growth needs them (exact-growth.ts): features first, each value with its rank, targets as sums can take
 * them. Decision trees, forests and isolation forests prepare them once for all of their trees.
 */
import { backendFor, concat, type Tensor, zeros } from "../../tensor/index.js";

/** How impure a node is, and with it which splits are good. */
export type TreeCriterion = "gini" | "entropy" | "squared" | "friedman" | "absolute" | "poisson";

/** Samples for exact growth. */
export interface ExactData {
  /** Values and their ranks, [features, samples]. */
  readonly values: Tensor;
  readonly ranks: Tensor;
  /** Targets of sums' dtype, [samples, columns]: positions of classes, or numbers. */
  readonly targets: Tensor;
  /** What impurities sum besides targets, [samples]. */
  readonly spreads: Tensor;
  readonly criterion: TreeCriterion;
  /** Samples in the order of their targets, i32, where medians are looked for; rows of nodes stand in it. */
  readonly byTarget: Tensor | null;
  /** Classes, or targets. */
  readonly channels: number;
  readonly samples: number;
  readonly features: number;
}

export const isByClass = (criterion: TreeCriterion): boolean => criterion === "gini" || criterion === "entropy";

/** The dtype of sums over samples. */
export const sumType = (device: string): "f64" | "f32" => (backendFor(device, "fit").hasDoubles ? "f64" : "f32");

/** Samples `x` [samples, features] with targets [samples] or [samples, outputs]; `classes` where they are positions of classes. */
export function exactData(x: Tensor, y: Tensor, criterion: TreeCriterion, classes: number): ExactData {
  const [samples, features] = x.shape as [number, number];
  const values = x.T.realize() as Tensor;
  const columns = y.rank === 1 ? y.expandDims(1) : y;
  const targets = columns.cast(sumType(x.device)).realize() as Tensor;
  return {
    values,
    ranks: ranksOf(values),
    targets,
    spreads: spreadsOf(targets, criterion),
    criterion,
    byTarget: criterion === "absolute" ? (targets.squeeze(1).argsort().cast("i32").realize() as Tensor) : null,
    channels: isByClass(criterion) ? classes : (targets.shape[1] as number),
    samples,
    features,
  };
}

/** How many smaller values of its feature there are, equal ones counted once. */
function ranksOf(values: Tensor): Tensor {
  const [features, samples] = values.shape as [number, number];
  const sorted = values.sort({ axis: 1 }).realize() as Tensor;
  const first = zeros([features, 1], { device: values.device, dtype: "i32" });
  const isNew = concat(
    [
      first,
      sorted
        .at(":", "1:")
        .greater(sorted.at(":", `:${samples - 1}`))
        .cast("i32"),
    ],
    {
      axis: 1,
    },
  );
  const rank = isNew.cumsum({ axis: 1 }).cast("i32").realize() as Tensor;
  return rank.takeAlongAxis(sorted.searchSorted(values), { axis: 1 }).cast("i32").realize() as Tensor;
}

/** y² for variances, y log y for deviances of Poisson. */
function spreadsOf(targets: Tensor, criterion: TreeCriterion): Tensor {
  if (criterion === "squared" || criterion === "friedman") return targets.square().sum({ axis: 1 }).realize() as Tensor;
  if (criterion === "poisson") {
    return targets.maximum(Number.MIN_VALUE).log().mul(targets).sum({ axis: 1 }).realize() as Tensor;
  }
  return zeros([targets.shape[0] as number], { device: targets.device, dtype: targets.dtype }).realize() as Tensor;
}

/** The impurity of a node, from its weight, its spread and the sums of its channels. */
export function impurityOf(criterion: TreeCriterion, weight: number, spread: number, sums: ArrayLike<number>): number {
  if (criterion === "absolute") return spread / weight;
  let total = 0;
  for (let c = 0; c < sums.length; c++) total += impurityTerm(criterion, (sums[c] as number) / weight);
  if (criterion === "gini") return 1 - total;
  if (criterion === "entropy") return -total;
  return (spread / weight - total) / sums.length;
}

function impurityTerm(criterion: TreeCriterion, mean: number): number {
  if (criterion === "gini" || criterion === "squared" || criterion === "friedman") return mean * mean;
  if (mean <= 0) return 0;
  return mean * (criterion === "entropy" ? Math.log2(mean) : Math.log(mean));
}
