/**
 * The directions of optimisers, without a rate, for chains of one's own: `chain(scaleByAdam(), scaleByTrustRatio(), scale(-0.01))`.
 * Each is the rule of its optimiser, which steps against the direction by the rate.
 */
import { checkOptions } from "../../core/arguments.js";
import { type AdamOptions, adamWith, MOMENTS, type MomentOptions, radamWith } from "./adam.js";
import { beliefWith, trust, type YogiOptions, yogiWith } from "./adam-kin.js";
import { leafwise } from "./leafwise.js";
import type { Optimizer } from "./optimizer.js";
import { checkShare } from "./options.js";
import { NO_RATE } from "./rate.js";
import { momentumWith } from "./sgd.js";
import { type AdagradOptions, adagradWith, type RmspropOptions, rmspropWith } from "./squares.js";

/** Adam's direction: the mean of gradients by the root of that of their squares. */
export function scaleByAdam(options: AdamOptions = {}): Optimizer {
  checkOptions("scaleByAdam", options, { ...MOMENTS, amsgrad: "flag" });
  return adamWith("scaleByAdam", NO_RATE, { ...options, weightDecay: 0 });
}

/** The direction of `radam`. */
export const scaleByRadam = (options: MomentOptions = {}): Optimizer => radamWith("scaleByRadam", NO_RATE, options);

/** The direction of `adabelief`. */
export const scaleByBelief = (options: MomentOptions = {}): Optimizer => beliefWith("scaleByBelief", NO_RATE, options);

/** The direction of `yogi`. */
export const scaleByYogi = (options: YogiOptions = {}): Optimizer => yogiWith("scaleByYogi", NO_RATE, options);

/** Options of `scaleByRms` and `scaleByStddev`. */
export type ScaleByRmsOptions = Pick<RmspropOptions, "decay" | "epsilon">;

/** Gradients by the root of an average of their squares: the direction of `rmsprop`. */
export function scaleByRms(options: ScaleByRmsOptions = {}): Optimizer {
  checkOptions("scaleByRms", options, { decay: "number", epsilon: "number" });
  return rmspropWith("scaleByRms", NO_RATE, options);
}

/** Gradients by their moving standard deviation: the direction of `rmsprop` with `centered`. */
export function scaleByStddev(options: ScaleByRmsOptions = {}): Optimizer {
  checkOptions("scaleByStddev", options, { decay: "number", epsilon: "number" });
  return rmspropWith("scaleByStddev", NO_RATE, { ...options, centered: true });
}

/** Gradients by the root of the sum of all their squares: the direction of `adagrad`. */
export function scaleByRss(options: Pick<AdagradOptions, "initial" | "epsilon"> = {}): Optimizer {
  checkOptions("scaleByRss", options, { initial: "number", epsilon: "number" });
  return adagradWith("scaleByRss", NO_RATE, options);
}

/** A sum of gradients that fades: the direction of `sgd` with momentum. */
export function trace(decay = 0.9, options: { readonly nesterov?: boolean } = {}): Optimizer {
  checkShare("trace", "decay", decay);
  checkOptions("trace", options, { nesterov: "flag" });
  return momentumWith("trace", NO_RATE, decay, options.nesterov ?? false);
}

/** Each parameter's update as long as the parameter is large, as `lamb` has it; as it is where either is zero. */
export const scaleByTrustRatio = (): Optimizer =>
  leafwise("scaleByTrustRatio", {
    rate: NO_RATE,
    slots: {},
    shared: () => null,
    rule: (update, _slots, _shared, { param }) => [update.mul(trust(param, update)), {}],
  });
