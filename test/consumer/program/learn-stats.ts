/** A consumer's program: statistics of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const { stats } = learn;
const on = { device: "cpu" };

export const statsCalls: Calls = {
  "stats.betainc": () => stats.betainc(2, 3, 0.25, on),
  "stats.chiSquareCdf": () => stats.chiSquareCdf([1, 2], 3, on),
  "stats.chiSquareSf": () => stats.chiSquareSf([1, 2], 3, on),
  "stats.fCdf": () => stats.fCdf(2, 3, 4, on),
  "stats.fSf": () => stats.fSf(2, 3, 4, on),
  "stats.gammainc": () => stats.gammainc(2, 3, on),
  "stats.gammaincc": () => stats.gammaincc(2, 3, on),
  "stats.kolmogorovCdf": () => stats.kolmogorovCdf(1, on),
  "stats.kolmogorovSf": () => stats.kolmogorovSf(1, on),
  "stats.normalCdf": () => stats.normalCdf([-1, 2], on),
  "stats.normalSf": () => stats.normalSf([-1, 2], on),
  "stats.tCdf": () => stats.tCdf(2, 5, on),
  "stats.tSf": () => stats.tSf(2, 5, on),
};
