/**
 * Draws and values that lie beyond all floats, as the last float there is: gamma numbers of a small concentration are mostly below 1e-38. As 0
 * or Infinity they would be outside of the support, and their logarithms no numbers.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import type { Tensor } from "../../tensor/index.js";

/** Numbers above 0. */
export const positiveFloats = (x: Tensor): Tensor =>
  x.clip(DTYPES[x.dtype as DType].tiny, Number(DTYPES[x.dtype as DType].max));

/** Numbers between 0 and 1. */
export const shareFloats = (x: Tensor): Tensor =>
  x.clip(DTYPES[x.dtype as DType].tiny, 1 - DTYPES[x.dtype as DType].epsilon / 2);
