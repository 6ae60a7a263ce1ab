/**
 * Minima that have derivatives. They do not go through the search: by the implicit function theorem the gradient g(v, given) stays zero, so
 * that dv = −H⁻¹ dg, with the second derivatives H at the minimum. The derivative is itself made of a minimum, so that it has derivatives
 * of any order. Logistic regression, generalised and Huber's models and squared hinges fit by it.
 *
 * A derivative is as close as the minimum is: a fit with a small `tol` has an exact one.
 */
import { cg } from "../../linalg/iterative.js";
import { eye, type Tensor } from "../../tensor/index.js";
import { customGradient } from "../../transforms/custom.js";
import { jvp, vjp } from "../../transforms/grad.js";
import { lbfgs } from "../optimize/lbfgs.js";
import {
  dampedSolver,
  leastDamping,
  type Minimum,
  type NewtonOptions,
  newtonMinimum,
  type SmoothProblem,
} from "./newton.js";

/** A minimum to find. `problemOf` makes the problem of tensors alone, so that derivatives reach them. */
interface Posed<G> {
  readonly given: G;
  problemOf(given: G): SmoothProblem;
  readonly start: Tensor;
  readonly samples: number;
}

/** Parameters up to which a matrix of second derivatives pays, and elements of the matrix that is made on the way. */
const [MOST_PARAMETERS, MOST_ELEMENTS] = [512, 2 ** 27];
/** Rounds that take the damping of an equation out of its solution again. */
const REFINEMENTS = 2;

/** The arguments of a minimum, with the weights of absolute values, [parameters], if there are any. */
interface Given<G> {
  readonly of: G;
  readonly l1: Tensor | null;
}

/**
 * The minimum, by Newton's method or, where parameters are many, L-BFGS. Absolute values are for Newton's method alone: parameters that
 * they keep at zero stay there nearby, and the others have derivatives among themselves.
 */
export function smoothMinimum<G>(posed: Posed<G>, options: NewtonOptions): Minimum {
  const { given, start } = posed;
  const { l1 = null, ...rest } = options;
  return differentiable(posed, rest, { of: given, l1 }, start);
}

function differentiable<G>(
  posed: Posed<G>,
  options: Omit<NewtonOptions, "l1">,
  given: Given<G>,
  start: Tensor,
): Minimum {
  const { problemOf } = posed;
  // The minimum is asked for again, not taken from the search, so that it has a derivative, too; it is computed once.
  const minimumOf = (of: Given<G>, from: Tensor): Tensor => differentiable(posed, options, of, from).parameters;
  const gradientAt = ({ of, l1 }: Given<G>, v: Tensor): Tensor => {
    const problem = problemOf(of);
    const smooth = problem.gradient(v, problem.predictors(v));
    return l1 ? (smooth.add(v.sign().mul(l1)) as Tensor) : smooth;
  };
  const search = ({ of, l1 }: Given<G>, from: Tensor): Minimum =>
    searched(posed, problemOf(of), from, { ...options, ...(l1 && { l1 }) });
  const solver = customGradient(search, {
    vjp: ({ parameters: cotangent }, _found, of, from) => {
      const v = minimumOf(of, from);
      const [, pullback] = vjp((each: Given<G>) => gradientAt(each, v), of);
      const [ofGiven] = pullback(equationSolved(posed, of, v, cotangent).neg() as Tensor);
      return [ofGiven, null];
    },
    jvp: ([moved], of, from) => {
      const v = minimumOf(of, from);
      const [, change] = jvp((each: Given<G>) => gradientAt(each, v), [of], [moved]);
      return { parameters: equationSolved(posed, of, v, change).neg(), iterations: null } as unknown as Minimum;
    },
  });
  return solver(given, start);
}

/** Newton's method alone keeps a parameter above its bound. */
const isByMatrix = ({ samples }: Posed<unknown>, { lowest }: SmoothProblem, count: number): boolean =>
  lowest !== undefined || (count <= MOST_PARAMETERS && count * samples <= MOST_ELEMENTS);

function searched<G>(posed: Posed<G>, problem: SmoothProblem, start: Tensor, options: NewtonOptions): Minimum {
  if (isByMatrix(posed as Posed<unknown>, problem, start.size)) return newtonMinimum(problem, start, options);
  const { tol, maxIter } = options;
  const { x, iterations } = lbfgs((v: Tensor) => problem.value(v, problem.predictors(v)), start, { tol, maxIter });
  return { parameters: x, iterations };
}

/** H⁻¹ right, among the parameters that are free. */
function equationSolved<G>(posed: Posed<G>, { of, l1 }: Given<G>, v: Tensor, right: Tensor): Tensor {
  const { problemOf } = posed;
  const problem = problemOf(of);
  if (!l1 && !isByMatrix(posed as Posed<unknown>, problem, v.size)) {
    const product = ({ of, at }: { of: G; at: Tensor }, direction: Tensor): Tensor => {
      const { gradient, predictors } = problemOf(of);
      return jvp((u: Tensor) => gradient(u, predictors(u)), [at], [direction])[1];
    };
    return cg(product, { of, at: v }, right) as Tensor;
  }
  const whole = (problem.hessian ?? problem.curvature)(v, problem.predictors(v));
  const isFree = l1 ? v.notEqual(0).logicalOr(l1.equal(0)).cast(v.dtype) : null;
  const matrix = isFree ? amongFree(whole, isFree as Tensor) : whole;
  const solve = dampedSolver(matrix, leastDamping(v));
  const column = (isFree ? right.mul(isFree) : right).expandDims(1) as Tensor;
  let found = solve(column);
  for (let round = 0; round < REFINEMENTS; round++) {
    found = found.add(solve(column.sub(matrix.matmul(found)) as Tensor)) as Tensor;
  }
  return found.squeeze(1) as Tensor;
}

/** A matrix that leaves parameters alone which are not free. */
export function amongFree(matrix: Tensor, isFree: Tensor): Tensor {
  const unit = eye(isFree.size, { dtype: matrix.dtype, device: matrix.device });
  return matrix.mul(isFree.mul(isFree.expandDims(1))).add(unit.mul(isFree.neg().add(1))) as Tensor;
}
