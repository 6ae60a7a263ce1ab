/**
 * Reduce on plateau: a factor that shrinks when a metric has stopped getting better. It is no function of the step: its state
 * is fed with the metric, at each step or at the end of each epoch, and both are tensors of the compiled program.
 */
import { checkChoice, checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { full, type Tensor, where, zeros } from "../../tensor/index.js";
import { checkValue } from "./schedule.js";

/** Options of `plateau`. */
export interface PlateauOptions {
  /** The scale is multiplied by this; 0.1. */
  readonly factor?: number;
  /** Metrics in a row that may be no better before it is; 10. */
  readonly patience?: number;
  /** Metrics after a reduction that do not count; 0. */
  readonly cooldown?: number;
  /** A metric is better if it is so by this share of the best; 1e-4. */
  readonly threshold?: number;
  /** The scale goes no lower; 0. */
  readonly floor?: number;
  /** "min": smaller metrics are better; "max": larger ones. */
  readonly mode?: "min" | "max";
}

/** The state of `plateau`: the scale, the best metric, and counts. */
export interface PlateauState {
  readonly scale: Tensor;
  readonly best: Tensor;
  readonly bad: Tensor;
  readonly resting: Tensor;
}

/** A scale that follows a metric. */
export interface Plateau {
  init(options?: { readonly device?: string }): PlateauState;
  /** The state after one more metric. */
  update(metric: Tensor, state: PlateauState): PlateauState;
}

/** A scale, 1 at first, that shrinks when a metric has not got better for `patience` times. As PyTorch's. */
export function plateau(options: PlateauOptions = {}): Plateau {
  checkOptions("plateau", options, {
    factor: "number",
    patience: "number",
    cooldown: "number",
    threshold: "number",
    floor: "number",
    mode: "text",
  });
  const { factor = 0.1, patience = 10, cooldown = 0, threshold = 1e-4, floor = 0, mode = "min" } = options;
  checkValue("plateau", "the factor", factor, 0);
  if (factor >= 1) throw new ArgumentError(`plateau: the factor is below 1, so that the scale shrinks, not ${factor}.`);
  checkWhole("plateau", "the patience", patience, 0);
  checkWhole("plateau", "the cooldown", cooldown, 0);
  checkChoice("plateau", "the mode", mode, ["min", "max"]);
  const sign = mode === "min" ? 1 : -1;
  return {
    init: ({ device } = {}) => ({
      scale: full([], 1, { dtype: "f32", device }),
      best: full([], sign * Infinity, { dtype: "f32", device }),
      bad: zeros([], { dtype: "i32", device }),
      resting: zeros([], { dtype: "i32", device }),
    }),
    update(metric, { scale, best, bad, resting }) {
      const value = metric.cast("f32").reshape([]);
      const bar = best.sub(best.abs().mul(sign * threshold));
      // Infinity less a share of infinity is no number.
      const isBetter = where(best.isInf(), value.isFinite(), mode === "min" ? value.less(bar) : value.greater(bar));
      const rest = resting.sub(1).maximum(0);
      const counted = where(isBetter.logicalOr(resting.greater(0)), 0, bad.add(1));
      const isOver = counted.greater(patience);
      return {
        scale: where(isOver, scale.mul(factor).maximum(floor), scale),
        best: where(isBetter, value, best),
        bad: where(isOver, 0, counted),
        resting: where(isOver, cooldown, rest),
      };
    },
  };
}
