/** Scattering into few rows: the plan covers all updates within the device's limits, and the results are those of a plain loop. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  planPrivateScatter,
  privateScatterKernel,
  type Updates,
} from "../../../src/compiler/routines/private-scatter.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../../src/compiler/target/profile.js";
import { random, tensor, zeros } from "../../../src/index.js";
import { runKernel } from "../../support/kernels.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const large: TargetProfile = {
  ...gpuProfile,
  tiles: { kind: "shared", sharedBytes: 49152, maxLanes: 1024, units: 132 },
};
const updatesOf = (rows: number, inner: number, count: number): Updates => ({
  op: "add",
  dtype: "f32",
  rows,
  inner,
  count,
});

test("a plan covers all updates, and its cells fit the memory of a workgroup", () => {
  let plans = 0;
  for (const [profile, bytes] of [
    [large, 49152],
    [gpuProfile, 16384],
    [cpuProfile, 1 << 16],
  ] as const) {
    // biome-ignore format: a row
    for (const rows of [1, 2, 17, 64, 100, 300, 1000, 5000]) {
      for (const inner of [1, 2, 3, 31, 32, 33, 64, 100, 128, 256, 1000, 4096]) {
        for (const count of [1, 100, 5000, 99_991, 1_000_000]) {
          const plan = planPrivateScatter(updatesOf(rows, inner, count), profile);
          if (!plan) continue;
          plans++;
          const { workgroups, lanes, teams, columnsPerLane, perTeam } = plan;
          assert.ok(workgroups * teams * perTeam >= count);
          assert.equal(teams * inner <= lanes || columnsPerLane * lanes === inner, true);
          assert.ok(4 * rows * columnsPerLane * lanes <= bytes);
          assert.ok(lanes <= profile.maxLanes);
        }
      }
    }
  }
  assert.ok(plans > 200, `${plans} plans`);
});

test("a million updates of 64 rows fill the device; few updates, and many rows, use atomics alone", () => {
  const sums = planPrivateScatter(updatesOf(64, 32, 1e6), large);
  assert.deepEqual([sums?.lanes, sums?.teams, sums?.workgroups], [64, 2, 1584]);
  const counts = planPrivateScatter(updatesOf(64, 1, 1e6), large);
  assert.deepEqual([counts?.lanes, counts?.teams], [64, 64]);
  assert.equal(planPrivateScatter(updatesOf(64, 32, 1000), large), null);
  assert.equal(planPrivateScatter(updatesOf(50_000, 32, 1e6), large), null);
  assert.equal(planPrivateScatter(updatesOf(0, 32, 1e6), large), null);
  assert.equal(planPrivateScatter(updatesOf(64, 0, 1e6), large), null);
});

const combine = {
  add: (a: number, b: number) => a + b,
  mul: (a: number, b: number) => a * b,
  min: Math.min,
  max: Math.max,
};

describeOnTensorDevices("many updates of few rows", (device) => {
  test("are combined as a plain loop combines them, whatever the widths and operations", () => {
    const profile = device === "cpu" ? cpuProfile : gpuProfile;
    for (const [rows, inner, count] of [
      [5, 1, 1000],
      [3, 7, 701],
      [1, 32, 4000],
      [20, 33, 1500],
      [2, 256, 300],
      [7, 130, 500],
    ] as const) {
      // biome-ignore format: a row
      for (const [op, dtypes] of [["add", ["f32", "i32"]], ["mul", ["f64"]], ["min", ["i32"]], ["max", ["f32"]]] as const) { // biome-ignore format: a row
        for (const dtype of dtypes) {
          const updates: Updates = { op, dtype, rows, inner, count };
          const plan = planPrivateScatter(updates, profile);
          if (!plan) {
            assert.ok(inner === 130 && device !== "cpu", `${rows}, ${inner}: no plan`);
            continue;
          }
          const made = (length: number, valueAt: (e: number) => number) =>
            list.from(Array.from({ length }, (_, e) => valueAt(e)));
          const list = dtype === "f32" ? Float32Array : dtype === "f64" ? Float64Array : Int32Array;
          // Positions before and behind the rows are left out. Products stay whole numbers: of 1 and -1.
          const places = Int32Array.from({ length: count }, (_, u) => ((u * 7919) % (rows + 2)) - 1);
          const values = made(count * inner, (e) =>
            op === "mul" ? ((e * 31) % 3 === 0 ? -1 : 1) : ((e * 7907) % 201) - 100,
          );
          const x = made(rows * inner, (e) => (e % 5) + 1);
          const want = list.from(x);
          values.forEach((value, e) => {
            const place = places[Math.floor(e / inner)]!;
            const at = place * inner + (e % inner);
            if (place >= 0 && place < rows) want[at] = combine[op](want[at]!, value);
          });
          const found = runKernel(device, privateScatterKernel(updates, plan), [places, values, list.from(x)])[2]!;
          assert.deepEqual(list.from(found as ArrayLike<number>), want, `${op} ${dtype} ${rows}×${inner} of ${count}`);
        }
      }
    }
  });

  test("add up in every row to the sum of the updates, NaN and infinities in their rows alone", async () => {
    const count = 20_000;
    const labels = random.uniform(random.key(1, { device }), [count]).mul(16).cast("i32").realize();
    const x = random.uniform(random.key(2, { device }), [count, 5]).realize();
    const [places, values] = [await labels.data(), await x.data()];
    const want = new Float64Array(80);
    values.forEach((value, e) => {
      want[places[Math.floor(e / 5)]! * 5 + (e % 5)]! += value;
    });
    const found = await zeros([16, 5], { device }).addAt(labels, x).data();
    found.forEach(
      (value, e) => void assert.ok(Math.abs(value / want[e]! - 1) < 1e-5, `${e}: ${value}, not ${want[e]}`),
    );
    const hostile = tensor([Number.NaN, Infinity, -0, ...Array(997).fill(1)], { device });
    const at = tensor([0, 1, 2, ...Array(997).fill(3)], { dtype: "i32", device });
    const sums = [...(await tensor([1, 1, -0, 1, -0], { device }).addAt(at, hostile).data())];
    assert.deepEqual(sums, [Number.NaN, Infinity, -0, 998, -0]);
  });
});
