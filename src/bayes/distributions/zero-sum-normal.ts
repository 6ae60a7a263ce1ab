/** Normal vectors that sum to 0: effects of groups relative to their average, all groups alike. */
import { checkCount } from "../../core/arity.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { normal as normalNumbers } from "../../random/normal.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { sumToZero } from "../constraints/vectors.js";
import { bind, type Definition } from "../definition/definition.js";
import { LOG_SQRT_2PI } from "../definition/normal-probability.js";
import { RandomVariable } from "../variables/variable.js";

function definitionOf(n: number): Definition<"scale"> {
  const definition: Definition<"scale"> = {
    name: "zeroSumNormal",
    parameters: { scale: parameter.positive },
    eventShape: () => [n],
    support: sumToZero,
    terms: (x, { scale }) => [
      x.div(scale.expandDims(-1)).square().sum({ axis: -1 }).mul(-0.5),
      scale.log().mul(1 - n),
      (1 - n) * LOG_SQRT_2PI,
    ],
    draw({ key, shape, dtype }, { scale }) {
      const z = normalNumbers(key, [...shape, n], { dtype });
      return z.sub(z.mean({ axis: -1, keepDims: true })).mul(scale.expandDims(-1));
    },
    mean: ({ scale }) =>
      scale
        .mul(0)
        .expandDims(-1)
        .broadcastTo([...scale.shape, n]),
    variance: ({ scale }) =>
      scale
        .square()
        .mul(1 - 1 / n)
        .expandDims(-1)
        .broadcastTo([...scale.shape, n]),
    noncentered: ({ scale }) => ({
      base: bind(definition, { scale: 1 }),
      forward: (z) => z.mul(tensorOf(scale, z).expandDims(-1)),
      inverse: (x) => x.div(tensorOf(scale, x).expandDims(-1)),
    }),
  };
  return definition;
}

/**
 * Vectors of n numbers that sum to 0: n independent normal numbers of mean 0 and standard deviation `scale`, less their average.
 * Each element has the variance scale²·(1 - 1/n).
 */
export function zeroSumNormal(n: number, scale: Argument): RandomVariable {
  checkCount("zeroSumNormal", 2, arguments);
  if (!Number.isInteger(n) || n < 2) {
    const isSwapped = Number.isInteger(scale);
    const remedy = isSwapped
      ? "the number comes first: zeroSumNormal(n, scale)"
      : "numbers that sum to 0 are 2 or more";
    throw new ArgumentError(`zeroSumNormal: ${shown(n)} as the number of elements; ${remedy}.`);
  }
  return new RandomVariable(bind(definitionOf(n), { scale }));
}
