/** Student's t and its half: normal numbers over the root of a gamma number, with heavy tails. */
import { refusingSurplus } from "../../core/arity.js";
import { logGamma } from "../../random/gamma.js";
import { split } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { bind } from "../definition/definition.js";
import { logHalfStep } from "../definition/deviance.js";
import { halved, locationScale, type Standard } from "../definition/location-scale.js";
import { RandomVariable } from "../variables/variable.js";

const standard: Standard<"freedom"> = {
  name: "studentT",
  parameters: { freedom: parameter.positive },
  terms(z, { freedom }) {
    const power = freedom.add(1).mul(0.5);
    const norm = logHalfStep(freedom.mul(0.5));
    return [z.square().div(freedom).log1p().mul(power).neg(), norm, -0.5 * Math.log(2 * Math.PI)];
  },
  draw({ key, shape, dtype }, { freedom }) {
    const [first, second] = split(key);
    // A gamma number of few degrees of freedom is often too small for a float, though its root would not be.
    const half = freedom.mul(0.5);
    const logChi = logGamma(second, half, shape, { dtype }).sub(half.log());
    return normal(first, shape, { dtype }).mul(logChi.mul(-0.5).exp());
  },
  mean: ({ freedom }) => where(freedom.greater(1), freedom.mul(0), Number.NaN),
  variance: ({ freedom }) =>
    where(
      freedom.greater(2),
      freedom.div(freedom.sub(2)),
      where(freedom.greater(1), Infinity, freedom.mul(Number.NaN)),
    ),
};

const studentTDefinition = locationScale(standard);
const halfStudentTDefinition = halved(standard, {
  name: "halfStudentT",
  mean({ freedom }) {
    const size = logHalfStep(freedom.mul(0.5))
      .exp()
      .mul(freedom)
      .div(freedom.sub(1))
      .mul(Math.sqrt(2 / Math.PI));
    return where(freedom.greater(1), size, Infinity);
  },
});

/** Student's t with `freedom` degrees of freedom. */
export const studentT = refusingSurplus(
  "studentT",
  (freedom: Argument, location: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(studentTDefinition, { freedom, location, scale })),
);

/** The size of a Student's t number around 0. */
export const halfStudentT = refusingSurplus(
  "halfStudentT",
  (freedom: Argument, scale: Argument): RandomVariable =>
    new RandomVariable(bind(halfStudentTDefinition, { freedom, scale })),
);
