/** The von Mises distribution: normal numbers on a circle. */

import { refusingSurplus } from "../../core/arity.js";
import { pairOfWords, randomWords, unitFloats } from "../../random/bits.js";
import { split } from "../../random/key.js";
import { firstAccepted } from "../../random/rejection.js";
import { countingLike, type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { angle } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { RandomVariable } from "../variables/variable.js";

/** Up to here the integral is summed, beyond it the asymptotic series is used; both are good to 1e-15 at this point. */
const LARGE = 40;
const POINTS = 64;

/**
 * log I₀(κ) - κ. I₀ is the mean of exp(κ cos θ) over the circle; the sum over equidistant angles converges faster than
 * any power, so POINTS of them are exact to rounding up to LARGE. Beyond: 1/√(2πκ) Σ ((1·3·5…)²/n!) / (8κ)^n.
 */
function logBesselScaled(kappa: Tensor): Tensor {
  const isLarge = kappa.greater(LARGE);
  const angles = countingLike(kappa, POINTS)
    .cast(kappa.dtype)
    .mul((2 * Math.PI) / POINTS);
  const small = where(isLarge, 1, kappa).expandDims(-1).mul(angles.cos().sub(1)).exp().mean({ axis: -1 }).log();
  const large = where(isLarge, kappa, LARGE);
  const w = large.mul(8).reciprocal();
  let series = w.mul(27 ** 2 / 14);
  for (let n = 13; n >= 1; n--)
    series = series
      .add(1)
      .mul(w)
      .mul((2 * n - 1) ** 2 / n);
  const far = series.log1p().sub(
    large
      .mul(2 * Math.PI)
      .log()
      .mul(0.5),
  );
  return where(isLarge, far, small);
}

/** Candidates of a draw. Each is accepted with a probability of at least 0.65, so all 22 are rejected in 1 of 10^10 draws. */
const CANDIDATES = 22;

/** Best and Fisher (Efficient simulation of the von Mises distribution, 1979), around 0. */
function drawAround(key: Tensor<"u32">, kappa: Tensor): Tensor {
  const { shape, dtype } = kappa;
  const [candidates, sides] = split(key);
  const r = kappa.square().mul(4).add(1).sqrt().add(1);
  const root = r.mul(2).sqrt();
  const whole = r.add(root);
  // ρ = (r - √(2r)) / 2κ, 1 - ρ and s - 1 = (1 - ρ)² / 2ρ, without subtractions: for a large κ, ρ is nearly 1.
  const rho = kappa.mul(2).div(whole);
  const rest = r.sub(1).add(kappa.mul(2)).reciprocal().add(1).add(root).div(whole);
  const excess = rest.square().div(rho.mul(2));
  /** 1 - cos of a candidate, which is (1 + s z)/(s + z) for z the cosine of a uniform angle. */
  const candidate = (round: Tensor) => {
    const [angle, other] = pairOfWords(candidates, shape, "vonMises", dtype, round);
    const half = unitFloats(angle, dtype, "vonMises").mul(Math.PI / 2);
    const [below, above] = [half.sin().square().mul(2), half.cos().square().mul(2)];
    // A number is made where it is asked for: one that nobody reads would keep the round that it belongs to.
    return { fall: excess.mul(below).div(excess.add(above)), u: () => unitFloats(other, dtype, "vonMises") };
  };
  const accepted = firstAccepted(key, CANDIDATES, kappa.rank, (round) => {
    const { fall, u: accepting } = candidate(round);
    const u = accepting();
    const c = excess.add(fall).mul(kappa);
    const isQuick = c.neg().add(2).mul(c).greater(u);
    return isQuick.logicalOr(c.div(u).log().add(1).greaterEqual(c));
  });
  const size = candidate(accepted).fall.mul(0.5).minimum(1).sqrt().asin().mul(2);
  const isLeft = unitFloats(randomWords(sides, shape, "vonMises"), dtype, "vonMises").less(0.5);
  return where(isLeft, size.neg(), size);
}

const vonMisesDefinition: Definition<"location" | "concentration"> = {
  name: "vonMises",
  parameters: { location: parameter.real, concentration: parameter.nonNegative },
  support: angle,
  terms: (x, p) => [
    // cos - 1, without the subtraction.
    x.sub(p.location).mul(0.5).sin().square().mul(p.concentration).mul(-2),
    logBesselScaled(p.concentration).neg(),
    -Math.log(2 * Math.PI),
  ],
  draw({ key, shape }, p) {
    // Below this the circle is flat to the last digit.
    const turned = drawAround(key, p.concentration.maximum(1e-6).broadcastTo(shape)).add(p.location);
    return turned.sub(
      turned
        .mul(0.5 / Math.PI)
        .round()
        .mul(2 * Math.PI),
    );
  },
  mean: (p) => p.location,
};

/** Angles around a location; a large concentration κ is nearly a normal distribution of standard deviation 1/√κ. */
export const vonMises = refusingSurplus(
  "vonMises",
  (location: Argument, concentration: Argument): RandomVariable =>
    new RandomVariable(bind(vonMisesDefinition, { location, concentration })),
);
