/** Optimisers that divide by the root of squared gradients, without a mean: adagrad, rmsprop, adadelta. */
import { checkOptions } from "../../core/arguments.js";
import { fullLike, type Tensor } from "../../tensor/index.js";
import { average } from "./adam.js";
import { leafwise, zerosFor } from "./leafwise.js";
import { type Optimizer, wideDType } from "./optimizer.js";
import { checkNotNegative, checkShare } from "./options.js";
import { type MaybeRate, negated, type Rate } from "./rate.js";

/** Options of `adagrad`. */
export interface AdagradOptions {
  /** The first value of the sums; 0. */
  readonly initial?: number;
  /** Added to the root of the sums; 1e-10. */
  readonly epsilon?: number;
  /** The rate is divided by 1 + step · rateDecay; 0. */
  readonly rateDecay?: number;
}

/** Divides by the root of the sum of all squared gradients (Duchi et al. 2011). */
export function adagrad(rate: Rate = 1e-2, options: AdagradOptions = {}): Optimizer {
  checkOptions("adagrad", options, { initial: "number", epsilon: "number", rateDecay: "number" });
  return adagradWith("adagrad", rate, options);
}

/** `adagrad`; of no rate, its direction. */
export function adagradWith(operation: string, rate: MaybeRate, options: AdagradOptions): Optimizer {
  const { initial = 0, epsilon = 1e-10, rateDecay = 0 } = options;
  checkNotNegative(operation, "initial", initial);
  checkNotNegative(operation, "epsilon", epsilon);
  return leafwise(operation, {
    rate,
    options,
    isCounting: rateDecay !== 0,
    slots: { sum: (param) => fullLike(param, initial, { dtype: wideDType(param.dtype) }) as Tensor },
    shared: ({ count, rate }) =>
      rateDecay === 0 ? negated(rate) : count.sub(1).mul(rateDecay).add(1).reciprocal().mul(negated(rate)),
    rule(g, slots, down) {
      const sum = slots.sum.add(g.square());
      return [g.mul(down).div(sum.sqrt().add(epsilon)), { sum }];
    },
  });
}

/** Options of `rmsprop`. */
export interface RmspropOptions {
  /** The share of the average of squares that is kept; 0.99. */
  readonly decay?: number;
  /** Added to the root of the average; 1e-8. */
  readonly epsilon?: number;
  /** The mean's square is taken away: the root is a standard deviation; false. */
  readonly centered?: boolean;
  /** The share of the last direction that is kept; 0. */
  readonly momentum?: number;
}

/** Divides by the root of an average of squared gradients (Tieleman & Hinton 2012). */
export function rmsprop(rate: Rate = 1e-2, options: RmspropOptions = {}): Optimizer {
  checkOptions("rmsprop", options, { decay: "number", epsilon: "number", centered: "flag", momentum: "number" });
  return rmspropWith("rmsprop", rate, options);
}

/** `rmsprop`; of no rate, its direction. */
export function rmspropWith(operation: string, rate: MaybeRate, options: RmspropOptions): Optimizer {
  const { decay = 0.99, epsilon = 1e-8, centered = false, momentum = 0 } = options;
  checkShare(operation, "decay", decay);
  checkNotNegative(operation, "epsilon", epsilon);
  checkShare(operation, "momentum", momentum);
  const slots: Record<string, (param: Tensor) => Tensor> = { square: zerosFor };
  if (centered) slots.mean = zerosFor;
  if (momentum !== 0) slots.momentum = zerosFor;
  return leafwise(operation, {
    rate,
    options,
    slots,
    shared: ({ rate }) => negated(rate),
    rule(g, before, down) {
      const next: Record<string, Tensor> = { square: average(before.square as Tensor, g.square(), decay) };
      let variance = next.square as Tensor;
      if (centered) {
        next.mean = average(before.mean as Tensor, g, decay);
        // Rounding must not make it negative: its root would be no number.
        variance = variance.sub(next.mean.square()).maximum(0);
      }
      let direction = g.div(variance.sqrt().add(epsilon));
      if (momentum !== 0) {
        direction = (before.momentum as Tensor).mul(momentum).add(direction);
        next.momentum = direction;
      }
      return [direction.mul(down), next];
    },
  });
}

/** Options of `adadelta`. */
export interface AdadeltaOptions {
  /** The share of both averages that is kept; 0.9. */
  readonly decay?: number;
  /** Added below both roots; 1e-6. */
  readonly epsilon?: number;
}

/** Divides by the root of an average of squared gradients, times that of squared updates (Zeiler 2012). */
export function adadelta(rate: Rate = 1, options: AdadeltaOptions = {}): Optimizer {
  checkOptions("adadelta", options, { decay: "number", epsilon: "number" });
  const { decay = 0.9, epsilon = 1e-6 } = options;
  checkShare("adadelta", "decay", decay);
  checkNotNegative("adadelta", "epsilon", epsilon);
  return leafwise("adadelta", {
    rate,
    options,
    slots: { square: zerosFor, change: zerosFor },
    shared: ({ rate }) => negated(rate),
    rule(g, slots, down) {
      const square = average(slots.square, g.square(), decay);
      const direction = g.mul(slots.change.add(epsilon).sqrt()).div(square.add(epsilon).sqrt());
      return [direction.mul(down), { square, change: average(slots.change, direction.square(), decay) }];
    },
  });
}
