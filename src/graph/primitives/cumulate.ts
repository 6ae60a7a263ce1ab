/**
 * Running totals along an axis. Inputs: x, and perhaps segments: rising whole numbers (i32) of one axis; the total starts
 * anew where they change. Params: axis, op, isReverse (from the end), isExclusive (without the element itself).
 */
import { isComplex } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import type { Node } from "../node.js";
import type { RoutinePrimitive } from "../primitive.js";

export type CumulateOp = "sum" | "product" | "max" | "min" | "logsumexp";

export const cumulate: RoutinePrimitive = {
  name: "cumulate",
  kind: "routine",
  infer: ([x, segments], params) => {
    const { shape, dtype } = x as Node;
    if (dtype === "bool") throw new DTypeError("cumulate: takes numbers, not bool; cast it first.");
    if (isComplex(dtype) && params.op !== "sum") {
      throw new DTypeError(`cumulate: running sums are all that ${dtype} has, no ${params.op}; take its parts first.`);
    }
    const extent = shape[params.axis as number];
    if (segments && (segments.dtype !== "i32" || segments.shape.length !== 1 || segments.shape[0] !== extent)) {
      throw new ShapeError(`cumulate: segments of ${segments.dtype} [${segments.shape}] for an axis of ${extent}.`);
    }
    return { shape, dtype };
  },
};
