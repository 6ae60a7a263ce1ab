/**
 * Equations with a matrix that is only known as a function of vectors: conjugate gradients, for positive definite ones. The
 * derivative does not go through the iterations: by the implicit function theorem it is another solution.
 */

import { checkFunction, checkNumber, checkOptions, checkWhole } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { checkTensor, type Tensor } from "../tensor/index.js";
import { whileLoop } from "../transforms/control.js";
import { customGradient } from "../transforms/custom.js";
import { jvp, vjp } from "../transforms/grad.js";
import { workDTypes } from "./arguments.js";
import { type IterationStart, iterationMaps, type LinearMap, startOf } from "./iteration-start.js";

/** Options of the method of conjugate gradients. */
export interface ConjugateGradientOptions<P = unknown> extends IterationStart<P> {
  /** The residual, relative to b, to stop at; 1e-5 in f32, 1e-10 in f64. */
  readonly tolerance?: number;
  /** Rounds at most; ten times the size of b. */
  readonly maxRounds?: number;
}

/**
 * x with A·x = b, where `apply(parameters, v)` is A·v, for symmetric (or Hermitian) positive definite A and b of any shape:
 * `cg((a, v) => a.matmul(v), a, b)`. Differentiable by the parameters, a tree of tensors, and by b. Where it stops without having
 * converged, x is as far as it came; `linalg.check(x, { solves: [apply(parameters, x), b] })` throws there.
 */
export function cg<P>(
  apply: LinearMap<P>,
  parameters: P,
  b: Tensor,
  options: ConjugateGradientOptions<P> = {},
): Tensor {
  checkCount("linalg.cg", 4, arguments);
  checkFunction("linalg.cg", apply);
  checkTensor("linalg.cg", "the right side", b);
  checkOptions<ConjugateGradientOptions<P>>("linalg.cg", options, {
    tolerance: "number",
    maxRounds: "number",
    x0: "any",
    preconditioner: "any",
  });
  const { work, result } = workDTypes(b.dtype);
  const { tolerance = work === "f64" || work === "c128" ? 1e-10 : 1e-5, maxRounds = 10 * b.size } = options;
  checkNumber("linalg.cg", "the tolerance", tolerance);
  checkWhole("linalg.cg", "the number of rounds", maxRounds, 0);
  const side = b.cast(work);
  const [product, preconditioner] = iterationMaps("linalg.cg", apply, options.preconditioner, side);
  const equation = { product, preconditioner, tolerance, maxRounds };
  return solved(equation, parameters, side, startOf("linalg.cg", options.x0, side)).cast(result);
}

/** A·x = b and how it is solved. */
interface PositiveEquation<P> {
  readonly product: LinearMap<P>;
  readonly preconditioner: LinearMap<P> | null;
  readonly tolerance: number;
  readonly maxRounds: number;
}

/** A·x = b gives dx = A⁻¹(db - dA·x); A is its own transpose, up to conjugation. */
function solved<P>(equation: PositiveEquation<P>, parameters: P, b: Tensor, start: readonly Tensor[] = []): Tensor {
  const { product } = equation;
  // The solution is asked for again, not taken from the loop, so that it has a derivative, too; it is computed once.
  const solver = customGradient(
    (given: P, side: Tensor, from: readonly Tensor[]) => iterate(equation, given, side, from),
    {
      vjp: (ct, _x, given, side, from) => {
        const x = solved(equation, given, side, from);
        const w = solved(equation, given, ct.conj() as Tensor).conj() as Tensor;
        const [, pullback] = vjp((p: P) => product(p, x), given);
        const [ofParameters] = pullback(w.neg());
        return [ofParameters, w, from.map(() => null)];
      },
      jvp: ([ofParameters, ofSide], given, side, from) => {
        const x = solved(equation, given, side, from);
        const [, moved] = jvp((p: P) => product(p, x), [given], [ofParameters]);
        return solved(equation, given, ofSide.sub(moved) as Tensor);
      },
    },
  );
  return solver(parameters, b, start);
}

interface State {
  readonly x: Tensor;
  readonly rest: Tensor;
  readonly direction: Tensor;
  /** ‖rest‖². */
  readonly size: Tensor;
  /** rest·M·rest; without a preconditioner the same. */
  readonly weight: Tensor;
  readonly round: Tensor;
}

/** Hestenes and Stiefel, 1952; with a preconditioner Saad, Iterative Methods for Sparse Linear Systems, 9.2. */
function iterate<P>(
  { product, preconditioner, tolerance, maxRounds }: PositiveEquation<P>,
  given: P,
  b: Tensor,
  [x0]: readonly Tensor[],
): Tensor {
  const inner = (x: Tensor, y: Tensor) => x.conj().mul(y).sum().real();
  const improved = (v: Tensor) => (preconditioner ? preconditioner(given, v) : v);
  const goal = inner(b, b).mul(tolerance * tolerance);
  const first = (x0 ? b.sub(product(given, x0)) : b) as Tensor;
  const along = improved(first);
  const start: State = {
    x: x0 ?? (b.mul(0) as Tensor),
    rest: first,
    direction: along,
    size: inner(first, first),
    weight: inner(first, along),
    round: goal.mul(0),
  };
  const { x } = whileLoop<State>(
    ({ size, round }) => size.greater(goal).logicalAnd(round.less(maxRounds)),
    ({ x, rest, direction, weight, round }) => {
      const moved = product(given, direction);
      const step = weight.div(inner(direction, moved)).cast(b.dtype);
      const left = rest.sub(moved.mul(step)) as Tensor;
      const next = improved(left);
      const nextWeight = inner(left, next);
      return {
        x: x.add(direction.mul(step)),
        rest: left,
        direction: next.add(direction.mul(nextWeight.div(weight).cast(b.dtype))),
        size: inner(left, left),
        weight: nextWeight,
        round: round.add(1),
      };
    },
    start,
    { maxRounds: maxRounds + 1 },
  );
  return x;
}
