/** Gradient descent: sgd with momentum, with noise, and by signs (lion). */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Key } from "../../random/index.js";
import type { Tensor } from "../../tensor/index.js";
import { addNoise, type NoiseOptions } from "./gradients.js";
import { leafwise, zerosFor } from "./leafwise.js";
import { chain, type Optimizer } from "./optimizer.js";
import { checkShare, checkShares } from "./options.js";
import { type MaybeRate, negated, type Rate } from "./rate.js";
import { type Mask, selected } from "./selection.js";

/** Options of `sgd`. */
export interface SgdOptions {
  /** The share of the last direction that is kept; 0. */
  readonly momentum?: number;
  /** Nesterov's form: the gradient counts once more; false. */
  readonly nesterov?: boolean;
}

/** Steps against the gradient: `sgd(0.1, { momentum: 0.9 })`. */
export function sgd(rate: Rate = 0.01, options: SgdOptions = {}): Optimizer {
  checkOptions("sgd", options, { momentum: "number", nesterov: "flag" });
  const { momentum = 0, nesterov = false } = options;
  checkShare("sgd", "momentum", momentum);
  if (nesterov && momentum === 0) {
    throw new ArgumentError("sgd: nesterov is a form of momentum, and there is none; give momentum, such as 0.9.");
  }
  if (momentum !== 0) return momentumWith("sgd", rate, momentum, nesterov);
  const shared = ({ rate: now }: { readonly rate: number | Tensor }) => negated(now);
  return leafwise("sgd", {
    rate,
    options,
    isProportional: true,
    slots: {},
    shared,
    rule: (g, _, down) => [g.mul(down), {}],
  });
}

/** Steps along a sum of gradients that fades; of no rate, that sum. */
export function momentumWith(operation: string, rate: MaybeRate, momentum: number, nesterov: boolean): Optimizer {
  const shared = ({ rate: now }: { readonly rate: number | Tensor }) => negated(now);
  return leafwise(operation, {
    rate,
    options: { momentum, ...(nesterov && { nesterov }) },
    isProportional: true,
    slots: { momentum: zerosFor },
    shared,
    rule(g, { momentum: before }, down) {
      const kept = before.mul(momentum).add(g);
      return [(nesterov ? kept.mul(momentum).add(g) : kept).mul(down), { momentum: kept }];
    },
  });
}

/** sgd with noise that fades (Neelakantan et al. 2015): its variance is eta / (1 + step)^gamma. */
export function noisySgd(key: Key, rate: Rate = 0.01, options: NoiseOptions = {}): Optimizer {
  return chain(addNoise(key, options), sgd(rate));
}

/** Options of `lion`. */
export interface LionOptions {
  /** Shares of the average that are kept: in the direction, and for the next step; [0.9, 0.99]. */
  readonly decays?: readonly [number, number];
  /** Weights shrink by this share of the rate; 0. */
  readonly weightDecay?: number;
  /** Parameters whose weights shrink; all. */
  readonly mask?: Mask;
}

/** Signs of an average of gradients (Chen et al. 2023): one tensor of state; rates are a tenth of those of adam. */
export function lion(rate: Rate = 1e-4, options: LionOptions = {}): Optimizer {
  checkOptions("lion", options, { decays: "list", weightDecay: "number", mask: "any" });
  const { decays = [0.9, 0.99], weightDecay = 0, mask = true } = options;
  checkShares("lion", "decays", decays);
  const [now, next] = decays;
  return leafwise("lion", {
    rate,
    options,
    isProportional: true,
    slots: { mean: zerosFor },
    shared: ({ rate, params }) => ({ down: negated(rate), isDecayed: selected("lion", mask, params) }),
    rule(g, { mean }, { down, isDecayed }, { param, index }) {
      const direction = mean
        .mul(now)
        .add(g.mul(1 - now))
        .sign();
      const all = weightDecay !== 0 && isDecayed[index] ? direction.add(param.mul(weightDecay)) : direction;
      return [all.mul(down), { mean: mean.mul(next).add(g.mul(1 - next)) }];
    },
  });
}
