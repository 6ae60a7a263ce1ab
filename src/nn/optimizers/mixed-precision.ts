/** Training in narrow floats: weights kept in f32 beside those that the model uses, and losses scaled up for f16. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { full, type Tensor, where, zerosLike } from "../../tensor/index.js";
import { cond } from "../../transforms/control.js";
import { unflatten } from "../../transforms/trees.js";
import { checkValue } from "../schedules/schedule.js";
import { firstCount } from "./leafwise.js";
import { copyOf } from "./lookahead.js";
import {
  applyUpdates,
  besideParams,
  checkOptimizer,
  describedOptimizer,
  flatParams,
  type Optimizer,
  type OptimizerState,
  printedAs,
  scalarIn,
  shownOptions,
  stateIn,
  wideDType,
  widened,
} from "./optimizer.js";

/**
 * The optimiser on copies of the weights in f32, for parameters in bf16 or f16: updates smaller than a rounding of the
 * parameters are not lost. After each step the parameters are the copies, rounded.
 */
export function masterWeights(optimizer: Optimizer): Optimizer {
  checkOptimizer("masterWeights", optimizer);
  return printedAs(`masterWeights(${describedOptimizer(optimizer)})`, {
    init(params) {
      const master = copyOf(flatParams("masterWeights", params));
      return { master, inner: optimizer.init(master) };
    },
    update<P>(gradients: P, state: OptimizerState, params: P, extras = {}): [P, OptimizerState] {
      const flat = flatParams("masterWeights", params);
      const given = besideParams("masterWeights", "the gradients", flat, gradients).map(widened);
      const master = stateIn("masterWeights", state, "master");
      besideParams("masterWeights", `"master" of the state`, flat, master);
      const wide = unflatten(flat.structure, given) as OptimizerState;
      const [updates, inner] = optimizer.update(wide, stateIn("masterWeights", state, "inner"), master, extras);
      const next = applyUpdates(master, updates);
      const moved = besideParams("masterWeights", "the updates", flat, next);
      const differences = moved.map((each, i) => each.sub(widened(flat.leaves[i] as Tensor)));
      return [unflatten(flat.structure, differences) as P, { master: next, inner }];
    },
  });
}

/** Options of `lossScale`. */
export interface LossScaleOptions {
  /** The first scale; 2^15. */
  readonly initial?: number;
  /** Steps in a row with finite gradients before the scale is doubled; 2000. */
  readonly every?: number;
}

/** An optimiser that knows the scale of the loss. */
export interface ScaledOptimizer extends Optimizer {
  /** The loss to differentiate: times the scale of the state. */
  scaleLoss(loss: Tensor, state: OptimizerState): Tensor;
  /**
   * Whether a step between two states found gradients that are not finite where the loss was not scaled up: a bool. No smaller scale mends
   * these, and every such step is skipped.
   */
  isStuck(before: OptimizerState, after: OptimizerState): Tensor;
}

/**
 * Dynamic loss scaling, for gradients in f16: differentiate `scaleLoss(loss, state)`; `update` divides the gradients again.
 * A step with infinite gradients changes no parameter and halves the scale; many good steps in a row double it.
 */
export function lossScale(optimizer: Optimizer, options: LossScaleOptions = {}): ScaledOptimizer {
  checkOptimizer("lossScale", optimizer);
  checkOptions("lossScale", options, { initial: "number", every: "number" });
  const { initial = 2 ** 15, every = 2000 } = options;
  checkValue("lossScale", "the first scale", initial, 0);
  checkWhole("lossScale", "the number of steps", every, 1);
  return printedAs(`lossScale(${describedOptimizer(optimizer)}${shownOptions(options)})`, {
    init(params) {
      const flat = flatParams("lossScale", params);
      const scale = full([], initial, { dtype: "f32", device: flat.leaves[0]?.device }) as Tensor;
      return { scale, good: firstCount(flat), inner: optimizer.init(params) };
    },
    scaleLoss: (loss, state) => widened(loss).mul(scalarIn("lossScale", state, "scale")),
    isStuck(before, after) {
      const [was, is] = [before, after].map((state) => scalarIn("lossScale", state, "scale")) as [Tensor, Tensor];
      // A good step counts, or doubles the scale.
      const isSkipped = scalarIn("lossScale", after, "good").equal(0);
      return was.lessEqual(1).logicalAnd(is.lessEqual(1)).logicalAnd(isSkipped) as Tensor;
    },
    update<P>(gradients: P, state: OptimizerState, params: P, extras = {}): [P, OptimizerState] {
      const flat = flatParams("lossScale", params);
      const given = besideParams("lossScale", "the gradients", flat, gradients).map(widened);
      const [scale, good] = [scalarIn("lossScale", state, "scale"), scalarIn("lossScale", state, "good")];
      const inner = stateIn("lossScale", state, "inner");
      if (given.length === 0) return [gradients, state];
      const isUsable = given.map((each) => each.isFinite().all()).reduce((all, each) => all.logicalAnd(each));
      const back = (values: readonly Tensor[]) => unflatten(flat.structure, values) as P;
      const one = scale.reciprocal();
      const [updates, after] = cond(
        isUsable,
        () => optimizer.update(back(given.map((each) => each.mul(one))), inner, params, extras),
        () =>
          [back(flat.leaves.map((leaf) => zerosLike(leaf, { dtype: wideDType(leaf.dtype) }) as Tensor)), inner] as [
            P,
            OptimizerState,
          ],
      );
      const counted = good.add(1);
      const isEnough = counted.greaterEqual(every);
      // No smaller than 1, no larger than what f32 times a loss can hold.
      const better = where(isEnough, scale.mul(2).minimum(2 ** 24), scale);
      return [
        updates,
        {
          scale: where(isUsable, better, scale.mul(0.5).maximum(1)) as Tensor,
          good: where(isUsable.logicalAnd(isEnough.logicalNot()), counted, 0) as Tensor,
          inner: after,
        },
      ];
    },
  });
}
