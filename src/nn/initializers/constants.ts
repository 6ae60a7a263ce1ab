/** Initialisers that draw nothing: zeros, ones, a constant, the identity. */
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { eye, full, ones as onesOf, zeros as zerosOf } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";

export const zeros: Initializer = (key, shape, { dtype }) => zerosOf(shape, { dtype, device: key.device });

export const ones: Initializer = (key, shape, { dtype }) => onesOf(shape, { dtype, device: key.device });

/** The same value everywhere: `constant(0.1)`. */
export const constant =
  (value: number): Initializer =>
  (key, shape, { dtype }) =>
    full(shape, value, { dtype, device: key.device });

/** The identity matrix, on the last two axes; for square weights and for those that begin as a projection. */
export const identity: Initializer = (key, shape, { dtype }) => {
  if (shape.length < 2) {
    throw new ShapeError(
      `identity: a parameter of shape ${formatShape(shape)} is no matrix; it takes two axes or more.`,
    );
  }
  const [rows, columns] = shape.slice(-2) as [number, number];
  return eye(rows, columns, { dtype, device: key.device }).broadcastTo(shape);
};
