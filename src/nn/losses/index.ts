/** Losses: `losses.meanSquaredError(predictions, targets, { reduction: "sum" })`. */

export {
  type BinaryCrossEntropyOptions,
  binaryCrossEntropy,
  type CategoricalCrossEntropyOptions,
  categoricalCrossEntropy,
  type FocalOptions,
  focal,
} from "./cross-entropy.js";
export { type CtcOptions, connectionistTemporalClassification } from "./ctc.js";
export { type KlDivergenceOptions, klDivergence } from "./divergence.js";
export type { LossOptions } from "./loss.js";
export { categoricalHinge, hinge, type MarginOptions, marginRanking, softMargin, squaredHinge } from "./margins.js";
export {
  type HuberOptions,
  huber,
  logCosh,
  meanAbsoluteError,
  meanSquaredError,
  type PoissonOptions,
  poisson,
} from "./regression.js";
export {
  contrastive,
  cosineSimilarity,
  type InfoNCEOptions,
  infoNCE,
  ntXent,
  type TemperatureOptions,
  type TripletOptions,
  triplet,
} from "./similarity.js";
