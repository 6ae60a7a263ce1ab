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
      const compiledBy = async (rounds: number) => {
        const before = counters.compiled;
        const result = await plain(rounds);
        return { result, compiled: counters.compiled - before };
      };
      const { compiled: first } = await compiledBy(12);
      assert.ok(first <= 12, `${first} programs for 12 rounds`);
      // What a run has learnt of its values changes which are stored in the next; that comes to an end.
      for (let i = 0; i < 3; i++) await plain(12);
      const { result, compiled } = await compiledBy(19);
      assert.ok(compiled <= 1, `${compiled} more programs for more rounds`);
      const want = await expert(19);
      assert.ok(Math.abs(result - want) <= 1e-3 * Math.abs(want) + 1e-6, `${result}, and ${want} by the expert`);
    });
  }
});
