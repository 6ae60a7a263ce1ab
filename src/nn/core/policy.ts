/** The dtypes of a layer: those of its parameters, of its arithmetic and of its results. Parts inherit them. */
import { checkOptions } from "../../core/arguments.js";
import { checkDType, type DType, isFloat } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";

/** Dtypes of a layer, for `withDTypes`. */
export interface Policy {
  /** The dtype that parameters are made and trained in. */
  readonly parameters: DType;
  /** The dtype that inputs and parameters are converted to; null leaves them as they are. */
  readonly compute: DType | null;
  /** The dtype of results; null leaves them as they are. */
  readonly output: DType | null;
}

export const PLAIN_POLICY: Policy = { parameters: "f32", compute: null, output: null };

/** Throws on names that are none of a policy's, and on dtypes that are no floats. */
export function checkPolicy(policy: Partial<Policy>): void {
  checkOptions("withDTypes", policy, { parameters: "any", compute: "any", output: "any" });
  for (const [name, dtype] of Object.entries(policy)) {
    if (dtype === undefined || (dtype === null && name !== "parameters")) continue;
    checkDType(dtype, "withDTypes");
    if (isFloat(dtype as DType)) continue;
    throw new DTypeError(`withDTypes: the option ${name} is a float, as f32 or bf16, not ${dtype}.`);
  }
}

/** A floating-point tensor in this dtype; others, and null, change nothing. */
export const toDType = (x: Tensor, dtype: DType | null): Tensor =>
  dtype !== null && isFloat(x.dtype) && x.dtype !== dtype ? (x.cast(dtype) as Tensor) : x;
