/** How much memory a value takes. */
import { DTYPES, type DType } from "./dtype.js";
import { sizeOf } from "./shape.js";

export const bytesOf = ({ shape, dtype }: { readonly shape: readonly number[]; readonly dtype: DType }): number =>
  sizeOf(shape) * DTYPES[dtype].bytes;
