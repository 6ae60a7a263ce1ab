/** The Gumbel distribution: the largest of many. */
import { refusingSurplus } from "../../core/arity.js";
import { gumbel as gumbelNumbers } from "../../random/exponential.js";
import type { Argument } from "../arguments/argument.js";
import { bind } from "../definition/definition.js";
import { locationScale, type Standard } from "../definition/location-scale.js";
import { log1mExp } from "../definition/normal-probability.js";
import { RandomVariable } from "../variables/variable.js";

/** Euler's constant, the mean of a standard Gumbel number. */
const EULER = 0.5772156649015329;

const standard: Standard<never> = {
  name: "gumbel",
  parameters: {},
  terms: (z) => [z.neg().sub(z.neg().exp())],
  draw: ({ key, shape, dtype }) => gumbelNumbers(key, shape, { dtype }),
  mean: () => EULER,
  variance: () => Math.PI ** 2 / 6,
  logCdf: (z) => z.neg().exp().neg(),
  logSurvival: (z) => log1mExp(z.neg().exp()),
};

const gumbelDefinition = locationScale(standard);

export const gumbel = refusingSurplus(
  "gumbel",
  (location: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(gumbelDefinition, { location, scale })),
);
