/** How much memory a value takes. */
import { DTYPES, type DType } from "../core/dtype.js";
import { sizeOf } from "../core/shape.js";

export const bytesOf = ({ shape, dtype }: { readonly shape: readonly number[]; readonly dtype: DType }): number =>
  sizeOf(shape) * DTYPES[dtype].bytes;
