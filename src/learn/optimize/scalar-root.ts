/** Roots of functions of one number between two ends of different sign: halving, and Brent's method (Brent 1973). Loops on the device. */
import { checkFunction, checkOptions } from "../../core/arguments.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { checkStop, STOP, type StopOptions, spacingOf } from "./result.js";
import { ends, scalarOf } from "./scalar-minimum.js";

/** Options of `bisect` and `brentq`. `tol` is the precision of x, a few roundings unless told; `maxIter` is 200. */
export interface ScalarRootOptions extends StopOptions {}

/** A root of a function of one number. All are scalars. */
export interface ScalarRoot {
  readonly x: Tensor;
  /** The function there. */
  readonly value: Tensor;
  /** i32. */
  readonly iterations: Tensor;
  /** bool: false where the ends were of one sign, or the rounds did not suffice. */
  readonly converged: Tensor;
}

function begun(operation: string, f: unknown, a: number | Tensor, b: number | Tensor, options: ScalarRootOptions) {
  checkFunction(operation, f);
  checkOptions(operation, options, STOP);
  checkStop(operation, options);
  const [low, high] = ends(operation, a, b);
  const value = scalarOf(f as (x: Tensor) => Tensor);
  const { tol = 0, maxIter = 200 } = options;
  const spacing = spacingOf(low);
  const close = (x: Tensor): Tensor =>
    x
      .abs()
      .mul(2 * spacing)
      .add(Math.max(tol, 1e-30)) as Tensor;
  const count = full([], 0, { device: low.device, dtype: "i32" }) as Tensor;
  return { low, high, value, close, maxIter, count };
}

/** A root between two ends of different sign by halving: `bisect(f, 0, 3)`. */
export function bisect(
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: ScalarRootOptions = {},
): ScalarRoot {
  const { low, high, value, close, maxIter, count } = begun("optimize.bisect", f, lower, upper, options);
  const [atLow, atHigh] = [value(low), value(high)];
  const isWide = ({ low, high }: { low: Tensor; high: Tensor }): Tensor =>
    high.sub(low).abs().greater(close(low)) as Tensor;
  const end = whileLoop(
    (at) => isWide(at).logicalAnd(at.count.less(maxIter)) as Tensor,
    ({ low, high, count }) => {
      const middle = low.add(high).mul(0.5) as Tensor;
      const found = value(middle);
      const isZero = found.equal(0);
      const isLeft = found.sign().equal(atLow.sign());
      return {
        low: where(isLeft.logicalOr(isZero), middle, low) as Tensor,
        high: where(isLeft.logicalNot().logicalOr(isZero), middle, high) as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      // A root at an end needs no search.
      low: where(atHigh.equal(0), high, low) as Tensor,
      high: where(atLow.equal(0), low, high) as Tensor,
      count,
    },
  );
  const x = end.low.add(end.high).mul(0.5) as Tensor;
  const isBracketed = atLow.sign().mul(atHigh.sign()).lessEqual(0);
  return {
    x,
    value: value(x),
    iterations: end.count,
    converged: isBracketed.logicalAnd(isWide(end).logicalNot()) as Tensor,
  };
}

/** A root between two ends of different sign by Brent's method: secants and inverse parabolas, and halving where they do not help. */
export function brentq(
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: ScalarRootOptions = {},
): ScalarRoot {
  const { low, high, value, close, maxIter, count } = begun("optimize.brentq", f, lower, upper, options);
  const [atLow, atHigh] = [value(low), value(high)];
  const pick = (c: Tensor, yes: Tensor, no: Tensor): Tensor => where(c, yes, no) as Tensor;
  /** b is the best guess, a the one before, c the end of other sign. */
  const ordered = (s: State): State => {
    const isSame = s.fb.sign().equal(s.fc.sign());
    const [c, fc] = [pick(isSame, s.a, s.c), pick(isSame, s.fa, s.fc)];
    const [step, before] = [
      pick(isSame, s.b.sub(s.a) as Tensor, s.step),
      pick(isSame, s.b.sub(s.a) as Tensor, s.before),
    ];
    const swaps = fc.abs().less(s.fb.abs()) as Tensor;
    return {
      a: pick(swaps, s.b, s.a),
      b: pick(swaps, c, s.b),
      c: pick(swaps, s.b, c),
      fa: pick(swaps, s.fb, s.fa),
      fb: pick(swaps, fc, s.fb),
      fc: pick(swaps, s.fb, fc),
      step,
      before,
      count: s.count,
    };
  };
  const isOpen = ({ b, c, fb }: State): Tensor =>
    c.sub(b).mul(0.5).abs().greater(close(b).mul(0.5)).logicalAnd(fb.notEqual(0)) as Tensor;
  const first: State = {
    a: low,
    b: high,
    c: low,
    fa: atLow,
    fb: atHigh,
    fc: atLow,
    step: high.sub(low) as Tensor,
    before: high.sub(low) as Tensor,
    count,
  };
  const end = whileLoop(
    (state) => isOpen(state).logicalAnd(state.count.less(maxIter)) as Tensor,
    ({ a, b, c, fa, fb, fc, step, before, count }) => {
      const half = c.sub(b).mul(0.5);
      const near = close(b).mul(0.5);
      const s = fb.div(where(fa.equal(0), 1, fa));
      const t = fa.div(where(fc.equal(0), 1, fc));
      const r = fb.div(where(fc.equal(0), 1, fc));
      const isSecant = a.equal(c);
      const p0 = where(
        isSecant,
        half.mul(s).mul(2),
        s.mul(
          half
            .mul(2)
            .mul(t)
            .mul(t.sub(r))
            .sub(b.sub(a).mul(r.sub(1))),
        ),
      );
      const q0 = where(isSecant, s.neg().add(1), t.sub(1).mul(r.sub(1)).mul(s.sub(1)));
      const q = where(p0.greater(0), q0.neg(), q0);
      const p = p0.abs();
      const bound = half.mul(q).mul(3).sub(near.mul(q).abs()).minimum(before.mul(q).abs());
      const isGood = before
        .abs()
        .greaterEqual(near)
        .logicalAnd(fa.abs().greater(fb.abs()))
        .logicalAnd(p.mul(2).less(bound));
      const next = where(isGood, p.div(where(q.equal(0), 1, q)), half) as Tensor;
      const move = where(next.abs().greater(near), next, where(half.greater(0), near, near.neg()));
      const to = b.add(move) as Tensor;
      return ordered({
        a: b,
        b: to,
        c,
        fa: fb,
        fb: value(to),
        fc,
        step: next,
        before: where(isGood, step, half) as Tensor,
        count: count.add(1) as Tensor,
      });
    },
    ordered(first),
  );
  const isBracketed = atLow.sign().mul(atHigh.sign()).lessEqual(0);
  return {
    x: end.b,
    value: end.fb,
    iterations: end.count,
    converged: isBracketed.logicalAnd(isOpen(end).logicalNot()) as Tensor,
  };
}

interface State {
  readonly a: Tensor;
  readonly b: Tensor;
  readonly c: Tensor;
  readonly fa: Tensor;
  readonly fb: Tensor;
  readonly fc: Tensor;
  readonly step: Tensor;
  readonly before: Tensor;
  readonly count: Tensor;
}
