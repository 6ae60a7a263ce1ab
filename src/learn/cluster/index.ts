/** Clusters: samples put into groups. */
export { type DbscanLearned, type DbscanOptions, dbscan } from "./dbscan.js";
export { type KMeansLearned, type KMeansOptions, kMeans } from "./k-means.js";
