/**
 * Losses of vectors that shall lie near one another or apart: cosine, contrastive (Hadsell et al. 2006), triplets (Schroff et
 * al. 2015), and the contrastive losses of whole batches, InfoNCE (van den Oord et al. 2018) and NT-Xent (Chen et al. 2020).
 * Vectors lie along the last axis.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { concat, eye, type Tensor, where } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";
import { logSoftmax } from "../activations/rows.js";
import {
  checkLossOptions,
  checkSameShape,
  checkWithin,
  fittingPair,
  type LossOptions,
  reduceLosses,
  slopedWhereCounted,
  widePredictions,
} from "./loss.js";
import type { MarginOptions } from "./margins.js";

/** Options of `triplet`. */
export interface TripletOptions extends MarginOptions {
  /** The norm that measures distances: 2 unless told. */
  readonly order?: number;
  /** Also keeps the positive apart from the negative: the nearer of the two is taken. False unless told. */
  readonly swap?: boolean;
}

/** Options of losses that compare all vectors of a batch. */
export interface TemperatureOptions extends LossOptions {
  /** Divides the similarities: small ones look at the nearest vectors alone. */
  readonly temperature?: number;
}

/** Options of `infoNCE`. */
export interface InfoNCEOptions extends TemperatureOptions {
  /** Whether vectors are scaled to length 1 first; true unless told. */
  readonly normalize?: boolean;
  /** The mean of both directions, queries among keys and keys among queries, as in CLIP. False unless told. */
  readonly symmetric?: boolean;
}

/** 1 - the cosine of the angle between prediction and target, for each vector. A vector of zeros has cosine 0 to all. */
export function cosineSimilarity(predictions: Tensor, targets: Tensor, options: LossOptions = {}): Tensor {
  checkLossOptions("cosineSimilarity", options, {});
  const [p, t] = fittingPair("cosineSimilarity", predictions, targets, options);
  const cosine = unit(p).mul(unit(t)).sum({ axis: -1 });
  return reduceLosses("cosineSimilarity", cosine.neg().add(1), options);
}

/**
 * d² for pairs that belong together (target 1), max(0, margin - d)² for others (target 0), where the prediction d is their
 * distance. The margin is 1 unless told.
 */
export function contrastive(distances: Tensor, targets: Tensor, options: MarginOptions = {}): Tensor {
  checkLossOptions("contrastive", options, { margin: "number" });
  const [d, t] = fittingPair("contrastive", distances, targets, options);
  const apart = d
    .neg()
    .add(options.margin ?? 1)
    .relu();
  return reduceLosses("contrastive", t.mul(d.square()).add(t.neg().add(1).mul(apart.square())), options);
}

/**
 * max(0, d(anchor, positive) - d(anchor, negative) + margin), for each triple: `triplet(anchors, { positive, negative })`. The margin
 * is 1 unless told.
 */
export function triplet(
  anchors: Tensor,
  targets: { readonly positive: Tensor; readonly negative: Tensor },
  options: TripletOptions = {},
): Tensor {
  checkLossOptions("triplet", options, { margin: "number", order: "number", swap: "flag" });
  if (typeof targets !== "object" || targets === null) {
    throw new ArgumentError("triplet: the targets are { positive, negative }, tensors like the anchors.");
  }
  const { margin = 1, order = 2, swap = false } = options;
  const [anchor, near] = fittingPair("triplet", anchors, targets.positive, options);
  const [, far] = fittingPair("triplet", anchor, targets.negative, options);
  const [positive, negative] = [slopedWhereCounted(near, options.weights), slopedWhereCounted(far, options.weights)];
  const distance = (a: Tensor, b: Tensor) => a.sub(b).norm({ axis: -1, order });
  const toNegative = distance(anchor, negative);
  const away = swap ? toNegative.minimum(distance(positive, negative)) : toNegative;
  return reduceLosses("triplet", distance(anchor, positive).sub(away).add(margin).relu(), options);
}

/**
 * Cross-entropy of each query [n, d] among all keys [n, d]: row i of the keys belongs to row i of the queries, and the others
 * are wrong ones. The temperature is 0.1 unless told.
 */
export function infoNCE(queries: Tensor, keys: Tensor, options: InfoNCEOptions = {}): Tensor {
  checkLossOptions("infoNCE", options, { temperature: "number", normalize: "flag", symmetric: "flag" });
  const { temperature = 0.1, normalize = true, symmetric = false } = options;
  const [q, k] = vectorPairs("infoNCE", queries, keys, temperature);
  const scores = (normalize ? unit(q) : q).matmul((normalize ? unit(k) : k).T).div(temperature);
  const losses = rightScores(scores).neg();
  return reduceLosses("infoNCE", symmetric ? losses.add(rightScores(scores.T).neg()).mul(0.5) : losses, options);
}

/**
 * The loss of SimCLR: two views [n, d] of the same n things. Each of the 2n vectors shall find the other view of its thing
 * among all others by cosine. Losses are [2n], those of the first views first. The temperature is 0.5 unless told.
 */
export function ntXent(first: Tensor, second: Tensor, options: TemperatureOptions = {}): Tensor {
  checkLossOptions("ntXent", options, { temperature: "number" });
  const { temperature = 0.5 } = options;
  const [a, b] = vectorPairs("ntXent", first, second, temperature);
  const count = a.shape[0] as number;
  const all = unit(concat([a, b]));
  const isSelf = eye(2 * count, 2 * count, { dtype: "bool", device: all.device });
  const scores = where(isSelf, -Infinity, all.matmul(all.T).div(temperature));
  // Row i belongs with column i + n, and row i + n with column i.
  const losses = rightScores(scores.roll(count, { axis: 1 })).neg();
  return reduceLosses("ntXent", losses, options);
}

/** The log-probability of the diagonal, for each row of scores. */
const rightScores = (scores: Tensor): Tensor => logSoftmax(scores).diagonal();

/** Vectors of length 1; a vector of zeros stays, without a slope. */
function unit(x: Tensor): Tensor {
  if (x.size === 0) return x;
  // Divided by the largest magnitude first: squares of very large or small numbers leave the range of the dtype. The result does not depend on it.
  const largest = stopGradient(x.abs().max({ axis: -1, keepDims: true }));
  const scaled = x.div(where(largest.equal(0), 1, largest));
  const length = scaled.norm({ axis: -1, keepDims: true });
  return scaled.div(where(length.equal(0), 1, length));
}

function vectorPairs(operation: string, a: Tensor, b: Tensor, temperature: number): [Tensor, Tensor] {
  checkWithin(operation, "the temperature", temperature, temperature > 0, "a number above 0");
  const first = widePredictions(operation, a, "the first argument");
  const second = widePredictions(operation, b, "the second argument").cast(first.dtype);
  checkSameShape(operation, first, second, "the second argument");
  if (first.rank !== 2) {
    throw new ShapeError(`${operation}: takes vectors in rows, [n, d], not ${formatShape(first.shape)}.`);
  }
  return [first, second];
}
