/** A consumer's program: covariances and discriminants of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [[1, 2], [3, 5], [4, 4], [6, 1]]; // biome-ignore format: a matrix
const labels = ["a", "b", "a", "b"];
const on = { device: "cpu" };

export const discriminantCalls: Calls = {
  empiricalCovariance: async () => (await learn.empiricalCovariance().fit(samples, undefined, on)).mahalanobis(samples),
  ledoitWolf: async () => (await learn.ledoitWolf().fit(samples)).learned.shrinkage,
  linearDiscriminantAnalysis: async () =>
    (await learn.linearDiscriminantAnalysis({ shrinkage: "auto" }).fit(samples, labels, on)).transform(samples),
  oas: async () => (await learn.oas({ assumeCentered: true }).fit(samples)).score(samples),
  quadraticDiscriminantAnalysis: async () =>
    (await learn.quadraticDiscriminantAnalysis({ regParam: 0.1 }).fit(samples, labels, on)).predict(samples),
  shrunkCovariance: async () => (await learn.shrunkCovariance({ shrinkage: 0.2 }).fit(samples)).learned.covariance,
};
