/** Workgroups as grids of lanes: elements inside a matrix, and steps that count themselves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { countOn, GridKernel, gridFor, inSteps, stepNumber } from "../../../../src/compiler/routines/linalg/grid.js";
import { cpuProfile } from "../../../../src/compiler/target/profile.js";
import type { RoutineBuffer } from "../../../../src/compiler/target/routine.js";
import { interpretRoutine, undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { bytesFor, encoded, gpuOf, KINDS, numbersIn, routineNode, settings, softwareGpu } from "./matrices.js"; // biome-ignore format: one line

test("a grid is for GPUs whose workgroups hold the new columns of a tile", () => {
  for (const kind of Object.values(KINDS)) {
    assert.deepEqual([cpuProfile, softwareGpu].map(({ tiles }) => gridFor(kind, tiles)), [null, null]); // biome-ignore format: one line
    const grid = gridFor(kind, gpuOf(256, 48 << 10).tiles)!;
    const perLane = kind.isComplex ? 2 : 4;
    assert.deepEqual(grid, { side: 16, block: 16 * perLane });
    const bytes = grid.block * 64 * bytesFor(1, kind);
    assert.deepEqual(gridFor(kind, gpuOf(256, bytes).tiles), grid);
    assert.equal(gridFor(kind, gpuOf(256, bytes - 1).tiles), null);
  }
  assert.deepEqual(gridFor(KINDS.f32, gpuOf(64).tiles), { side: 8, block: 32 });
});

test("elements outside of a matrix are another value and read nothing; blocks that fill it are not tested", () => {
  const grid = { side: 2, block: 4 };
  const kernel = new GridKernel("inside", 1, grid, routineNode("cholesky", KINDS.f64, [[5, 5]]), settings);
  const { k, f } = kernel;
  const [from, to] = [f.buffer(false), f.buffer(true)];
  const lanes = [0, 1, 2, 3].map((turn) => kernel.add(k.lane, 4 * turn));
  for (const own of lanes) {
    const [row, column] = [k.binary("shr", own, k.constant("u32", 2)), k.binary("and", own, kernel.i(3))];
    // The lower right corner of [5, 3].
    const place = [kernel.add(row, 3), kernel.add(column, 1)] as const;
    f.store(
      to,
      own,
      kernel.inside(...place, [5, 3], (index) => f.load(from, index), f.constant(-1)),
    );
  }
  assert.equal(kernel.isInside(k.lane, k.lane, [8, 4]), null);
  const result = undefinedBytes(16 * 8);
  const values = Array.from({ length: 15 }, (_, at): [number, number] => [at, 0]);
  interpretKernel(k.finish(), [encoded([[values]], KINDS.f64), result]);
  assert.deepEqual(numbersIn(result, "f64"), [10, 11, -1, -1, 13, 14, ...new Array(10).fill(-1)]);
});

test("steps read their number, which the second kernel of each step counts on; the last step has no second", () => {
  const node = routineNode("cholesky", KINDS.f64, [[4, 4]]);
  const make = (name: string, isSecond: boolean) => {
    const kernel = new GridKernel(name, 2, { side: 2, block: 4 }, node, settings);
    const { k } = kernel;
    const result = k.buffer("i32", true);
    const step = stepNumber(kernel);
    // One lane of one row counts: another would be a race.
    if (isSecond) countOn(kernel, step);
    const place = kernel.add(kernel.mul(step, 2), isSecond ? 1 : 0);
    k.store(result, place, kernel.add(step, 100), true, k.compare("eq", k.row, kernel.i(1)));
    return { kernel: k.finish(), formula: () => name };
  };
  const pair = [make("first", false), make("second", true)];
  const result: RoutineBuffer[] = [{ kind: "result" }];
  const plan = inSteps(3, [], [], () => pair, () => [result, result]); // biome-ignore format: one line
  assert.deepEqual(
    plan.steps.slice(1).map(({ kernel }) => kernel.name),
    ["first", "second", "first", "second", "first"],
  );
  const [bytes] = interpretRoutine(plan, [], [20]);
  assert.deepEqual(numbersIn(bytes!, "i32"), [100, 100, 101, 101, 102]);
});
