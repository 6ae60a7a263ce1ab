/** A consumer's program: statistics of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const { stats } = learn;
const on = { device: "cpu" };
const [x, y] = [[1, 4, 2, 8, 5, 7], [2, 3, 9, 1, 4, 6]]; // biome-ignore format: a pair
const counts = [[8, 2], [1, 5]]; // biome-ignore format: a matrix

export const statsCalls: Calls = {
  "stats.anova": () => stats.anova([x, y], on).pValue,
  "stats.betainc": () => stats.betainc(2, 3, 0.25, on),
  "stats.chiSquareCdf": () => stats.chiSquareCdf([1, 2], 3, on),
  "stats.chiSquareSf": () => stats.chiSquareSf([1, 2], 3, on),
  "stats.chiSquareTest": () => stats.chiSquareTest(x, on).pValue,
  "stats.contingencyTest": () => stats.contingencyTest(counts, on).pValue,
  "stats.describe": () => stats.describe(x, on).mean,
  "stats.entropy": () => stats.entropy(x, on),
  "stats.fCdf": () => stats.fCdf(2, 3, 4, on),
  "stats.fSf": () => stats.fSf(2, 3, 4, on),
  "stats.fisherExact": () => stats.fisherExact(counts, on).pValue,
  "stats.gammainc": () => stats.gammainc(2, 3, on),
  "stats.gammaincc": () => stats.gammaincc(2, 3, on),
  "stats.iqr": () => stats.iqr(x, on),
  "stats.kendall": () => stats.kendall(x, y, on).pValue,
  "stats.kolmogorovCdf": () => stats.kolmogorovCdf(1, on),
  "stats.kolmogorovSf": () => stats.kolmogorovSf(1, on),
  "stats.kolmogorovSmirnov": () => stats.kolmogorovSmirnov(x, y, on).pValue,
  "stats.kruskal": () => stats.kruskal([x, y], on).pValue,
  "stats.kurtosis": () => stats.kurtosis(x, on),
  "stats.levene": () => stats.levene([x, y], on).pValue,
  "stats.mannWhitney": () => stats.mannWhitney(x, y, on).pValue,
  "stats.moment": () => stats.moment(x, 3, on),
  "stats.normalCdf": () => stats.normalCdf([-1, 2], on),
  "stats.normalSf": () => stats.normalSf([-1, 2], on),
  "stats.pearson": () => stats.pearson(x, y, on).pValue,
  "stats.sem": () => stats.sem(x, on),
  "stats.shapiroWilk": () => stats.shapiroWilk(x, on).pValue,
  "stats.skew": () => stats.skew(x, on),
  "stats.spearman": () => stats.spearman(x, y, on).pValue,
  "stats.tCdf": () => stats.tCdf(2, 5, on),
  "stats.tSf": () => stats.tSf(2, 5, on),
  "stats.tTest": () => stats.tTest(x, on).pValue,
  "stats.tTestIndependent": () => stats.tTestIndependent(x, y, on).pValue,
  "stats.tTestPaired": () => stats.tTestPaired(x, y, on).pValue,
  "stats.trimmedMean": () => stats.trimmedMean(x, on),
  "stats.wilcoxon": () => stats.wilcoxon(x, y, on).pValue,
  "stats.zscore": () => stats.zscore(x, on),
};
