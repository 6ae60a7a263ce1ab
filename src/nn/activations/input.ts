/** The input of an activation: a tensor of real floats. Every activation that is no method of tensors begins here. */
import { isNarrowFloat } from "../../core/dtype.js";
import { asFloat, checkTensor, type Tensor } from "../../tensor/index.js";

/** The input as floats: integers and booleans become f32. */
export function floatInput(operation: string, x: Tensor): Tensor {
  checkTensor(operation, "the input", x);
  return asFloat(operation, x);
}

/** f of the input as floats. f16 and bf16 are computed in f32 and rounded once, as is the gradient. */
export function ofFloats(operation: string, x: Tensor, f: (given: Tensor) => Tensor): Tensor {
  return roundedOnce(floatInput(operation, x), f);
}

/** f of a tensor of floats, computed in f32 and rounded once where the dtype is narrower. */
export function roundedOnce(x: Tensor, f: (wide: Tensor) => Tensor): Tensor {
  return isNarrowFloat(x.dtype) ? (f(x.cast("f32") as Tensor).cast(x.dtype) as Tensor) : f(x);
}
