/**
 * Partial least squares by one singular value decomposition (Wegelin 2000): the directions in which samples and targets vary most with one
 * another. A closed form, so that fits trace.
 */
import { svd } from "../../linalg/svd.js";
import { type Tensor, where } from "../../tensor/index.js";
import { estimator } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkWholeSetting } from "../core/settings.js";
import { numberTargets, samplesFor } from "../core/sorts.js";
import { type Numbers, numbersLike } from "../core/targets.js";

/** Options of `plsSvd`. */
export interface PlsSvdOptions {
  /** The number of components: 2 unless told. */
  readonly nComponents?: number;
  /** True unless told: columns of samples and targets are divided by their standard deviation. */
  readonly scale?: boolean;
}

/** Weights of samples, [features, components], and of targets, [outputs, components], with the shift and scale of both. */
export interface PlsSvdLearned {
  readonly xWeights: Tensor;
  readonly yWeights: Tensor;
  readonly xMean: Tensor;
  readonly yMean: Tensor;
  readonly xScale: Tensor;
  readonly yScale: Tensor;
  readonly [name: string]: Tensor;
}

const columnsOf = (y: Tensor): Tensor => (y.rank === 1 ? y.expandDims(1) : y) as Tensor;

function standardized(x: Tensor, isScaled: boolean) {
  const mean = x.mean({ axis: 0 }) as Tensor;
  const offset = x.sub(mean) as Tensor;
  const spread = offset
    .square()
    .sum({ axis: 0 })
    .div(Math.max(1, (x.shape[0] as number) - 1))
    .sqrt();
  const scale = where(spread.equal(0).logicalOr(!isScaled), 1, spread) as Tensor;
  return { mean, scale, x: offset.div(scale) as Tensor };
}

const methods = {
  /** Samples along the components, [samples, components]. */
  transform(model: Fitted<PlsSvdLearned, PlsSvdOptions>, samples: Samples): Tensor {
    const { xMean, xScale, xWeights } = model.learned;
    return samplesFor(model, "transform", samples).sub(xMean).div(xScale).matmul(xWeights) as Tensor;
  },
  /** Targets along the components, [samples, components]. */
  transformTargets(model: Fitted<PlsSvdLearned, PlsSvdOptions>, targets: Numbers): Tensor {
    const { yMean, yScale, yWeights } = model.learned;
    return columnsOf(numbersLike("plsSvd.transformTargets", targets, yMean))
      .sub(yMean)
      .div(yScale)
      .matmul(yWeights) as Tensor;
  },
};

/** The directions in which samples and targets vary most with one another. */
export const plsSvd = estimator<Numbers, PlsSvdLearned, PlsSvdOptions, typeof methods>({
  kind: "plsSvd",
  options: { nComponents: "number", scale: "flag" },
  takesWeights: false,
  targets: numberTargets,
  learn({ x, y }, { nComponents, scale = true }) {
    const targets = columnsOf(y as Tensor);
    const most = Math.min(x.shape[0] as number, x.shape[1] as number, targets.shape[1] as number);
    const count = checkWholeSetting("plsSvd.fit", "nComponents", nComponents ?? Math.min(2, most), most);
    const [left, right] = [standardized(x, scale), standardized(targets, scale)];
    const { u, vh } = svd(left.x.T.matmul(right.x) as Tensor);
    // The largest weight of each direction of the samples is positive.
    const largest = u.takeAlongAxis(u.abs().argmax({ axis: 0, keepDims: true }), { axis: 0 });
    const sign = where(largest.less(0), -1, 1);
    const firsts = (weights: Tensor): Tensor => weights.mul(sign).at(":", `:${count}`) as Tensor;
    return {
      xWeights: firsts(u as Tensor),
      yWeights: firsts(vh.T as Tensor),
      xMean: left.mean,
      yMean: right.mean,
      xScale: left.scale,
      yScale: right.scale,
    };
  },
  methods,
});
