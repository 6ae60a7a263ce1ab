/** Optimisers with two averages as Adam, and another second one or another length: adabelief, yogi, lamb. */
import { checkOptions } from "../../core/arguments.js";
import { fullLike, type Tensor, where } from "../../tensor/index.js";
import { average, BOTH, MOMENTS, type MomentOptions, momentsOf } from "./adam.js";
import { leafwise, type StepScalars, zerosFor } from "./leafwise.js";
import { type Optimizer, wideDType } from "./optimizer.js";
import { checkNotNegative } from "./options.js";
import { type MaybeRate, negated, type Rate, reached } from "./rate.js";
import { type Mask, selected } from "./selection.js";

const corrections =
  (one: number, two: number) =>
  ({ count, rate }: StepScalars) => ({
    pace: reached(one, count).reciprocal().mul(negated(rate)),
    unbiased: reached(two, count).reciprocal(),
  });

/** Adam whose second average is of (gradient - mean)² (Zhuang et al. 2020): long steps where gradients are as expected. */
export function adabelief(rate: Rate = 1e-3, options: MomentOptions = {}): Optimizer {
  return beliefWith("adabelief", rate, options);
}

/** `adabelief`; of no rate, its direction. */
export function beliefWith(operation: string, rate: MaybeRate, options: MomentOptions): Optimizer {
  checkOptions(operation, options, MOMENTS);
  const { one, two, epsilon } = momentsOf(operation, options, 1e-16);
  return leafwise(operation, {
    rate,
    options,
    isCounting: true,
    isProportional: true,
    slots: BOTH,
    shared: corrections(one, two),
    rule(g, slots, { pace, unbiased }) {
      const mean = average(slots.mean, g, one);
      const square = average(slots.square, g.sub(mean).square(), two).add(epsilon);
      return [mean.mul(pace).div(square.mul(unbiased).sqrt().add(epsilon)), { mean, square }];
    },
  });
}

/** Options of `yogi`. */
export interface YogiOptions extends MomentOptions {
  /** The first value of both averages; 1e-6. */
  readonly initial?: number;
}

/** Adam whose second average moves by at most the squared gradient (Zaheer et al. 2018). Epsilon is 1e-3. */
export function yogi(rate: Rate = 1e-2, options: YogiOptions = {}): Optimizer {
  return yogiWith("yogi", rate, options);
}

/** `yogi`; of no rate, its direction. */
export function yogiWith(operation: string, rate: MaybeRate, options: YogiOptions): Optimizer {
  checkOptions(operation, options, { ...MOMENTS, initial: "number" });
  const { one, two, epsilon } = momentsOf(operation, options, 1e-3);
  const { initial = 1e-6 } = options;
  checkNotNegative(operation, "initial", initial);
  const first = (param: Tensor) => fullLike(param, initial, { dtype: wideDType(param.dtype) }) as Tensor;
  return leafwise(operation, {
    rate,
    options,
    isCounting: true,
    isProportional: true,
    slots: { mean: first, square: first },
    shared: corrections(one, two),
    rule(g, slots, { pace, unbiased }) {
      const mean = average(slots.mean, g, one);
      const now = g.square();
      const square = slots.square.sub(
        slots.square
          .sub(now)
          .sign()
          .mul(now)
          .mul(1 - two),
      );
      return [mean.mul(pace).div(square.mul(unbiased).sqrt().add(epsilon)), { mean, square }];
    },
  });
}

/** Options of `lamb`. */
export interface LambOptions extends MomentOptions {
  /** Weights shrink by this share of the rate; 0. */
  readonly weightDecay?: number;
  /** Parameters whose weights shrink; all. */
  readonly mask?: Mask;
}

/** Adam whose steps are as long as each parameter is large (You et al. 2020), for large batches. Epsilon is 1e-6. */
export function lamb(rate: Rate = 1e-3, options: LambOptions = {}): Optimizer {
  checkOptions("lamb", options, { ...MOMENTS, weightDecay: "number", mask: "any" });
  const { one, two, epsilon } = momentsOf("lamb", options, 1e-6);
  const { weightDecay = 0, mask = true } = options;
  return leafwise("lamb", {
    rate,
    options,
    isCounting: true,
    slots: { mean: zerosFor, square: zerosFor },
    shared: ({ count, rate, params }) => ({
      ofMean: reached(one, count).reciprocal(),
      ofSquare: reached(two, count).reciprocal(),
      down: negated(rate),
      isDecayed: selected("lamb", mask, params),
    }),
    rule(g, slots, { ofMean, ofSquare, down, isDecayed }, { param, index }) {
      const mean = average(slots.mean, g, one);
      const square = average(slots.square, g.square(), two);
      const plain = mean.mul(ofMean).div(square.mul(ofSquare).sqrt().add(epsilon));
      const direction = weightDecay !== 0 && isDecayed[index] ? plain.add(param.mul(weightDecay)) : plain;
      return [direction.mul(trust(param, direction).mul(down)), { mean, square }];
    },
  });
}

/** ‖param‖ / ‖direction‖; 1 where either is zero. */
export function trust(param: Tensor, direction: Tensor): Tensor {
  const [size, length] = [param.square().sum().sqrt(), direction.square().sum().sqrt()];
  const isPlain = size.equal(0).logicalOr(length.equal(0));
  return where(isPlain, 1, size.div(where(isPlain, 1, length))) as Tensor;
}
