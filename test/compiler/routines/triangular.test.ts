/** Cholesky factors and triangular solutions, step by step. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { choleskyRoutine, solveLowerRoutine } from "../../../src/compiler/routines/triangular.js";
import { cpuProfile, gpuProfile } from "../../../src/compiler/target/profile.js";
import { viewBytes } from "../../../src/core/storage.js";
import { Node } from "../../../src/graph/node.js";
import { buffer } from "../../../src/graph/primitives/leaf.js";
import { cholesky, solveLower } from "../../../src/graph/primitives/triangular.js";
import { make, nowhere } from "../../support/nodes.js";
import { runRoutine } from "../../support/routine-runs.js";

const settings = { division: "native" } as const;
const matrix = (...shape: number[]) => new Node(buffer, { shape, dtype: "f64" }, [], shape, "f64", nowhere);
const numbers = (bytes: Uint8Array) => [...new Float64Array(bytes.buffer)];

test("a factor times its transpose is the matrix; what lies above the diagonal is zero, and is not read", () => {
  const factor = [2, 0, 0, 6, 1, 0, -8, 5, 3];
  const plan = choleskyRoutine(make(cholesky, [matrix(3, 3)]), cpuProfile, settings);
  const upper = Number.NaN;
  const given = Float64Array.of(4, upper, upper, 12, 37, upper, -16, -43, 98);
  assert.deepEqual(numbers(runRoutine(plan, [viewBytes(given)], 72)), factor);
});

test("a solution times the matrix is the right side; a unit diagonal is not read", () => {
  const solve = (isUnit: boolean, diagonal: number[]) => {
    const plan = solveLowerRoutine(make(solveLower, [matrix(2, 2), matrix(2, 2)], { isUnit }), cpuProfile, settings);
    const given = [Float64Array.of(diagonal[0]!, 0, 3, diagonal[1]!), Float64Array.of(4, 8, 16, 2)];
    return numbers(runRoutine(plan, given.map(viewBytes), 32));
  };
  assert.deepEqual(solve(false, [2, 5]), [2, 4, 2, -2]);
  assert.deepEqual(solve(true, [Number.NaN, Number.NaN]), [4, 8, 4, -22]);
});

test("there is a run per column, all of one kernel, and lanes share dot products of few long rows", () => {
  const { steps } = choleskyRoutine(make(cholesky, [matrix(100, 100)]), gpuProfile, settings);
  assert.equal(steps.length, 1 + 100);
  assert.equal(new Set(steps.slice(1).map(({ kernel }) => kernel)).size, 1);
  assert.equal(steps[1]!.kernel.lanes, 32);
  const many = choleskyRoutine(make(cholesky, [matrix(100, 100, 100)]), gpuProfile, settings);
  assert.equal(many.steps[1]!.kernel.lanes, 1);
});
