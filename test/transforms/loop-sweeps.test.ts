/** Loops, choices, checkpoints and derivatives by hand under grad, vmap and jit: the checks that every operation passes. */
import { describe, test } from "node:test";
import { checkGradients, placesFor } from "../support/gradient-check.js";
import { checkJit } from "../support/jit-check.js";
import { loopCases } from "../support/loop-cases.js";
import { devicesWithDoubles, testDevices } from "../support/tensors.js";
import { checkVmap } from "../support/vmap-check.js";

describe("derivatives of loops and choices are the limits of difference quotients", () => {
  for (const operation of loopCases) {
    test(operation.name, () => checkGradients(operation, placesFor(operation)));
  }
});

for (const device of devicesWithDoubles()) {
  describe(`vmap of loops and choices is a loop over the members, ${device}`, () => {
    for (const operation of loopCases) test(operation.name, () => checkVmap(operation, device));
  });
}

for (const device of testDevices()) {
  describe(`jit of loops and choices is what they are, ${device}`, () => {
    for (const operation of loopCases) {
      const hasDoubles = devicesWithDoubles().includes(device);
      if (hasDoubles) test(`${operation.name}, f64`, () => checkJit(operation, { device, dtype: "f64" }));
      if (device !== "cpu" && operation.isEverywhere) {
        test(`${operation.name}, f32`, () => checkJit(operation, { device, dtype: "f32" }));
      }
    }
  });
}
