/** `optimizers`: gradient transforms, and functions that apply them. */
export { accumulate } from "./accumulate.js";
export { type AdafactorOptions, adafactor } from "./adafactor.js";
export {
  type AdamOptions,
  type AdamWOptions,
  adam,
  adamax,
  adamw,
  type MomentOptions,
  type NAdamOptions,
  nadam,
  radam,
} from "./adam.js";
export { adabelief, type LambOptions, lamb, type YogiOptions, yogi } from "./adam-kin.js";
export {
  addDecayedWeights,
  addNoise,
  centralize,
  clip,
  clipByGlobalNorm,
  clipByNorm,
  globalNorm,
  type NoiseOptions,
  scale,
  scaleByPlateau,
  scaleBySchedule,
  zeroNaNs,
} from "./gradients.js";
export { type Lbfgs, type LbfgsOptions, lbfgs, type MinimizeOptions, type Minimum } from "./lbfgs.js";
export { averagedWeights, emaOfWeights, type LookaheadOptions, lookahead } from "./lookahead.js";
export { type LossScaleOptions, lossScale, masterWeights, type ScaledOptimizer } from "./mixed-precision.js";
export { type MuonOptions, muon } from "./muon.js";
export { applyUpdates, chain, type Optimizer, type OptimizerState, type UpdateExtras } from "./optimizer.js";
export { freeze, identity, mask, partition } from "./partition.js";
export type { Rate } from "./rate.js";
export {
  type ScaleByRmsOptions,
  scaleByAdam,
  scaleByBelief,
  scaleByRadam,
  scaleByRms,
  scaleByRss,
  scaleByStddev,
  scaleByTrustRatio,
  scaleByYogi,
  trace,
} from "./scale-by.js";
export type { ByParameter, Labels, Mask } from "./selection.js";
export { type LionOptions, lion, noisySgd, type SgdOptions, sgd } from "./sgd.js";
export {
  type AdadeltaOptions,
  type AdagradOptions,
  adadelta,
  adagrad,
  type RmspropOptions,
  rmsprop,
} from "./squares.js";
