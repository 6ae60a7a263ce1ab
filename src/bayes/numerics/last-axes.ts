/** Answers for each draw, where a draw has axes of its own behind those of the batch. */
import type { Tensor } from "../../tensor/index.js";

/** Whether all is true along the last `axes` axes. */
export const allOverLast = (truths: Tensor, axes: number): Tensor =>
  axes === 0 ? truths : truths.all({ axis: Array.from({ length: axes }, (_, i) => i - axes) });
