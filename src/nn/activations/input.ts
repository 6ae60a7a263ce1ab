/** The input of an activation: a tensor of real floats. Every activation that is no method of tensors begins here. */
import { asFloat, checkTensor, type Tensor } from "../../tensor/index.js";

/** The input as floats: integers and booleans become f32. */
export function floatInput(operation: string, x: Tensor): Tensor {
  checkTensor(operation, "the input", x);
  return asFloat(operation, x);
}
