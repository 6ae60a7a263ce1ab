/**
 * Tails of the gamma and the beta distribution: the regularised incomplete gamma and beta functions, each with its complement. A tail is
 * the density at its edge times ∫ exp(-how far the log density falls), over the log of a gamma number or the log odds of a beta number,
 * where densities are log-concave. Terms are positive, so nothing cancels however small the tail is. The integral goes by the double
 * exponential rule with fixed nodes (Takahasi & Mori 1974), at the scale on which the density falls: a sum that traces and has gradients.
 * The density is written as Loader does (2000), by deviances.
 */
import { type Tensor, tensor, where } from "../../tensor/index.js";

/** Both tails: below a point, and above it. */
export interface Tails {
  readonly lower: Tensor;
  readonly upper: Tensor;
}

const NODES = 100;
const FIRST = -4;
const LAST = 5;

/** Nodes s = exp(t - e⁻ᵗ) and weights of ∫₀^∞ f(s) ds for f that falls at least as e⁻ˢ. */
const RULE = (() => {
  const step = (LAST - FIRST) / (NODES - 1);
  const t = Array.from({ length: NODES }, (_, i) => FIRST + step * i);
  const nodes = t.map((each) => Math.exp(each - Math.exp(-each)));
  return { nodes, weights: nodes.map((node, i) => step * node * (1 + Math.exp(-(t[i] as number)))) };
})();

/** ∫₀^∞ exp(f(s)) ds, f of nodes along a last axis, which falls by about one over `scale`. */
function integralOf(scale: Tensor, f: (nodes: Tensor) => Tensor): Tensor {
  const { dtype, device } = scale;
  const [nodes, weights] = [RULE.nodes, RULE.weights].map((list) => tensor(list, { dtype, device })) as [
    Tensor,
    Tensor,
  ];
  return f(scale.expandDims(-1).mul(nodes)).exp().mul(weights).sum({ axis: -1 }).mul(scale);
}

/** Coefficients of 2·atanh(w) = 2w(1 + w²/3 + w⁴/5 …), from the last. */
const ATANH = Array.from({ length: 12 }, (_, i) => 1 / (25 - 2 * i));

/** log(ratio) + 1 - ratio, by `excess` = ratio - 1, which is known better near zero. */
function logLessExcess(ratio: Tensor, excess: Tensor): Tensor {
  const isNear = excess.abs().less(0.3);
  const v = where(isNear, excess, 0) as Tensor;
  const w = v.div(v.add(2));
  const square = w.square();
  let series = square.mul(0);
  for (const coefficient of ATANH) series = series.add(coefficient).mul(square);
  const near = w.mul(series.mul(2).sub(v));
  const far = where(isNear, 1, ratio) as Tensor;
  return where(isNear, near, far.log().sub(excess)) as Tensor;
}

/** Coefficients of Stirling's series in 1/z², from the last; the last counts from z = 16 on. */
const STIRLING = [1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12];
const LARGE = 16;

/** log Γ(z) - ((z - 1/2) log z - z + log √2π). */
function stirlingError(z: Tensor): Tensor {
  const isLarge = z.greaterEqual(LARGE);
  const inverse = (where(isLarge, z, LARGE) as Tensor).reciprocal();
  const square = inverse.square();
  let series = square.mul(0);
  for (const coefficient of STIRLING) series = series.mul(square).add(coefficient);
  const small = where(isLarge, 1, z) as Tensor;
  const main = small
    .sub(0.5)
    .mul(small.log())
    .sub(small)
    .add(0.5 * Math.log(2 * Math.PI));
  return where(isLarge, series.mul(inverse), small.lgamma().sub(main)) as Tensor;
}

/** Both tails from the smaller one's integral; NaN where the arguments are outside, all mass on one side at the edges. */
function tailsOf(isUpper: Tensor, tail: Tensor, isValid: Tensor): Tails {
  const held = where(isValid, tail, Number.NaN) as Tensor;
  const other = held.neg().add(1);
  return { lower: where(isUpper, other, held) as Tensor, upper: where(isUpper, held, other) as Tensor };
}

/** P(a, x) and Q(a, x): shares of a gamma number of shape a below and above x. */
export function gammaTails(a: Tensor, x: Tensor): Tails {
  const isUpper = x.greaterEqual(a);
  const isInside = x.greater(0).logicalAnd(x.less(Number.POSITIVE_INFINITY)).logicalAnd(a.greater(0));
  const [shape, at] = [where(isInside, a, 1), where(isInside, x, 1)] as [Tensor, Tensor];
  const excess = at.sub(shape);
  const [k, point, side] = [shape, at, isUpper].map((each) => each.expandDims(-1)) as [Tensor, Tensor, Tensor];
  const integral = integralOf(excess.abs().add(at.sqrt()).reciprocal(), (s) => {
    const above = k.sub(1).mul(s.log1p()).sub(point.mul(s));
    const below = k.mul(s).add(point.mul(s.neg().expm1())).neg();
    return where(side, above, below) as Tensor;
  });
  const fall = shape.mul(logLessExcess(at.div(shape), excess.div(shape)));
  const density = shape
    .div(2 * Math.PI)
    .sqrt()
    .mul(fall.sub(stirlingError(shape)).exp());
  const tail = where(isInside, density.mul(integral), 0) as Tensor;
  return tailsOf(isUpper, tail, x.greaterEqual(0).logicalAnd(a.greater(0)));
}

/** A point of a beta number of a and b, and how far it is from the mode of the log odds: each is known better than by the others. */
interface BetaPoint {
  readonly x: Tensor;
  /** 1 - x. */
  readonly rest: Tensor;
  /** b·x - a·rest. */
  readonly excess: Tensor;
}

type Five = readonly [Tensor, Tensor, Tensor, Tensor, Tensor];

/** Shares of a beta number of a and b below and above a point. */
export function betaTails(a: Tensor, b: Tensor, { x, rest, excess: beyond }: BetaPoint): Tails {
  // The tail on the side of the larger parameter falls the most evenly: it is taken somewhat beyond the mode, too.
  const spread = a.add(b).mul(x).mul(rest).sqrt();
  const isUpper = beyond.greaterEqual(spread.mul(where(a.less(b), 0.5, -0.5)));
  const hasShape = a.greater(0).logicalAnd(b.greater(0));
  const isInside = x.greater(0).logicalAnd(rest.greater(0)).logicalAnd(hasShape);
  // A lower tail is the upper tail of 1 less the number.
  const mirrored = (own: Tensor, other: Tensor, outside: number): Tensor =>
    where(isInside, where(isUpper, own, other), outside) as Tensor;
  const [near, far] = [mirrored(a, b, 1), mirrored(b, a, 1)];
  const [at, left] = [mirrored(x, rest, 0.5), mirrored(rest, x, 0.5)];
  const all = near.add(far);
  const excess = mirrored(beyond, beyond.neg(), 0);
  const scale = excess.maximum(0).add(all.mul(at).mul(left).sqrt()).reciprocal();
  const [k, m, n, point, other] = [near, far, all, at, left].map((each) => each.expandDims(-1)) as unknown as Five;
  const isMost = point.greater(0.5);
  // Both are the same; the share that is small leaves nothing large to subtract.
  const integral = integralOf(scale, (s) => {
    const ofMost = m
      .mul(s)
      .add(n.mul(other.mul(s.neg().expm1()).log1p()))
      .neg();
    return where(isMost, ofMost, k.mul(s).sub(n.mul(point.mul(s.expm1()).log1p()))) as Tensor;
  });
  const fall = near
    .mul(logLessExcess(all.mul(at).div(near), excess.div(near)))
    .add(far.mul(logLessExcess(all.mul(left).div(far), excess.neg().div(far))));
  const errors = stirlingError(all).sub(stirlingError(near)).sub(stirlingError(far));
  const density = near
    .div(all)
    .mul(far)
    .div(2 * Math.PI)
    .sqrt()
    .mul(fall.add(errors).exp());
  const tail = where(isInside, density.mul(integral), 0) as Tensor;
  return tailsOf(isUpper, tail, x.greaterEqual(0).logicalAnd(rest.greaterEqual(0)).logicalAnd(hasShape));
}
