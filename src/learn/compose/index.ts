/** Estimators made of estimators. */
export {
  type ColumnChoice,
  type ColumnPart,
  type ColumnTransformerChanges,
  type ColumnTransformerOptions,
  columnTransformer,
  type JoinedModel,
} from "./column-transformer.js";
export { type FeatureUnionOptions, featureUnion } from "./feature-union.js";
export { type FunctionTransformerOptions, functionTransformer } from "./function-transformer.js";
export { type AnyEstimator, type PipelineModel, type PipelineOptions, pipeline } from "./pipeline.js";
