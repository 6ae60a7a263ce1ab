/**
 * Newton's method for sums of convex losses of linear predictors, with a penalty on the squares and on the absolute values of the
 * parameters. With absolute values a step minimises the quadratic model with them, by coordinate descent: the proximal Newton method
 * (Lee, Sun & Saunders 2014; Yuan, Ho & Lin 2012). All of it is one loop on the device, which `jit` and `vmap` take.
 *
 * Predictors are linear in the parameters, so that a line search adds multiples of one vector: an iteration reads the samples three
 * times, for the predictors of the step, the gradient and the matrix of second derivatives.
 */
import { cholesky, choSolve } from "../../linalg/triangular.js";
import { concat, eye, full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { sweep } from "./coordinate-descent.js";

/** A convex function of parameters, [parameters], which may look at them and at predictors that are linear in them. */
export interface SmoothProblem {
  predictors(parameters: Tensor): Tensor;
  value(parameters: Tensor, predictors: Tensor): Tensor;
  gradient(parameters: Tensor, predictors: Tensor): Tensor;
  /** Second derivatives, [parameters, parameters]. */
  curvature(parameters: Tensor, predictors: Tensor): Tensor;
  /** The same where `curvature` is a positive stand-in for them. */
  hessian?(parameters: Tensor, predictors: Tensor): Tensor;
  /** How far the last parameter may go in one step, a number below zero; any way unless told. For one that must stay positive. */
  lowest?(parameters: Tensor): Tensor;
}

export interface NewtonOptions {
  /** The largest element of the gradient (of the smallest subgradient, with l1) at which the search ends. */
  readonly tol: number;
  readonly maxIter: number;
  /** Weights of the absolute values, [parameters]. */
  readonly l1?: Tensor;
}

/** Parameters at a minimum. */
export interface Minimum {
  readonly parameters: Tensor;
  /** Steps that it took, i32. */
  readonly iterations: Tensor;
}

/** The share of the promised decrease that a step must reach. */
const DECREASE = 1e-4;
const HALVINGS = 40;
const SWEEPS = 1000;
/** A step that fails is tried again with a matrix that is damped so much more, until the damping is as large as the matrix. */
const MORE_DAMPING = 100;
const MOST_DAMPING = 1;

const roundingOf = ({ dtype }: Tensor): number => (dtype === "f64" ? 2 ** -52 : 2 ** -23);

/** The minimum of a convex problem. Ends at the tolerance, or where the numbers allow no further decrease. */
export function newtonMinimum(problem: SmoothProblem, start: Tensor, { tol, maxIter, l1 }: NewtonOptions): Minimum {
  const total = (v: Tensor, predictors: Tensor): Tensor => {
    const smooth = problem.value(v, predictors);
    return (l1 ? smooth.add(l1.mul(v.abs()).sum()) : smooth) as Tensor;
  };
  const excess = (v: Tensor, gradient: Tensor): Tensor =>
    (l1 ? smallestSubgradient(v, gradient, l1) : gradient).abs().max() as Tensor;
  const predictors = problem.predictors(start);
  const gradient = problem.gradient(start, predictors);
  const { device } = start;
  const first = {
    v: start,
    predictors,
    value: total(start, predictors),
    gradient,
    damping: full([], leastDamping(start), { device, dtype: start.dtype }) as Tensor,
    goesOn: excess(start, gradient).greater(tol) as Tensor,
    count: full([], 0, { device, dtype: "i32" }) as Tensor,
  };
  const end = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(maxIter)) as Tensor,
    (at) => {
      const curvature = problem.curvature(at.v, at.predictors);
      const step = l1
        ? sparseStep(at.v, at.gradient, curvature, l1, excess(at.v, at.gradient))
        : newtonStep(at.gradient, curvature, at.damping, problem.lowest?.(at.v));
      const ahead = problem.predictors(step);
      const smoothSlope = at.gradient.mul(step).sum();
      const slope = (l1 ? smoothSlope.add(l1.mul(at.v.add(step).abs().sub(at.v.abs())).sum()) : smoothSlope) as Tensor;
      const { length, value } = searched(
        (t) => total(at.v.add(step.mul(t)) as Tensor, at.predictors.add(ahead.mul(t)) as Tensor),
        at.value,
        slope,
      );
      const isLower = value.isFinite().logicalAnd(length.greater(0));
      const v = where(isLower, at.v.add(step.mul(length)), at.v) as Tensor;
      const predictors = where(isLower, at.predictors.add(ahead.mul(length)), at.predictors) as Tensor;
      const gradient = problem.gradient(v, predictors);
      // A promised decrease below the rounding of the value: the step just taken was the last that the numbers can tell.
      const isRounding = slope.abs().lessEqual(at.value.abs().add(1e-30).mul(roundingOf(start)));
      // A step that leads nowhere may be one of a matrix that is singular to rounding.
      const damping = where(
        isLower,
        at.damping.div(MORE_DAMPING).maximum(leastDamping(start)),
        at.damping.mul(MORE_DAMPING),
      );
      const canGoOn = l1 ? isLower : isLower.logicalOr(damping.lessEqual(MOST_DAMPING));
      return {
        v,
        predictors,
        value: where(isLower, value, at.value) as Tensor,
        gradient,
        damping: damping as Tensor,
        goesOn: canGoOn.logicalAnd(isRounding.logicalNot()).logicalAnd(excess(v, gradient).greater(tol)) as Tensor,
        count: at.count.add(1) as Tensor,
      };
    },
    first,
  );
  return { parameters: end.v, iterations: end.count };
}

/** The subgradient closest to zero of a smooth function plus Σ l1·|v|. */
const smallestSubgradient = (v: Tensor, gradient: Tensor, l1: Tensor): Tensor =>
  where(v.equal(0), gradient.sign().mul(gradient.abs().sub(l1).relu()), gradient.add(v.sign().mul(l1))) as Tensor;

/** The damping that a search begins with. */
export const leastDamping = ({ dtype }: Tensor): number => (dtype === "f64" ? 1e-12 : 4e-6);

/**
 * H⁻¹ of columns. Rows and columns of H are scaled to a unit diagonal, and a small multiple of the unit matrix, the damping, is added:
 * columns of samples may depend on one another, and labels may be told apart without error, and H is singular then.
 */
export function dampedSolver(matrix: Tensor, damping: Tensor | number): (right: Tensor) => Tensor {
  const { dtype, device } = matrix;
  const diagonal = matrix.diagonal();
  const root = where(diagonal.greater(0), diagonal, 1).rsqrt().expandDims(1) as Tensor;
  const unit = eye(matrix.shape[0] as number, { dtype, device }).mul(damping);
  const factor = cholesky(matrix.mul(root.T).mul(root).add(unit)) as Tensor;
  return (right) => choSolve(factor, right.mul(root)).mul(root) as Tensor;
}

/**
 * −H⁻¹g.
 *
 * With `lowest` the step minimises the same model among those whose last element is not below it. Where it counts, the gradient of the
 * model is a multiple of the last unit vector: H step = −g + λe.
 */
function newtonStep(gradient: Tensor, curvature: Tensor, damping: Tensor, lowest?: Tensor): Tensor {
  const { dtype, device } = gradient;
  const [size] = gradient.shape as [number];
  const solved = dampedSolver(curvature, damping);
  if (!lowest) return solved(gradient.expandDims(1)).squeeze(1).neg() as Tensor;
  const last = eye(size, { dtype, device }).at(":", `${size - 1}:`) as Tensor;
  const [step, aside] = solved(concat([gradient.neg().expandDims(1), last], { axis: 1 }) as Tensor).unstack({
    axis: 1,
  });
  const lacking = lowest.sub((step as Tensor).at(-1)).relu();
  return (step as Tensor).add((aside as Tensor).mul(lacking.div((aside as Tensor).at(-1)))) as Tensor;
}

/** The step to the minimum of the quadratic model with its absolute values, found to a small share of what is left to gain. */
function sparseStep(v: Tensor, gradient: Tensor, curvature: Tensor, l1: Tensor, excess: Tensor): Tensor {
  const zero = excess.mul(0) as Tensor;
  const { descent } = whileLoop(
    ({ descent, count }) => descent.force.greater(excess.mul(1e-3)).logicalAnd(count.less(SWEEPS)) as Tensor,
    ({ descent, count }) => ({ descent: sweep({ q: curvature, l1 }, descent), count: count.add(1) as Tensor }),
    {
      descent: {
        z: v,
        rest: gradient.neg() as Tensor,
        change: zero,
        force: zero.add(Number.POSITIVE_INFINITY) as Tensor,
      },
      count: zero.cast("i32") as Tensor,
    },
  );
  return descent.z.sub(v) as Tensor;
}

interface Searched {
  readonly length: Tensor;
  readonly value: Tensor;
}

/** The first of the lengths 1, ½, ¼ … whose value is low enough; 0 where none is. */
function searched(valueAt: (length: Tensor) => Tensor, value: Tensor, slope: Tensor): Searched {
  // Values that differ by a rounding count as equal.
  const level = value.add(value.abs().mul(4 * roundingOf(value)));
  const isLow = (found: Searched): Tensor =>
    found.value.lessEqual(level.add(found.length.mul(slope).mul(DECREASE))) as Tensor;
  const one = slope.mul(0).add(1) as Tensor;
  const { found } = whileLoop(
    ({ found, count }) => isLow(found).logicalNot().logicalAnd(count.less(HALVINGS)) as Tensor,
    ({ found, count }) => {
      const length = found.length.mul(0.5) as Tensor;
      return { found: { length, value: valueAt(length) }, count: count.add(1) as Tensor };
    },
    { found: { length: one, value: valueAt(one) }, count: one.mul(0).cast("i32") as Tensor },
  );
  return { length: where(isLow(found), found.length, 0) as Tensor, value: found.value };
}
