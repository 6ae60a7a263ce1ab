/**
 * Losses of a layer's own, such as the balance of experts: `scope.setLoss` leaves them in the state of a run that trains, and training adds them to its
 * loss. They lie under the name "losses" at the layer's path.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import { isSubtree, type VariableTree } from "./variables.js";

/** The name of a layer's losses among its state. */
export const LOSSES = "losses";

/** The sum of the losses that layers left in the state of a run that trains; gradients go through it. */
export function auxiliaryLoss(state: VariableTree): Tensor {
  const sum = typeof state === "object" && state !== null ? auxiliaryLossIfAny(state) : null;
  if (sum) return sum;
  throw new ArgumentError(
    "auxiliaryLoss: the state has no losses of layers; give the state that applyWithState returned, of a run that trains.",
  );
}

/** The same; null where there are none. */
export function auxiliaryLossIfAny(state: VariableTree): Tensor | null {
  const all = lossesIn(state, false);
  return all.length === 0 ? null : all.reduce((sum, each) => sum.add(each));
}

const lossesIn = (state: VariableTree, isInside: boolean): Tensor[] =>
  Object.entries(state).flatMap(([name, value]) => {
    if (isSubtree(value)) return lossesIn(value, isInside || name === LOSSES);
    return isInside ? [value] : [];
  });
