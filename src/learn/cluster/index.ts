/** Clusters: samples put into groups. */
export { type DbscanLearned, type DbscanOptions, dbscan } from "./dbscan.js";
