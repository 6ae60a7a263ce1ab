/**
 * Constraints: where the values of a variable lie, and the smooth map from free numbers to there.
 *
 * Samplers walk in a flat space without borders. A bijection leads from it to the values a model speaks of, and says how
 * much it stretches space, which the density has to make up for. Distributions name their support by a constraint, models
 * may narrow it (`normal(0, 1).shape(3).constrained(ordered)`), and `Posterior` puts the pieces together.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import type { Range } from "../arguments/parameter.js";
import { allOverLast } from "../numerics/last-axes.js";
import type { Term } from "../numerics/terms.js";

export interface Transformed {
  readonly value: Tensor;
  /** log |det ∂value/∂free|: one number for each value, so without the axes that belong to one value. */
  readonly logJacobian: Term;
}

export interface Bijection {
  /** Shape of the free numbers behind values of a shape. */
  freeShape(shape: Shape): Shape;
  /** From free numbers to values of the shape. */
  forward(free: Tensor, shape: Shape): Transformed;
  /** Back again, for values inside. */
  inverse(value: Tensor): Tensor;
}

export interface Constraint {
  readonly name: string;
  /** Completes "y takes …": "positive numbers". */
  readonly description: string;
  /** The number of trailing axes of one value: 0 for numbers, 1 for vectors, 2 for matrices. */
  readonly eventRank: number;
  /** Absent where no smooth map leads: whole numbers, and measurements that stop at a bound. */
  readonly bijection?: Bijection;
  /** Whether values are whole numbers: draws are integers then. */
  readonly isDiscrete?: boolean;
  /** Between which numbers the elements of all values lie, as far as it is known; a bound that depends on variables is not. */
  readonly range?: Range;
  /** Whether the values have a finite volume, over which a flat density can be divided. */
  readonly isBounded?: boolean;
  /** The bounds it was made with, if any. */
  readonly bounds?: readonly Argument[];
  /** An error where bounds are known that make no sense. */
  check?(): void;
  /** Whether values lie inside; one answer for each value. NaN does not. */
  holds(value: Tensor): Tensor;
}

/** A bijection of numbers, each by itself. */
export const elementwise = (bijection: Omit<Bijection, "freeShape">): Bijection => ({
  freeShape: (shape) => shape,
  ...bijection,
});

export function checkConstraint(operation: string, given: Constraint): void {
  if (typeof given?.holds === "function" && typeof given.eventRank === "number") return;
  throw new ArgumentError(
    `${operation}: ${shown(given)} is no constraint; give positive, interval(0, 1) or another one.`,
  );
}

/**
 * Whether values lie inside, one answer for each draw with `eventRank` axes of its own. What a constraint says of parts of a
 * draw is taken together, and what it says of several draws holds for each. Bounds may have axes in front that values have not.
 */
export function eachInside(constraint: Constraint, value: Tensor, eventRank: number): Tensor {
  const inside = constraint.holds(value);
  if (eventRank >= constraint.eventRank) return allOverLast(inside, eventRank - constraint.eventRank);
  return Array.from({ length: constraint.eventRank - eventRank }).reduce<Tensor>((all) => all.expandDims(-1), inside);
}
