/** Transforms of gradients, for chains: clipping, centring, weight decay, noise, scales, missing numbers. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { foldIn, type Key, normal } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { isTensor, type Tensor, where } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";
import { unflatten } from "../../transforms/trees.js";
import { type PlateauOptions, type PlateauState, plateau } from "../schedules/plateau.js";
import type { Schedule } from "../schedules/schedule.js";
import { firstCount, type Leaf, leafwise } from "./leafwise.js";
import {
  besideParams,
  flatParams,
  type Optimizer,
  partOf,
  printedAs,
  scalarIn,
  shownOptions,
  widened,
} from "./optimizer.js";
import { checkNotNegative } from "./options.js";
import type { Rate } from "./rate.js";
import { type Mask, selected } from "./selection.js";

/** A transform of one gradient at a time, without state. */
const perGradient = (operation: string, f: (gradient: Tensor, leaf: Leaf) => Tensor): Optimizer =>
  leafwise(operation, {
    rate: 1,
    slots: {},
    shared: () => null,
    rule: (gradient, _slots, _shared, leaf) => [f(gradient, leaf), {}],
  });

/** Every element of the gradients between -limit and limit. */
export function clip(limit: number): Optimizer {
  checkLimit("clip", limit);
  return perGradient("clip", (gradient) => gradient.clip(-limit, limit));
}

/** The factor that makes a norm at most `limit`. A norm of zero divides to infinity, which is above 1. */
const factorFor = (squares: Tensor, limit: number): Tensor => squares.rsqrt().mul(limit).minimum(1);

/** The gradient of each parameter shortened to a norm of at most `limit`. */
export function clipByNorm(limit: number): Optimizer {
  checkLimit("clipByNorm", limit);
  return perGradient("clipByNorm", (gradient) => gradient.mul(factorFor(gradient.square().sum(), limit)));
}

/** All gradients shortened together, to a norm of at most `limit` of all of them. */
export function clipByGlobalNorm(limit: number): Optimizer {
  checkLimit("clipByGlobalNorm", limit);
  return printedAs(`clipByGlobalNorm(${limit})`, {
    init: () => ({}),
    update(gradients, state, params) {
      const flat = flatParams("clipByGlobalNorm", params);
      const given = besideParams("clipByGlobalNorm", "the gradients", flat, gradients).map(widened);
      if (given.length === 0) return [gradients, state];
      const factor = factorFor(squaredNorm(given), limit);
      const shortened = given.map((each) => {
        const product = each.mul(factor);
        return product.dtype === each.dtype ? product : (product.cast(each.dtype) as Tensor);
      });
      return [unflatten(flat.structure, shortened) as typeof params, state];
    },
  });
}

/** The sum of the squares of all elements. */
const squaredNorm = (all: readonly Tensor[]): Tensor =>
  all.map((each) => each.square().sum()).reduce((sum, each) => sum.add(each));

/** The norm of all tensors of a tree together, as of gradients. */
export function globalNorm(tree: unknown): Tensor {
  const { leaves } = flatParams("globalNorm", tree);
  if (leaves.length === 0) throw new ArgumentError("globalNorm: the tree has no tensors.");
  return squaredNorm(leaves.map(widened)).sqrt();
}

/**
 * Gradients less their mean over the inputs of each output (Yong et al. 2020), where there are two axes or more. Matrices
 * are [inputs, outputs] as those of `dense`; kernels of convolutions are [outputs, ...inputs].
 */
export function centralize(): Optimizer {
  return perGradient("centralize", (gradient) => {
    if (gradient.rank < 2) return gradient;
    const axis = gradient.rank === 2 ? [0] : gradient.shape.map((_, i) => i).slice(1);
    return gradient.sub(gradient.mean({ axis, keepDims: true }));
  });
}

/** Gradients plus `decay` times the parameters: before `sgd` that is an L2 penalty. */
export function addDecayedWeights(decay: Rate, options: { readonly mask?: Mask } = {}): Optimizer {
  checkOptions("addDecayedWeights", options, { mask: "any" });
  const { mask = true } = options;
  return leafwise("addDecayedWeights", {
    rate: decay,
    slots: {},
    shared: ({ rate, params }) => ({ rate, isDecayed: selected("addDecayedWeights", mask, params) }),
    rule: (gradient, _slots, { rate, isDecayed }, { param, index }) => [
      isDecayed[index] ? gradient.add(param.mul(rate)) : gradient,
      {},
    ],
  });
}

/** Gradients times a number. */
export const scale = (factor: number | Tensor): Optimizer => scaledBy("scale", factor);

/** Gradients times a number of each step; the first step is 0. */
export function scaleBySchedule(schedule: Schedule): Optimizer {
  if (typeof schedule !== "function") {
    throw new ArgumentError(`scaleBySchedule: takes a schedule, as schedules.cosine(1, 1000), not ${shown(schedule)}.`);
  }
  return scaledBy("scaleBySchedule", schedule);
}

const scaledBy = (operation: string, factor: Rate): Optimizer =>
  leafwise(operation, {
    rate: factor,
    hasFactor: true,
    slots: {},
    shared: ({ rate }) => rate,
    rule: (gradient, _, now) => [gradient.mul(now), {}],
  });

/** Zeros in place of elements of the gradients that are no numbers. */
export const zeroNaNs = (): Optimizer =>
  perGradient("zeroNaNs", (gradient) => where(gradient.isNaN(), 0, gradient) as Tensor);

/** Options of `addNoise` and `noisySgd`. */
export interface NoiseOptions {
  /** The variance of the first step; 0.01. */
  readonly eta?: number;
  /** How fast the variance falls; 0.55. */
  readonly gamma?: number;
}

/** Normal noise on the gradients, of variance eta / (1 + step)^gamma. The key is part of the state. */
export function addNoise(key: Key, options: NoiseOptions = {}): Optimizer {
  checkKey(key, "addNoise", "");
  checkOptions("addNoise", options, { eta: "number", gamma: "number" });
  const { eta = 0.01, gamma = 0.55 } = options;
  checkNotNegative("addNoise", "eta", eta);
  return printedAs(`addNoise(a key${shownOptions(options)})`, {
    init: (params) => ({ count: firstCount(flatParams("addNoise", params)), key: stopGradient(key) as Tensor }),
    update(gradients, state, params) {
      const flat = flatParams("addNoise", params);
      const given = besideParams("addNoise", "the gradients", flat, gradients).map(widened);
      const count = scalarIn("addNoise", state, "count");
      const own = partOf("addNoise", state, "key") as Key;
      const now = foldIn(own, count);
      const deviation = count
        .cast("f32")
        .add(1)
        .log()
        .mul(-gamma / 2)
        .exp()
        .mul(Math.sqrt(eta));
      const noisy = given.map((each, i) => {
        const dtype = each.dtype as "f32" | "f64";
        return each.add(normal(foldIn(now, i), each.shape, { dtype }).mul(deviation));
      });
      return [unflatten(flat.structure, noisy) as typeof params, { count: count.add(1), key: own }];
    },
  });
}

/**
 * Updates times a scale that shrinks when the loss has stopped falling: put it last in a chain, and give the loss to
 * `update(gradients, state, params, { value: loss })`. `schedules.plateau` follows a metric of epochs instead.
 */
export function scaleByPlateau(options: PlateauOptions = {}): Optimizer {
  const follower = plateau(options);
  return printedAs(`scaleByPlateau(${shownOptions(options).slice(2)})`, {
    init: (params) => ({ ...follower.init({ device: flatParams("scaleByPlateau", params).leaves[0]?.device }) }),
    update(gradients, state, params, extras = {}) {
      if (!isTensor(extras.value)) {
        throw new ArgumentError(
          "scaleByPlateau: it follows the loss; write update(gradients, state, params, { value: loss }).",
        );
      }
      const next = follower.update(extras.value, state as unknown as PlateauState);
      const [updates] = scale(next.scale).update(gradients, {}, params);
      return [updates, { ...next }];
    },
  });
}

function checkLimit(operation: string, limit: number): void {
  if (typeof limit === "number" && limit > 0) return;
  throw new ArgumentError(`${operation}: the limit is a number above 0, not ${shown(limit)}.`);
}
