/** Places as columns, [components, samples], one tensor for each: differences of places fuse into one kernel without an axis of components. */
import type { Tensor } from "../../tensor/index.js";

/** The columns of places, each [samples]. */
export const columnsOf = (places: Tensor): Tensor[] =>
  Array.from({ length: places.shape[0] as number }, (_, i) => places.at(i) as Tensor);

/** Σ of the squares of differences, one tensor of them for each component. */
export const squaresOf = (differences: readonly Tensor[]): Tensor =>
  differences.map((d) => d.square() as Tensor).reduce((sum, d) => sum.add(d) as Tensor);
