/** Clusters: samples put into groups. */
export {
  type AffinityPropagationLearned,
  type AffinityPropagationOptions,
  affinityPropagation,
} from "./affinity-propagation.js";
export { type AgglomerativeLearned, type AgglomerativeOptions, agglomerativeClustering } from "./agglomerative.js";
export { type DbscanLearned, type DbscanOptions, dbscan } from "./dbscan.js";
export type { DistanceOptions } from "./distances.js";
export { type HdbscanLearned, type HdbscanOptions, hdbscan } from "./hdbscan.js";
export { type KMeansLearned, type KMeansOptions, kMeans } from "./k-means.js";
export type { LinkageMethod } from "./linkage.js";
export { type CutOptions, copheneticDistances, cutTree } from "./merge-tree.js";
export {
  type MiniBatchKMeansLearned,
  type MiniBatchKMeansModel,
  type MiniBatchKMeansOptions,
  miniBatchKMeans,
} from "./mini-batch-k-means.js";
export { type OpticsLearned, type OpticsOptions, optics } from "./optics.js";
export {
  type SpectralClusteringLearned,
  type SpectralClusteringOptions,
  spectralClustering,
} from "./spectral-clustering.js";
export { type AffinityOptions, type SpectralEmbeddingOptions, spectralEmbedding } from "./spectral-embedding.js";
