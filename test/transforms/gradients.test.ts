/** Derivatives of every operation: reverse and forward mode against difference quotients, first and second order. */
import { describe, test } from "node:test";
import { checkGradients, type Place } from "../support/gradient-check.js";
import { operationCases } from "../support/operation-cases.js";
import { testDevices } from "../support/tensors.js";

const cpu: Place = { device: "cpu", dtype: "f64", tolerance: 1e-7 };
const gpus = testDevices()
  .filter((device) => device !== "cpu")
  .map((device): Place => ({ device, dtype: "f32", tolerance: 3e-5 }));

describe("derivatives are the limits of difference quotients", () => {
  for (const operation of operationCases) {
    if (operation.isDiscrete) continue;
    test(operation.name, () => {
      checkGradients(operation, operation.isEverywhere ? [cpu, ...gpus] : [cpu]);
    });
  }
});
