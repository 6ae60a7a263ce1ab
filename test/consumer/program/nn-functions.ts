/** A consumer's program: the functions of `pumice/nn`, activations, losses and metrics. */
import { type Tensor, tensor } from "pumice";
import { activations } from "pumice/nn";
import type { Calls } from "./methods.js";

const x = (): Tensor => tensor([[1, -2, 3, 0.5]], { device: "cpu" });

const activationCalls: Calls = {
  "activations.celu": () => activations.celu(x(), { alpha: 0.5 }),
  "activations.elu": () => activations.elu(x(), { alpha: 0.5 }),
  "activations.exp": () => activations.exp(x()),
  "activations.geglu": () => activations.geglu(x(), { axis: 1 }),
  "activations.gelu": () => activations.gelu(x(), { approximate: "tanh" }),
  "activations.glu": () => activations.glu(x()),
  "activations.hardShrink": () => activations.hardShrink(x(), { lambda: 1 }),
  "activations.hardSigmoid": () => activations.hardSigmoid(x()),
  "activations.hardSilu": () => activations.hardSilu(x()),
  "activations.hardSwish": () => activations.hardSwish(x()),
  "activations.hardTanh": () => activations.hardTanh(x()),
  "activations.leakyRelu": () => activations.leakyRelu(x(), { slope: 0.2 }),
  "activations.linear": () => activations.linear(x()),
  "activations.logSigmoid": () => activations.logSigmoid(x()),
  "activations.logSoftmax": () => activations.logSoftmax(x(), { axis: 0 }),
  "activations.logSumExp": () => activations.logSumExp(x(), { keepDims: false }),
  "activations.mish": () => activations.mish(x()),
  "activations.reglu": () => activations.reglu(x()),
  "activations.relu": () => activations.relu(x()),
  "activations.relu6": () => activations.relu6(x()),
  "activations.selu": () => activations.selu(x()),
  "activations.sigmoid": () => activations.sigmoid(x()),
  "activations.silu": () => activations.silu(x()),
  "activations.softShrink": () => activations.softShrink(x()),
  "activations.softmax": () => activations.softmax(x()),
  "activations.softplus": () => activations.softplus(x()),
  "activations.softsign": () => activations.softsign(x()),
  "activations.sparsemax": () => activations.sparsemax(x()),
  "activations.swiglu": () => activations.swiglu(x()),
  "activations.tanh": () => activations.tanh(x()),
  "activations.tanhShrink": () => activations.tanhShrink(x()),
};

export const functionCalls: Calls = { ...activationCalls };
