/** Normal numbers between bounds, renormalised, which matters where bounds or parameters are unknown. */

import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { ArgumentError } from "../../core/errors.js";
import { gaussLegendre } from "../../core/quadrature.js";
import { randomWords } from "../../random/bits.js";
import { truncatedFrom } from "../../random/normal.js";
import { scalarLike, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import type { Arguments } from "../arguments/check-arguments.js";
import { parameter } from "../arguments/parameter.js";
import { above, below, interval } from "../constraints/numbers.js";
import type { DrawRequest } from "../definition/completed.js";
import { bind, type Definition } from "../definition/definition.js";
import { standardize } from "../definition/location-scale.js";
import { LOG_SQRT_2PI, logNormalCdf, normalMass } from "../definition/normal-probability.js";
import { negated } from "../numerics/terms.js";
import { RandomVariable } from "../variables/variable.js";

/** The bounds of `truncatedNormal`; a bound that is left out is infinite. */
export interface Bounds {
  readonly low?: Argument;
  readonly high?: Argument;
}

export const BOUNDS: OptionKinds<Bounds> = { low: "any", high: "any" };

/** As many as make the integral of a normal density over all it reaches exact. */
const { nodes: NODES, weights: WEIGHTS } = gaussLegendre(64);

type Name = "location" | "scale" | "low" | "high";
type Tensors = Readonly<Record<Name, Tensor>>;

/** The bounds that were given. A missing one is not looked at, so that no infinity enters a gradient. */
type Ends = "low" | "high" | "both";

/** A bound as a z-score. */
const scoreOf = (bound: Tensor, p: Tensors): Tensor => bound.sub(p.location).div(p.scale);
const widthOf = (p: Tensors): Tensor => p.high.sub(p.low).div(p.scale);

/** -z²/2 and the log of the mass. Both relative to the middle of a narrow window: far out their difference is all that counts. */
function heightAndMass(ends: Ends, x: Tensor, p: Tensors, given: Arguments<Name>): readonly [Tensor, Tensor] {
  if (ends !== "both") {
    const { z } = standardize(x, given.location, given.scale);
    const logMass = logNormalCdf(ends === "high" ? scoreOf(p.high, p) : scoreOf(p.low, p).neg());
    return [z.square().mul(-0.5), logMass];
  }
  const { isNarrow, origin, log: logMass } = normalMass(scoreOf(p.low, p), scoreOf(p.high, p), widthOf(p));
  const { z: beyond } = standardize(x, where(isNarrow, p.low.add(p.high).mul(0.5), p.location), given.scale);
  return [beyond.mul(0.5).add(origin).mul(beyond).neg(), logMass];
}

/**
 * Mean and variance, as integrals of positive numbers from where the density is highest: in the formulas with φ at the bounds
 * nothing is left of the variance far out, or of a narrow window.
 */
function momentsOf(ends: Ends, p: Tensors): { readonly mean: Tensor; readonly variance: Tensor } {
  const none = p.location.mul(0).add(p.scale.mul(0));
  const [from, to] = [
    ends === "high" ? none.sub(Infinity) : scoreOf(p.low, p),
    ends === "low" ? none.add(Infinity) : scoreOf(p.high, p),
  ];
  const whole = ends === "both" ? widthOf(p) : none.add(Infinity);
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
}

function drawnBetween(ends: Ends, { key, shape }: DrawRequest, p: Tensors): Tensor {
  const from = ends === "high" ? scalarLike(p.location, -Infinity) : scoreOf(p.low, p);
  const to = ends === "low" ? scalarLike(p.location, Infinity) : scoreOf(p.high, p);
  const words = randomWords(key, shape, "truncatedNormal");
  const between = ends === "both" ? widthOf(p) : undefined;
  const { value, distance, isUpper, isLower } = truncatedFrom(words, from, to, "truncatedNormal", between);
  // From a bound that is far from the location, the way to the location and back would cost the digits.
  const beyond = distance.mul(p.scale);
  let drawn = value.mul(p.scale).add(p.location);
  if (ends !== "high") drawn = where(isUpper, p.low.add(beyond), drawn).maximum(p.low);
  if (ends !== "low") drawn = where(isLower, p.high.sub(beyond), drawn).minimum(p.high);
  return drawn;
}

const definitionOf = (ends: Ends): Definition<Name> => ({
  name: "truncatedNormal",
  parameters: {
    location: parameter.real,
    scale: parameter.positive,
    low: parameter.real,
    high: parameter.real,
  },
  ...(ends === "both" && { rising: ["low", "high"] as const }),
  support({ low, high }) {
    if (ends === "high") return below(high);
    return ends === "low" ? above(low) : interval(low, high);
  },
  terms(x, p, given) {
    const [logHeight, logMass] = heightAndMass(ends, x, p, given);
    const logScale = typeof given.scale === "number" ? Math.log(given.scale) : p.scale.log();
    return [logHeight, negated(logScale), logMass.neg(), -LOG_SQRT_2PI];
  },
  draw: (request, p) => drawnBetween(ends, request, p),
  mean: (p) => momentsOf(ends, p).mean,
  variance: (p) => momentsOf(ends, p).variance,
});

/** The normal distribution kept to numbers from `low` to `high`; either may be left out or depend on other variables. */
export function truncatedNormal(location: Argument, scale: Argument, bounds: Bounds): RandomVariable {
  checkCount("truncatedNormal", 3, arguments);
  checkOptions("truncatedNormal", bounds, BOUNDS);
  const { low, high } = bounds;
  if (low === undefined && high === undefined) {
    throw new ArgumentError("truncatedNormal: give { low }, { high } or both; without bounds it is normal(…).");
  }
  const ends: Ends = low === undefined ? "high" : high === undefined ? "low" : "both";
  // A bound that is not there is a number all the same, for the shapes; no formula looks at it.
  return new RandomVariable(bind(definitionOf(ends), { location, scale, low: low ?? 0, high: high ?? 0 }));
}
