/**
 * Backward errors of every factorisation in units of n·ε, for matrices of every kind, at a few sizes. `npm run test:accuracy` goes
 * through many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeOnTensorDevices } from "../support/tensors.js";
import { normals } from "./accuracy.js";
import { errorsByKind, FACTORISATIONS, MOST } from "./factorisation-errors.js";

describeOnTensorDevices("backward errors", (device) => {
  for (const [name, errorsOf] of Object.entries(FACTORISATIONS)) {
    test(name, () => {
      assert.deepEqual(errorsOf(normals([0, 0], "f64"), "f64")[0]!.shape, []);
      // Software drivers take a second to compile a factorisation.
      for (const n of device === "cpu" ? [1, 13] : [13]) {
        for (const [kind, error] of errorsByKind(name, n, "f64")) assert.ok(error < MOST, `${kind} ${n}: ${error}`);
      }
    });
  }
});
