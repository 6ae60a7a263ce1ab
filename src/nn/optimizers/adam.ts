/** Adam (Kingma & Ba 2015) and those that change a line of it: adamw, nadam, adamax, radam. */
import { checkOptions } from "../../core/arguments.js";
import { type Tensor, where } from "../../tensor/index.js";
import { leafwise, type Slots, type StepScalars, zerosFor } from "./leafwise.js";
import type { Optimizer } from "./optimizer.js";
import { checkNotNegative, checkShares } from "./options.js";
import { type MaybeRate, negated, type Rate, reached, times } from "./rate.js";
import { type Mask, selected } from "./selection.js";

/** Options that all of Adam's kin have. */
export interface MomentOptions {
  /** Shares of the averages that are kept: of gradients, and of their squares; [0.9, 0.999]. */
  readonly decays?: readonly [mean: number, square: number];
  /** Added to the root of the squares; 1e-8. */
  readonly epsilon?: number;
}

/** Options of `adam`. */
export interface AdamOptions extends MomentOptions {
  /** The largest average of squares so far is used; false. */
  readonly amsgrad?: boolean;
}

/** Options of `adamw`. */
export interface AdamWOptions extends AdamOptions {
  /** Weights shrink by this share of the rate; 0.01. */
  readonly weightDecay?: number;
  /** Parameters whose weights shrink; all. */
  readonly mask?: Mask;
}

/** Options with their defaults, checked. */
export function momentsOf(operation: string, options: MomentOptions, defaultEpsilon = 1e-8) {
  const { decays = [0.9, 0.999], epsilon = defaultEpsilon } = options;
  checkShares(operation, "decays", decays);
  const [one, two] = decays;
  checkNotNegative(operation, "epsilon", epsilon);
  return { one, two, epsilon };
}

export const MOMENTS = { decays: "list", epsilon: "number" } as const;

/** First values of the averages of gradients and of their squares. */
export const BOTH = { mean: zerosFor, square: zerosFor };

/** A moving average. */
export const average = (before: Tensor, now: Tensor, kept: number): Tensor => before.mul(kept).add(now.mul(1 - kept));

/** Adam: `adam(1e-3)`. */
export function adam(rate: Rate = 1e-3, options: AdamOptions = {}): Optimizer {
  checkOptions("adam", options, { ...MOMENTS, amsgrad: "flag" });
  return adamWith("adam", rate, options);
}

/** Adam with weight decay apart from the gradients (Loshchilov & Hutter 2019): `adamw(1e-3, { weightDecay: 0.1 })`. */
export function adamw(rate: Rate = 1e-3, options: AdamWOptions = {}): Optimizer {
  checkOptions("adamw", options, { ...MOMENTS, amsgrad: "flag", weightDecay: "number", mask: "any" });
  return adamWith("adamw", rate, { weightDecay: 0.01, ...options });
}

/** Adam, with weight decay or without; of no rate, its direction. */
export function adamWith(operation: string, rate: MaybeRate, options: AdamWOptions): Optimizer {
  const { one, two, epsilon } = momentsOf(operation, options);
  const { amsgrad = false, weightDecay = 0, mask = true } = options;
  const shared = ({ count, rate, params }: StepScalars) => ({
    // Divisions by the corrections are done here, once, and not for every parameter.
    pace: reached(one, count).reciprocal().mul(negated(rate)),
    unbiased: reached(two, count).reciprocal(),
    shrink: times(rate, -weightDecay),
    isDecayed: selected(operation, mask, params),
  });
  type Shared = ReturnType<typeof shared>;
  type Leaf = { readonly param: Tensor; readonly index: number };
  const updateOf = (mean: Tensor, square: Tensor, { pace, unbiased, shrink, isDecayed }: Shared, leaf: Leaf) => {
    const update = mean.mul(pace).div(square.mul(unbiased).sqrt().add(epsilon));
    return weightDecay !== 0 && isDecayed[leaf.index] ? update.add(leaf.param.mul(shrink)) : update;
  };
  const next = (g: Tensor, { mean, square }: Slots<"mean" | "square">) => ({
    mean: average(mean, g, one),
    square: average(square, g.square(), two),
  });
  if (!amsgrad) {
    return leafwise(operation, {
      rate,
      options,
      isCounting: true,
      isProportional: true,
      slots: BOTH,
      shared,
      rule(g, slots, scalars, leaf) {
        const { mean, square } = next(g, slots);
        return [updateOf(mean, square, scalars, leaf), { mean, square }];
      },
    });
  }
  return leafwise(operation, {
    rate,
    options,
    isCounting: true,
    isProportional: true,
    slots: { ...BOTH, largest: zerosFor },
    shared,
    rule(g, slots, scalars, leaf) {
      const { mean, square } = next(g, slots);
      const largest = slots.largest.maximum(square);
      return [updateOf(mean, largest, scalars, leaf), { mean, square, largest }];
    },
  });
}

/** Adam by the largest gradient instead of the squares. */
export function adamax(rate: Rate = 2e-3, options: MomentOptions = {}): Optimizer {
  checkOptions("adamax", options, MOMENTS);
  const { one, two, epsilon } = momentsOf("adamax", options);
  return leafwise("adamax", {
    rate,
    options,
    isCounting: true,
    isProportional: true,
    slots: { mean: zerosFor, largest: zerosFor },
    shared: ({ count, rate }) => reached(one, count).reciprocal().mul(negated(rate)),
    rule(g, slots, pace) {
      const mean = average(slots.mean, g, one);
      const largest = slots.largest.mul(two).maximum(g.abs().add(epsilon));
      return [mean.mul(pace).div(largest), { mean, largest }];
    },
  });
}

/** Options of `nadam`. */
export interface NAdamOptions extends MomentOptions {
  /** How fast the momentum rises to its decay; 0.004. */
  readonly momentumDecay?: number;
}

/** Adam with Nesterov's momentum (Dozat 2016), whose momentum rises: decay · (1 - 0.96^(step · momentumDecay) / 2). */
export function nadam(rate: Rate = 2e-3, options: NAdamOptions = {}): Optimizer {
  checkOptions("nadam", options, { ...MOMENTS, momentumDecay: "number" });
  const { one, two, epsilon } = momentsOf("nadam", options);
  const { momentumDecay = 0.004 } = options;
  const momentumAt = (count: Tensor) =>
    count
      .mul(momentumDecay * Math.log(0.96))
      .exp()
      .mul(-0.5 * one)
      .add(one);
  return leafwise("nadam", {
    rate,
    options,
    isCounting: true,
    isProportional: true,
    slots: BOTH,
    scalars: { product: { first: 1, next: (before, count) => before.mul(momentumAt(count)) } },
    shared({ count, rate, kept }) {
      const product = kept.product as Tensor;
      const [now, next] = [momentumAt(count), momentumAt(count.add(1))];
      return {
        ofGradient: now.neg().add(1).div(product.neg().add(1)).mul(negated(rate)),
        ofMean: next.div(product.mul(next).neg().add(1)).mul(negated(rate)),
        unbiased: reached(two, count).reciprocal(),
      };
    },
    rule(g, slots, { ofGradient, ofMean, unbiased }) {
      const mean = average(slots.mean, g, one);
      const square = average(slots.square, g.square(), two);
      const root = square.mul(unbiased).sqrt().add(epsilon);
      return [g.mul(ofGradient).add(mean.mul(ofMean)).div(root), { mean, square }];
    },
  });
}

/** Adam that begins as sgd with momentum, until the squares are known well enough (Liu et al. 2020). */
export function radam(rate: Rate = 1e-3, options: MomentOptions = {}): Optimizer {
  return radamWith("radam", rate, options);
}

/** `radam`; of no rate, its direction. */
export function radamWith(operation: string, rate: MaybeRate, options: MomentOptions): Optimizer {
  checkOptions(operation, options, MOMENTS);
  const { one, two, epsilon } = momentsOf(operation, options);
  const most = 2 / (1 - two) - 1;
  return leafwise(operation, {
    rate,
    options,
    isCounting: true,
    isProportional: true,
    slots: BOTH,
    shared({ count, rate }) {
      const corrected = reached(two, count);
      const length = count.mul(corrected.neg().add(1)).mul(-2).div(corrected).add(most);
      const ratio = length.sub(4).mul(length.sub(2)).div(length);
      const rectified = ratio
        .mul(most / ((most - 4) * (most - 2)))
        .maximum(0)
        .sqrt();
      const isKnown = length.greater(5);
      return {
        pace: reached(one, count).reciprocal().mul(negated(rate)),
        // One of the two is zero: no choice is left for the parameters.
        adaptive: where(isKnown, rectified.mul(corrected.sqrt()), 0),
        plain: where(isKnown, 0, corrected.mul(0).add(1)),
      };
    },
    rule(g, slots, { pace, adaptive, plain }) {
      const mean = average(slots.mean, g, one);
      const square = average(slots.square, g.square(), two);
      const factor = adaptive.div(square.sqrt().add(epsilon)).add(plain);
      return [mean.mul(pace).mul(factor), { mean, square }];
    },
  });
}
