/**
 * Scalers: columns shifted and divided, each by its own numbers, which are learned from samples. Missing values do not count, and stay
 * missing, so that an imputer may come after.
 */
import { ArgumentError } from "../../core/errors.js";
import { normalQuantile } from "../../core/normal-quantile.js";
import { shown } from "../../core/shown.js";
import { ones, type Tensor, where, zeros } from "../../tensor/index.js";
import { type FitOptions, weightsBeside } from "../core/estimator.js";
import { inputNames } from "../core/feature-names.js";
import type { Facts, Fitted, Method, Model } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor, type TransformMethods, transformer } from "../core/sorts.js";

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

/** The sort of what a scaler knows of columns: numbers that those of two batches make those of both. */
interface ByBatch<O> {
  /** Of a batch. */
  of(x: Tensor, weights: Tensor | null): Stats;
  /** Of two batches together. */
  joined(a: Stats, b: Stats): Stats;
  /** The scaler of a batch. */
  scaler(stats: Stats, options: O): { readonly shift: Tensor; readonly scale: Tensor };
}

/** Numbers of columns by name, [features]; they are learned beside `shift` and `scale`. */
type Stats = Readonly<Record<string, Tensor>>;

/** Methods of scalers that learn batch by batch. */
export interface BatchScalerMethods<O extends object> extends Readonly<Record<string, Method>> {
  /** Samples as they were before `transform`. */
  inverseTransform(model: Fitted<ScalerLearned>, samples: Samples): Tensor;
  /** The model that has also seen these samples. Their values are not checked, so that updates trace. */
  partialFit(
    model: Fitted<ScalerLearned, O>,
    samples: Samples,
    options?: Pick<FitOptions, "weights">,
  ): Model<ScalerLearned, O, TransformMethods<ScalerLearned, O> & BatchScalerMethods<O>>;
}

const learnedBy = <O>(rule: ByBatch<O>, stats: Stats, options: O): ScalerLearned => ({
  ...stats,
  ...rule.scaler(stats, options),
});

function batchMethods<O extends object>(
  rule: ByBatch<O>,
  maker: () => { readonly model: (learned: ScalerLearned, options: O, facts: Facts) => unknown },
): BatchScalerMethods<O> {
  return {
    ...methods,
    partialFit(model, samples, { weights } = {}) {
      const operation = `${model.kind}.partialFit`;
      const x = samplesFor(model as Fitted<unknown, object>, "partialFit", samples);
      const counted = weights === undefined ? null : weightsBeside(operation, weights, x);
      const { options, features, classes } = model;
      const stats = rule.joined(model.learned, rule.of(x, counted));
      return maker().model(learnedBy(rule, stats, options), options, { features, classes }) as never;
    },
  };
}

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

/** Extremes of columns. */
const rangeRule = {
  of: (x: Tensor) => ({ least: x.nanMin({ axis: 0 }) as Tensor, largest: x.nanMax({ axis: 0 }) as Tensor }),
  joined: (a: Stats, b: Stats) => ({
    least: extreme("minimum", a.least as Tensor, b.least as Tensor),
    largest: extreme("maximum", a.largest as Tensor, b.largest as Tensor),
  }),
};

/** The smaller or larger of two, or the one that is there. */
const extreme = (which: "minimum" | "maximum", a: Tensor, b: Tensor): Tensor =>
  where(a.isNaN(), b, where(b.isNaN(), a, a[which](b))) as Tensor;

/** Means and variances of columns, and the weight of the samples that they are of (Chan, Golub & LeVeque 1983). */
const momentsRule: ByBatch<StandardScalerOptions> = {
  of(x, weights) {
    const isThere = x.isNaN().logicalNot().cast(x.dtype);
    const average = (of: Tensor): Tensor => {
      if (!weights) return of.nanMean({ axis: 0 }) as Tensor;
      const counted = where(of.isNaN(), 0, weights.expandDims(1));
      return of.mul(counted.div(counted.sum({ axis: 0 }))).nanSum({ axis: 0 }) as Tensor;
    };
    const mean = average(x);
    const variance = average(x.sub(mean).square() as Tensor);
    const counts = (weights ? isThere.mul(weights.expandDims(1)) : isThere).sum({ axis: 0 }) as Tensor;
    return { mean, variance, counts, ...rangeRule.of(x) };
  },
  joined(a, b) {
    const counts = (a.counts as Tensor).add(b.counts as Tensor) as Tensor;
    const share = (of: Stats): Tensor => (of.counts as Tensor).div(where(counts.equal(0), 1, counts)) as Tensor;
    // A column without values has no mean; it counts nothing.
    const [inA, inB] = [a, b].map((of) => (of.counts as Tensor).greater(0)) as [Tensor, Tensor];
    const apart = where(inA.logicalAnd(inB), (b.mean as Tensor).sub(a.mean as Tensor), 0);
    const between = apart.square().mul(share(a)).mul(share(b));
    const part = (of: Stats, name: string, isIn: Tensor) => where(isIn, (of[name] as Tensor).mul(share(of)), 0);
    const variance = part(a, "variance", inA)
      .add(part(b, "variance", inB))
      .add(between) as Tensor;
    const mean = where(inA, (a.mean as Tensor).add(apart.mul(share(b))), b.mean as Tensor) as Tensor;
    return { mean, variance, counts, ...rangeRule.joined(a, b) };
  },
  scaler({ mean, variance, least, largest }, { withMean = true, withStd = true }) {
    const [shift, spread] = [mean as Tensor, (variance as Tensor).sqrt() as Tensor];
    // Rounding leaves a little variance in a column of equal values.
    const isConstant = (least as Tensor).equal(largest as Tensor);
    return {
      shift: withMean ? shift : (where(shift.isNaN(), 0, shift.mul(0)) as Tensor),
      scale: withStd
        ? divisor(where(isConstant, 0, spread) as Tensor)
        : (where(spread.isNaN(), 1, spread.mul(0).add(1)) as Tensor),
    };
  },
};

const standardMethods: BatchScalerMethods<StandardScalerOptions> = batchMethods(momentsRule, () => standardScaler);

/** Columns with mean 0 and standard deviation 1. */
export const standardScaler = transformer<ScalerLearned, StandardScalerOptions, typeof standardMethods>({
  kind: "standardScaler",
  options: { withMean: "flag", withStd: "flag" },
  learn: ({ x, weights }, options) => learnedBy(momentsRule, momentsRule.of(x, weights), options),
  transform: scaled,
  allowsMissing: true,
  featureNames: (_, features) => inputNames(features),
  methods: standardMethods,
});

/** Options of `minMaxScaler`. */
export interface MinMaxScalerOptions {
  /** The least and the largest value of a column afterwards: [0, 1] unless told. */
  readonly range?: readonly [number, number];
  /** False unless told. True: values beyond those of the fit stay within the range. */
  readonly clip?: boolean;
}

const minMaxRule: ByBatch<MinMaxScalerOptions> = {
  ...rangeRule,
  scaler({ least, largest }, { range: [low, high] = [0, 1] }) {
    const from = least as Tensor;
    const scale = divisor((largest as Tensor).sub(from) as Tensor).div(high - low) as Tensor;
    return { shift: from.sub(scale.mul(low)) as Tensor, scale };
  },
};

const minMaxMethods: BatchScalerMethods<MinMaxScalerOptions> = batchMethods(minMaxRule, () => minMaxScaler);

/** Columns between two bounds. */
export const minMaxScaler = transformer<ScalerLearned, MinMaxScalerOptions, typeof minMaxMethods>({
  kind: "minMaxScaler",
  options: { range: "list", clip: "flag" },
  check({ range = [0, 1] }) {
    if (range.length === 2 && range[0] < range[1]) return;
    throw new ArgumentError(`minMaxScaler: range is ${shown(range)}; it is two numbers, the smaller first.`);
  },
  learn: ({ x }, options) => learnedBy(minMaxRule, minMaxRule.of(x, null), options),
  transform(learned, x, { range: [low, high] = [0, 1], clip }) {
    const found = scaled(learned, x);
    return clip ? (found.clip(low, high) as Tensor) : found;
  },
  allowsMissing: true,
  featureNames: (_, features) => inputNames(features),
  methods: minMaxMethods,
});

const maxAbsRule: ByBatch<object> = {
  of: (x) => ({ largest: x.abs().nanMax({ axis: 0 }) as Tensor }),
  joined: (a, b) => ({ largest: extreme("maximum", a.largest as Tensor, b.largest as Tensor) }),
  scaler({ largest }) {
    const size = largest as Tensor;
    return { shift: where(size.isNaN(), 0, size.mul(0)) as Tensor, scale: divisor(size) };
  },
};

const maxAbsMethods: BatchScalerMethods<object> = batchMethods(maxAbsRule, () => maxAbsScaler);

/** Columns divided by their largest absolute value. Zeros stay zeros. */
export const maxAbsScaler = transformer<ScalerLearned, object, typeof maxAbsMethods>({
  kind: "maxAbsScaler",
  options: {},
  learn: ({ x }) => learnedBy(maxAbsRule, maxAbsRule.of(x, null), {}),
  transform: scaled,
  allowsMissing: true,
  featureNames: (_, features) => inputNames(features),
  methods: maxAbsMethods,
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
