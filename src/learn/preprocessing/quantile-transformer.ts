/**
 * Columns brought to a uniform or a normal distribution by their ranks: each value becomes its share among the quantiles of the fit.
 * Equal values get the middle of their shares, as in scikit-learn.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor, transformer } from "../core/sorts.js";
import { columnQuantiles, evenShares } from "./column-quantiles.js";

/** Options of `quantileTransformer`. */
export interface QuantileTransformerOptions {
  /** The number of quantiles: 1000 unless told, and never more than samples. */
  readonly nQuantiles?: number;
  /** "uniform" unless told: shares from 0 to 1. */
  readonly outputDistribution?: "uniform" | "normal";
}

/** Quantiles of each column, [features, quantiles], and their shares. */
export interface QuantileTransformerLearned {
  readonly quantiles: Tensor;
  readonly references: Tensor;
  readonly [name: string]: Tensor;
}

/** Normal values stand this far inside the ends, at least. */
const BOUNDS_THRESHOLD = 1e-7;
/** The least and the largest normal value: the quantiles of that margin, rounded as scikit-learn does. */
const NORMAL_RANGE = [-5.199337582605575, 5.19933758270342] as const;

/** The line through the points of rising `xs` at x, by line: equal points give the one that comes first, or last. */
function between(x: Tensor, xs: Tensor, ys: Tensor, side: "left" | "right"): Tensor {
  const last = (xs.shape[1] as number) - 1;
  if (last === 0) return ys.broadcastTo(x.shape) as Tensor;
  // The interval that holds x: closed at the end from which the line is drawn.
  const place = xs
    .searchSorted(x, { side })
    .sub(1)
    .maximum(0)
    .minimum(last - 1);
  const at = (list: Tensor, positions: Tensor): Tensor => list.takeAlongAxis(positions, { axis: 1 }) as Tensor;
  const [x0, x1] = [at(xs, place), at(xs, place.add(1) as Tensor)];
  const [y0, y1] = [at(ys, place), at(ys, place.add(1) as Tensor)];
  const width = x1.sub(x0);
  const slope = y1.sub(y0).div(where(width.equal(0), 1, width));
  const line = side === "right" ? y0.add(slope.mul(x.sub(x0))) : y1.add(slope.mul(x.sub(x1)));
  const first = at(ys, place.mul(0) as Tensor);
  const final = at(ys, place.mul(0).add(last) as Tensor);
  const [least, most] = [xs.at(":", ":1"), xs.at(":", `${last}:`)];
  const isBefore = side === "right" ? x.less(least) : x.lessEqual(least);
  const isAfter = side === "right" ? x.greaterEqual(most) : x.greater(most);
  return where(isBefore, first, where(isAfter, final, line)) as Tensor;
}

const normalShare = (x: Tensor): Tensor => x.div(Math.SQRT2).erf().add(1).div(2) as Tensor;
const normalQuantile = (share: Tensor): Tensor => share.mul(2).sub(1).erfInv().mul(Math.SQRT2) as Tensor;

/** Values outside the ends, as they become the first or the last; at the ends of a normal one there is a margin. */
function atEnds(x: Tensor, low: Tensor, high: Tensor, isNormal: boolean): readonly [Tensor, Tensor] {
  if (!isNormal) return [x.equal(low) as Tensor, x.equal(high) as Tensor];
  // Among large numbers of f32 the margin is lost to rounding, and the ends themselves are left.
  const isFirst = x.sub(BOUNDS_THRESHOLD).less(low).logicalOr(x.lessEqual(low));
  const isLast = x.add(BOUNDS_THRESHOLD).greater(high).logicalOr(x.greaterEqual(high));
  return [isFirst as Tensor, isLast as Tensor];
}

function shares({ quantiles, references }: QuantileTransformerLearned, given: Tensor, isNormal: boolean): Tensor {
  const x = given.cast(quantiles.dtype).T as Tensor;
  const ys = references.broadcastTo(quantiles.shape) as Tensor;
  const middle = between(x, quantiles, ys, "right")
    .add(between(x, quantiles, ys, "left"))
    .mul(0.5);
  const last = (quantiles.shape[1] as number) - 1;
  const [isFirst, isLast] = atEnds(
    x,
    quantiles.at(":", ":1") as Tensor,
    quantiles.at(":", `${last}:`) as Tensor,
    isNormal,
  );
  const share = where(isFirst, 0, where(isLast, 1, middle)) as Tensor;
  const found = isNormal ? normalQuantile(share).maximum(NORMAL_RANGE[0]).minimum(NORMAL_RANGE[1]) : share;
  return where(x.isNaN(), Number.NaN, found).T as Tensor;
}

const methods = {
  /** Samples as they were before `transform`, but for what lay outside the quantiles. */
  inverseTransform(model: Fitted<QuantileTransformerLearned, QuantileTransformerOptions>, samples: Samples): Tensor {
    const { quantiles, references } = model.learned;
    const isNormal = model.options.outputDistribution === "normal";
    const given = samplesFor(model, "inverseTransform", samples).cast(quantiles.dtype).T as Tensor;
    const share = isNormal ? normalShare(given) : given;
    const [first, last] = [quantiles.at(":", ":1"), quantiles.at(":", "-1:")] as [Tensor, Tensor];
    const zero = first.mul(0) as Tensor;
    const [isFirst, isLast] = atEnds(share, zero, zero.add(1) as Tensor, isNormal);
    const points = references.broadcastTo(quantiles.shape) as Tensor;
    const found = between(share, points, quantiles, "right");
    return where(given.isNaN(), Number.NaN, where(isFirst, first, where(isLast, last, found))).T as Tensor;
  },
};

/** Columns that are uniform, or normal, whatever they were: only the order of values counts. NaN stays. */
export const quantileTransformer = transformer<QuantileTransformerLearned, QuantileTransformerOptions, typeof methods>({
  kind: "quantileTransformer",
  options: { nQuantiles: "number", outputDistribution: "text" },
  allowsMissing: true,
  takesWeights: false,
  check({ nQuantiles = 1000, outputDistribution }) {
    checkWhole("quantileTransformer", "nQuantiles", nQuantiles, 1);
    checkChoice("quantileTransformer", "outputDistribution", outputDistribution, ["uniform", "normal"]);
  },
  learn({ x }, { nQuantiles = 1000 }) {
    const count = Math.min(nQuantiles, x.shape[0] as number);
    return {
      // Rounding must not carry a quantile past its neighbour.
      quantiles: columnQuantiles(x, count).cummax({ axis: 1 }) as Tensor,
      references: tensor(evenShares(count), { device: x.device, dtype: x.dtype }) as Tensor,
    };
  },
  transform: (learned, x, { outputDistribution }) => shares(learned, x, outputDistribution === "normal"),
  featureNames: (_, features) => inputNames(features),
  methods,
});
