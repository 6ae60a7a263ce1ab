/**
 * Combines updates into rows of a tensor, by atomic operations: in no particular order, so that sums and products of
 * floats may differ in their last bits from run to run. Inputs: x [n, inner], positions i32 [m] (others than 0 … n - 1
 * are left out), updates [m, inner]. Params: op.
 */
import { DTypeError, ShapeError } from "../../core/errors.js";
import type { RoutinePrimitive } from "../primitive.js";

export type ScatterOp = "add" | "mul" | "min" | "max";

const atomicDTypes = ["i32", "u32", "i64", "u64", "f32", "f64"];
/** Sums of complex numbers are the sums of their parts; what else there is mixes the parts. */
const addedDTypes = [...atomicDTypes, "c64", "c128"];

export const scatter: RoutinePrimitive = {
  name: "scatter",
  kind: "routine",
  infer: ([x, positions, updates], params) => {
    const dtypes = params.op === "add" ? addedDTypes : atomicDTypes;
    if (!dtypes.includes(x.dtype) || updates.dtype !== x.dtype) {
      throw new DTypeError(`scatter, ${params.op}: ${updates.dtype} into ${x.dtype}; it takes ${dtypes.join(", ")}.`);
    }
    const [, inner] = x.shape;
    const [m] = positions.shape;
    const fits =
      x.shape.length === 2 &&
      positions.shape.length === 1 &&
      updates.shape.length === 2 &&
      updates.shape[0] === m &&
      updates.shape[1] === inner;
    if (!fits || positions.dtype !== "i32") {
      throw new ShapeError(`scatter: [${updates.shape}] at [${positions.shape}] into [${x.shape}].`);
    }
    return { shape: x.shape, dtype: x.dtype };
  },
};
