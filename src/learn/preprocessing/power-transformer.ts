/**
 * Columns made more normal by a power of their own (Box and Cox 1964; Yeo and Johnson 2000). The exponent is the likeliest, found for all
 * columns at once on the device, by ever finer grids. NaN is left out.
 */
import { checkChoice } from "../../core/arguments.js";
import { type Tensor, tensor, where, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { inputNames } from "../core/feature-names.js";
import { checkNone } from "../core/finite.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor, transformer } from "../core/sorts.js";
import { evenShares } from "./column-quantiles.js";

/** Options of `powerTransformer`. */
export interface PowerTransformerOptions {
  /** "yeoJohnson" unless told, which takes any numbers; "boxCox" takes those above zero. */
  readonly method?: "yeoJohnson" | "boxCox";
  /** True unless told: columns have mean 0 and standard deviation 1 afterwards. */
  readonly standardize?: boolean;
}

/** The exponent of each column, and how it is shifted and scaled afterwards. */
export interface PowerTransformerLearned {
  readonly lambdas: Tensor;
  readonly shift: Tensor;
  readonly scale: Tensor;
  readonly [name: string]: Tensor;
}

/** A power and its way back, elementwise; `lambda` broadcasts. */
interface Power {
  forward(x: Tensor, lambda: Tensor): Tensor;
  backward(y: Tensor, lambda: Tensor): Tensor;
  /** `forward`, up to a constant, divided by e^(λ·middle); of a column with one sign, whose middle is of its slopes. */
  centred(x: Tensor, lambda: Tensor, middle: Tensor): Tensor;
  /** The logarithm of the slope is so many times (λ - 1). */
  slope(x: Tensor): Tensor;
}

/** (eˡˣ - 1) / l, which is x where l is 0. */
function grown(x: Tensor, l: Tensor): Tensor {
  const isZero = l.equal(0);
  return where(
    isZero,
    x,
    x
      .mul(l)
      .expm1()
      .div(where(isZero, 1, l)),
  ) as Tensor;
}

/** The way back: log(1 + l y) / l, which is y where l is 0. */
function shrunk(y: Tensor, l: Tensor): Tensor {
  const isZero = l.equal(0);
  return where(
    isZero,
    y,
    y
      .mul(l)
      .log1p()
      .div(where(isZero, 1, l)),
  ) as Tensor;
}

/** `grown`, up to a constant, divided by e^(l·middle). */
const grownFrom = (x: Tensor, l: Tensor, middle: Tensor): Tensor => grown(x.sub(middle) as Tensor, l);

const boxCox: Power = {
  forward: (x, lambda) => grown(x.log() as Tensor, lambda),
  backward: (y, lambda) => shrunk(y, lambda).exp() as Tensor,
  centred: (x, lambda, middle) => grownFrom(x.log() as Tensor, lambda, middle),
  slope: (x) => x.log() as Tensor,
};

/** Below zero the power is of 1 - x, with the exponent mirrored at 1. */
const yeoJohnson: Power = {
  forward(x, lambda) {
    const size = x.abs().log1p() as Tensor;
    const below = grown(size, lambda.neg().add(2) as Tensor).neg();
    return where(x.less(0), below, grown(size, lambda)) as Tensor;
  },
  backward(y, lambda) {
    const below = shrunk(y.minimum(0).neg() as Tensor, lambda.neg().add(2) as Tensor)
      .expm1()
      .neg();
    return where(y.less(0), below, shrunk(y.maximum(0) as Tensor, lambda).expm1()) as Tensor;
  },
  centred(x, lambda, middle) {
    const size = x.abs().log1p() as Tensor;
    const below = grownFrom(size, lambda.neg().add(2) as Tensor, middle.neg() as Tensor).neg();
    return where(x.less(0), below, grownFrom(size, lambda, middle)) as Tensor;
  },
  slope: (x) => x.abs().log1p().mul(x.sign()) as Tensor,
};

const powerOf = ({ method = "yeoJohnson" }: PowerTransformerOptions): Power =>
  method === "boxCox" ? boxCox : yeoJohnson;

/** First exponents to look at, in order: from mild ones to those of columns far from zero that hardly vary. */
const FIRST = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 16, 32, 64, 128, 256]
  .flatMap((l) => (l === 0 ? [0] : [-l, l]))
  .sort((a, b) => a - b);
/** Exponents of a later round, evenly between the neighbours of the best. */
const POINTS = 17;

/** The columns of a fit, and what the likelihood needs of them. */
interface Columns {
  readonly x: Tensor;
  readonly weight: Tensor;
  readonly count: Tensor;
  /** The middle of the slopes' logarithms where a column has one sign, and 0 where it has both. */
  readonly middle: Tensor;
  /** The sum of those that are left. */
  readonly slope: Tensor;
}

function columnsOf(power: Power, given: Tensor): Columns {
  const isMissing = given.isNaN();
  const x = where(isMissing, 1, given) as Tensor;
  const weight = isMissing.logicalNot().cast(x.dtype) as Tensor;
  const count = weight.sum({ axis: 0 }) as Tensor;
  const slopes = power.slope(x).mul(weight).sum({ axis: 0 });
  const hasOneSign =
    power === boxCox
      ? true
      : given
          .nanMin({ axis: 0 })
          .mul(given.nanMax({ axis: 0 }))
          .greaterEqual(0);
  return {
    x,
    weight,
    count,
    middle: where(hasOneSign, slopes.div(count), 0) as Tensor,
    slope: where(hasOneSign, 0, slopes) as Tensor,
  };
}

/**
 * How unlikely exponents are, [exponents, features]: half the logarithm of the variance, less the slope's. Where a column has one sign, its
 * scale e^(λ·middle) is taken out beforehand and the slope cancels, so that nothing overflows and no digits are lost.
 */
function costs(power: Power, { x, weight, count, middle, slope }: Columns, lambdas: Tensor): Tensor {
  const lambda = lambdas.expandDims(1) as Tensor;
  const y = power.centred(x, lambda, middle).mul(weight);
  const mean = y.sum({ axis: 1, keepDims: true }).div(count);
  const variance = y.sub(mean).square().mul(weight).sum({ axis: 1 }).div(count);
  return variance
    .log()
    .mul(0.5)
    .sub(lambdas.mul(slope.div(count))) as Tensor;
}

/** The exponents under which columns are likeliest to be normal. Each round looks between the neighbours of the best one so far. */
function likeliest(power: Power, given: Tensor): Tensor {
  const { device, dtype } = given;
  const columns = columnsOf(power, given);
  const features = given.shape[1] as number;
  const column = (values: readonly number[]): Tensor =>
    (tensor(values as number[], { device, dtype }) as Tensor).expandDims(1) as Tensor;
  const around = (lambdas: Tensor): { readonly low: Tensor; readonly high: Tensor } => {
    const found = costs(power, columns, lambdas);
    const best = where(found.isNaN(), Number.POSITIVE_INFINITY, found).argmin({ axis: 0 }).cast("i32").expandDims(0);
    const at = (places: Tensor): Tensor => lambdas.takeAlongAxis(places, { axis: 0 }).squeeze(0) as Tensor;
    return {
      low: at(best.sub(1).maximum(0) as Tensor),
      high: at(best.add(1).minimum((lambdas.shape[0] as number) - 1) as Tensor),
    };
  };
  const first = around(column(FIRST).broadcastTo([FIRST.length, features]) as Tensor);
  const steps = column(Array.from(evenShares(POINTS)));
  // A minimum is known to the root of the rounding of its value.
  const rounds = dtype === "f64" ? 12 : 6;
  const { low, high } = whileLoop(
    ({ round }) => round.less(rounds) as Tensor,
    ({ low, high, round }) => ({
      ...around(low.add(high.sub(low).mul(steps)) as Tensor),
      round: round.add(1) as Tensor,
    }),
    { ...first, round: zeros([], { device, dtype: "i32" }) as Tensor },
  );
  // Columns that do not vary have no likeliest exponent, and stay as they are.
  const isConstant = given.nanMax({ axis: 0 }).equal(given.nanMin({ axis: 0 }));
  return where(isConstant, 1, low.add(high).mul(0.5)) as Tensor;
}

const methods = {
  /** Samples as they were before `transform`. */
  inverseTransform(model: Fitted<PowerTransformerLearned, PowerTransformerOptions>, samples: Samples): Tensor {
    const { lambdas, shift, scale } = model.learned;
    const y = samplesFor(model, "inverseTransform", samples).mul(scale).add(shift) as Tensor;
    return powerOf(model.options).backward(y, lambdas);
  },
};

/** Columns raised to the power that makes them most normal. NaN stays. */
export const powerTransformer = transformer<PowerTransformerLearned, PowerTransformerOptions, typeof methods>({
  kind: "powerTransformer",
  options: { method: "text", standardize: "flag" },
  allowsMissing: true,
  takesWeights: false,
  check: ({ method }) => checkChoice("powerTransformer", "method", method, ["yeoJohnson", "boxCox"]),
  async checkSamples(operation, x, features, { method }) {
    if (method !== "boxCox") return;
    const remedy = 'the method "boxCox" takes numbers above zero; "yeoJohnson" takes any';
    await checkNone(operation, "the sample", x, x.lessEqual(0) as Tensor, remedy, features);
  },
  learn({ x }, options) {
    const power = powerOf(options);
    const lambdas = likeliest(power, x);
    const y = power.forward(x, lambdas);
    const isConstant = x.nanMax({ axis: 0 }).equal(x.nanMin({ axis: 0 }));
    const spread = y.nanStd({ axis: 0 });
    const [mean, scale] = [y.nanMean({ axis: 0 }), where(isConstant.logicalOr(spread.equal(0)), 1, spread)];
    const { standardize = true } = options;
    return {
      lambdas,
      shift: (standardize ? mean : mean.mul(0)) as Tensor,
      scale: (standardize ? scale : scale.mul(0).add(1)) as Tensor,
    };
  },
  transform: ({ lambdas, shift, scale }, x, options) =>
    powerOf(options).forward(x, lambdas).sub(shift).div(scale) as Tensor,
  featureNames: (_, features) => inputNames(features),
  methods,
});
