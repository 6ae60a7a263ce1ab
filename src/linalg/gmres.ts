/**
 * Equations with any matrix that is only known as a function of vectors: the method of generalised minimal residuals, restarted.
 * The derivative does not go through the iterations: by the implicit function theorem it is another solution.
 */

import { checkFunction, checkNumber, checkOptions, checkWhole } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { arange, checkTensor, leastSquaresSolution, type Tensor, where, zeros } from "../tensor/index.js";
import { forLoop, whileLoop } from "../transforms/control.js";
import { customGradient } from "../transforms/custom.js";
import { jvp, vjp } from "../transforms/grad.js";
import { workDTypes } from "./arguments.js";
import { type IterationStart, iterationMaps, type LinearMap, startOf } from "./iteration-start.js";

/** Options of the method of generalised minimal residuals. */
export interface GmresOptions<P = unknown> extends IterationStart<P> {
  /** The residual, relative to b, to stop at; 1e-5 in f32, 1e-10 in f64. */
  readonly tolerance?: number;
  /** Products with A between restarts, and vectors in memory; 20, or the size of b. */
  readonly restart?: number;
  /** Restarts at most; so many that ten times the size of b are the products. */
  readonly maxRestarts?: number;
}

/**
 * x with A·x = b, where `apply(parameters, v)` is A·v, for any A that has an inverse and b of any shape:
 * `gmres((a, v) => a.matmul(v), a, b)`. Differentiable by the parameters, a tree of tensors, and by b. Where it stops without having
 * converged, x is as far as it came; `linalg.check(x, { solves: [apply(parameters, x), b] })` throws there.
 */
export function gmres<P>(apply: LinearMap<P>, parameters: P, b: Tensor, options: GmresOptions<P> = {}): Tensor {
  checkCount("linalg.gmres", 4, arguments);
  checkFunction("linalg.gmres", apply);
  checkTensor("linalg.gmres", "the right side", b);
  checkOptions<GmresOptions<P>>("linalg.gmres", options, {
    tolerance: "number",
    restart: "number",
    maxRestarts: "number",
    x0: "any",
    preconditioner: "any",
  });
  const { work, result } = workDTypes(b.dtype);
  const { tolerance = work === "f64" || work === "c128" ? 1e-10 : 1e-5 } = options;
  checkNumber("linalg.gmres", "the tolerance", tolerance);
  const { restart: most = 20 } = options;
  checkWhole("linalg.gmres", "the products between restarts", most, 1);
  const restart = Math.max(1, Math.min(most, b.size));
  const { maxRestarts = Math.ceil((10 * b.size) / restart) } = options;
  checkWhole("linalg.gmres", "the number of restarts", maxRestarts, 0);
  const side = b.cast(work);
  const [product, preconditioner] = iterationMaps("linalg.gmres", apply, options.preconditioner, side);
  const start = startOf("linalg.gmres", options.x0, side);
  if (b.size === 0) return b.cast(result);
  const equation = { product, preconditioner, tolerance, restart, maxRestarts };
  return solved(equation, parameters, side, start).cast(result);
}

/** A·x = b and how it is solved. */
interface Equation<P> {
  readonly product: LinearMap<P>;
  readonly preconditioner: LinearMap<P> | null;
  readonly tolerance: number;
  readonly restart: number;
  readonly maxRestarts: number;
}

/** A·x = b gives dx = A⁻¹(db - dA·x). The transpose of A is its product turned around, which is linear. */
function solved<P>(equation: Equation<P>, parameters: P, b: Tensor, start: readonly Tensor[] = []): Tensor {
  const { product, preconditioner } = equation;
  const transposed =
    (map: LinearMap<P>): LinearMap<P> =>
    (given, v) =>
      vjp((u: Tensor) => map(given, u), v)[1](v)[0];
  const solver = customGradient(
    (given: P, side: Tensor, from: readonly Tensor[]) => iterate(equation, given, side, from),
    {
      vjp: (ct, _x, given, side, from) => {
        // The solution is asked for again, not taken from the loop, so that it has a derivative, too; it is computed once.
        const x = solved(equation, given, side, from);
        const other = {
          ...equation,
          product: transposed(product),
          preconditioner: preconditioner && transposed(preconditioner),
        };
        const w = solved(other, given, ct);
        const [, pullback] = vjp((p: P) => product(p, x), given);
        const [ofParameters] = pullback(w.neg());
        return [ofParameters, w, from.map(() => null)];
      },
      jvp: ([ofParameters, ofSide], given, side, from) => {
        const x = solved(equation, given, side, from);
        const [, moved] = jvp((p: P) => product(p, x), [given], [ofParameters]);
        return solved(equation, given, ofSide.sub(moved));
      },
    },
  );
  return solver(parameters, b, start);
}

const lengthOf = (x: Tensor): Tensor => x.abs().square().sum().sqrt();

/** Saad and Schultz, 1986. A preconditioner stands to the right, A·M·u = b with x = M·u, so that the residual is that of x. */
function iterate<P>(
  { product: apply, preconditioner, tolerance, restart, maxRestarts }: Equation<P>,
  given: P,
  b: Tensor,
  [x0]: readonly Tensor[],
): Tensor {
  const line = (x: Tensor) => x.reshape([-1]) as Tensor;
  const goal = lengthOf(b).mul(tolerance);
  const product = (v: Tensor) => line(apply(given, v.reshape(b.shape)));
  const improved = (v: Tensor) => (preconditioner ? line(preconditioner(given, v.reshape(b.shape))) : v);
  interface State {
    readonly x: Tensor;
    readonly rest: Tensor;
    readonly round: Tensor;
  }
  const first = x0 && line(x0);
  const start: State = {
    x: first ?? line(b).mul(0),
    rest: first ? line(b).sub(product(first)) : line(b),
    round: goal.mul(0),
  };
  const { x } = whileLoop<State>(
    ({ rest, round }) => lengthOf(rest).greater(goal).logicalAnd(round.less(maxRestarts)),
    ({ x: before, rest, round }) => {
      const next = before.add(improved(correction((v) => product(improved(v)), rest, restart)));
      return { x: next, rest: line(b).sub(product(next)), round: round.add(1) };
    },
    start,
    { maxRounds: maxRestarts + 1 },
  );
  return x.reshape(b.shape);
}

/** The combination of r, A·r, A²·r … that makes the residual least: Arnoldi's orthonormal basis of them, and least squares. */
function correction(product: (v: Tensor) => Tensor, rest: Tensor, count: number): Tensor {
  const { dtype, device } = rest;
  const size = lengthOf(rest);
  const isNone = size.equal(0);
  const places = arange(count + 1, { device });
  const isPlace = (i: Tensor | number) => places.equal(i).expandDims(1);
  const first = rest.div(where(isNone, 1, size).cast(dtype));
  const basis = where(isPlace(0), first, zeros([count + 1, rest.size], { dtype, device })).cast(dtype);
  const epsilon = dtype === "f64" || dtype === "c128" ? 2 ** -52 : 2 ** -23;
  const start = { basis, rows: zeros([count, count + 1], { dtype, device }) };
  const { basis: vectors, rows } = forLoop(
    0,
    count,
    (i, { basis: known, rows: found }: typeof start) => {
      const given = product(where(isPlace(i), known, 0).sum({ axis: 0 }).cast(dtype));
      // Twice, so that rounding leaves nothing along the basis.
      const once = known.conj().matmul(given);
      const partly = given.sub(once.matmul(known));
      const again = known.conj().matmul(partly);
      const left = partly.sub(again.matmul(known));
      const length = lengthOf(left);
      const isNew = length.greater(lengthOf(given).mul(8 * epsilon));
      const next = left.div(where(isNew, length, 1).cast(dtype)).mul(isNew.cast(dtype));
      const row = once.add(again).add(where(places.equal(i.add(1)).logicalAnd(isNew), length, 0).cast(dtype));
      const isRow = arange(count, { device }).equal(i).expandDims(1);
      return {
        basis: where(isPlace(i.add(1)), next, known).cast(dtype),
        rows: where(isRow, row, found).cast(dtype),
      };
    },
    start,
  );
  const side = where(places.equal(0), size, 0).cast(dtype).expandDims(1);
  const weights = leastSquaresSolution(rows.mT, side, count * epsilon).squeeze(-1);
  return weights.matmul(vectors.at(`:${count}`)) as Tensor;
}
