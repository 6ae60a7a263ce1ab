/** Samples made ready for estimators. */
export {
  type MinMaxScalerOptions,
  maxAbsScaler,
  minMaxScaler,
  type RobustScalerOptions,
  robustScaler,
  type ScalerLearned,
  type StandardScalerOptions,
  standardScaler,
} from "./scalers.js";
