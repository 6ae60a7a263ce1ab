/**
 * Nelder and Mead's simplex search: no gradients, for functions of few parameters that have none. The rules and first simplex are
 * SciPy's. A round evaluates the reflection and one more point, and in the rare case of a shrunk simplex all of its points.
 */
import { checkFunction, checkOptions } from "../../core/arguments.js";
import { arange, concat, eye, full, type Tensor, where } from "../../tensor/index.js";
import { cond, whileLoop } from "../../transforms/control.js";
import { ravel } from "../../transforms/ravel.js";
import { vmap } from "../../transforms/vmap.js";
import { checkStop, STOP, type StopOptions, scalarFunction } from "./result.js";

/** Options of `nelderMead`. `tol` is 1e-4 unless told: the extent of the simplex, and of the values at its points, at which it ends. */
export interface NelderMeadOptions extends StopOptions {
  /** Coefficients that suit the number of parameters (Gao & Han 2012); false unless told. */
  readonly adaptive?: boolean;
}

/** A minimum found without gradients. */
export interface SimplexMinimum<T> {
  readonly x: T;
  readonly value: Tensor;
  /** i32. */
  readonly iterations: Tensor;
  /** bool: the tolerance was reached. */
  readonly converged: Tensor;
}

/** A minimum without gradients: `nelderMead(f, x0)`. `x0` is a tensor or a tree of them; 200 rounds for each parameter at most, unless told. */
export function nelderMead<T>(f: (x: T) => Tensor, x0: T, options: NelderMeadOptions = {}): SimplexMinimum<T> {
  const operation = "optimize.nelderMead";
  checkFunction(operation, f);
  checkOptions(operation, options, { ...STOP, adaptive: "flag" });
  checkStop(operation, options);
  const flat = ravel(`${operation}, the start`, x0);
  const value = scalarFunction(operation, f, flat);
  const { vector } = flat;
  const [n] = vector.shape as [number];
  const { tol = 1e-4, maxIter = 200 * n, adaptive = false } = options;
  const { device } = vector;
  const [expansion, contraction, shrinkage] = adaptive ? [1 + 2 / n, 0.75 - 1 / (2 * n), 1 - 1 / n] : [2, 0.5, 0.5];
  const values = vmap(value);
  const points0 = firstSimplex(vector);
  const start = sorted(points0, values(points0));
  // Points at which the function has no finite value are as far apart as can be.
  const isWide = ({ points, found }: Simplex): Tensor =>
    points
      .at("1:")
      .sub(points.at(0))
      .abs()
      .max()
      .lessEqual(tol)
      .logicalAnd(found.at("1:").sub(found.at(0)).abs().max().lessEqual(tol))
      .logicalNot() as Tensor;
  const end = whileLoop(
    ({ simplex, count }) => isWide(simplex).logicalAnd(count.less(maxIter)) as Tensor,
    ({ simplex, count }) => {
      const { points, found } = simplex;
      const centre = points.at(`:${n}`).mean({ axis: 0 });
      const worst = points.at(n);
      const away = centre.sub(worst);
      const reflected = centre.add(away) as Tensor;
      const atReflected = value(reflected);
      const isBest = atReflected.less(found.at(0));
      const isFine = atReflected.less(found.at(n - 1));
      const isOutside = atReflected.less(found.at(n));
      // Expand beyond the best; contract outside or inside of the simplex where the reflection is no gain.
      const length = where(isBest, expansion, where(isOutside, contraction, -contraction));
      const second = centre.add(away.mul(length)) as Tensor;
      const atSecond = value(second);
      const takesSecond = where(
        isBest,
        atSecond.less(atReflected),
        isFine.logicalNot().logicalAnd(where(isOutside, atSecond.lessEqual(atReflected), atSecond.less(found.at(n)))),
      );
      const takesReflected = isFine.logicalAnd(takesSecond.logicalNot());
      const replaced = (): [Tensor, Tensor] => {
        const point = where(takesSecond, second, reflected).expandDims(0);
        const height = where(takesSecond, atSecond, atReflected).reshape([1]);
        return [concat([points.at(`:${n}`), point]) as Tensor, concat([found.at(`:${n}`), height]) as Tensor];
      };
      const shrunk = (): [Tensor, Tensor] => {
        const best = points.at("0:1");
        const rest = best.add(points.at("1:").sub(best).mul(shrinkage)) as Tensor;
        return [concat([best, rest]) as Tensor, concat([found.at("0:1"), values(rest)]) as Tensor];
      };
      const [next, heights] = cond(takesSecond.logicalOr(takesReflected) as Tensor, replaced, shrunk);
      return { simplex: sorted(next, heights), count: count.add(1) as Tensor };
    },
    { simplex: start, count: full([], 0, { device, dtype: "i32" }) as Tensor },
  );
  return {
    x: flat.restore(end.simplex.points.at(0) as Tensor),
    value: end.simplex.found.at(0) as Tensor,
    iterations: end.count,
    converged: isWide(end.simplex).logicalNot() as Tensor,
  };
}

/** Points [n + 1, n] with their values, the lowest first. */
interface Simplex {
  readonly points: Tensor;
  readonly found: Tensor;
}

function sorted(points: Tensor, found: Tensor): Simplex {
  const order = found.argsort();
  return { points: points.take(order, { axis: 0 }) as Tensor, found: found.take(order) as Tensor };
}

/** The start, and the start with one element larger by a twentieth (by 0.00025 where it is zero). */
function firstSimplex(x: Tensor): Tensor {
  const [n] = x.shape as [number];
  const { dtype, device } = x;
  const step = where(x.equal(0), 0.00025, x.mul(0.05));
  const steps = concat([arange(n, { dtype, device }).mul(0).expandDims(0), eye(n, { dtype, device }).mul(step)]);
  return x.expandDims(0).add(steps) as Tensor;
}
