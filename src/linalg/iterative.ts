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

/** Options of the method of conjugate gradients. */
export interface ConjugateGradientOptions {
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
  apply: (parameters: P, v: Tensor) => Tensor,
  parameters: P,
  b: Tensor,
  options: ConjugateGradientOptions = {},
): Tensor {
  checkCount("linalg.cg", 4, arguments);
  checkFunction("linalg.cg", apply);
  checkTensor("linalg.cg", "the right side", b);
  checkOptions("linalg.cg", options, { tolerance: "number", maxRounds: "number" });
  const { work, result } = workDTypes(b.dtype);
  const { tolerance = work === "f64" || work === "c128" ? 1e-10 : 1e-5, maxRounds = 10 * b.size } = options;
  checkNumber("linalg.cg", "the tolerance", tolerance);
  checkWhole("linalg.cg", "the number of rounds", maxRounds, 0);
  const solver = customGradient(
    (given: P, side: Tensor) => iterate((v) => apply(given, v), side, tolerance, maxRounds),
    {
      // A·x = b gives dx = A⁻¹(db - dA·x); A is its own transpose, up to conjugation.
      // The solution is asked for again, not taken from the loop, so that it has a derivative, too; it is computed once.
      vjp: (ct, _x, given, side) => {
        const x = cg(apply, given, side, options);
        const w = cg(apply, given, ct.conj(), options).conj();
        const [, pullback] = vjp((p: P) => apply(p, x), given);
        const [ofParameters] = pullback(w.neg());
        return [ofParameters, w];
      },
      jvp: ([ofParameters, ofSide], given, side) => {
        const x = cg(apply, given, side, options);
        const [, moved] = jvp((p: P) => apply(p, x), [given], [ofParameters]);
        return cg(apply, given, ofSide.sub(moved), options);
      },
    },
  );
  return solver(parameters, b.cast(work)).cast(result);
}

interface State {
  readonly x: Tensor;
  readonly rest: Tensor;
  readonly direction: Tensor;
  readonly size: Tensor;
  readonly round: Tensor;
}

/** Hestenes and Stiefel, 1952. */
function iterate(apply: (v: Tensor) => Tensor, b: Tensor, tolerance: number, maxRounds: number): Tensor {
  const inner = (x: Tensor, y: Tensor) => x.conj().mul(y).sum().real();
  const goal = inner(b, b).mul(tolerance * tolerance);
  const start: State = { x: b.mul(0), rest: b, direction: b, size: inner(b, b), round: goal.mul(0) };
  const { x } = whileLoop<State>(
    ({ size, round }) => size.greater(goal).logicalAnd(round.less(maxRounds)),
    ({ x, rest, direction, size, round }) => {
      const moved = apply(direction).cast(b.dtype);
      const step = size.div(inner(direction, moved)).cast(b.dtype);
      const left = rest.sub(moved.mul(step));
      const next = inner(left, left);
      return {
        x: x.add(direction.mul(step)),
        rest: left,
        direction: left.add(direction.mul(next.div(size).cast(b.dtype))),
        size: next,
        round: round.add(1),
      };
    },
    start,
    { maxRounds: maxRounds + 1 },
  );
  return x;
}
