/** The logistic distribution: the log-odds of a uniform number. */
import { refusingSurplus } from "../../core/arity.js";
import { uniform } from "../../random/uniform.js";
import type { Argument } from "../arguments/argument.js";
import { bind } from "../definition/definition.js";
import { locationScale, type Standard } from "../definition/location-scale.js";
import { RandomVariable } from "../variables/variable.js";

const standard: Standard<never> = {
  name: "logistic",
  parameters: {},
  // log(σ(z) σ(-z)), with one softplus.
  terms: (z) => [z.sub(z.softplus().mul(2))],
  draw({ key, shape, dtype }) {
    const u = uniform(key, shape, { dtype }).maximum(dtype === "f64" ? 2 ** -53 : 2 ** -24);
    return u.log().sub(u.neg().log1p());
  },
  mean: () => 0,
  variance: () => Math.PI ** 2 / 3,
  logCdf: (z) => z.neg().softplus().neg(),
  logSurvival: (z) => z.softplus().neg(),
};

const logisticDefinition = locationScale(standard);

/** The logistic distribution around a location. */
export const logistic = refusingSurplus(
  "logistic",
  (location: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(logisticDefinition, { location, scale })),
);
