/**
 * The layers that files know: by kind, how one is made from the options that it keeps. A layer's options hold its arguments by name, so
 * that an entry lists those that its function takes before the options. A new layer needs an entry here; a test compares the table
 * with what `pumice/nn` exports.
 */
import { block } from "../core/block.js";
import type { AnyLayer, Layer } from "../core/layer.js";
import { sequential } from "../core/sequential.js";
import * as adaptivePool from "../layers/adaptive-pool.js";
import { bidirectional, stacked } from "../layers/bidirectional.js";
import { bilinear } from "../layers/bilinear.js";
import * as combine from "../layers/combine.js";
import * as convolutions from "../layers/conv.js";
import { convLstm } from "../layers/conv-lstm.js";
import { bias, dense } from "../layers/dense.js";
import * as dropouts from "../layers/dropout.js";
import { embedding } from "../layers/embedding.js";
import { feedForward } from "../layers/feed-forward.js";
import { lora } from "../layers/lora.js";
import { masking } from "../layers/masking.js";
import { mixtureOfExperts } from "../layers/mixture-of-experts.js";
import { multiHeadAttention } from "../layers/multi-head-attention.js";
import * as norms from "../layers/norm.js";
import * as pools from "../layers/pool.js";
import * as positions from "../layers/positions.js";
import { prelu } from "../layers/prelu.js";
import { quantizedDense, quantizedEmbedding } from "../layers/quantized.js";
import * as recurrent from "../layers/recurrent.js";
import { resize } from "../layers/resize.js";
import * as shapes from "../layers/shape.js";
import * as transformer from "../layers/transformer.js";
import { spectralNorm, weightNorm } from "../layers/weight-norm.js";
import type { LayerMaker } from "./registry.js";

/** A layer of arguments by name, and then of options. */
const made =
  (make: (...given: never[]) => unknown, ...names: readonly string[]): LayerMaker =>
  (options) => {
    const rest = Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));
    const given = [...names.map((name) => options[name]), rest];
    return (make as (...given: unknown[]) => AnyLayer)(...given);
  };

/** A layer around the part of this name. */
const around =
  (make: (inner: never, options: never) => unknown, part: string): LayerMaker =>
  (options, parts) =>
    make(parts[part] as never, options as never) as AnyLayer;

/** A layer without options. */
const plain =
  (make: () => Layer<never, unknown>): LayerMaker =>
  () =>
    make() as AnyLayer;

const KINDS: Readonly<Record<string, LayerMaker>> = {
  sequential: (_, parts) => sequential(parts) as unknown as AnyLayer,
  block: ({ forward }, parts) => block(parts, forward as never) as unknown as AnyLayer,
  cond: ({ predicate }, parts) =>
    combine.cond(predicate as never, parts.whenTrue as AnyLayer, parts.whenFalse as AnyLayer) as unknown as AnyLayer,

  dense: made(dense, "units"),
  bias: made(bias),
  bilinear: made(bilinear, "units"),
  embedding: made(embedding, "count", "features"),
  lora: around(lora, "base"),
  quantizedDense: made(quantizedDense, "units"),
  quantizedEmbedding: made(quantizedEmbedding, "count", "features"),

  conv: made(convolutions.conv, "filters", "kernel"),
  convTranspose: made(convolutions.convTranspose, "filters", "kernel"),
  depthwiseConv: made(convolutions.depthwiseConv, "kernel"),
  separableConv: made(convolutions.separableConv, "filters", "kernel"),

  maxPool: made(pools.maxPool, "size"),
  averagePool: made(pools.averagePool, "size"),
  lpPool: made(pools.lpPool, "size"),
  blurPool: made(pools.blurPool),
  adaptiveAveragePool: made(adaptivePool.adaptiveAveragePool, "size"),
  adaptiveMaxPool: made(adaptivePool.adaptiveMaxPool, "size"),
  adaptiveLpPool: made(adaptivePool.adaptiveLpPool, "size"),
  globalAveragePool: made(adaptivePool.globalAveragePool),
  globalMaxPool: made(adaptivePool.globalMaxPool),
  globalLpPool: made(adaptivePool.globalLpPool),

  batchNorm: made(norms.batchNorm),
  layerNorm: made(norms.layerNorm),
  groupNorm: made(norms.groupNorm, "groups"),
  instanceNorm: made(norms.instanceNorm),
  rmsNorm: made(norms.rmsNorm),
  weightNorm: around(weightNorm, "layer"),
  spectralNorm: around(spectralNorm, "layer"),

  dropout: made(dropouts.dropout, "rate"),
  spatialDropout: made(dropouts.spatialDropout, "rate"),
  alphaDropout: made(dropouts.alphaDropout, "rate"),
  featureAlphaDropout: made(dropouts.featureAlphaDropout, "rate"),

  flatten: plain(shapes.flatten),
  reshape: made(shapes.reshape, "shape"),
  transpose: made(shapes.transpose, "order"),
  pad: made(shapes.pad, "amounts"),
  resize: made(resize, "size"),
  prelu: made(prelu),

  add: plain(combine.add),
  subtract: plain(combine.subtract),
  multiply: plain(combine.multiply),
  concatenate: made(combine.concatenate),
  split: made(combine.split, "parts"),

  masking: made(masking),
  rnn: made(recurrent.rnn, "units"),
  lstm: made(recurrent.lstm, "units"),
  gru: made(recurrent.gru, "units"),
  rnnCell: made(recurrent.rnnCell, "units"),
  lstmCell: made(recurrent.lstmCell, "units"),
  gruCell: made(recurrent.gruCell, "units"),
  convLstm: made(convLstm, "filters", "kernel"),
  bidirectional: around(bidirectional as never, "forward"),
  stacked: (options, parts) => stacked(parts as never, options) as unknown as AnyLayer,

  multiHeadAttention: made(multiHeadAttention, "heads"),
  sinusoidalPositions: made(positions.sinusoidalPositions),
  learnedPositions: made(positions.learnedPositions, "count"),
  feedForward: made(feedForward, "features", "hidden"),
  encoderBlock: made(transformer.encoderBlock, "features"),
  decoderBlock: made(transformer.decoderBlock, "features"),
  transformerEncoder: made(transformer.transformerEncoder, "features"),
  transformerDecoder: made(transformer.transformerDecoder, "features"),
  mixtureOfExperts: made(mixtureOfExperts, "experts"),
};

/** Options that are initialisers, in every layer. One without a name is left out: a loaded model has its parameters. */
export const INITIALIZER_OPTIONS: readonly string[] = [
  "weights",
  "biases",
  "scale",
  "slopes",
  "pointwise",
  "recurrent",
];

/** The maker of the library's own layers of a kind. */
export const ownMaker = (kind: string): LayerMaker | undefined =>
  Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;

/**
 * The kinds that files know without registering.
 * @internal for tests: each comes back from a file, and each function that makes layers is among them
 */
export const OWN_KINDS: readonly string[] = Object.keys(KINDS);
