/** Embeddings: samples in few dimensions, in which those that are alike lie together. */
export type { Places } from "./first-places.js";
export { type MdsLearned, type MdsOptions, mds } from "./mds.js";
export { type TsneLearned, type TsneOptions, tsne } from "./t-sne.js";
export { type TriMapLearned, type TriMapOptions, triMap } from "./trimap.js";
export { type TrustworthinessOptions, trustworthiness } from "./trustworthiness.js";
export { type UmapLearned, type UmapOptions, umap } from "./umap.js";
