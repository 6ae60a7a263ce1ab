/** Long concatenations: which inputs share a kernel, and that the parts lie where they should. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { join, joinRoutine } from "../../../src/compiler/routines/join.js";
import { cpuProfile } from "../../../src/compiler/target/profile.js";
import { viewBytes } from "../../../src/core/storage.js";
import { make, stored } from "../../support/nodes.js";
import { runRoutine } from "../../support/routine-runs.js";

const plan = (shapes: readonly number[][], axis: number) =>
  joinRoutine(
    make(
      join,
      shapes.map((shape) => stored(...shape)),
      { axis },
    ),
    cpuProfile,
    { division: "native" },
  );

const inputsOf = (steps: ReturnType<typeof plan>["steps"]) =>
  steps.map(({ buffers }) => buffers.flatMap((buffer) => (buffer.kind === "input" ? [buffer.index] : [])));

test("small neighbours are copied together, a large one alone", () => {
  const large = [1 << 14];
  assert.deepEqual(inputsOf(plan([[5], [6], large, [7], [8]], 0).steps), [[0, 1], [2], [3, 4]]);
});

test("no more than twelve inputs go together, and empty ones are left out", () => {
  const many = Array.from({ length: 30 }, (_, i) => [i === 3 ? 0 : 2]);
  const groups = inputsOf(plan(many, 0).steps);
  assert.ok(groups.every((group) => group.length <= 12));
  assert.deepEqual(
    groups.flat(),
    [...many.keys()].filter((i) => i !== 3),
  );
});

test("inputs of one shape share a kernel, whatever their place in the result", () => {
  const large = [1 << 14];
  const kernels = plan([large, large, large], 0).steps.map(({ kernel }) => kernel);
  assert.equal(new Set(kernels).size, 1);
});

test("along an inner axis the rows of the inputs are interleaved", () => {
  const shapes = [
    [2, 3],
    [2, 1],
    [2, 4],
  ];
  const parts = shapes.map(([rows, width], n) => Float32Array.from({ length: rows! * width! }, (_, i) => 100 * n + i));
  const bytes = runRoutine(plan(shapes, 1), parts.map(viewBytes), 4 * 16);
  assert.deepEqual(
    [...new Float32Array(bytes.buffer)],
    [0, 1, 2, 100, 200, 201, 202, 203, 3, 4, 5, 101, 204, 205, 206, 207],
  );
});
