/** Checks of the settings that linear models share, and penalties as tensors. Penalties may be tensors, so that `vmap` maps over them. */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { full, isTensor, type Tensor } from "../../tensor/index.js";

/** A number, or a tensor of one. */
export type Setting = number | Tensor;

/** When an iteration ends. */
export interface Stopping {
  /** The precision at which the fit ends. */
  readonly tol?: number;
  /** Rounds at most. */
  readonly maxIter?: number;
}

export function checkStopping(operation: string, { tol = 0, maxIter = 1 }: Stopping): void {
  checkWhole(operation, "maxIter", maxIter, 1);
  if (tol >= 0 && Number.isFinite(tol)) return;
  throw new ArgumentError(`${operation}: tol is ${shown(tol)}; it is a number, zero or more.`);
}

/** A setting as a scalar beside a tensor. */
export const scalarBeside = (value: Setting, { device, dtype }: Tensor): Tensor =>
  (isTensor(value) ? value.cast(dtype) : full([], value, { device, dtype })) as Tensor;
