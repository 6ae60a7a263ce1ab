/** Functions between layers: `activations.gelu(x)`, and as steps of a model: `sequential(dense(4), activations.relu)`. */

export {
  exp,
  hardSigmoid,
  hardTanh,
  linear,
  logSigmoid,
  sigmoid,
  softplus,
  softsign,
  tanh,
} from "./curves.js";
export {
  type GeluOptions,
  type GluOptions,
  geglu,
  gelu,
  glu,
  hardSilu,
  hardSwish,
  mish,
  reglu,
  silu,
  swiglu,
} from "./gates.js";
export {
  type AlphaOptions,
  celu,
  elu,
  type LeakyReluOptions,
  leakyRelu,
  relu,
  relu6,
  selu,
} from "./rectifiers.js";
export { type ActivationAxis, logSoftmax, logSumExp, softmax, sparsemax } from "./rows.js";
export { hardShrink, type ShrinkOptions, softShrink, tanhShrink } from "./shrinkage.js";
