/** Measurements that stop at a bound: what lies beyond is recorded as the bound itself. */

import { checkOptions } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { ArgumentError } from "../../core/errors.js";
import { broadcastShapes } from "../../core/shape.js";
import { type Tensor, where } from "../../tensor/index.js";
import { shapeOfArgument, tensorOf } from "../arguments/argument.js";
import { argumentsOf } from "../arguments/check-arguments.js";
import { parameter } from "../arguments/parameter.js";
import type { Constraint } from "../constraints/constraint.js";
import { completed } from "../definition/completed.js";
import { sumOfTerms } from "../numerics/terms.js";
import type { Distribution } from "../variables/distribution.js";
import { partOf, RandomVariable } from "../variables/variable.js";
import { BOUNDS, type Bounds } from "./truncated-normal.js";

/** An infinite bound censors nothing, and gradients must not see it. */
const finite = (bound: Tensor, x: Tensor): Tensor => where(bound.isFinite(), bound, x);

/** The values of a constraint between the bounds, and the bounds themselves. */
const measured = (
  { description, holds }: Constraint,
  { low, high }: Bounds,
  isDiscrete: boolean | undefined,
): Constraint => ({
  name: "censored",
  description: `${description}, between the bounds of the measurement`,
  eventRank: 0,
  isDiscrete,
  holds(x) {
    let inside = holds(x);
    if (low !== undefined) {
      const bound = tensorOf(low, x);
      inside = inside.logicalAnd(x.greater(bound)).logicalOr(x.equal(bound));
    }
    if (high !== undefined) {
      const bound = tensorOf(high, x);
      inside = inside.logicalAnd(x.less(bound)).logicalOr(x.equal(bound));
    }
    return inside;
  },
});

function censoredOf(base: Distribution, given: Bounds): Distribution {
  const { low, high } = given;
  const { logCdf, logSurvival } = base;
  if (!logCdf || !logSurvival) {
    throw new ArgumentError(
      `censored: the distribution function of ${base.name} has no closed form here; ` +
        "take one that has such a form, as normal, exponential or weibull.",
    );
  }
  const bounds = [low, high].filter((bound) => bound !== undefined);
  if (bounds.length === 0) throw new ArgumentError("censored: give { low }, { high } or both.");
  const { checkArguments } = argumentsOf(
    { name: "censored", parameters: { low: parameter.bound, high: parameter.bound }, rising: ["low", "high"] },
    { low: low ?? -Infinity, high: high ?? Infinity },
  );
  const { isDiscrete } = base.support;
  return completed({
    name: "censored",
    get batchShape() {
      return broadcastShapes("censored", base.batchShape, ...bounds.map(shapeOfArgument));
    },
    eventShape: [],
    support: measured(base.support, given, isDiscrete),
    ...(base.domain && { domain: measured(base.domain, given, isDiscrete) }),
    arguments: bounds,
    parameters: base.parameters,
    checkArguments() {
      checkArguments();
      base.checkArguments();
    },
    terms(x) {
      let density = tensorOf(sumOfTerms(base.terms(x)), x);
      if (low !== undefined) {
        const bound = tensorOf(low, x);
        density = where(x.lessEqual(bound), logCdf(finite(bound, x)), density);
      }
      if (high !== undefined) {
        const bound = tensorOf(high, x);
        density = where(x.greaterEqual(bound), logSurvival(finite(bound, x)), density);
      }
      return [density];
    },
    draw({ key, shape, dtype }) {
      let drawn = base.sample(key, shape, { dtype });
      if (low !== undefined) drawn = drawn.maximum(tensorOf(low, drawn));
      if (high !== undefined) drawn = drawn.minimum(tensorOf(high, drawn));
      return drawn;
    },
  });
}

/**
 * Draws of another distribution, recorded as `low` where they are below it and as `high` where they are above. For data;
 * bounds may differ between observations.
 */
export function censored(base: RandomVariable, bounds: Bounds): RandomVariable {
  checkCount("censored", 2, arguments);
  checkOptions("censored", bounds, BOUNDS);
  return new RandomVariable(censoredOf(partOf(base, "censored"), bounds));
}
