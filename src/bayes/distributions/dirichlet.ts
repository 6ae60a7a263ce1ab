/** The Dirichlet distribution, of probabilities that sum to 1. */
import { refusingSurplus } from "../../core/arity.js";
import { logGamma } from "../../random/gamma.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { simplex } from "../constraints/vectors.js";
import { bind, type Definition } from "../definition/definition.js";
import { atEnd, finiteLog, isAtKnownEnd, isZero } from "../definition/ends.js";
import { positiveFloats } from "../numerics/float-range.js";
import { RandomVariable } from "../variables/variable.js";

const dirichletDefinition: Definition<"concentration"> = {
  name: "dirichlet",
  parameters: { concentration: parameter.positiveVector },
  eventShape: ({ concentration }) => concentration.slice(-1),
  support: simplex,
  domain: ({ concentration }) => ({
    ...simplex,
    holds(x) {
      const isInside = x.greater(0).logicalOr(isAtKnownEnd(x, { isEnd: isZero, argument: concentration, value: 1 }));
      return simplex.holds(x).logicalAnd(isInside.all({ axis: -1 }));
    },
  }),
  terms(x, p) {
    const power = p.concentration.sub(1);
    return [
      finiteLog(x)
        .mul(power)
        .add(atEnd(isZero(x), power))
        .sum({ axis: -1 }),
      p.concentration.sum({ axis: -1 }).lgamma(),
      p.concentration.lgamma().sum({ axis: -1 }).neg(),
    ];
  },
  draw({ key, shape, dtype }, p) {
    const extent = [...shape, p.concentration.shape.at(-1) as number];
    return positiveFloats(logGamma(key, p.concentration, extent, { dtype }).softmax());
  },
  mean: (p) => p.concentration.div(p.concentration.sum({ axis: -1, keepDims: true })),
  variance(p) {
    const total = p.concentration.sum({ axis: -1, keepDims: true });
    const mean = p.concentration.div(total);
    return mean.mul(mean.neg().add(1)).div(total.add(1));
  },
};

/** Probabilities along the last axis; concentrations of 1 are flat. */
export const dirichlet = refusingSurplus(
  "dirichlet",
  (concentration: Argument): RandomVariable => new RandomVariable(bind(dirichletDefinition, { concentration })),
);
