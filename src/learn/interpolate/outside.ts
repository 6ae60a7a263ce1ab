/** Rules for places outside of the range of the points: the last piece goes on, NaN, zero, the value at the end, or a period. */
import { type Tensor, where } from "../../tensor/index.js";

/** "extrapolate": the outermost piece goes on. "nan" and "zero": that value. "clip": the value at the end. "periodic": the range repeats. */
export type OutOfBounds = "extrapolate" | "nan" | "zero" | "clip" | "periodic";

export const OUT_OF_BOUNDS: readonly OutOfBounds[] = ["extrapolate", "nan", "zero", "clip", "periodic"];

/** bool: places outside. */
export const isOutside = (at: Tensor, first: Tensor, last: Tensor): Tensor =>
  at.less(first).logicalOr(at.greater(last)) as Tensor;

/** The place whose value counts for `at`. NaN stays NaN. */
export function placeInside(rule: OutOfBounds, at: Tensor, first: Tensor, last: Tensor): Tensor {
  switch (rule) {
    case "extrapolate":
      return at;
    case "nan":
      return where(isOutside(at, first, last), Number.NaN, at) as Tensor;
    case "zero":
    case "clip":
      return where(at.isNaN(), at, at.maximum(first).minimum(last)) as Tensor;
    case "periodic": {
      const inside = at.sub(first).remainder(last.sub(first)).add(first);
      // Places of the range itself keep their digits.
      return where(isOutside(at, first, last), inside, at) as Tensor;
    }
  }
}

/** For each place the piece between two knots where it lies; the outermost for those outside. */
export const pieceOf = (knots: Tensor, at: Tensor): Tensor =>
  knots
    .searchSorted(at, { side: "right" })
    .sub(1)
    .clip(0, knots.size - 2) as Tensor;
