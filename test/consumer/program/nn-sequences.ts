/** A consumer's program: the layers over sequences of `pumice/nn`. */
import { arange, random, type Tensor } from "pumice";
import * as nn from "pumice/nn";
import type { Calls } from "./methods.js";

const key = (): random.Key => random.key(0, { device: "cpu" });
const tokens = (): Tensor => random.normal(key(), [2, 3, 8]);
const images = (): Tensor => random.normal(key(), [1, 2, 2, 4, 4]);
const seen = (): Tensor => tokens().at("...", 0).greater(-9);

/** A layer's output while it trains, with parameters of its own. */
function run<In, Out>(layer: nn.Layer<In, Out>, input: In): Out {
  const { params, state } = layer.init(key(), input as nn.InputSpec);
  return layer.apply(params, input, { state, key: key(), training: true });
}

const recurrent: Calls = {
  rnn: () => run(nn.rnn(4, { activation: "relu", returnSequences: true }), tokens()),
  lstm: () =>
    run(nn.lstm(4, { peephole: true, projection: 2, returnState: true }), { x: tokens(), mask: seen() }).state.cell,
  gru: () => run(nn.gru(4, { resetAfter: false, reverse: true, dropout: 0.1, recurrentDropout: 0.1 }), tokens()),
  convLstm: () => run(nn.convLstm(2, 3, { channels: "first", stride: 2 }), images()),
  rnnCell: () => run(nn.rnnCell(4), tokens().at(":", 0)).output,
  lstmCell: () => run(nn.lstmCell(4, { forgetBias: 0 }), { x: tokens().at(":", 0) }).state.hidden,
  gruCell: () => run(nn.gruCell(4), tokens().at(":", 0)).output,
  bidirectional: () => run(nn.bidirectional(nn.lstm(4), { merge: "sum" }), tokens()),
  stacked: () => run(nn.stacked([nn.gru(4), nn.gru(3)], { dropout: 0.1 }), tokens()),
};

const masks: Calls = {
  masking: () => {
    const model = nn.sequential(nn.masking({ padding: 0 }), nn.embedding(5, 3), nn.gru(4));
    return run(model, arange(4, { device: "cpu" }).cast("i32").reshape(2, 2) as Tensor);
  },
  maskOf: () => nn.maskOf(arange(4, { device: "cpu" }).cast("i32") as Tensor, { padding: 1 }),
};

const attending: Calls = {
  multiHeadAttention: () =>
    run(nn.multiHeadAttention(4, { headSize: 2, keyValueHeads: 2, rotary: { base: 100 }, causal: true }), {
      x: tokens(),
      mask: seen(),
    }),
  rotary: () => nn.rotary(tokens(), arange(3, { device: "cpu" }) as Tensor, { fraction: 0.5, interleaved: true }),
  alibiSlopes: (): number[] => nn.alibiSlopes(4),
  sinusoidalPositions: () => run(nn.sinusoidalPositions(), tokens()),
  learnedPositions: () => run(nn.learnedPositions(5), tokens()),
  attentionCache: () => {
    const model = nn.transformerDecoder(8, { heads: 2, layers: 1, cross: false });
    const { params } = model.init(key(), tokens());
    const state = nn.attentionCache(model, tokens(), { capacity: 4, device: "cpu" });
    return model.applyWithState(params, tokens(), { state })[0];
  },
};

const transformers: Calls = {
  feedForward: () => run(nn.feedForward(8, 16, { activation: "swiglu", dropout: 0.1 }), tokens()),
  encoderBlock: () => run(nn.encoderBlock(8, { heads: 2, norm: "rmsNorm", window: 1 }), tokens()),
  decoderBlock: () => run(nn.decoderBlock(8, { heads: 2, preNorm: false }), { x: tokens(), memory: tokens() }),
  transformerEncoder: () =>
    run(nn.transformerEncoder(8, { heads: 2, layers: 2, alibi: true }), { x: tokens(), mask: seen() }),
  transformerDecoder: () =>
    run(nn.transformerDecoder(8, { heads: 2, layers: 1, cross: false, dropout: 0.1 }), tokens()),
  mixtureOfExperts: () => run(nn.mixtureOfExperts(4, { hidden: 6, top: 2, capacityFactor: 1.25 }), tokens()),
  auxiliaryLoss: () => {
    const model = nn.mixtureOfExperts(4, { hidden: 6 });
    const { params, state } = model.init(key(), tokens());
    return nn.auxiliaryLoss(model.applyWithState(params, tokens(), { state, training: true })[1]);
  },
};

export const sequenceCalls: Calls = { ...recurrent, ...masks, ...attending, ...transformers };
