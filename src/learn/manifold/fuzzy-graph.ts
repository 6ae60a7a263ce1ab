/**
 * The graph of UMAP (McInnes, Healy & Melville 2018): how much each neighbour belongs to a sample's neighbourhood, from 0 to 1. Distances
 * count from the nearest neighbour on, over a width of the sample's own. The union of what the two samples of a pair say is the weight of
 * their edge. Functions of tensors.
 */
import { type Tensor, where } from "../../tensor/index.js";
import { halvedLogs, symmetric } from "../neighbors/perplexity.js";

/** A width is at least this share of the mean distance. */
const LEAST = 1e-3;

/** Distances from which memberships fall, and how fast they do; one of each for a sample, [samples, 1]. */
interface Widths {
  readonly nearest: Tensor;
  readonly width: Tensor;
}

/**
 * The distance to the neighbour of this number, of those that lie elsewhere. Between whole numbers the distance is, too; where there are
 * fewer such neighbours, the last of them counts.
 */
function nearestOf(distances: Tensor, localConnectivity: number): Tensor {
  const k = distances.shape[1] as number;
  const zeros = distances.equal(0).cast("i32").sum({ axis: 1, keepDims: true });
  const at = (number: number): Tensor =>
    number === 0
      ? (distances.at(":", ":1").mul(0) as Tensor)
      : (distances.takeAlongAxis(zeros.add(number - 1).minimum(k - 1), { axis: 1 }) as Tensor);
  const whole = Math.floor(localConnectivity);
  const low = at(whole);
  return low.add(
    at(whole + 1)
      .sub(low)
      .mul(localConnectivity - whole),
  ) as Tensor;
}

const fallen = (distances: Tensor, nearest: Tensor, width: Tensor): Tensor =>
  distances.sub(nearest).maximum(0).div(width).neg().exp() as Tensor;

/** Widths with which the memberships of a sample's neighbours have the sum log2(nNeighbors). Distances come the least first. */
function widthsOf(distances: Tensor, nNeighbors: number, localConnectivity: number): Widths {
  const nearest = nearestOf(distances, localConnectivity);
  // The sample itself, at no distance, counts in the means.
  const means = distances.sum({ axis: 1, keepDims: true }).div(nNeighbors) as Tensor;
  const overall = means.mean();
  const scale = where(overall.equal(0), 1, overall) as Tensor;
  const sum = (logs: Tensor): Tensor =>
    fallen(distances, nearest, logs.exp().mul(scale) as Tensor).sum({ axis: 1, keepDims: true }) as Tensor;
  const logs = halvedLogs(means, (each) => sum(each).less(Math.log2(nNeighbors)) as Tensor);
  const found = logs.exp().mul(scale);
  const least = where(nearest.greater(0), means, scale).mul(LEAST);
  return { nearest, width: found.maximum(least) as Tensor };
}

/** How much each neighbour belongs to a sample's neighbourhood, [samples, k]; `nNeighbors` counts the sample itself, as one. */
export function membershipsOf(distances: Tensor, nNeighbors: number, localConnectivity: number): Tensor {
  const { nearest, width } = widthsOf(distances, nNeighbors, localConnectivity);
  return fallen(distances, nearest, width);
}

/**
 * The shares of pairs that edges from sample to neighbour carry: those of the two directions add up to the weight of the pair. It is
 * a + b − ab, where a and b are the memberships, for a mix of 1; ab for a mix of 0; the mean of both, by the mix, between.
 */
export function sharesOfUnion(memberships: Tensor, indices: Tensor, mix: number): Tensor {
  const back = symmetric(memberships, indices).sub(memberships).maximum(0);
  return memberships.mul(back.mul(0.5 - mix).add(mix)) as Tensor;
}
