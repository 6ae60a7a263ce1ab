/** The skew normal distribution (Azzalini 1985): a normal density times the probability that a normal number is below slant·z. */
import { refusingSurplus } from "../../core/arity.js";
import { split } from "../../random/key.js";
import { normal as normalNumbers } from "../../random/normal.js";
import type { Tensor } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { bind, type Definition } from "../definition/definition.js";
import { locationScale, type Standard } from "../definition/location-scale.js";
import { LOG_SQRT_2PI, logNormalCdf } from "../definition/normal-probability.js";
import { RandomVariable } from "../variables/variable.js";

/** slant/√(1 + slant²) and 1/√(1 + slant²), without a square that overflows. */
function weightsOf(slant: Tensor): { readonly skewed: Tensor; readonly even: Tensor } {
  const size = slant.abs().maximum(1);
  const [share, rest] = [slant.div(size), size.reciprocal()];
  const length = share.square().add(rest.square()).sqrt();
  return { skewed: share.div(length), even: rest.div(length) };
}

const standard: Standard<"slant"> = {
  name: "skewNormal",
  parameters: { slant: parameter.real },
  terms: (z, { slant }) => [z.square().mul(-0.5), logNormalCdf(z.mul(slant)), Math.LN2 - LOG_SQRT_2PI],
  draw({ key, shape, dtype }, { slant }) {
    const [first, second] = split(key);
    const { skewed, even } = weightsOf(slant);
    const size = normalNumbers(first, shape, { dtype }).abs();
    return size.mul(skewed).add(normalNumbers(second, shape, { dtype }).mul(even));
  },
  mean: ({ slant }) => weightsOf(slant).skewed.mul(Math.sqrt(2 / Math.PI)),
  variance: ({ slant }) =>
    weightsOf(slant)
      .skewed.square()
      .mul(-2 / Math.PI)
      .add(1),
};

const skewNormalDefinition: Definition<"location" | "scale" | "slant"> = {
  ...locationScale(standard),
  // In the order of the arguments.
  parameters: { location: parameter.real, scale: parameter.positive, slant: parameter.real },
};

/** Normal numbers that lean to one side: to the right for a positive slant; a slant of 0 is the normal distribution. */
export const skewNormal = refusingSurplus(
  "skewNormal",
  (location: Argument, scale: Argument, slant: Argument): RandomVariable =>
    new RandomVariable(bind(skewNormalDefinition, { location, scale, slant })),
);
