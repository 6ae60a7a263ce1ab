/** Gamma numbers and what is made of them: inverse gamma, χ². */
import { gamma as gammaNumbers } from "../../random/gamma.js";
import { type Tensor, where } from "../../tensor/tensor.js";
import type { Argument } from "../argument.js";
import { nonNegative, positive } from "../constraints/numbers.js";
import { RandomVariable } from "../model/variable.js";
import { deviance, isDelicate, logGammaPeak } from "./deviance.js";
import { bind, type Family, parameter, type Term } from "./distribution.js";

/** The terms for a large concentration: of x for which `scaled`, x·rate or scale/x, is a standard gamma number. */
const delicateTerms = (x: Tensor, concentration: Tensor, scaled: Tensor, logScaled: Tensor): readonly Term[] => [
  deviance(concentration, scaled.sub(concentration), logScaled).neg(),
  x.log().neg(),
  logGammaPeak(concentration),
];

const gammaFamily: Family<"concentration" | "rate"> = {
  name: "gamma",
  parameters: { concentration: parameter.positive, rate: parameter.positive },
  support: ({ concentration }) => (concentration === 1 ? nonNegative : positive),
  terms(x, p, { concentration }) {
    if (isDelicate(x, concentration)) {
      return delicateTerms(x, p.concentration, x.mul(p.rate), x.log().add(p.rate.log()));
    }
    return [
      concentration === 1 ? 0 : x.log().mul(p.concentration.sub(1)),
      x.mul(p.rate).neg(),
      p.concentration.mul(p.rate.log()),
      p.concentration.lgamma().neg(),
    ];
  },
  draw: ({ key, shape, dtype }, p) => gammaNumbers(key, p.concentration, shape, { dtype }).div(p.rate),
  mean: (p) => p.concentration.div(p.rate),
  variance: (p) => p.concentration.div(p.rate.square()),
};

/** Gamma numbers of mean concentration/rate. */
export const gamma = (concentration: Argument, rate: Argument): RandomVariable =>
  new RandomVariable(bind(gammaFamily, { concentration, rate }));

const inverseGammaFamily: Family<"concentration" | "scale"> = {
  name: "inverseGamma",
  parameters: { concentration: parameter.positive, scale: parameter.positive },
  support: positive,
  terms(x, p, { concentration }) {
    if (isDelicate(x, concentration)) {
      return delicateTerms(x, p.concentration, p.scale.div(x), p.scale.log().sub(x.log()));
    }
    return [
      x.log().mul(p.concentration.add(1)).neg(),
      p.scale.div(x).neg(),
      p.concentration.mul(p.scale.log()),
      p.concentration.lgamma().neg(),
    ];
  },
  draw: ({ key, shape, dtype }, p) => p.scale.div(gammaNumbers(key, p.concentration, shape, { dtype })),
  mean: (p) => where(p.concentration.greater(1), p.scale.div(p.concentration.sub(1)), Number.NaN),
  variance(p) {
    const excess = p.concentration.sub(1);
    const variance = p.scale.square().div(excess.square().mul(excess.sub(1)));
    return where(p.concentration.greater(2), variance, Number.NaN);
  },
};

/** One over a gamma number of that concentration and rate `scale`. */
export const inverseGamma = (concentration: Argument, scale: Argument): RandomVariable =>
  new RandomVariable(bind(inverseGammaFamily, { concentration, scale }));

const chiSquaredFamily: Family<"freedom"> = {
  name: "chiSquared",
  parameters: { freedom: parameter.positive },
  support: ({ freedom }) => (freedom === 2 ? nonNegative : positive),
  terms(x, p, { freedom }) {
    const half = p.freedom.mul(0.5);
    if (isDelicate(x, freedom)) return delicateTerms(x, half, x.mul(0.5), x.log().sub(Math.LN2));
    return [freedom === 2 ? 0 : x.log().mul(half.sub(1)), x.mul(-0.5), half.mul(-Math.LN2), half.lgamma().neg()];
  },
  draw: ({ key, shape, dtype }, p) => gammaNumbers(key, p.freedom.mul(0.5), shape, { dtype }).mul(2),
  mean: (p) => p.freedom,
  variance: (p) => p.freedom.mul(2),
};

/** The sum of so many squared standard normal numbers. */
export const chiSquared = (freedom: Argument): RandomVariable =>
  new RandomVariable(bind(chiSquaredFamily, { freedom }));
