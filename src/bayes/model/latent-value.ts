/** The way from free numbers to the value of a latent variable: by the bijection of its support, or from standard numbers. */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, type Shape, sizeOf } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import type { Bijection } from "../constraints/constraint.js";
import type { Term } from "../numerics/terms.js";
import type { RandomVariable } from "../variables/variable.js";

/** The bijection behind a variable. Of `.noncentered()` ones, the bijection makes the standard numbers. */
export function bijectionOf(variable: RandomVariable): Bijection {
  const { distribution, constraint, isNoncentered, isNarrowed } = variable;
  if (isNoncentered && isNarrowed) {
    throw new ArgumentError("a variable is either noncentered() or constrained(…), not both.");
  }
  if (isNoncentered && distribution.noncentered) return distribution.noncentered().base.support.bijection as Bijection;
  if (constraint.bijection && distribution.support.bijection) return constraint.bijection;
  throw new ArgumentError(
    `a ${distribution.name} variable takes ${distribution.support.description}, which gradients cannot walk through. ` +
      "Observe it in given({ … }), or sum it out with mixture(weights, components).",
  );
}

/** Shape of the free numbers behind a variable's values. */
export function freeShapeOf(variable: RandomVariable, shape: Shape): Shape {
  const { constraint, distribution } = variable;
  const { name, description, eventRank } = constraint;
  if (shape.length < eventRank) {
    const whole = variable.isNarrowed
      ? `${distribution.name}(…).constrained(${name})`
      : `${distribution.name}(${name})`;
    const extents = eventRank === 1 ? "3) for vectors of 3" : "3, 3) for matrices of 3 × 3";
    throw new ShapeError(
      `${whole} takes ${description}, and has the shape ${formatShape(shape)}; say how large they are: .shape(${extents}.`,
    );
  }
  if (sizeOf(shape) > 0) return bijectionOf(variable).freeShape(shape);
  throw new ArgumentError(`${distribution.name}(…) of shape ${formatShape(shape)} has no values to sample.`);
}

/** A latent variable at free numbers. */
export interface LatentValue {
  readonly value: Tensor;
  /** The standard numbers of a non-centred variable. */
  readonly standard: Tensor | null;
  /** The free numbers, where the bijection of the distribution's support made the value of them. */
  readonly free: Tensor | null;
  readonly logJacobian: Term;
}

export function latentAt(variable: RandomVariable, free: Tensor, shape: Shape): LatentValue {
  const { value, logJacobian } = bijectionOf(variable).forward(free, shape);
  const { distribution, isNoncentered, isNarrowed } = variable;
  if (!isNoncentered || !distribution.noncentered) {
    return { value, standard: null, free: isNarrowed ? null : free, logJacobian };
  }
  return { value: distribution.noncentered().forward(value), standard: value, free: null, logJacobian };
}

/** The free numbers behind a value, flat: the way back. */
export function freeNumbersBehind(variable: RandomVariable, value: Tensor): Tensor {
  const standard = variable.isNoncentered ? variable.distribution.noncentered?.().inverse(value) : value;
  return bijectionOf(variable)
    .inverse(standard as Tensor)
    .flatten();
}
