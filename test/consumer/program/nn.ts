/** A consumer's program: every name of `pumice/nn`. Each family of layers has a list of its own. */
import { random, type Tensor, tensor } from "pumice";
import * as nn from "pumice/nn";
import type { Calls } from "./methods.js";
import { dataCalls } from "./nn-data.js";
import { fileCalls } from "./nn-files.js";
import { functionCalls } from "./nn-functions.js";
import { layerCalls } from "./nn-layers.js";
import { optimizerCalls } from "./nn-optimizers.js";
import { sequenceCalls } from "./nn-sequences.js";
import { trainingCalls } from "./nn-training.js";

const key = (): random.Key => random.key(0, { device: "cpu" });
const x = (): Tensor => tensor([[1, 2, 3]], { device: "cpu" });

/** A layer's output on the input, with parameters of its own. */
const run = (layer: nn.Layer, input: Tensor = x()): Tensor => {
  const { params, state }: nn.Variables = layer.init(key(), input);
  return layer.apply(params, input, { state, key: key() });
};

/** Four rows of three, made by an initialiser. */
const first = (initializer: nn.Initializer): Tensor =>
  initializer(key(), [4, 3], { dtype: "f32", fanIn: 4, fanOut: 3 });

const core: Calls = {
  Layer: () => nn.dense(2) instanceof nn.Layer,
  layer: () => run(nn.layer("double", {}, (_: nn.Scope, input: Tensor) => input.mul(2))),
  sequential: () => run(nn.sequential(nn.dense(4), (h: Tensor) => h.maximum(0), nn.dense(2).named("head"))),
  block: () => run(nn.block({ turn: nn.dense(3) }, ({ turn }, input: Tensor) => turn(input).add(input))),
  diagram: (): string => nn.diagram(nn.dense(2), [null, 3]),
  mergeTrees: () => Object.keys(nn.mergeTrees({ a: { w: x() } }, { a: { b: x() } })).length,
  parameterAt: (): Tensor => nn.parameterAt(nn.dense(2).init(key(), [null, 3]).params, "weights"),
  summary: (): string => String(nn.summary(nn.dense(2), [null, 3])),
  Summary: () => nn.summary(nn.dense(2), [null, 3]) instanceof nn.Summary,
};

const initializers: Calls = {
  "initializers.constant": () => first(nn.initializers.constant(2)),
  "initializers.identity": () => first(nn.initializers.identity),
  "initializers.ones": () => first(nn.initializers.ones),
  "initializers.zeros": () => first(nn.initializers.zeros),
  "initializers.glorotNormal": () => first(nn.initializers.glorotNormal),
  "initializers.glorotUniform": () => first(nn.initializers.glorotUniform),
  "initializers.heNormal": () => first(nn.initializers.heNormal),
  "initializers.heUniform": () => first(nn.initializers.heUniform),
  "initializers.lecunNormal": () => first(nn.initializers.lecunNormal),
  "initializers.lecunUniform": () => first(nn.initializers.lecunUniform),
  "initializers.normal": () => first(nn.initializers.normal({ scale: 0.1 })),
  "initializers.orthogonal": () => first(nn.initializers.orthogonal()),
  "initializers.truncatedNormal": () => first(nn.initializers.truncatedNormal({ scale: 0.1 })),
  "initializers.uniform": () => first(nn.initializers.uniform(0.1)),
  "initializers.varianceScaling": () => first(nn.initializers.varianceScaling({ scale: 2, mode: "fanOut" })),
};

const dense: Calls = {
  dense: () => run(nn.dense(2, { useBias: false })),
  bias: () => run(nn.bias()),
};

export const nnCalls: Calls = {
  ...core,
  ...initializers,
  ...dense,
  ...dataCalls,
  ...fileCalls,
  ...functionCalls,
  ...layerCalls,
  ...optimizerCalls,
  ...sequenceCalls,
  ...trainingCalls,
};
