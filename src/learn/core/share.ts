/** Quotients whose whole may be zero: shares of counts, of sums, of lengths. Metrics and distances are made of them. */
import { type Tensor, where } from "../../tensor/index.js";

/** part / whole, and another value where the whole is zero. */
export function shareOf(part: Tensor, whole: Tensor, otherwise = 0): Tensor {
  const isNone = whole.equal(0);
  return where(isNone, otherwise, part.div(where(isNone, 1, whole))) as Tensor;
}
