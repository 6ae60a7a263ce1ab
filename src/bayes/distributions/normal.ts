/** The normal distribution, its half, and the exponential of a normal number. */
import { refusingSurplus } from "../../core/arity.js";
import { normal as normalNumbers } from "../../random/normal.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { positive } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { halved, locationScale, type Standard, standardize } from "../definition/location-scale.js";
import { LOG_SQRT_2PI, logNormalCdf } from "../definition/normal-probability.js";
import { positiveFloats } from "../numerics/float-range.js";
import { negated } from "../numerics/terms.js";
import { RandomVariable } from "../variables/variable.js";

const standard: Standard<never> = {
  name: "normal",
  parameters: {},
  terms: (z) => [z.square().mul(-0.5), -LOG_SQRT_2PI],
  draw: ({ key, shape, dtype }) => normalNumbers(key, shape, { dtype }),
  mean: () => 0,
  variance: () => 1,
  logCdf: logNormalCdf,
  logSurvival: (z) => logNormalCdf(z.neg()),
};

export const normalDefinition = locationScale(standard);
const halfNormalDefinition = halved(standard, { name: "halfNormal", mean: () => Math.sqrt(2 / Math.PI) });

/** The normal distribution; `scale` is the standard deviation. */
export const normal = refusingSurplus(
  "normal",
  (location: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(normalDefinition, { location, scale })),
);

/** The size of a normal number of mean 0. */
export const halfNormal = refusingSurplus(
  "halfNormal",
  (scale: Argument): RandomVariable => new RandomVariable(bind(halfNormalDefinition, { scale })),
);

const logNormalDefinition: Definition<"location" | "scale"> = {
  name: "logNormal",
  parameters: { location: parameter.real, scale: parameter.positive },
  support: positive,
  terms(x, _, given) {
    const logX = x.log();
    const { z, logScale } = standardize(logX, given.location, given.scale);
    // Terms of their own: that of data is left out for samplers, whatever the others depend on.
    return [z.square().mul(-0.5), logX.neg(), negated(logScale), -LOG_SQRT_2PI];
  },
  draw: (draws, p) => positiveFloats(normalDefinition.draw(draws, p).exp()),
  mean: (p) => p.scale.square().mul(0.5).add(p.location).exp(),
  variance(p) {
    const square = p.scale.square();
    return square.expm1().mul(p.location.mul(2).add(square).exp());
  },
  logCdf: (x, p) => logNormalCdf(x.log().sub(p.location).div(p.scale)),
  logSurvival: (x, p) => logNormalCdf(x.log().sub(p.location).div(p.scale).neg()),
  noncentered: (given) => ({
    base: bind(normalDefinition, { location: 0, scale: 1 }),
    forward: (z) => z.mul(tensorOf(given.scale, z)).add(tensorOf(given.location, z)).exp(),
    inverse: (x) => standardize(x.log(), given.location, given.scale).z,
  }),
};

/** The exponential of a normal number, whose mean and standard deviation are the arguments. */
export const logNormal = refusingSurplus(
  "logNormal",
  (location: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(logNormalDefinition, { location, scale })),
);
