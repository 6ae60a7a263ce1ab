/** Shapes of variables: what `.shape(…)` said, and what follows from arguments. */
import { ShapeError } from "../../core/errors.js";
import { formatShape, type Shape } from "../../core/shape.js";
import type { RandomVariable } from "../variables/variable.js";

/** Shape of a variable's independent draws: what `.shape(…)` said, else that of its arguments. */
export function batchShapeOf({ distribution, batchShape: asked }: RandomVariable): Shape {
  const own = distribution.batchShape;
  if (!asked) return own;
  if (broadcastsTo(own, asked)) return asked;
  throw new ShapeError(
    `${distribution.name}: its arguments have the shape ${formatShape(own)}, which does not broadcast to ` +
      `${formatShape(asked)} of .shape(…).`,
  );
}

/** Shape of a variable's values, without those of an observation. */
export function valueShapeOf(variable: RandomVariable): Shape {
  return [...batchShapeOf(variable), ...variable.distribution.eventShape];
}

/** Whether a shape stretches to another, aligned at the last axis. */
export function broadcastsTo(from: Shape, to: Shape): boolean {
  const offset = to.length - from.length;
  return offset >= 0 && from.every((size, axis) => size === 1 || size === to[offset + axis]);
}
