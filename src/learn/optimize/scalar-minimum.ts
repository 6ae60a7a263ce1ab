/**
 * Minima of functions of one number: a bracket found by walking downhill, golden sections, and Brent's method (Brent 1973), which adds
 * parabolas. Loops on the device; `vmap` finds many minima at once.
 */
import { checkFunction, checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { full, isTensor, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { checkStop, STOP, type StopOptions, spacingOf } from "./result.js";

/** Options of `brent` and `goldenSection`. `tol` is the precision of x, relative to its size; `maxIter` is 500 unless told. */
export interface ScalarOptions extends StopOptions {}

/** A minimum of a function of one number. All are scalars. */
export interface ScalarMinimum {
  readonly x: Tensor;
  readonly value: Tensor;
  /** i32. */
  readonly iterations: Tensor;
  /** bool: the tolerance was reached. */
  readonly converged: Tensor;
}

/** An interval with a point inside that is lower than both ends. */
export interface Bracket {
  readonly lower: Tensor;
  readonly middle: Tensor;
  readonly upper: Tensor;
  /** bool: a lower middle was found. */
  readonly converged: Tensor;
}

const GOLDEN = (3 - Math.sqrt(5)) / 2;
const GROWTH = (1 + Math.sqrt(5)) / 2;

/** Ends as two scalars of one dtype and device. */
export function ends(operation: string, a: number | Tensor, b: number | Tensor): [Tensor, Tensor] {
  const like = isTensor(a) ? a : isTensor(b) ? b : null;
  return [a, b].map((end) => {
    if (isTensor(end) && end.rank === 0) return end as Tensor;
    if (typeof end === "number" && Number.isFinite(end)) {
      return full([], end, like ? { dtype: like.dtype, device: like.device } : {}) as Tensor;
    }
    throw new ArgumentError(`${operation}: an end is ${shown(end)}; it is a number, or a tensor of one.`);
  }) as [Tensor, Tensor];
}

const counter = ({ device }: Tensor): Tensor => full([], 0, { device, dtype: "i32" }) as Tensor;

/** f of scalars, with a scalar of the same dtype as result. */
export const scalarOf =
  (f: (x: Tensor) => Tensor) =>
  (x: Tensor): Tensor =>
    f(x).reshape([]).cast(x.dtype) as Tensor;

/** Walks downhill from a to b and on, in growing steps, until the function climbs: `bracket(f, 0, 1)`. 100 steps at most, unless told. */
export function bracket(
  f: (x: Tensor) => Tensor,
  a: number | Tensor,
  b: number | Tensor,
  options: { readonly maxIter?: number } = {},
): Bracket {
  checkFunction("optimize.bracket", f);
  checkOptions("optimize.bracket", options, { maxIter: "number" });
  checkStop("optimize.bracket", options);
  const { maxIter = 100 } = options;
  const [x0, x1] = ends("optimize.bracket", a, b);
  const value = scalarOf(f);
  const isDown = value(x1).lessEqual(value(x0));
  const [first, second] = [where(isDown, x0, x1) as Tensor, where(isDown, x1, x0) as Tensor];
  const beyond = (from: Tensor, to: Tensor): Tensor => to.add(to.sub(from).mul(GROWTH)) as Tensor;
  const third = beyond(first, second);
  const end = whileLoop(
    ({ low, far, count }) => far.less(low).logicalAnd(count.less(maxIter)) as Tensor,
    ({ middle, last, far, count }) => {
      const next = beyond(middle, last);
      return { first: middle, middle: last, last: next, low: far, far: value(next), count: count.add(1) as Tensor };
    },
    { first, middle: second, last: third, low: value(second), far: value(third), count: counter(x0) },
  );
  return {
    lower: end.first.minimum(end.last) as Tensor,
    middle: end.middle,
    upper: end.first.maximum(end.last) as Tensor,
    converged: end.far.greaterEqual(end.low) as Tensor,
  };
}

/** The minimum between two numbers by golden sections: `goldenSection(f, 0, 3)`. For functions with one minimum there. */
export function goldenSection(
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: ScalarOptions = {},
): ScalarMinimum {
  checkFunction("optimize.goldenSection", f);
  checkOptions("optimize.goldenSection", options, STOP);
  checkStop("optimize.goldenSection", options);
  const [low, high] = ends("optimize.goldenSection", lower, upper);
  // A minimum is known to the root of the rounding of its value.
  const { tol = Math.sqrt(spacingOf(low)), maxIter = 500 } = options;
  const value = scalarOf(f);
  const inner = (a: Tensor, b: Tensor): Tensor => a.add(b.sub(a).mul(GOLDEN)) as Tensor;
  const [x1, x2] = [inner(low, high), inner(high, low)];
  const isWide = ({ low, high, x1, x2 }: { low: Tensor; high: Tensor; x1: Tensor; x2: Tensor }): Tensor =>
    high.sub(low).abs().greater(x1.abs().add(x2.abs()).mul(tol)) as Tensor;
  const end = whileLoop(
    (at) => isWide(at).logicalAnd(at.count.less(maxIter)) as Tensor,
    ({ low, high, x1, x2, f1, f2, count }) => {
      const isLeft = f1.less(f2);
      const [a, b] = [where(isLeft, low, x1) as Tensor, where(isLeft, x2, high) as Tensor];
      const fresh = where(isLeft, inner(a, b), inner(b, a)) as Tensor;
      const atFresh = value(fresh);
      return {
        low: a,
        high: b,
        x1: where(isLeft, fresh, x2) as Tensor,
        x2: where(isLeft, x1, fresh) as Tensor,
        f1: where(isLeft, atFresh, f2) as Tensor,
        f2: where(isLeft, f1, atFresh) as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    { low, high, x1, x2, f1: value(x1), f2: value(x2), count: counter(low) },
  );
  const isLeft = end.f1.less(end.f2);
  return {
    x: where(isLeft, end.x1, end.x2) as Tensor,
    value: where(isLeft, end.f1, end.f2) as Tensor,
    iterations: end.count,
    converged: isWide(end).logicalNot() as Tensor,
  };
}

/**
 * The minimum between two numbers by Brent's method: parabolas through the three lowest points, golden sections where they do not help:
 * `brent(f, 0, 3)`. Ends need not be lower than what is between; `bracket` finds them.
 */
export function brent(
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: ScalarOptions = {},
): ScalarMinimum {
  checkFunction("optimize.brent", f);
  checkOptions("optimize.brent", options, STOP);
  checkStop("optimize.brent", options);
  const [low, high] = ends("optimize.brent", lower, upper);
  const spacing = spacingOf(low);
  const { tol = Math.sqrt(spacing), maxIter = 500 } = options;
  const value = scalarOf(f);
  const first = low.add(high.sub(low).mul(GOLDEN)) as Tensor;
  const zero = first.mul(0) as Tensor;
  const near = (x: Tensor): Tensor =>
    x
      .abs()
      .mul(tol)
      .add(spacing * 1e-3) as Tensor;
  const isFar = ({ a, b, x }: { a: Tensor; b: Tensor; x: Tensor }): Tensor =>
    x
      .sub(a.add(b).mul(0.5))
      .abs()
      .greater(near(x).mul(2).sub(b.sub(a).mul(0.5))) as Tensor;
  const at = value(first);
  const end = whileLoop(
    (state) => isFar(state).logicalAnd(state.count.less(maxIter)) as Tensor,
    ({ a, b, x, w, v, fx, fw, fv, step, before, count }) => {
      const middle = a.add(b).mul(0.5);
      const close = near(x);
      // The minimum of the parabola through x, w and v is at x + p/q.
      const r = x.sub(w).mul(fx.sub(fv));
      const q0 = x.sub(v).mul(fx.sub(fw));
      const p0 = x.sub(v).mul(q0).sub(x.sub(w).mul(r));
      const q1 = q0.sub(r).mul(2);
      const p = where(q1.greater(0), p0.neg(), p0);
      const q = q1.abs();
      const isParabola = before
        .abs()
        .greater(close)
        .logicalAnd(p.abs().less(q.mul(before).mul(0.5).abs()))
        .logicalAnd(p.greater(q.mul(a.sub(x))))
        .logicalAnd(p.less(q.mul(b.sub(x))));
      const jump = p.div(where(q.equal(0), 1, q));
      const landing = x.add(jump);
      const isNearEnd = landing
        .sub(a)
        .less(close.mul(2))
        .logicalOr(b.sub(landing).less(close.mul(2)));
      const parabola = where(isNearEnd, where(x.less(middle), close, close.neg()), jump);
      const rest = where(x.greaterEqual(middle), a.sub(x), b.sub(x));
      const taken = where(isParabola, parabola, rest.mul(GOLDEN));
      const nextBefore = where(isParabola, step, rest);
      const far = where(taken.abs().greaterEqual(close), taken, where(taken.less(0), close.neg(), close));
      const u = x.add(far) as Tensor;
      const fu = value(u);
      const isLower = fu.lessEqual(fx);
      const isSecond = isLower.logicalNot().logicalAnd(fu.lessEqual(fw).logicalOr(w.equal(x)));
      const isThird = isLower
        .logicalOr(isSecond)
        .logicalNot()
        .logicalAnd(fu.lessEqual(fv).logicalOr(v.equal(x)).logicalOr(v.equal(w)));
      const moves = isLower.logicalOr(isSecond);
      const pick = (c: Tensor, yes: Tensor, no: Tensor): Tensor => where(c, yes, no) as Tensor;
      const isRight = u.greaterEqual(x);
      return {
        a: pick(isLower, pick(isRight, x, a), pick(isRight, a, u)),
        b: pick(isLower, pick(isRight, b, x), pick(isRight, u, b)),
        v: pick(moves, w, pick(isThird, u, v)),
        fv: pick(moves, fw, pick(isThird, fu, fv)),
        w: pick(isLower, x, pick(isSecond, u, w)),
        fw: pick(isLower, fx, pick(isSecond, fu, fw)),
        x: pick(isLower, u, x),
        fx: pick(isLower, fu, fx),
        step: far as Tensor,
        before: nextBefore as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      a: low.minimum(high).add(zero) as Tensor,
      b: low.maximum(high).add(zero) as Tensor,
      x: first,
      w: first,
      v: first,
      fx: at,
      fw: at,
      fv: at,
      step: zero,
      before: zero,
      count: counter(low),
    },
  );
  return { x: end.x, value: end.fx, iterations: end.count, converged: isFar(end).logicalNot() as Tensor };
}
