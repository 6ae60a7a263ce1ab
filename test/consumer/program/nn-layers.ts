/** A consumer's program: the feed-forward layers of `pumice/nn`. */
import { random, type Tensor, tensor } from "pumice";
import * as nn from "pumice/nn";
import type { Calls } from "./methods.js";

const key = (): random.Key => random.key(0, { device: "cpu" });
const image = (): Tensor => random.normal(key(), [1, 4, 6, 6]);
const rows = (): Tensor => random.normal(key(), [2, 4]);

/** A layer's output while it trains, with parameters of its own. */
function run<In extends nn.InputSpec, Out>(layer: nn.Layer<In, Out>, input: In): Out {
  const { params, state } = layer.init(key(), input);
  return layer.apply(params, input, { state, key: key(), training: true });
}

const convolutions: Calls = {
  conv: () =>
    run(nn.conv(3, [3, 2], { stride: 2, padding: "same", dilation: 1, groups: 1, channels: "first" }), image()),
  convTranspose: () => run(nn.convTranspose(3, 3, { stride: 2, padding: 1, outputPadding: 1 }), image()),
  depthwiseConv: () => run(nn.depthwiseConv(3, { multiplier: 2, useBias: false }), image()),
  separableConv: () => run(nn.separableConv(5, 3, { channels: "last" }), image()),
};

const pools: Calls = {
  maxPool: () => run(nn.maxPool(2, { stride: 1, padding: 1 }), image()),
  averagePool: () => run(nn.averagePool([2, 3], { padding: "same", countPadding: false }), image()),
  lpPool: () => run(nn.lpPool(2, { norm: 3 }), image()),
  blurPool: () => run(nn.blurPool({ stride: 2, size: 3 }), image()),
  adaptiveAveragePool: () => run(nn.adaptiveAveragePool([4, 2]), image()),
  adaptiveMaxPool: () => run(nn.adaptiveMaxPool(4), image()),
  adaptiveLpPool: () => run(nn.adaptiveLpPool(4, { norm: 1 }), image()),
  globalAveragePool: () => run(nn.globalAveragePool(), image()),
  globalMaxPool: () => run(nn.globalMaxPool({ keepDims: true }), image()),
  globalLpPool: () => run(nn.globalLpPool({ norm: 2 }), image()),
};

const norms: Calls = {
  batchNorm: () => run(nn.batchNorm({ momentum: 0.9, eps: 1e-5 }), image()),
  layerNorm: () => run(nn.layerNorm({ axis: [-2, -1] }), image()),
  groupNorm: () => run(nn.groupNorm(2, { useScale: false }), image()),
  instanceNorm: () => run(nn.instanceNorm({ useBias: false }), image()),
  rmsNorm: () => run(nn.rmsNorm(), rows()),
  weightNorm: () => run(nn.weightNorm(nn.dense(3)), rows()),
  spectralNorm: () => run(nn.spectralNorm(nn.conv(3, 2), { iterations: 2 }), image()),
};

const dropouts: Calls = {
  dropout: () => run(nn.dropout(0.5), rows()),
  spatialDropout: () => run(nn.spatialDropout(0.5, { channels: "last" }), image()),
  alphaDropout: () => run(nn.alphaDropout(0.5), rows()),
  featureAlphaDropout: () => run(nn.featureAlphaDropout(0.5), image()),
};

const shapes: Calls = {
  flatten: () => run(nn.flatten(), image()),
  reshape: () => run(nn.reshape([2, -1]), rows()),
  transpose: () => run(nn.transpose([0, 2, 3, 1]), image()),
  pad: () => run(nn.pad([1, [0, 2]], { mode: "reflect" }), image()),
  resize: () => run(nn.resize([9, 3], { method: "lanczos3", antialias: true }), image()),
};

const others: Calls = {
  embedding: () => run(nn.embedding(5, 3), tensor([0, 4], { dtype: "i32", device: "cpu" }) as Tensor),
  attend: () => nn.attend(nn.embedding(5, 4).init(key(), { shape: [1], dtype: "i32" }).params, rows()),
  bilinear: () => run(nn.bilinear(3), [rows(), rows()] as const),
  prelu: () => run(nn.prelu({ perChannel: true }), image()),
  add: () => nn.add().apply({}, [rows(), rows()]),
  subtract: () => nn.subtract().apply({}, [rows(), rows()]),
  multiply: () => nn.multiply().apply({}, [rows(), rows()]),
  concatenate: () => nn.concatenate({ axis: 0 }).apply({}, [rows(), rows()]),
  split: () => run(nn.split(2), rows()),
  cond: () =>
    run(
      nn.cond((x: Tensor) => x.sum().greater(0), nn.dense(2), nn.dense(2)),
      rows(),
    ),
  lora: () => run(nn.lora(nn.dense(3), { rank: 2, alpha: 4 }), rows()),
  mergeLora: () => {
    const model = nn.sequential(nn.lora(nn.dense(3), { rank: 1 }));
    const merged: nn.Merged<Tensor, Tensor> = nn.mergeLora(model, model.init(key(), rows()).params);
    return merged.model.apply(merged.params, rows());
  },
};

export const layerCalls: Calls = { ...convolutions, ...pools, ...norms, ...dropouts, ...shapes, ...others };
