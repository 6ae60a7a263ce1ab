/** Constraints on single numbers: the real line, and parts of it with one or two ends. */
import type { Tensor } from "../../tensor/index.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import { argumentsOf } from "../arguments/check-arguments.js";
import { type ParameterRule, parameter } from "../arguments/parameter.js";
import { shareFloats } from "../numerics/float-range.js";
import { type Bijection, type Constraint, elementwise } from "./constraint.js";

const identity = elementwise({
  forward: (free) => ({ value: free, logJacobian: 0 }),
  inverse: (value) => value,
});

/** All real numbers. */
export const real: Constraint = {
  name: "real",
  range: [-Infinity, Infinity],
  description: "finite numbers",
  eventRank: 0,
  bijection: identity,
  holds: (x) => x.isFinite(),
};

/** x = exp(u). */
const exponential = elementwise({
  forward: (free) => ({ value: free.exp(), logJacobian: free }),
  inverse: (value) => value.log(),
});

/** x = log(1 + exp(u)): nearly the identity far from zero. */
const softplus = elementwise({
  forward: (free) => ({ value: free.softplus(), logJacobian: free.neg().softplus().neg() }),
  inverse: (value) => value.add(value.neg().expm1().neg().log()),
});

/** Numbers above zero, reached by exp. */
export const positive: Constraint = {
  name: "positive",
  range: [0, Infinity],
  description: "positive numbers",
  eventRank: 0,
  bijection: exponential,
  holds: (x) => x.greater(0).logicalAnd(x.less(Infinity)),
};

/** Numbers above zero, reached by softplus: steps far from zero are not stretched. */
export const positiveSoftplus: Constraint = { ...positive, name: "positiveSoftplus", bijection: softplus };

/** Zero and above. Samplers never reach zero; data may be there. */
export const nonNegative: Constraint = {
  ...positive,
  name: "nonNegative",
  description: "numbers from 0 on",
  holds: (x) => x.greaterEqual(0).logicalAnd(x.less(Infinity)),
};

/** Another bijection, moved: x = offset ± y. */
function shifted(bijection: Bijection, sign: 1 | -1, offset: Argument): Bijection {
  return {
    freeShape: bijection.freeShape,
    forward(free, shape) {
      const { value, logJacobian } = bijection.forward(free, shape);
      const origin = tensorOf(offset, free);
      return { value: sign > 0 ? origin.add(value) : origin.sub(value), logJacobian };
    },
    inverse(value) {
      const origin = tensorOf(offset, value);
      return bijection.inverse(sign > 0 ? value.sub(origin) : origin.sub(value));
    },
  };
}

const shown = (bound: Argument): string => (typeof bound === "number" ? `${bound}` : "a bound");

/** Numbers from a bound on, which may depend on other variables. */
export function above(low: Argument): Constraint {
  return {
    name: "above",
    ...(typeof low === "number" && { range: [low, Infinity] as const }),
    description: `numbers from ${shown(low)} on`,
    eventRank: 0,
    bounds: [low],
    check: argumentsOf({ name: "above", parameters: { low: parameter.real } }, { low }).checkArguments,
    bijection: low === 0 ? exponential : shifted(exponential, 1, low),
    holds: (x) => x.greaterEqual(tensorOf(low, x)).logicalAnd(x.less(Infinity)),
  };
}

/** Numbers up to a bound, which may depend on other variables. */
export function below(high: Argument): Constraint {
  return {
    name: "below",
    ...(typeof high === "number" && { range: [-Infinity, high] as const }),
    description: `numbers up to ${shown(high)}`,
    eventRank: 0,
    bounds: [high],
    check: argumentsOf({ name: "below", parameters: { high: parameter.real } }, { high }).checkArguments,
    bijection: shifted(exponential, -1, high),
    holds: (x) => x.lessEqual(tensorOf(high, x)).logicalAnd(x.greater(-Infinity)),
  };
}

/** Numbers from low to high, either of which may depend on other variables. x = low + (high - low)/(1 + exp(-u)). */
export function interval(low: Argument, high: Argument): Constraint {
  const widthAs = (like: Tensor): Tensor => tensorOf(high, like).sub(tensorOf(low, like));
  const isUnit = low === 0 && high === 1;
  return {
    name: "interval",
    ...(typeof low === "number" && typeof high === "number" && { range: [low, high] as const }),
    description: `numbers from ${shown(low)} to ${shown(high)}`,
    eventRank: 0,
    isBounded: true,
    bounds: [low, high],
    check: argumentsOf(
      { name: "interval", parameters: { low: parameter.real, high: parameter.real }, rising: ["low", "high"] },
      { low, high },
    ).checkArguments,
    bijection: elementwise({
      forward(free) {
        const share = free.sigmoid();
        // log(σ(u) σ(-u)), without the overflow of either part.
        const stretch = free.sub(free.softplus().mul(2));
        // The ends are out of reach, and functions of what is left must not find that it is nothing.
        if (isUnit) return { value: shareFloats(share), logJacobian: stretch };
        const width = widthAs(free);
        return { value: share.mul(width).add(tensorOf(low, free)), logJacobian: stretch.add(width.log()) };
      },
      inverse(value) {
        const [from, to] = [value.sub(tensorOf(low, value)), tensorOf(high, value).sub(value)];
        return from.log().sub(to.log());
      },
    }),
    holds: (x) => x.greaterEqual(tensorOf(low, x)).logicalAnd(x.lessEqual(tensorOf(high, x))),
  };
}

/** Numbers between 0 and 1, with the ends. Samplers never reach these; data may be there. */
export const closedUnitInterval: Constraint = interval(0, 1);

/** Numbers between 0 and 1, without the ends. */
export const unitInterval: Constraint = {
  ...closedUnitInterval,
  name: "unitInterval",
  description: "numbers between 0 and 1",
  holds: (x) => x.greater(0).logicalAnd(x.less(1)),
};

/** Angles: data may be any number, and a variable lies between -π and π. */
export const angle: Constraint = {
  ...interval(-Math.PI, Math.PI),
  name: "angle",
  description: "finite angles in radians",
  holds: real.holds,
};

const stretch: ParameterRule = {
  ...parameter.real,
  says: "a finite number other than 0",
  isValid: (x) => Number.isFinite(x) && x !== 0,
};

/** All real numbers, on a scale of their own: x = location + scale·u. For variables of an unusual size. */
export function affine(location: Argument, scale: Argument): Constraint {
  return {
    ...real,
    name: "affine",
    check: argumentsOf(
      { name: "affine", parameters: { location: parameter.real, scale: stretch } },
      { location, scale },
    ).checkArguments,
    bijection: elementwise({
      forward(free) {
        const factor = tensorOf(scale, free);
        const value = free.mul(factor).add(tensorOf(location, free));
        return { value, logJacobian: factor.abs().log() };
      },
      inverse: (value) => value.sub(tensorOf(location, value)).div(tensorOf(scale, value)),
    }),
  };
}
