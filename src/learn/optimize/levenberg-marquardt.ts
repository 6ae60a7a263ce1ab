/**
 * Nonlinear least squares by Levenberg and Marquardt's method: Gauss–Newton steps, damped by the size of the columns (Moré 1978), with
 * Nielsen's rule for the damping. Equations are solved by QR of the Jacobian beside the damping, which keeps twice the digits that normal
 * equations do.
 */
import { checkFunction, checkOptions } from "../../core/arguments.js";
import { qr } from "../../linalg/qr.js";
import { triangularSolve } from "../../linalg/triangular.js";
import { concat, eye, full, type Tensor, where, zeros } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { jacobian } from "../../transforms/matrices.js";
import { ravel } from "../../transforms/ravel.js";
import { checkStop, type Minimum, STOP, type StopOptions, spacingOf } from "./result.js";

/** Options of `levenbergMarquardt`. `tol` is 1e-8 unless told (1e-5 in f32); `maxIter` is 200. */
export interface LevenbergMarquardtOptions extends StopOptions {}

/**
 * The parameters at which the sum of squares of residuals is least: `levenbergMarquardt(residuals, x0)`. `residuals` gives a tensor or a
 * tree of them. `value` of the result is half the sum. The search ends when a step changes the value, or the parameters, by less than
 * `tol` of them, or no element of the gradient is larger than `tol` of the residuals and columns.
 */
export function levenbergMarquardt<T, R>(
  residuals: (x: T) => R,
  x0: T,
  options: LevenbergMarquardtOptions = {},
): Minimum<T> {
  const operation = "optimize.levenbergMarquardt";
  checkFunction(operation, residuals);
  checkOptions(operation, options, STOP);
  checkStop(operation, options);
  const flat = ravel(`${operation}, the start`, x0);
  const { vector } = flat;
  const { dtype, device } = vector;
  const { tol = dtype === "f64" ? 1e-8 : 1e-5, maxIter = 200 } = options;
  const [n] = vector.shape as [number];
  const of = (x: Tensor): Tensor =>
    ravel(`${operation}, the residuals`, residuals(flat.restore(x))).vector.cast(dtype) as Tensor;
  const slopes = jacobian(of, { mode: "forward" }) as (x: Tensor) => Tensor;
  const halfSquares = (r: Tensor): Tensor => r.square().sum().mul(0.5) as Tensor;
  const unit = eye(n, { dtype, device });
  const first = of(vector);
  const j0 = slopes(vector);
  const lengths = (j: Tensor): Tensor => j.square().sum({ axis: 0 }).sqrt() as Tensor;
  const flag = (value: boolean): Tensor => full([], value, { device, dtype: "bool" }) as Tensor;
  const end = whileLoop(
    ({ isDone, count }) => isDone.logicalNot().logicalAnd(count.less(maxIter)) as Tensor,
    (at) => {
      const { x, r, j, scale, damping, growth, count } = at;
      const weights = where(scale.greater(0), scale, 1).mul(damping.sqrt());
      const tall = concat([j, unit.mul(weights.expandDims(1))]) as Tensor;
      const right = concat([r, zeros([n], { dtype, device })]) as Tensor;
      const { q, r: upper } = qr(tall);
      const step = (
        triangularSolve(upper as Tensor, (q as Tensor).T.matmul(right).expandDims(1) as Tensor, {
          lower: false,
        }) as Tensor
      )
        .squeeze(1)
        .neg() as Tensor;
      const to = x.add(step) as Tensor;
      const rTo = of(to);
      const [before, after] = [halfSquares(r), halfSquares(rTo)];
      // The decrease that the linear model promises.
      const model = j.matmul(step).square().sum().mul(0.5).add(weights.mul(step).square().sum());
      const gain = before.sub(after).div(model.maximum(1e-300));
      const isBetter = gain.greater(1e-4).logicalAnd(after.isFinite());
      const shrink = gain
        .mul(2)
        .sub(1)
        .pow(3)
        .neg()
        .add(1)
        .maximum(1 / 3);
      const stay = (a: Tensor, b: Tensor): Tensor => where(isBetter, a, b) as Tensor;
      const nextJ = stay(slopes(to), j);
      const nextR = stay(rTo, r);
      const smallStep = step.mul(scale).square().sum().sqrt().lessEqual(x.mul(scale).square().sum().sqrt().mul(tol));
      const smallGain = model.lessEqual(before.mul(tol * tol)).logicalOr(
        before
          .sub(after)
          .abs()
          .lessEqual(before.mul(tol * tol))
          .logicalAnd(model.lessEqual(before.mul(tol))),
      );
      const isFlat = cosines(nextJ, nextR).lessEqual(tol);
      const isLost = damping.greater(1 / spacingOf(x) ** 2);
      return {
        x: stay(to, x),
        r: nextR,
        j: nextJ,
        scale: scale.maximum(lengths(nextJ)) as Tensor,
        damping: where(isBetter, damping.mul(shrink), damping.mul(growth)) as Tensor,
        growth: where(isBetter, 2, growth.mul(2)).cast(dtype) as Tensor,
        isDone: isBetter
          .logicalAnd(smallStep.logicalOr(smallGain).logicalOr(isFlat))
          .logicalOr(smallStep)
          .logicalOr(isLost) as Tensor,
        converged: smallStep.logicalOr(smallGain).logicalOr(isFlat) as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      x: vector,
      r: first,
      j: j0,
      scale: lengths(j0),
      damping: full([], 1e-3, { dtype, device }).add(first.sum().mul(0)) as Tensor,
      growth: full([], 2, { dtype, device }) as Tensor,
      isDone: cosines(j0, first).lessEqual(tol) as Tensor,
      converged: cosines(j0, first).lessEqual(tol).logicalOr(flag(false)) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return {
    x: flat.restore(end.x),
    value: halfSquares(end.r),
    gradientNorm: end.r.matmul(end.j).abs().max() as Tensor,
    iterations: end.count,
    converged: end.converged,
  };
}

/** The largest cosine of the angle between the residuals and a column of the Jacobian. */
function cosines(j: Tensor, r: Tensor): Tensor {
  const sizes = j.square().sum({ axis: 0 }).sqrt().mul(r.square().sum().sqrt());
  return r
    .matmul(j)
    .abs()
    .div(where(sizes.greater(0), sizes, 1))
    .max() as Tensor;
}
