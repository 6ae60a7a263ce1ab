/** Gamma numbers and what is made of them: inverse gamma, χ². */
import { refusingSurplus } from "../../core/arity.js";
import { gamma as gammaNumbers } from "../../random/gamma.js";
import { scalarLike, type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { nonNegative, positive } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { deviance, logGammaPeak, magnitudeOf, mayCancel } from "../definition/deviance.js";
import { atEnd, finiteLog, isZero, withEnds } from "../definition/ends.js";
import { positiveFloats } from "../numerics/float-range.js";
import type { Term } from "../numerics/terms.js";
import { RandomVariable } from "../variables/variable.js";

/** The terms for a large concentration: of x for which `scaled`, x·rate or scale/x, is a standard gamma number. */
const stableTerms = (logX: Tensor, concentration: Tensor, scaled: Tensor, logScaled: Tensor): readonly Term[] => [
  deviance(concentration, scaled.sub(concentration), logScaled).neg(),
  logX.neg(),
  logGammaPeak(concentration),
];

/** Waiting times may be 0 where they are exponential. */
const domain = (argument: Argument, value: number) =>
  withEnds(positive, nonNegative, [{ isEnd: isZero, argument, value }]);

export function gammaTerms(x: Tensor, concentration: Tensor, rate: Tensor, isLarge: boolean): readonly Term[] {
  const [logX, power] = [finiteLog(x), concentration.sub(1)];
  const end = atEnd(isZero(x), power);
  if (isLarge) {
    const [first, ...rest] = stableTerms(logX, concentration, x.mul(rate), logX.add(rate.log()));
    return [end.add(first), ...rest];
  }
  return [logX.mul(power).add(end), x.mul(rate).neg(), concentration.mul(rate.log()), concentration.lgamma().neg()];
}

const gammaDefinition: Definition<"concentration" | "rate"> = {
  name: "gamma",
  parameters: { concentration: parameter.positive, rate: parameter.positive },
  support: nonNegative,
  domain: ({ concentration }) => domain(concentration, 1),
  magnitude: (_, p) => magnitudeOf(p.concentration),
  terms: (x, p, { concentration }, isShort) =>
    concentration === 1
      ? [x.mul(p.rate).neg(), p.rate.log()]
      : gammaTerms(x, p.concentration, p.rate, !isShort && mayCancel(concentration)),
  draw: ({ key, shape, dtype }, p) => positiveFloats(gammaNumbers(key, p.concentration, shape, { dtype }).div(p.rate)),
  mean: (p) => p.concentration.div(p.rate),
  variance: (p) => p.concentration.div(p.rate.square()),
};

/** Gamma numbers of mean concentration/rate. */
export const gamma = refusingSurplus(
  "gamma",
  (concentration: Argument, rate: Argument): RandomVariable =>
    new RandomVariable(bind(gammaDefinition, { concentration, rate })),
);

const inverseGammaDefinition: Definition<"concentration" | "scale"> = {
  name: "inverseGamma",
  parameters: { concentration: parameter.positive, scale: parameter.positive },
  support: positive,
  magnitude: (_, p) => magnitudeOf(p.concentration),
  terms(x, p, { concentration }, isShort) {
    if (!isShort && mayCancel(concentration)) {
      const logX = x.log();
      return stableTerms(logX, p.concentration, p.scale.div(x), p.scale.log().sub(logX));
    }
    return [
      x.log().mul(p.concentration.add(1)).neg(),
      p.scale.div(x).neg(),
      p.concentration.mul(p.scale.log()),
      p.concentration.lgamma().neg(),
    ];
  },
  draw: ({ key, shape, dtype }, p) =>
    positiveFloats(p.scale.div(positiveFloats(gammaNumbers(key, p.concentration, shape, { dtype })))),
  mean: (p) => where(p.concentration.greater(1), p.scale.div(p.concentration.sub(1)), Number.NaN),
  variance(p) {
    const excess = p.concentration.sub(1);
    const variance = p.scale.square().div(excess.square().mul(excess.sub(1)));
    return where(p.concentration.greater(2), variance, Number.NaN);
  },
};

/** One over a gamma number of that concentration and rate `scale`. */
export const inverseGamma = refusingSurplus(
  "inverseGamma",
  (concentration: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(inverseGammaDefinition, { concentration, scale })),
);

const chiSquaredDefinition: Definition<"freedom"> = {
  name: "chiSquared",
  parameters: { freedom: parameter.positive },
  support: nonNegative,
  domain: ({ freedom }) => domain(freedom, 2),
  magnitude: (_, p) => magnitudeOf(p.freedom),
  terms: (x, p, { freedom }, isShort) =>
    gammaTerms(x, p.freedom.mul(0.5), scalarLike(x, 0.5), !isShort && mayCancel(freedom)),
  draw: ({ key, shape, dtype }, p) => positiveFloats(gammaNumbers(key, p.freedom.mul(0.5), shape, { dtype }).mul(2)),
  mean: (p) => p.freedom,
  variance: (p) => p.freedom.mul(2),
};

/** The sum of `freedom` squared standard normal numbers. */
export const chiSquared = refusingSurplus(
  "chiSquared",
  (freedom: Argument): RandomVariable => new RandomVariable(bind(chiSquaredDefinition, { freedom })),
);
