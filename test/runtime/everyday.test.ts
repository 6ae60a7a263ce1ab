/**
 * Programs as people write them (bench/everyday), without jit, realize or dispose: they arrive where the expert's do, and
 * the number of programs that they compile does not grow with their rounds.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { everydayPrograms } from "../../bench/everyday/index.js";
import type { EverydayProgram } from "../../bench/everyday/program.js";
import { backendFor, tensor } from "../../src/tensor/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

/** Nodes that were made so far. */
const nodesMade = (): number => tensor(0, { device: "cpu" }).node.serial;

describeOnTensorDevices("long loops", (device) => {
  const { counters, engine } = backendFor(device);
  for (const name of ["rotation", "kalman", "metropolis", "interest"]) {
    test(`${name}: a round of a long loop is no more work than one of a short loop`, async () => {
      const { plain } = everydayPrograms.find((program) => program.name === name) as EverydayProgram;
      // What a run has learnt of its values changes which are stored in the next; that comes to an end.
      for (let i = 0; i < 4; i++) await plain(100);
      const workOf = async (rounds: number) => {
        const [nodes, kernels, compiled] = [nodesMade(), counters.kernels, counters.compiled];
        await plain(rounds);
        return [nodesMade() - nodes, counters.kernels - kernels, counters.compiled - compiled];
      };
      const [short, middle, long] = [await workOf(100), await workOf(600), await workOf(1100)];
      const added = (a: readonly number[], b: readonly number[]) => a.map((each, i) => each - b[i]!);
      assert.deepEqual(added(long, middle), added(middle, short), "the second 500 rounds, and the first");
      assert.equal(long[2], 0, "programs compiled");
      const { buffers } = (engine as unknown as { stats(): { buffers: number } }).stats();
      // Those that V8 has not collected yet; in bounds that do not depend on the rounds.
      assert.ok(buffers < 100_000, `${buffers} buffers`);
    });
  }
});

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
