/** The Laplace distribution: exponential numbers to both sides. */
import { refusingSurplus } from "../../core/arity.js";
import { uniform } from "../../random/uniform.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { bind } from "../definition/definition.js";
import { locationScale, type Standard } from "../definition/location-scale.js";
import { RandomVariable } from "../variables/variable.js";

function logCdf(z: Tensor): Tensor {
  const upper = z.abs().neg().exp().mul(-0.5).log1p();
  return where(z.less(0), z.sub(Math.LN2), upper);
}

const standard: Standard<never> = {
  name: "laplace",
  parameters: {},
  terms: (z) => [z.abs().neg(), -Math.LN2],
  draw({ key, shape, dtype }) {
    const signed = uniform(key, shape, { dtype }).mul(2).sub(1);
    // Of [-1, 1), in which -1 itself would be infinitely far out.
    const size = signed.abs().minimum(dtype === "f64" ? 1 - 2 ** -53 : 1 - 2 ** -24);
    return signed.sign().mul(size.neg().log1p()).neg();
  },
  mean: () => 0,
  variance: () => 2,
  logCdf,
  logSurvival: (z) => logCdf(z.neg()),
};

const laplaceDefinition = locationScale(standard);

/** The Laplace distribution: exponential on both sides of a location. */
export const laplace = refusingSurplus(
  "laplace",
  (location: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(laplaceDefinition, { location, scale })),
);
