/**
 * The inverse Hessian of L-BFGS (Liu & Nocedal 1989) as a product with a vector: a history of steps and of the changes of the gradient
 * along them. A pair that is not there yet has the weight 0 and changes nothing. The optimiser of `pumice/nn` and the minimisers of
 * `pumice/learn` both use it.
 */
import type { DType } from "../core/dtype.js";
import { concat, type Tensor, where, zeros } from "../tensor/index.js";

/** The history: steps, changes of the gradient along them, and 1 / (step · change), the newest last. */
export interface History {
  readonly steps: Tensor;
  readonly changes: Tensor;
  readonly weights: Tensor;
}

/** A history of `memory` pairs that knows nothing yet. */
export function emptyHistory(
  memory: number,
  size: number,
  options: { readonly dtype: DType; readonly device: string | undefined },
): History {
  const empty = (shape: number[]) => zeros(shape, options) as Tensor;
  return { steps: empty([memory, size]), changes: empty([memory, size]), weights: empty([memory]) };
}

/** The descent direction by the two loops of the method. */
export function descentDirection(gradient: Tensor, { steps, changes, weights }: History): Tensor {
  const memory = weights.shape[0] as number;
  let q = gradient;
  const shares: Tensor[] = [];
  for (let i = memory - 1; i >= 0; i--) {
    const share = steps.at(i).mul(q).sum().mul(weights.at(i));
    shares[i] = share;
    q = q.sub(changes.at(i).mul(share));
  }
  const newest = memory - 1;
  // step · change / change · change of the newest pair; without one, a step that is at most 1 long.
  const squares = changes.at(newest).square().sum();
  const weight = weights.at(newest);
  const isKnown = weight.greater(0);
  const known = where(isKnown, weight.mul(squares), 1).reciprocal();
  q = q.mul(where(isKnown, known, gradient.square().sum().rsqrt().minimum(1)));
  for (let i = 0; i < memory; i++) {
    const share = changes.at(i).mul(q).sum().mul(weights.at(i));
    q = q.add(steps.at(i).mul((shares[i] as Tensor).sub(share)));
  }
  return q.neg();
}

/** The history with one more pair. A pair without positive curvature has no weight; a step of zero forgets everything. */
export function remembered({ steps, changes, weights }: History, step: Tensor, change: Tensor): History {
  const product = step.mul(change).sum();
  const isGood = product.greater(0);
  const weight = where(isGood, where(isGood, product, 1).reciprocal(), 0) as Tensor;
  const pushed = (before: Tensor, now: Tensor) => concat([before.at("1:"), now.reshape([1, ...now.shape])]) as Tensor;
  const isStuck = step.equal(0).all();
  return {
    steps: pushed(steps, step),
    changes: pushed(changes, change),
    weights: where(isStuck, 0, pushed(weights, weight)) as Tensor,
  };
}
