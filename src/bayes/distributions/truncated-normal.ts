/** Normal numbers between bounds, renormalised, which matters where bounds or parameters are unknown. */

import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { randomWords } from "../../random/bits.js";
import { truncatedFrom } from "../../random/normal.js";
import { scalarLike, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Argument } from "../argument.js";
import { above, below, interval } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { bind, type Family, parameter } from "./distribution.js";
import { negated, standardize } from "./location-scale.js";
import { LOG_SQRT_2PI, logNormalCdf, normalMass } from "./normal-probability.js";
import { gaussLegendre } from "./quadrature.js";

export interface Bounds {
  readonly low?: Argument;
  readonly high?: Argument;
}

export const BOUNDS: OptionKinds<Bounds> = { low: "any", high: "any" };

/** As many as make the integral of a normal density over all it reaches exact. */
const { nodes: NODES, weights: WEIGHTS } = gaussLegendre(64);

type Name = "location" | "scale" | "low" | "high";

/** Bounds as z-scores; those that are not there are not looked at, so that no infinity enters a gradient. */
function family({ low, high }: Bounds): Family<Name> {
  const z = (bound: Tensor, p: Readonly<Record<Name, Tensor>>) => bound.sub(p.location).div(p.scale);
  const width = (p: Readonly<Record<Name, Tensor>>) => p.high.sub(p.low).div(p.scale);
  /** -z²/2 and the log of the mass. Both relative to the middle of a narrow window: far out their difference is all that counts. */
  const shape = (
    x: Tensor,
    p: Readonly<Record<Name, Tensor>>,
    given: Readonly<Record<Name, Argument>>,
  ): readonly Tensor[] => {
    if (low === undefined || high === undefined) {
      const { z: score } = standardize(x, given.location, given.scale);
      const logMass = logNormalCdf(low === undefined ? z(p.high, p) : z(p.low, p).neg());
      return [score.square().mul(-0.5), logMass];
    }
    const { isNarrow, origin, log: logMass } = normalMass(z(p.low, p), z(p.high, p), width(p));
    const { z: beyond } = standardize(x, where(isNarrow, p.low.add(p.high).mul(0.5), p.location), given.scale);
    return [beyond.mul(0.5).add(origin).mul(beyond).neg(), logMass];
  };
  /**
   * Mean and variance, as integrals of positive numbers from where the density is highest: in the formulas with φ at the bounds
   * nothing is left of the variance far out, or of a narrow window.
   */
  const moments = (p: Readonly<Record<Name, Tensor>>): { readonly mean: Tensor; readonly variance: Tensor } => {
    const none = p.location.mul(0).add(p.scale.mul(0));
    const [from, to] = [
      low === undefined ? none.sub(Infinity) : z(p.low, p),
      high === undefined ? none.add(Infinity) : z(p.high, p),
    ];
    const whole = low === undefined || high === undefined ? none.add(Infinity) : width(p);
    const [isRight, isLeft] = [from.greater(0), to.less(0)];
    const top = where(isRight, from, where(isLeft, to, 0));
    // Beyond this the density is less than exp(-40) of the highest.
    const reach = top.square().add(80).sqrt().add(top.abs()).reciprocal().mul(80);
    const before = where(isRight, 0, where(isLeft, whole, from.neg())).minimum(reach);
    const after = where(isLeft, 0, where(isRight, whole, to)).minimum(reach);
    const like = { dtype: top.dtype, device: top.device } as const;
    const half = before.add(after).mul(0.5);
    const t = tensor(NODES, like).add(1).mul(half.expandDims(-1)).sub(before.expandDims(-1));
    const heights = t.mul(0.5).add(top.expandDims(-1)).mul(t).neg().exp().mul(tensor(WEIGHTS, like));
    const over = (x: Tensor) =>
      x
        .mul(heights)
        .sum({ axis: -1 })
        .div(heights.sum({ axis: -1 }));
    const mean = over(t);
    const base = where(isRight, p.low, where(isLeft, p.high, p.location));
    return {
      mean: mean.mul(p.scale).add(base),
      variance: over(t.sub(mean.expandDims(-1)).mul(p.scale.expandDims(-1)).square()),
    };
  };
  return {
    name: "truncatedNormal",
    parameters: {
      location: parameter.real,
      scale: parameter.positive,
      low: parameter.real,
      high: parameter.real,
    },
    ...(low !== undefined && high !== undefined && { rising: ["low", "high"] as const }),
    support() {
      if (low === undefined) return below(high as Argument);
      return high === undefined ? above(low) : interval(low, high);
    },
    terms(x, p, given) {
      const [logHeight, logMass] = shape(x, p, given);
      const logScale = typeof given.scale === "number" ? Math.log(given.scale) : p.scale.log();
      return [logHeight, negated(logScale), logMass.neg(), -LOG_SQRT_2PI];
    },
    draw({ key, shape }, p) {
      const from = low === undefined ? scalarLike(p.location, -Infinity) : z(p.low, p);
      const to = high === undefined ? scalarLike(p.location, Infinity) : z(p.high, p);
      const words = randomWords(key, shape, "truncatedNormal");
      const between = low === undefined || high === undefined ? undefined : width(p);
      const { value, distance, isUpper, isLower } = truncatedFrom(words, from, to, "truncatedNormal", between);
      // From a bound that is far from the location, the way to the location and back would cost the digits.
      const beyond = distance.mul(p.scale);
      let drawn = value.mul(p.scale).add(p.location);
      if (low !== undefined) drawn = where(isUpper, p.low.add(beyond), drawn).maximum(p.low);
      if (high !== undefined) drawn = where(isLower, p.high.sub(beyond), drawn).minimum(p.high);
      return drawn;
    },
    mean: (p) => moments(p).mean,
    variance: (p) => moments(p).variance,
  };
}

/** The normal distribution kept to numbers from `low` to `high`; either may be left out or depend on other variables. */
export function truncatedNormal(location: Argument, scale: Argument, bounds: Bounds): RandomVariable {
  checkOptions("truncatedNormal", bounds, BOUNDS);
  const { low, high } = bounds;
  if (low === undefined && high === undefined) {
    throw new ArgumentError("truncatedNormal: give { low }, { high } or both; without bounds it is normal(…).");
  }
  return new RandomVariable(bind(family(bounds), { location, scale, low: low ?? 0, high: high ?? 0 }));
}
