/** Methods by kernels: Gaussian processes, kernel ridge, support vector machines. */
export * as kernels from "./functions.js";
export {
  type GaussianProcessClassifierLearned,
  type GaussianProcessClassifierOptions,
  gaussianProcessClassifier,
} from "./gaussian-process-classifier.js";
export {
  type GaussianProcessRegressorLearned,
  type GaussianProcessRegressorOptions,
  gaussianProcessRegressor,
  type JointlyUncertain,
  type SampleYOptions,
} from "./gaussian-process-regressor.js";
export { type KernelRidgeLearned, type KernelRidgeOptions, kernelRidge } from "./kernel-ridge.js";
export type { MachineOptions, Supports } from "./machine.js";
export { type NuSvcOptions, nuSvc } from "./nu-svc.js";
export { type NuSvrLearned, type NuSvrOptions, nuSvr } from "./nu-svr.js";
export { type OneClassSvmOptions, oneClassSvm } from "./one-class-svm.js";
export type { PairMachineOptions, SvcLearned } from "./pair-machines.js";
export type { KernelChoice, KernelFunction, PairwiseOptions } from "./pairwise.js";
export type { ParameterSearchOptions } from "./parameter-search.js";
export { type SvcOptions, svc } from "./svc.js";
export { type MachineLearned, type SvrOptions, svr } from "./svr.js";
