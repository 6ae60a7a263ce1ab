/** Loops, choices, checkpoints and derivatives by hand under grad, vmap and jit: the checks that every operation passes. */
import { describe, test } from "node:test";
import { checkGradients, type Place } from "../support/gradient-check.js";
import { checkJit } from "../support/jit-check.js";
import { loopCases } from "../support/loop-cases.js";
import { testDevices } from "../support/tensors.js";
import { checkVmap } from "../support/vmap-check.js";

const cpu: Place = { device: "cpu", dtype: "f64", tolerance: 1e-7 };
const gpus = testDevices()
  .filter((device) => device !== "cpu")
  .map((device): Place => ({ device, dtype: "f32", tolerance: 3e-5 }));

describe("derivatives of loops and choices are the limits of difference quotients", () => {
  for (const operation of loopCases) {
    test(operation.name, () => checkGradients(operation, operation.isEverywhere ? [cpu, ...gpus] : [cpu]));
  }
});

describe("vmap of loops and choices is a loop over the members", () => {
  for (const operation of loopCases) test(operation.name, () => checkVmap(operation));
});

for (const device of testDevices()) {
  describe(`jit of loops and choices is what they are, ${device}`, () => {
    for (const operation of loopCases) {
      if (device !== "cpu" && !operation.isEverywhere) continue;
      test(operation.name, () => checkJit(operation, { device, dtype: device === "cpu" ? "f64" : "f32" }));
    }
  });
}
