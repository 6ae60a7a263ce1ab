/** Derivatives of every operation: reverse and forward mode against difference quotients, first and second order. */
import { describe, test } from "node:test";
import { checkGradients, placesFor } from "../support/gradient-check.js";
import { operationCases } from "../support/operation-cases.js";

describe("derivatives are the limits of difference quotients", () => {
  for (const operation of operationCases) {
    if (operation.isDiscrete) continue;
    test(operation.name, () => checkGradients(operation, placesFor(operation)));
  }
});
