/**
 * Roots of systems of equations: as many residuals as unknowns. Newton's method with the Jacobian by `jacobian`, and Broyden's with one
 * that is learned from the steps (Broyden 1965). Steps are halved until the residuals shrink. Loops on the device.
 */
import { checkFunction, checkOptions } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { inv, solve } from "../../linalg/lu.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { jacobian } from "../../transforms/matrices.js";
import { ravel } from "../../transforms/ravel.js";
import { checkStop, STOP, type StopOptions } from "./result.js";

/** Options of `newton` and `broyden`. `tol`, the largest residual at which the search ends, is 1e-8 unless told (1e-5 in f32). */
export interface RootOptions extends StopOptions {}

/** A root of a system. */
export interface Root<T> {
  readonly x: T;
  /** The largest absolute residual. */
  readonly residual: Tensor;
  /** i32. */
  readonly iterations: Tensor;
  /** bool: the tolerance was reached. */
  readonly converged: Tensor;
}

/** How a method steps, and what it keeps: the inverse of the Jacobian, or nothing. */
interface Stepping<M> {
  first(x: Tensor): M;
  step(x: Tensor, residual: Tensor, memory: M): Tensor;
  after(memory: M, step: Tensor, change: Tensor, isLower: Tensor, x: Tensor): M;
}

/** A root by Newton's method: `newton(f, x0)`. f gives a tree of as many numbers as `x0` has. 50 rounds at most unless told. */
export function newton<T, R>(f: (x: T) => R, x0: T, options: RootOptions = {}): Root<T> {
  return found("optimize.newton", f, x0, options, 50, (of) => {
    const slopes = jacobian(of) as (x: Tensor) => Tensor;
    return {
      first: () => null,
      step: (x, residual) => (solve(slopes(x), residual.expandDims(1) as Tensor) as Tensor).squeeze(1).neg() as Tensor,
      after: () => null,
    };
  });
}

/** A root by Broyden's method: `broyden(f, x0)`. The Jacobian is found once, and then learned. 200 rounds at most unless told. */
export function broyden<T, R>(f: (x: T) => R, x0: T, options: RootOptions = {}): Root<T> {
  return found("optimize.broyden", f, x0, options, 200, (of) => {
    const slopes = jacobian(of) as (x: Tensor) => Tensor;
    return {
      first: (x) => inv(slopes(x)) as Tensor,
      step: (_, residual, inverse: Tensor) => inverse.matmul(residual).neg() as Tensor,
      after(inverse: Tensor, step, change, isLower, x) {
        const ahead = inverse.matmul(change);
        const size = step.mul(ahead).sum();
        const isGood = size.abs().greater(0);
        const wanted = step.sub(ahead).expandDims(1).mul(step.matmul(inverse).expandDims(0));
        const updated = inverse.add(wanted.div(where(isGood, size, 1)));
        // A step that leads nowhere: what was learned is of no use here.
        return where(isLower, where(isGood, updated, inverse), inv(slopes(x))) as Tensor;
      },
    };
  });
}

const HALVINGS = 30;

function found<T, R, M>(
  operation: string,
  f: (x: T) => R,
  x0: T,
  options: RootOptions,
  rounds: number,
  method: (of: (x: Tensor) => Tensor) => Stepping<M>,
): Root<T> {
  checkFunction(operation, f);
  checkOptions(operation, options, STOP);
  checkStop(operation, options);
  const flat = ravel(`${operation}, the start`, x0);
  const { vector } = flat;
  const { dtype, device } = vector;
  const { tol = dtype === "f64" ? 1e-8 : 1e-5, maxIter = rounds } = options;
  const of = (x: Tensor): Tensor => {
    const residual = ravel(`${operation}, the residuals`, f(flat.restore(x))).vector.cast(dtype) as Tensor;
    if (residual.size === x.size) return residual;
    throw new ShapeError(
      `${operation}: there are ${x.size} unknowns and ${residual.size} residuals; for more residuals take levenbergMarquardt.`,
    );
  };
  const { first, step, after } = method(of);
  const worst = (r: Tensor): Tensor => r.abs().max() as Tensor;
  const size = (r: Tensor): Tensor => r.square().sum() as Tensor;
  const end = whileLoop(
    ({ r, count, isStuck }) =>
      worst(r).greater(tol).logicalAnd(count.less(maxIter)).logicalAnd(isStuck.logicalNot()) as Tensor,
    ({ x, r, memory, count, wasLower }) => {
      const direction = step(x, r, memory);
      const at = (length: Tensor) => {
        const to = x.add(direction.mul(length)) as Tensor;
        return { length, to, residual: of(to) };
      };
      const isLow = ({ length, residual }: { length: Tensor; residual: Tensor }): Tensor =>
        size(residual).lessEqual(size(r).mul(length.mul(-2e-4).add(1))) as Tensor;
      const one = size(r).mul(0).add(1) as Tensor;
      const { trial } = whileLoop(
        ({ trial, halvings }) => isLow(trial).logicalNot().logicalAnd(halvings.less(HALVINGS)) as Tensor,
        ({ trial, halvings }) => ({ trial: at(trial.length.mul(0.5) as Tensor), halvings: halvings.add(1) as Tensor }),
        { trial: at(one), halvings: full([], 0, { device, dtype: "i32" }) as Tensor },
      );
      const isLower = isLow(trial);
      const to = where(isLower, trial.to, x) as Tensor;
      const residual = where(isLower, trial.residual, r) as Tensor;
      return {
        x: to,
        r: residual,
        memory: after(memory, to.sub(x) as Tensor, residual.sub(r) as Tensor, isLower, to),
        count: count.add(1) as Tensor,
        wasLower: isLower,
        isStuck: isLower.logicalOr(wasLower).logicalNot() as Tensor,
      };
    },
    {
      x: vector,
      r: of(vector),
      memory: first(vector),
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
      wasLower: full([], true, { device, dtype: "bool" }) as Tensor,
      isStuck: full([], false, { device, dtype: "bool" }) as Tensor,
    },
  );
  const residual = worst(end.r);
  return { x: flat.restore(end.x), residual, iterations: end.count, converged: residual.lessEqual(tol) as Tensor };
}
