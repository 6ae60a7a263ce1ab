/** Normal numbers between bounds, renormalised, which matters where bounds or parameters are unknown. */

import { ArgumentError } from "../../core/errors.js";
import { randomWords } from "../../random/bits.js";
import { truncatedFrom } from "../../random/normal.js";
import { scalarLike } from "../../tensor/methods/operands.js";
import { type Tensor, where } from "../../tensor/tensor.js";
import type { Argument } from "../argument.js";
import { above, below, interval } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { bind, type Family, parameter } from "./distribution.js";
import { negated, standardize } from "./location-scale.js";
import { LOG_SQRT_2PI, logNormalBetween, logNormalCdf } from "./normal-probability.js";

export interface Bounds {
  readonly low?: Argument;
  readonly high?: Argument;
}

type Name = "location" | "scale" | "low" | "high";

/** Bounds as z-scores; those that are not there are not looked at, so that no infinity enters a gradient. */
function family({ low, high }: Bounds): Family<Name> {
  const z = (bound: Tensor, p: Readonly<Record<Name, Tensor>>) => bound.sub(p.location).div(p.scale);
  const logMass = (p: Readonly<Record<Name, Tensor>>): Tensor => {
    if (low === undefined) return logNormalCdf(z(p.high, p));
    return high === undefined ? logNormalCdf(z(p.low, p).neg()) : logNormalBetween(z(p.low, p), z(p.high, p));
  };
  /** φ(z)/mass and zφ(z)/mass at a bound. */
  const edge = (bound: Tensor, p: Readonly<Record<Name, Tensor>>, isThere: boolean) => {
    const at = z(bound, p);
    const height = at.square().mul(-0.5).sub(LOG_SQRT_2PI).sub(logMass(p)).exp();
    return isThere ? { height, moment: at.mul(height) } : { height: at.mul(0), moment: at.mul(0) };
  };
  const edges = (p: Readonly<Record<Name, Tensor>>) =>
    [edge(p.low, p, low !== undefined), edge(p.high, p, high !== undefined)] as const;
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
      const { z: score, logScale } = standardize(x, given.location, given.scale);
      return [score.square().mul(-0.5), negated(logScale), logMass(p).neg(), -LOG_SQRT_2PI];
    },
    draw({ key, shape }, p) {
      const from = low === undefined ? scalarLike(p.location, -Infinity) : z(p.low, p);
      const to = high === undefined ? scalarLike(p.location, Infinity) : z(p.high, p);
      const words = randomWords(key, shape, "truncatedNormal");
      const { value, distance, isUpper, isLower } = truncatedFrom(words, from, to, "truncatedNormal");
      // From a bound that is far from the location, the way to the location and back would cost the digits.
      const beyond = distance.mul(p.scale);
      let drawn = value.mul(p.scale).add(p.location);
      if (low !== undefined) drawn = where(isUpper, p.low.add(beyond), drawn).maximum(p.low);
      if (high !== undefined) drawn = where(isLower, p.high.sub(beyond), drawn).minimum(p.high);
      return drawn;
    },
    mean(p) {
      const [a, b] = edges(p);
      return a.height.sub(b.height).mul(p.scale).add(p.location);
    },
    variance(p) {
      const [a, b] = edges(p);
      const rest = a.moment.sub(b.moment).add(1).sub(a.height.sub(b.height).square());
      return rest.mul(p.scale.square());
    },
  };
}

/** The normal distribution kept to numbers from `low` to `high`; either may be left out or depend on other variables. */
export function truncatedNormal(location: Argument, scale: Argument, bounds: Bounds): RandomVariable {
  const { low, high } = bounds;
  if (low === undefined && high === undefined) {
    throw new ArgumentError("truncatedNormal: give { low }, { high } or both; without bounds it is normal(…).");
  }
  return new RandomVariable(bind(family(bounds), { location, scale, low: low ?? 0, high: high ?? 0 }));
}
