/** Movements that leave elements where they are, and tell the compiler or a derivative something about them. */
import type { MovementPrimitive } from "../../primitive.js";
import { always, batched } from "./rules.js";

/** The same elements, stored by a kernel of their own instead of being recomputed at every use. */
export const stored: MovementPrimitive = {
  name: "stored",
  kind: "movement",
  infer: ([x]) => ({ shape: x.shape, dtype: x.dtype }),
  read: (_space, index) => [always(index)],
  vjp: (_g, _node, ct) => [ct],
  batch: batched((params) => params),
};

/** The same elements, marked as the variable of a derivative. */
export const variable: MovementPrimitive = { ...stored, name: "variable" };

/**
 * The same elements, but not merged with the input as a common subexpression: results computed from them are recomputed.
 */
export const recompute: MovementPrimitive = { ...stored, name: "recompute" };

/** The same elements, without a gradient. */
export const stopped: MovementPrimitive = {
  ...stored,
  name: "stopped",
  jvp: () => null,
  vjp: () => [null],
};
