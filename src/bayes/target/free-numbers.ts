/** Free numbers as users give them, to start somewhere: `sample`, `pathfinder` and `advi` take them in the same ways. */
import { Tensor } from "../../tensor/index.js";

/** One point: a tensor, as `posterior.unconstrain(values)` makes it, or numbers in a list. */
export type FreeNumbers = Tensor | readonly number[] | Float32Array | Float64Array;

/** The numbers of a point; null where it is none. Tensors are read. */
export function freeNumbersOf(point: unknown): readonly number[] | null {
  const values: unknown = point instanceof Tensor ? point.arraySync() : point;
  if (values instanceof Float32Array || values instanceof Float64Array) return Array.from(values);
  return Array.isArray(values) && values.every((value) => typeof value === "number") ? values : null;
}

/** The end of a message to users who gave values by name. */
export const UNCONSTRAIN = "posterior.unconstrain(values) makes them of values by name";
