/** Leaves: nodes without inputs. */
import type { DType } from "../../core/dtype.js";
import type { LeafPrimitive } from "../primitive.js";

const leaf = (name: string): LeafPrimitive => ({
  name,
  kind: "leaf",
  infer: (_inputs, params) => ({
    shape: params.shape as readonly number[],
    dtype: params.dtype as DType,
  }),
});

/** Memory that holds a value. */
export const buffer = leaf("buffer");

/** One value at every index. Params: value, dtype, shape. Part of the program, or an argument of it if it changes from run to run. */
export const constant = leaf("constant");

/** 0, 1, 2 … along one axis. Params: shape of one axis, dtype. */
export const iota = leaf("iota");

/** An argument of a function that is being traced: it has a shape and a dtype, and no value. Params: shape, dtype. */
export const placeholder = leaf("placeholder");
