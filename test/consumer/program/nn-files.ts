/** A consumer's program: files of `pumice/nn`. */
import { random, type Tensor, tensor } from "pumice";
import * as nn from "pumice/nn";
import { path } from "./folder.js";
import type { Calls } from "./methods.js";

const tree = (): nn.TensorTree => ({ a: [tensor([1, 2], { device: "cpu" })] });

const key = (): random.Key => random.key(0, { device: "cpu" });
const model = nn.sequential(nn.dense(3), nn.activations.relu, nn.dense(2));

/** The path of a saved model. */
async function saved(name: string): Promise<string> {
  await nn.saveModel(path(name), model, model.init(key(), [null, 4]), { metadata: { classes: 2 } });
  return path(name);
}

export const fileCalls: Calls = {
  saveModel: () => nn.saveModel(path("save-model.safetensors"), model, model.init(key(), [null, 4])),
  loadModel: async () => {
    const loaded: nn.LoadedModel = await nn.loadModel(await saved("load-model.safetensors"), { device: "cpu" });
    return loaded.model.apply(loaded.params, random.normal(key(), [1, 4]));
  },
  loadParameters: async () => {
    const file = await saved("load-parameters.safetensors");
    const { report }: nn.LoadedParameters = await nn.loadParameters(file, model.init(key(), [null, 4]).params);
    return report.isComplete;
  },
  LoadReport: () => new nn.LoadReport([], ["dense0.weights"], [], [], []).isComplete,
  torchNames: () => nn.torchNames(model as never, { fc1: "dense0" })("fc1.weight") !== undefined,
  registerFunction: () => nn.registerFunction("consumer.double", (x: Tensor) => x.mul(2)),
  registerLayer: () => nn.registerLayer("consumer.scale", () => nn.dense(2) as never),
  quantized: () => {
    const options: nn.QuantizeModelOptions = { bits: 4, exclude: ["dense1"] };
    const small: nn.QuantizedModel<Tensor, Tensor> = nn.quantized(model, model.init(key(), [null, 4]), options);
    return small.model.apply(small.params, random.normal(key(), [1, 4]), { state: small.state });
  },
  dequantized: () => {
    const small = nn.quantized(model, model.init(key(), [null, 4]), { bits: 8 });
    return nn.dequantized(small.model, small).model.kind;
  },
  quantizedDense: () => {
    const layer = nn.quantizedDense(2, { bits: 8, useBias: false });
    return layer.apply({}, random.normal(key(), [1, 4]), { state: layer.init(key(), [null, 4]).state });
  },
  quantizedEmbedding: () => {
    const layer = nn.quantizedEmbedding(5, 4, { bits: 4 });
    const ids = tensor([1, 2], { dtype: "i32", device: "cpu" });
    return layer.apply({}, ids, { state: layer.init(key(), ids).state });
  },
  writeTree: () => nn.writeTree(path("tree.safetensors"), tree(), { step: 1 }),
  readTree: async () => {
    await nn.writeTree(path("read-tree.safetensors"), tree());
    const { metadata }: { metadata: nn.Json | undefined } = await nn.readTree(path("read-tree.safetensors"), {
      device: "cpu",
    });
    return metadata;
  },
};
