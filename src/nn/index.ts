/** Neural networks: `import { dense, sequential } from "pumice/nn"`. */

export type { Json } from "../io/trees/json.js";
export { readTree, writeTree } from "../io/trees/tree-file.js";
export type { TensorTree } from "../io/trees/tree-form.js";
export * as activations from "./activations/index.js";
export * as augment from "./augment/index.js";
export { auxiliaryLoss } from "./core/auxiliary-loss.js";
export { type BlockRun, block, type Part, type PartsOf } from "./core/block.js";
export { diagram } from "./core/diagram.js";
export type { Initializer, ParameterInfo } from "./core/initializer.js";
export type { InputSpec, ShapeSpec, TensorSpec } from "./core/input-spec.js";
export {
  type AnyLayer,
  type ApplyOptions,
  type Definition,
  type Hook,
  type Hooks,
  Layer,
  layer,
} from "./core/layer.js";
export type { Policy } from "./core/policy.js";
export { rematerialize } from "./core/rematerialize.js";
export type { ModelRun, ParameterOptions, Scope, Watcher } from "./core/scope.js";
export { type Step, sequential } from "./core/sequential.js";
export { Summary, type SummaryRow, summary } from "./core/summary.js";
export { mergeTrees, parameterAt, type Variables, type VariableTree } from "./core/variables.js";
export type { Batches } from "./data/batches.js";
export { type Batched, type BatchOf, type Loader, type LoaderOptions, loader } from "./data/loader.js";
export { type FileRows, openRows } from "./data/row-files.js";
export type { Examples, Rows } from "./data/rows.js";
export { type SplitData, type SplitDataOptions, splitData } from "./data/split-data.js";
export type { Stream, StreamSource } from "./data/stream.js";
export {
  type Destination,
  type LoadedParameters,
  type LoadParametersOptions,
  loadParameters,
  type NameMap,
} from "./files/load-parameters.js";
export { LoadReport, type Mismatch } from "./files/load-report.js";
export { type LoadedModel, loadModel, saveModel } from "./files/model-file.js";
export { dequantized, type QuantizedModel, type QuantizeModelOptions, quantized } from "./files/quantize.js";
export { type LayerMaker, registerFunction, registerLayer } from "./files/registry.js";
export { torchNames } from "./files/torch-names.js";
export * as initializers from "./initializers/index.js";
export {
  type AdaptiveLpPoolOptions,
  type AdaptivePoolOptions,
  adaptiveAveragePool,
  adaptiveLpPool,
  adaptiveMaxPool,
  type GlobalLpPoolOptions,
  type GlobalPoolOptions,
  globalAveragePool,
  globalLpPool,
  globalMaxPool,
} from "./layers/adaptive-pool.js";
export { alibiSlopes } from "./layers/alibi.js";
export { type AttentionCacheOptions, attentionCache } from "./layers/attention-cache.js";
export type { AttentionInput, QueriesAndKeys, TokensAndMemory } from "./layers/attention-input.js";
export {
  type BidirectionalOptions,
  bidirectional,
  type Directions,
  type StackedOptions,
  stacked,
} from "./layers/bidirectional.js";
export { type BilinearOptions, bilinear } from "./layers/bilinear.js";
export { add, concatenate, cond, multiply, split, subtract } from "./layers/combine.js";
export {
  type ConvLayerOptions,
  type ConvTransposeOptions,
  conv,
  convTranspose,
  type DepthwiseConvOptions,
  depthwiseConv,
  type SeparableConvOptions,
  separableConv,
} from "./layers/conv.js";
export { type ConvLstmOptions, convLstm } from "./layers/conv-lstm.js";
export { bias, type DenseOptions, dense } from "./layers/dense.js";
export {
  alphaDropout,
  type ChannelDropoutOptions,
  dropout,
  featureAlphaDropout,
  spatialDropout,
} from "./layers/dropout.js";
export { attend, type EmbeddingOptions, embedding } from "./layers/embedding.js";
export { type FeedForwardActivation, type FeedForwardOptions, feedForward } from "./layers/feed-forward.js";
export { type LoraOptions, lora, type Merged, mergeLora } from "./layers/lora.js";
export { type Masked, type MaskingOptions, masking, maskOf } from "./layers/masking.js";
export { type MixtureOfExpertsOptions, mixtureOfExperts } from "./layers/mixture-of-experts.js";
export { type MultiHeadAttentionOptions, multiHeadAttention } from "./layers/multi-head-attention.js";
export {
  type BatchNormOptions,
  batchNorm,
  type GroupNormOptions,
  groupNorm,
  instanceNorm,
  type LayerNormOptions,
  layerNorm,
  type RmsNormOptions,
  rmsNorm,
} from "./layers/norm.js";
export {
  type AveragePoolOptions,
  averagePool,
  type BlurPoolOptions,
  blurPool,
  type LpPoolOptions,
  lpPool,
  maxPool,
  type PoolOptions,
} from "./layers/pool.js";
export {
  type LearnedPositionsOptions,
  learnedPositions,
  type SinusoidalPositionsOptions,
  sinusoidalPositions,
} from "./layers/positions.js";
export { type PreluOptions, prelu } from "./layers/prelu.js";
export {
  type NarrowOptions,
  type QuantizedDenseOptions,
  quantizedDense,
  quantizedEmbedding,
} from "./layers/quantized.js";
export {
  type GruOptions,
  gru,
  gruCell,
  type LstmOptions,
  lstm,
  lstmCell,
  type RnnOptions,
  rnn,
  rnnCell,
} from "./layers/recurrent.js";
export type {
  CellActivation,
  CellOptions,
  GruCellOptions,
  LstmCellOptions,
  LstmState,
  RecurrentState,
  RnnCellOptions,
} from "./layers/recurrent-cells.js";
export type { CellInput, RecurrentOptions, WithState } from "./layers/recurrent-run.js";
export { type ResizeMethod, type ResizeOptions, resize } from "./layers/resize.js";
export { type RotaryOptions, type RotaryScaling, rotary } from "./layers/rotary.js";
export type { RecurrentInput, Sequence } from "./layers/sequence-input.js";
export { flatten, type PadLayerOptions, pad, reshape, transpose } from "./layers/shape.js";
export type { Channels, PerAxis } from "./layers/spatial.js";
export {
  type BlockExperts,
  type DecoderBlockOptions,
  decoderBlock,
  type EncoderBlockOptions,
  encoderBlock,
  type TransformerDecoderOptions,
  type TransformerEncoderOptions,
  type TransformerInput,
  transformerDecoder,
  transformerEncoder,
} from "./layers/transformer.js";
export {
  type SpectralNormOptions,
  spectralNorm,
  type WeightNormOptions,
  weightNorm,
} from "./layers/weight-norm.js";
export * as losses from "./losses/index.js";
export * as metrics from "./metrics/index.js";
export * as optimizers from "./optimizers/index.js";
export * as schedules from "./schedules/index.js";
export type { DataSource, WholeData } from "./training/data-source.js";
export { type EvaluateOptions, evaluate, type PredictOptions, predict } from "./training/evaluate.js";
export type {
  EventFilter,
  EventName,
  Handler,
  Handlers,
  Handling,
  TrainingEvent,
} from "./training/events.js";
export type { HistoryRecord } from "./training/history.js";
export type { LossChoice, LossFunction, LossName, OneLoss } from "./training/loss-choice.js";
export type { Metrics } from "./training/meter.js";
export type { MetricChoice, MetricFunction, MetricName, OneMetric } from "./training/metric-choice.js";
export type { ModelOptions } from "./training/model-options.js";
export type { Example, ModelCarry } from "./training/model-trainer.js";
export type { EarlyStopOptions, Monitor, ReduceOnPlateauOptions, Until } from "./training/monitors.js";
export { NonFiniteLossError } from "./training/non-finite.js";
export type { LoopOptions } from "./training/options.js";
export type { TrainingProgress } from "./training/progress.js";
export { TrainingRun, type TrainOptions, train } from "./training/train.js";
export { Trained, TrainingResult } from "./training/trained.js";
export { type StepMetrics, type Trainer, trainer } from "./training/trainer.js";
export type { Ending } from "./training/training.js";
