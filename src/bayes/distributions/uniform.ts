/** The uniform distribution. */
import { refusingSurplus } from "../../core/arity.js";
import { uniform as uniformNumbers } from "../../random/uniform.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { interval } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { RandomVariable } from "../variables/variable.js";

const uniformDefinition: Definition<"low" | "high"> = {
  name: "uniform",
  parameters: { low: parameter.real, high: parameter.real },
  rising: ["low", "high"],
  support: ({ low, high }) => interval(low, high),
  terms: (_, p) => [p.high.sub(p.low).log().neg()],
  draw: ({ key, shape, dtype }, p) =>
    uniformNumbers(key, shape, { dtype }).mul(p.high.sub(p.low)).add(p.low).minimum(p.high),
  mean: (p) => p.low.add(p.high).mul(0.5),
  variance: (p) =>
    p.high
      .sub(p.low)
      .square()
      .mul(1 / 12),
  logCdf: (x, p) => x.sub(p.low).div(p.high.sub(p.low)).clip(0, 1).log(),
  logSurvival: (x, p) => p.high.sub(x).div(p.high.sub(p.low)).clip(0, 1).log(),
};

/** Evenly from low to high, either of which may depend on other variables. */
export const uniform = refusingSurplus(
  "uniform",
  (low: Argument, high: Argument): RandomVariable => new RandomVariable(bind(uniformDefinition, { low, high })),
);
