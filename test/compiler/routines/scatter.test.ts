/** Scattering: the tensor is copied, then each update is combined into its row. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scatterRoutine } from "../../../src/compiler/routines/scatter.js";
import { cpuProfile } from "../../../src/compiler/target/profile.js";
import { viewBytes } from "../../../src/core/storage.js";
import { Node } from "../../../src/graph/node.js";
import { buffer } from "../../../src/graph/primitives/leaf.js";
import { scatter } from "../../../src/graph/primitives/scatter.js";
import { make, nowhere } from "../../support/nodes.js";
import { runRoutine } from "../../support/routine-runs.js";

const leaf = (shape: number[], dtype: "i32") => new Node(buffer, { shape, dtype }, [], shape, dtype, nowhere);

function scattered(op: string, x: number[], width: number, positions: number[], updates: number[]): number[] {
  const inputs = [
    leaf([x.length / width, width], "i32"),
    leaf([positions.length], "i32"),
    leaf([positions.length, width], "i32"),
  ];
  const plan = scatterRoutine(make(scatter, inputs, { op }), cpuProfile, { division: "native" });
  const given = [x, positions, updates].map((values) => viewBytes(Int32Array.from(values)));
  return [...new Int32Array(runRoutine(plan, given, 4 * x.length).buffer)];
}

describe("updates of rows", () => {
  test("are added where they go, several to one row", () => {
    assert.deepEqual(
      scattered("add", [1, 2, 3, 4, 5, 6], 2, [2, 0, 2], [10, 20, 30, 40, 50, 60]),
      [31, 42, 3, 4, 65, 86],
    );
  });

  test("outside the tensor are left out", () => {
    assert.deepEqual(scattered("add", [1, 2, 3], 1, [3, -1, 1], [10, 20, 30]), [1, 32, 3]);
  });

  test("multiply, or keep the extreme", () => {
    assert.deepEqual(scattered("mul", [1, 2, 3], 1, [1, 1], [5, 7]), [1, 70, 3]);
    assert.deepEqual(scattered("max", [1, 2, 3], 1, [0, 2], [9, -9]), [9, 2, 3]);
  });
});

test("the copy is marked as one, so that it is left out where the result is the tensor's own memory", () => {
  const inputs = [leaf([4, 1], "i32"), leaf([2], "i32"), leaf([2, 1], "i32")];
  const { steps } = scatterRoutine(make(scatter, inputs, { op: "add" }), cpuProfile, { division: "native" });
  assert.deepEqual(
    steps.map(({ isCopy }) => isCopy === true),
    [true, false],
  );
});
