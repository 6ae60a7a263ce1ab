/**
 * ½ Σ v² + Σ c · max(0, b − a·v): support vector machines with hinge losses, whose kinks stop Newton's method. An interior-point method
 * on the dual (Ferris & Munson 2003) with Mehrotra's corrector. The dual has a variable α in [0, c] for each row of `a`, and the
 * matrix of its equations is a diagonal plus A·Aᵀ, so that a round solves equations of as many unknowns as there are features.
 * Called by support-vectors.ts.
 */
import { cholesky, choSolve } from "../../linalg/triangular.js";
import { eye, full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { forwardOnly } from "./forward-only.js";
import type { Minimum } from "./newton.js";

interface HingeProblem {
  /** [rows, parameters]. */
  readonly a: Tensor;
  /** Margins and weights, [rows]. */
  readonly b: Tensor;
  readonly c: Tensor;
}

/** A point inside: α, c − α, and the multipliers of the bounds: how far a row is over its margin, and how far short of it. */
interface Interior {
  readonly alpha: Tensor;
  readonly room: Tensor;
  readonly over: Tensor;
  readonly short: Tensor;
}

interface HingeOptions {
  readonly kind: string;
  readonly tol: number;
  readonly maxIter: number;
}

/** The share of the way to the nearest bound that a step goes. */
const SHARE = 0.995;

/** The minimum. Ends when |v − minimum| is at most about `tol` of the root of the objective, by the duality gap. `kind` is for messages. */
export function hingeMinimum(problem: HingeProblem, options: HingeOptions): Minimum {
  const why =
    `${options.kind} without squares has no reverse derivative: samples on the margin make kinks. ` +
    `Take the loss ${options.kind === "linearSvr" ? '"squaredEpsilonInsensitive"' : '"squaredHinge"'}`;
  return forwardOnly((given: HingeProblem) => searched(given, options), why, ["parameters"])(problem);
}

function searched({ a, b, c: given }: HingeProblem, { tol, maxIter }: HingeOptions): Minimum {
  const { dtype, device } = a;
  const [rows, width] = a.shape as [number, number];
  const isWide = dtype === "f64";
  // A row without weight has no inside: a weight too small to show stands in for it.
  const c = given.maximum(given.max().mul(isWide ? 1e-14 : 1e-7)) as Tensor;
  const unit = eye(width, { dtype, device });
  const product = (v: Tensor): Tensor => a.matmul(v) as Tensor;
  const back = (alpha: Tensor): Tensor => alpha.matmul(a) as Tensor;
  const gapAt = (v: Tensor, margins: Tensor, alpha: Tensor): { gap: Tensor; value: Tensor } => {
    const half = v.square().sum().mul(0.5);
    const value = half.add(c.mul(b.sub(margins).relu()).sum()) as Tensor;
    return { value, gap: value.sub(b.mul(alpha).sum()).add(half) as Tensor };
  };
  const { alpha: alpha0, ...rest0 } = startAt(c, b);
  const v0 = back(alpha0);
  const found0 = gapAt(v0, product(v0), alpha0);
  const end = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(maxIter)) as Tensor,
    ({ v, inside, gap, count }) => {
      const { alpha, room, over, short } = inside;
      const infeasible = product(v).sub(b).sub(over).add(short).neg() as Tensor;
      const diagonal = over.div(alpha).add(short.div(room)).reciprocal() as Tensor;
      const factor = cholesky(a.T.matmul(a.mul(diagonal.expandDims(1))).add(unit)) as Tensor;
      const stepFor = (ofOver: Tensor, ofShort: Tensor): Interior & { v: Tensor } => {
        const right = infeasible.add(ofOver.div(alpha)).sub(ofShort.div(room)).add(short).sub(over);
        const dv = (choSolve(factor, back(diagonal.mul(right) as Tensor).expandDims(1)) as Tensor).squeeze(1) as Tensor;
        const dAlpha = diagonal.mul(right.sub(product(dv)));
        return {
          v: dv,
          alpha: dAlpha as Tensor,
          room: dAlpha.neg() as Tensor,
          over: ofOver.sub(over.mul(dAlpha)).div(alpha).sub(over) as Tensor,
          short: ofShort.add(short.mul(dAlpha)).div(room).sub(short) as Tensor,
        };
      };
      const none = alpha.mul(0) as Tensor;
      const straight = stepFor(none, none);
      const mean = alpha
        .mul(over)
        .add(room.mul(short))
        .sum()
        .div(2 * rows);
      const reach = reachOf(inside, straight);
      const ahead = moved(inside, straight, reach);
      const after = ahead.alpha
        .mul(ahead.over)
        .add(ahead.room.mul(ahead.short))
        .sum()
        .div(2 * rows);
      const target = after.div(mean).pow(3).mul(mean);
      const step = stepFor(
        target.sub(straight.alpha.mul(straight.over)) as Tensor,
        target.sub(straight.room.mul(straight.short)) as Tensor,
      );
      const length = reachOf(inside, step).mul(SHARE).minimum(1) as Tensor;
      const next = moved(inside, step, length);
      const nextV = back(next.alpha);
      const found = gapAt(nextV, product(nextV), next.alpha);
      // Rounding ends what the tolerance does not.
      const isBetter = found.gap.less(gap).logicalAnd(found.gap.isFinite()).logicalOr(count.less(5));
      const pick = (x: Tensor, y: Tensor): Tensor => where(isBetter, x, y) as Tensor;
      return {
        v: pick(nextV, v),
        inside: {
          alpha: pick(next.alpha, alpha),
          room: pick(next.room, room),
          over: pick(next.over, over),
          short: pick(next.short, short),
        },
        gap: pick(found.gap, gap),
        goesOn: isBetter.logicalAnd(found.gap.greater(found.value.mul(tol * tol))) as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      v: v0,
      inside: { alpha: alpha0, ...rest0 },
      gap: found0.gap,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  return { parameters: end.v, iterations: end.count };
}

/** α in the middle of its bounds, multipliers of the size of the margins. */
function startAt(c: Tensor, b: Tensor): Interior {
  const alpha = c.mul(0.5) as Tensor;
  const size = b.abs().max().maximum(1).add(c.mul(0)) as Tensor;
  return { alpha, room: alpha, over: size, short: size };
}

const moved = (from: Interior, step: Interior, length: Tensor): Interior => {
  const go = (x: Tensor, dx: Tensor): Tensor => x.add(dx.mul(length)) as Tensor;
  return {
    alpha: go(from.alpha, step.alpha),
    room: go(from.room, step.room),
    over: go(from.over, step.over),
    short: go(from.short, step.short),
  };
};

/** How far a step may go until a variable reaches zero; 1 at most. */
function reachOf(from: Interior, step: Interior): Tensor {
  const until = (x: Tensor, dx: Tensor): Tensor =>
    where(dx.less(0), x.div(where(dx.less(0), dx, -1)).neg(), 1e30).min() as Tensor;
  return until(from.alpha, step.alpha)
    .minimum(until(from.room, step.room))
    .minimum(until(from.over, step.over))
    .minimum(until(from.short, step.short))
    .minimum(1 / SHARE) as Tensor;
}
