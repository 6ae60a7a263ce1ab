/** Distances between samples of flags, from four counts: in both, in one alone, in neither. Anything but 0 is a flag that is set. */
import type { Tensor } from "../../tensor/index.js";
import { shareOf } from "../core/share.js";

export const FLAG_METRICS = [
  "jaccard",
  "dice",
  "rogerstanimoto",
  "russellrao",
  "sokalmichener",
  "sokalsneath",
  "yule",
] as const;

/** A distance between flags. */
export type FlagMetric = (typeof FLAG_METRICS)[number];

/** Distances [a, b] of the rows of two matrices of flags. */
export function flagDistance(metric: FlagMetric): (a: Tensor, b: Tensor) => Tensor {
  return (a, b) => {
    const [x, y] = [a, b].map((each) => each.notEqual(0).cast(a.dtype)) as [Tensor, Tensor];
    const all = a.shape[1] as number;
    const both = x.matmul(y.T, { precision: "highest" }) as Tensor;
    const first = x.sum({ axis: 1, keepDims: true }).sub(both) as Tensor;
    const second = y.sum({ axis: 1 }).sub(both) as Tensor;
    const neither = both.add(first).add(second).neg().add(all) as Tensor;
    return measured(metric, both, first, second, neither);
  };
}

function measured(metric: FlagMetric, both: Tensor, first: Tensor, second: Tensor, neither: Tensor): Tensor {
  const apart = first.add(second) as Tensor;
  const twice = apart.mul(2) as Tensor;
  switch (metric) {
    case "jaccard":
      return shareOf(apart, both.add(apart) as Tensor);
    case "dice":
      return apart.div(both.mul(2).add(apart)) as Tensor;
    case "rogerstanimoto":
    case "sokalmichener":
      return twice.div(both.add(neither).add(twice)) as Tensor;
    case "russellrao":
      return apart.add(neither).div(both.add(apart).add(neither)) as Tensor;
    case "sokalsneath":
      return twice.div(both.add(twice)) as Tensor;
    case "yule": {
      const wrong = first.mul(second) as Tensor;
      return shareOf(wrong.mul(2) as Tensor, both.mul(neither).add(wrong) as Tensor);
    }
  }
}
