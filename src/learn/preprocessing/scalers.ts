/**
 * Scalers: columns shifted and divided, each by its own numbers, which are learned from samples. Missing values do not count, and stay
 * missing, so that an imputer may come after.
 */
import { ArgumentError } from "../../core/errors.js";
import { normalQuantile } from "../../core/normal-quantile.js";
import { shown } from "../../core/shown.js";
import { ones, type Tensor, where, zeros } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor, transformer } from "../core/sorts.js";

/** What scalers learn: a column's value becomes (value − shift) / scale. */
export interface ScalerLearned {
  readonly shift: Tensor;
  readonly scale: Tensor;
  readonly [name: string]: Tensor;
}

const scaled = ({ shift, scale }: ScalerLearned, x: Tensor): Tensor => x.sub(shift).div(scale) as Tensor;

const methods = {
  /** Samples as they were before `transform`. */
  inverseTransform: (model: Fitted<ScalerLearned>, samples: Samples): Tensor => {
    const { shift, scale } = model.learned;
    return samplesFor(model, "inverseTransform", samples).mul(scale).add(shift) as Tensor;
  },
};

/** A scale to divide by: columns that do not vary stay as they are. */
const divisor = (spread: Tensor): Tensor => where(spread.equal(0), 1, spread) as Tensor;

const none = (x: Tensor): Tensor => zeros([x.shape[1] as number], { device: x.device, dtype: x.dtype }) as Tensor;
const unit = (x: Tensor): Tensor => ones([x.shape[1] as number], { device: x.device, dtype: x.dtype }) as Tensor;

/** Options of `standardScaler`. */
export interface StandardScalerOptions {
  /** True unless told: the mean is taken away. */
  readonly withMean?: boolean;
  /** True unless told: columns are divided by their standard deviation. */
  readonly withStd?: boolean;
}

/** Columns with mean 0 and standard deviation 1. */
export const standardScaler = transformer<ScalerLearned, StandardScalerOptions, typeof methods>({
  kind: "standardScaler",
  options: { withMean: "flag", withStd: "flag" },
  learn({ x, weights }, { withMean = true, withStd = true }) {
    const average = (of: Tensor): Tensor => {
      if (!weights) return of.nanMean({ axis: 0 }) as Tensor;
      const counted = where(of.isNaN(), 0, weights.expandDims(1));
      return of.mul(counted.div(counted.sum({ axis: 0 }))).nanSum({ axis: 0 }) as Tensor;
    };
    const mean = average(x);
    const variance = average(x.sub(mean).square() as Tensor);
    // Rounding leaves a little variance in a column of equal values.
    const isConstant = x.nanMax({ axis: 0 }).equal(x.nanMin({ axis: 0 }));
    const spread = where(isConstant, 0, variance.sqrt()) as Tensor;
    return { shift: withMean ? mean : none(x), scale: withStd ? divisor(spread) : unit(x) };
  },
  transform: scaled,
  allowsMissing: true,
  featureNames: (_, features) => inputNames(features),
  methods,
});

/** Options of `minMaxScaler`. */
export interface MinMaxScalerOptions {
  /** The least and the largest value of a column afterwards: [0, 1] unless told. */
  readonly range?: readonly [number, number];
  /** False unless told. True: values beyond those of the fit stay within the range. */
  readonly clip?: boolean;
}

/** Columns between two bounds. */
export const minMaxScaler = transformer<ScalerLearned, MinMaxScalerOptions, typeof methods>({
  kind: "minMaxScaler",
  options: { range: "list", clip: "flag" },
  check({ range = [0, 1] }) {
    if (range.length === 2 && range[0] < range[1]) return;
    throw new ArgumentError(`minMaxScaler: range is ${shown(range)}; it is two numbers, the smaller first.`);
  },
  learn({ x }, { range: [low, high] = [0, 1] }) {
    const [least, most] = [x.nanMin({ axis: 0 }), x.nanMax({ axis: 0 })];
    const scale = divisor(most.sub(least) as Tensor).div(high - low) as Tensor;
    return { shift: least.sub(scale.mul(low)) as Tensor, scale };
  },
  transform(learned, x, { range: [low, high] = [0, 1], clip }) {
    const found = scaled(learned, x);
    return clip ? (found.clip(low, high) as Tensor) : found;
  },
  allowsMissing: true,
  featureNames: (_, features) => inputNames(features),
  methods,
});

/** Columns divided by their largest absolute value. Zeros stay zeros. */
export const maxAbsScaler = transformer<ScalerLearned, object, typeof methods>({
  kind: "maxAbsScaler",
  options: {},
  learn: ({ x }) => ({ shift: none(x), scale: divisor(x.abs().nanMax({ axis: 0 }) as Tensor) }),
  transform: scaled,
  allowsMissing: true,
  featureNames: (_, features) => inputNames(features),
  methods,
});

/** Options of `robustScaler`. */
export interface RobustScalerOptions {
  readonly withCentering?: boolean;
  readonly withScaling?: boolean;
  /** Percentiles between which the spread is taken: [25, 75] unless told. */
  readonly quantileRange?: readonly [number, number];
  /** False unless told. True: the spread is divided by that of a standard normal distribution, so that normal columns have variance 1. */
  readonly unitVariance?: boolean;
}

/** Columns with median 0, divided by their spread between two percentiles: outliers count little. */
export const robustScaler = transformer<ScalerLearned, RobustScalerOptions, typeof methods>({
  kind: "robustScaler",
  options: { withCentering: "flag", withScaling: "flag", quantileRange: "list", unitVariance: "flag" },
  check({ quantileRange: [low, high] = [25, 75], unitVariance }) {
    if (unitVariance && !(low > 0 && high < 100)) {
      throw new ArgumentError(
        `robustScaler: quantileRange is ${shown([low, high])}; with unitVariance it is above 0 and below 100, where a normal distribution is finite.`,
      );
    }
    if (low >= 0 && low < high && high <= 100) return;
    throw new ArgumentError(
      `robustScaler: quantileRange is ${shown([low, high])}; it is two percentiles, the smaller first.`,
    );
  },
  learn({ x }, { withCentering = true, withScaling = true, quantileRange: [low, high] = [25, 75], unitVariance }) {
    const at = (share: number): Tensor => x.nanQuantile(share, { axis: 0 }) as Tensor;
    const ofNormal = unitVariance ? normalQuantile(high / 100) - normalQuantile(low / 100) : 1;
    return {
      shift: withCentering ? at(0.5) : none(x),
      scale: withScaling ? (divisor(at(high / 100).sub(at(low / 100)) as Tensor).div(ofNormal) as Tensor) : unit(x),
    };
  },
  transform: scaled,
  allowsMissing: true,
  featureNames: (_, features) => inputNames(features),
  methods,
});
