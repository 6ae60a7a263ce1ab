/** Decompositions: samples along fewer directions. */
export { type FactorAnalysisLearned, type FactorAnalysisOptions, factorAnalysis } from "./factor-analysis.js";
export { type Contrast, type FastIcaLearned, type FastIcaOptions, fastIca } from "./fast-ica.js";
export {
  type IncrementalPcaLearned,
  type IncrementalPcaModel,
  type IncrementalPcaOptions,
  incrementalPca,
} from "./incremental-pca.js";
export { type KernelPcaLearned, type KernelPcaOptions, kernelPca } from "./kernel-pca.js";
export { type NmfLearned, type NmfOptions, type NmfStart, nmf } from "./nmf.js";
export { type PcaLearned, type PcaOptions, pca } from "./pca.js";
export { type PlsSvdLearned, type PlsSvdOptions, plsSvd } from "./pls-svd.js";
export type { SpectrumOptions, SvdSolver } from "./spectrum.js";
export { type TruncatedSvdLearned, type TruncatedSvdOptions, truncatedSvd } from "./truncated-svd.js";
