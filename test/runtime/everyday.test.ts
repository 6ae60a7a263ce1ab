/**
 * Programs as people write them (bench/everyday), without jit, realize or dispose: they arrive where the expert's do, and
 * the number of programs that they compile does not grow with their rounds.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { everydayPrograms } from "../../bench/everyday/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("everyday programs", (device) => {
  const { counters } = backendFor(device);
  for (const { name, title, plain, expert } of everydayPrograms) {
    test(`${name}: ${title}`, async () => {
      const rounds = 8;
      await plain(rounds);
      const before = counters.compiled;
      const result = await plain(rounds + 4);
      assert.ok(counters.compiled - before <= 2, `${counters.compiled - before} more programs for more rounds`);
      const want = await expert(rounds + 4);
      assert.ok(Math.abs(result - want) <= 1e-3 * Math.abs(want) + 1e-6, `${result}, and ${want} by the expert`);
    });
  }
});
