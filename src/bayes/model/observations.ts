/** Observations held against their variables: names that the model has, shapes that fit, values inside the support. */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import type { Constraint } from "../constraints/constraint.js";
import { RandomVariable } from "../variables/variable.js";
import type { GivenData } from "./given-data.js";
import type { ModelRun } from "./model-run.js";
import { batchShapeOf, broadcastsTo } from "./variable-shapes.js";
import { constraintsOn, isDependent } from "./variable-terms.js";

/** An error where an observation is of no variable that the model returns. */
export function checkObservedNames(run: ModelRun, given: GivenData<unknown>): void {
  for (const name of given.observed.keys()) {
    const value = run.returned[name];
    if (value instanceof RandomVariable) continue;
    if (value) {
      throw new ArgumentError(
        `${name}: this is no random variable but computed from others; observe a random variable, transformed(…) where one of y - f(θ) is meant, or use factor(…).`,
      );
    }
    const known = Object.entries(run.returned).flatMap(([key, one]) => (one instanceof RandomVariable ? [key] : []));
    throw new ArgumentError(`given: the model has no variable "${name}"; it has ${known.join(", ")}.`);
  }
}

export function checkObservation(variable: RandomVariable, data: Tensor): void {
  const { distribution, batchShape: asked } = variable;
  const { eventShape } = distribution;
  const batch = data.shape.slice(0, Math.max(0, data.rank - eventShape.length));
  const own = asked ? batchShapeOf(variable) : distribution.batchShape;
  const fits =
    sameShape(data.shape.slice(batch.length), eventShape) &&
    (asked ? sameShape(batch, asked) : broadcastsTo(own, batch));
  if (!fits) {
    throw new ShapeError(
      `the data have the shape ${formatShape(data.shape)}, but ${distribution.name} has ` +
        `${formatShape([...own, ...eventShape])}${asked ? "" : "; more axes in front would be fine"}.`,
    );
  }
  const { domain } = distribution;
  const constraints = [...(domain ? [domain] : []), ...constraintsOn(variable, true)];
  for (const constraint of constraints) checkInside(distribution.name, constraint, data);
}

/** An error where a value lies outside. A support that depends on what is sampled is left to the density. */
export function checkInside(distribution: string, constraint: Constraint, data: Tensor): void {
  const inside = constraint.holds(data);
  if (isDependent(inside)) return;
  const answers = inside.dataSync() as ArrayLike<number | boolean>;
  const position = Array.from(answers, Boolean).indexOf(false);
  if (position < 0) return;
  const size = data.size / inside.size;
  const values = Array.from(data.dataSync() as ArrayLike<number>).slice(position * size, (position + 1) * size);
  const shown = size === 1 ? `${values[0]}` : `[${values.slice(0, 6).join(", ")}${size > 6 ? ", …" : ""}]`;
  const which = inside.size === 1 ? "the value" : `value ${position}`;
  const hint = values.some(Number.isNaN) ? " Mark missing values by withMissing(…), and they are sampled." : "";
  throw new ArgumentError(`${which} is ${shown}, but ${distribution} takes ${constraint.description}.${hint}`);
}
