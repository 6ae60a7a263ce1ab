/** Estimators made of estimators. */
export { type AnyEstimator, type PipelineModel, type PipelineOptions, pipeline } from "./pipeline.js";
