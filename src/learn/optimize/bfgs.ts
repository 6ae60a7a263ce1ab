/** BFGS: the inverse of the second derivatives from all steps, as a matrix, for functions of up to some hundred parameters. */
import { checkFunction, checkOptions } from "../../core/arguments.js";
import { eye, type Tensor, where } from "../../tensor/index.js";
import { descend } from "./descent.js";
import { checkStop, type Minimum, STOP, type StopOptions } from "./result.js";

/** Options of `bfgs`. The search ends when no element of the gradient is larger than `tol`: 1e-5 unless told; 1000 rounds at most. */
export interface BfgsOptions extends StopOptions {}

/** The inverse of the second derivatives; `isKnown` once a step was seen. */
interface Inverse {
  readonly inverse: Tensor;
  readonly isKnown: Tensor;
}

/** A minimum by BFGS with a strong Wolfe line search: `bfgs(f, x0)`. `x0` is a tensor or a tree of them. */
export function bfgs<T>(f: (x: T) => Tensor, x0: T, options: BfgsOptions = {}): Minimum<T> {
  checkFunction("optimize.bfgs", f);
  checkOptions("optimize.bfgs", options, STOP);
  checkStop("optimize.bfgs", options);
  const { tol = 1e-5, maxIter = 1000 } = options;
  return descend("optimize.bfgs", f, x0, { fresh, direction, after }, { tol, maxIter });
}

const unitOf = ({ shape, dtype, device }: Tensor): Tensor => eye(shape[0] as number, { dtype, device }) as Tensor;

const fresh = (x: Tensor): Inverse => ({ inverse: unitOf(x), isKnown: x.sum().mul(0).cast("bool") as Tensor });

/** Without a step seen, a direction that is at most 1 long. */
const direction = (gradient: Tensor, { inverse, isKnown }: Inverse): Tensor => {
  const length = where(isKnown, 1, gradient.square().sum().rsqrt().minimum(1));
  return inverse.matmul(gradient).mul(length).neg() as Tensor;
};

/** Broyden, Fletcher, Goldfarb and Shanno's update; a pair without positive curvature is left out, a step of zero forgets. */
function after({ inverse, isKnown }: Inverse, step: Tensor, change: Tensor): Inverse {
  const product = step.mul(change).sum();
  const isGood = product.greater(0);
  const weight = where(isGood, product, 1).reciprocal();
  const unit = unitOf(step);
  // Before the first update the unit matrix takes the size of the curvature seen (Nocedal & Wright 2006, 6.20).
  const scale = product.div(where(isGood, change.square().sum(), 1));
  const before = where(isKnown, inverse, unit.mul(scale));
  const left = unit.sub(step.expandDims(1).mul(change.expandDims(0)).mul(weight));
  const updated = left
    .matmul(before)
    .matmul(left.T)
    .add(step.expandDims(1).mul(step.expandDims(0)).mul(weight));
  const isStuck = step.equal(0).all();
  return {
    inverse: where(isStuck, unit, where(isGood, updated, inverse)) as Tensor,
    isKnown: isKnown.logicalOr(isGood).logicalAnd(isStuck.logicalNot()) as Tensor,
  };
}
