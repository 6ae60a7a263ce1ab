/** What reductions are: how partial results combine, and the element that changes nothing. */
import { DTYPES, type DType, isFloat } from "../core/dtype.js";
import type { ReduceOp } from "./primitive.js";

export function identityOf(op: ReduceOp, dtype: DType): number | bigint | boolean {
  switch (op) {
    case "sum":
      return 0;
    case "product":
      return 1;
    case "max":
      return isFloat(dtype) ? -Infinity : DTYPES[dtype].min;
    case "min":
      return isFloat(dtype) ? Infinity : DTYPES[dtype].max;
    case "all":
      return true;
    case "any":
      return false;
  }
}
