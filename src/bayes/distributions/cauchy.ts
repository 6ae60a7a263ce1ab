/** The Cauchy distribution and its half: tails so heavy that there is no mean. */
import { refusingSurplus } from "../../core/arity.js";
import { uniform } from "../../random/uniform.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { bind } from "../definition/definition.js";
import { halved, locationScale, type Standard } from "../definition/location-scale.js";
import { RandomVariable } from "../variables/variable.js";

/** P(Z ≤ z) = 1/2 + atan(z)/π, which far on the left is atan(-1/z)/π without the subtraction. */
function logCdf(z: Tensor): Tensor {
  const isFar = z.less(-1);
  const far = where(isFar, z, -1).reciprocal().neg().atan();
  const near = where(isFar, -1, z)
    .atan()
    .add(Math.PI / 2);
  return where(isFar, far, near)
    .mul(1 / Math.PI)
    .log();
}

const standard: Standard<never> = {
  name: "cauchy",
  parameters: {},
  terms: (z) => [z.square().log1p().neg(), -Math.log(Math.PI)],
  draw: ({ key, shape, dtype }) => uniform(key, shape, { dtype }).sub(0.5).mul(Math.PI).tan(),
  mean: () => Number.NaN,
  variance: () => Number.NaN,
  logCdf,
  logSurvival: (z) => logCdf(z.neg()),
};

const cauchyDefinition = locationScale(standard);
const halfCauchyDefinition = halved(standard, { name: "halfCauchy", mean: () => Infinity });

/** The Cauchy distribution around a location. It has no mean. */
export const cauchy = refusingSurplus(
  "cauchy",
  (location: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(cauchyDefinition, { location, scale })),
);

/** The size of a Cauchy number around 0. */
export const halfCauchy = refusingSurplus(
  "halfCauchy",
  (scale: Argument): RandomVariable => new RandomVariable(bind(halfCauchyDefinition, { scale })),
);
