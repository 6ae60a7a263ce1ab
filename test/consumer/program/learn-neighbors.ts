/** A consumer's program: neighbours of `pumice/learn`. */
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];

export const neighborsCalls: Calls = {
  localOutlierFactor: async () => (await learn.localOutlierFactor().fit(samples)).predict(samples),
};
