/**
 * Likelihoods of a transformed quantity: `y - f(θ)` is normal, `log y - f(θ)` is Student's t, the errors of an ARMA series are
 * independent. The variable is y itself, so that log-likelihoods, PSIS-LOO, predictions and files know it as an observation.
 */

import { checkOptions } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import { ArgumentError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { formatShape, type Shape, sameShape } from "../../core/shape.js";
import { Tensor } from "../../tensor/index.js";
import { type Constraint, checkConstraint, eachInside } from "../constraints/constraint.js";
import { real } from "../constraints/numbers.js";
import { completed } from "../definition/completed.js";
import type { Term } from "../numerics/terms.js";
import type { Distribution } from "../variables/distribution.js";
import { partOf, RandomVariable } from "../variables/variable.js";

/** The transformation of a `transformed` variable, and its way back. */
export interface Transformation {
  /** From values to what has the base distribution, in tensor operations, of the same shape: `(y) => y.sub(f)`. */
  to(y: Tensor): Tensor;
  /** The way back, which predictions need: `(e) => e.add(f)`. */
  from?(e: Tensor): Tensor;
  /**
   * log |det ∂to(y)/∂y|, one number for each draw of the base. It is yours to give, and 0 unless you do: that is right where each
   * element of to(y) has its own element of y with a slope of 1, and besides that only earlier ones, as y - f(θ) and the errors
   * of a series do. Without the right one the density is wrong wherever the slope depends on what is sampled.
   */
  logJacobian?(y: Tensor): Tensor | number;
  /** The support of the values; all real numbers unless given. */
  readonly support?: Constraint;
}

/** The support: values inside their own constraint whose transformed values lie inside that of the base. */
function supportOf(base: Constraint, own: Constraint, to: (y: Tensor) => Tensor): Constraint {
  if (base.holds === real.holds) return own;
  const eventRank = Math.max(base.eventRank, own.eventRank);
  return {
    name: "transformed",
    description: `${own.description} that become ${base.description}`,
    eventRank,
    holds: (y) => eachInside(own, y, eventRank).logicalAnd(eachInside(base, to(y), eventRank)),
  };
}

function checkedShape(what: string, found: unknown, wanted: Shape): Tensor {
  if (found instanceof Tensor && sameShape(found.shape, wanted)) return found;
  const given = found instanceof Tensor ? formatShape(found.shape) : typeof found;
  throw new ShapeError(
    `transformed: ${what} gives ${given} for ${formatShape(wanted)}; it keeps the shape. ` +
      "If values are to have more axes than the arguments of the base, say so by .shape(…).",
  );
}

function transformedOf(
  base: Distribution,
  { to, from, logJacobian, support: own = real }: Transformation,
): Distribution {
  if (base.support.isDiscrete) {
    throw new ArgumentError(
      `transformed: ${base.name} takes ${base.support.description}; the base is a distribution of floats.`,
    );
  }
  const there = (y: Tensor): Tensor => checkedShape("to", to(y), y.shape);
  const stretch = (y: Tensor): Term => {
    const found = logJacobian?.(y) ?? 0;
    if (typeof found === "number" || found.rank === 0) return found;
    return checkedShape("logJacobian", found, y.shape.slice(0, y.rank - base.eventShape.length));
  };
  const { domain } = base;
  return completed({
    name: "transformed",
    get batchShape() {
      return base.batchShape;
    },
    get eventShape() {
      return base.eventShape;
    },
    support: supportOf(base.support, own, there),
    ...(domain && { domain: supportOf(domain, own, there) }),
    isUnnormalized: base.isUnnormalized,
    isImproper: base.isImproper,
    arguments: base.arguments,
    parameters: base.parameters,
    checkArguments: () => base.checkArguments(),
    terms: (y) => [...base.terms(there(y)), stretch(y)],
    draw({ key, shape, dtype }) {
      if (from) return checkedShape("from", from(base.sample(key, shape, { dtype })), [...shape, ...base.eventShape]);
      throw new UnsupportedError(
        "transformed: it has no way back from the base, so it cannot be drawn from; give { from }.",
      );
    },
  });
}

/**
 * Values y for which `to(y)` has another distribution: `y: transformed(normal(0, sigma), { to: (y) => y.sub(f), from: (e) => e.add(f) })`.
 * The log density of y is that of the base at to(y) plus `logJacobian`, which you give where to(y) stretches.
 */
export function transformed(base: RandomVariable, transformation: Transformation): RandomVariable {
  checkCount("transformed", 2, arguments);
  checkOptions("transformed", transformation, {
    to: "function",
    from: "function",
    logJacobian: "function",
    support: "any",
  });
  if (typeof transformation.to !== "function") {
    throw new ArgumentError("transformed: give { to: (y) => … }, from values to what has the base distribution.");
  }
  if (transformation.support !== undefined) checkConstraint("transformed", transformation.support);
  return new RandomVariable(transformedOf(partOf(base, "transformed"), transformation));
}
