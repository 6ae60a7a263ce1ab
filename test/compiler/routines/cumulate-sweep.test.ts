/**
 * Running totals in one kernel: interpreted, with races reported and workgroups in any order; and on devices. The order of
 * additions is fixed, so every order of workgroups gives the same bits.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import { planCumulate } from "../../../src/compiler/routines/cumulate.js";
import type { Cumulation } from "../../../src/compiler/routines/cumulate-kernel.js";
import { canSweep } from "../../../src/compiler/routines/cumulate-sweep.js";
import { gpuProfile, type RunningProfile } from "../../../src/compiler/target/profile.js";
import { tensorOn, withProfile } from "../../support/forced-tiles.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { randomFrom } from "../../support/random.js";
import { assertValid, without } from "../../support/spirv-val.js";
import { numbersOf, testDevices } from "../../support/tensors.js";

const settings = { division: "corrected" } as const;
const running: RunningProfile = { lanes: 32, perLane: 4 };
const task = (shape: number[], changes: Partial<Cumulation> = {}): Cumulation => ({
  ...{ op: "sum", dtype: "f32", shape, axis: shape.length - 1 },
  ...{ isReverse: false, isExclusive: false, hasSegments: false },
  ...changes,
});

/** The totals, with tiles taken in an order; rising unless told. */
function interpreted(of: Cumulation, values: Float32Array | Int32Array, looks?: number, order?: readonly number[]) {
  const plan = planCumulate(of, { ...gpuProfile, running: { ...running, looks } }, settings);
  assert.equal(plan.steps.length, 2, "one kernel, after its memory is cleared");
  const [tickets, published] = plan.temporaries.map(({ shape }) => new Uint32Array(shape[0]!).fill(0xa5));
  const out = values.slice().fill(0);
  const memory = [tickets!, published!, values, out].map(({ buffer }) => new Uint8Array(buffer));
  const [clear, sweep] = plan.steps.map(({ kernel }) => kernel);
  interpretKernel(clear!, memory.slice(0, 2));
  if (!order) interpretKernel(sweep!, memory);
  for (const tile of order ?? []) {
    tickets![0] = tile;
    interpretKernel({ ...sweep!, rows: 1 }, memory);
  }
  return out;
}

test("sums, extremes and products of rows, from either end, with and without the element itself", () => {
  const random = randomFrom(2);
  const values = Int32Array.from({ length: 2 * 5001 }, () => random.below(7) - 3);
  const rules = { sum: (a: number, b: number) => (a + b) | 0, max: Math.max, product: Math.imul } as const;
  for (const [op, isReverse, isExclusive] of [
    ["sum", false, false],
    ["sum", true, true],
    ["max", true, false],
    ["product", false, true],
  ] as const) {
    const got = interpreted(task([2, 5001], { op, dtype: "i32", isReverse, isExclusive }), values);
    for (const row of [0, 1]) {
      const line = [...values.subarray(5001 * row, 5001 * (row + 1))];
      if (isReverse) line.reverse();
      let total = op === "sum" ? 0 : op === "max" ? -(2 ** 31) : 1;
      const want = line.map((value) => {
        const before = total;
        total = rules[op](total, value);
        return isExclusive ? before : total;
      });
      if (isReverse) want.reverse();
      assert.deepEqual([...got.subarray(5001 * row, 5001 * (row + 1))], want, `${op}, row ${row}`);
    }
  }
});

test("the bits are the same whatever the order of workgroups; missing totals are computed", () => {
  const random = randomFrom(9);
  // Two blocks of 32 tiles of 128 elements, and a bit.
  const values = Float32Array.from({ length: 32 * 128 * 2 + 300 }, () => random.below(1000) / 7 - 60);
  const tiles = Math.ceil(values.length / 128);
  const rising = interpreted(task([values.length]), values.slice());
  let exact = 0;
  values.forEach((value, i) => {
    exact += value;
    assert.ok(Math.abs(rising[i]! - exact) < 1e-2 + 1e-6 * Math.abs(exact), `element ${i}`);
  });
  // The last tile alone has to compute all others; then they come from the end.
  const falling = [...Array(tiles).keys()].reverse();
  const got = interpreted(task([values.length]), values.slice(), 1, falling);
  assert.deepEqual([...new Uint32Array(got.buffer)], [...new Uint32Array(rising.buffer)]);
});

for (const device of testDevices().filter((name) => name !== "cpu")) {
  describe(`running totals in one kernel, ${device}`, () => {
    test("as by several kernels, over blocks of tiles, with many looks and with one", () => {
      const random = randomFrom(4);
      const values = Array.from({ length: 3 * 9001 }, () => random.below(2000) - 1000);
      const cumsum = (profile: RunningProfile | undefined) => {
        const backend = withProfile(device, () => ({ running: profile }));
        return numbersOf(tensorOn(backend, { shape: [3, 9001], values }, "f32").cumsum({ axis: 1 }));
      };
      const want = cumsum(undefined);
      for (const looks of [1, 4096]) assert.deepEqual(cumsum({ ...running, looks }), want);
    });
  });
}

test("segments, other axes, wide numbers, log-sums and short rows keep the other plan", () => {
  const can = (shape: number[], changes: Partial<Cumulation> = {}) => canSweep(task(shape, changes), running);
  assert.ok(can([10_000]));
  assert.ok(can([10_000], { dtype: "bf16" }));
  assert.ok(!can([10_000], { hasSegments: true }));
  assert.ok(!can([10_000, 3], { axis: 0 }));
  assert.ok(!can([10_000], { dtype: "f64" }));
  assert.ok(!can([10_000], { op: "logsumexp" }));
  assert.ok(!can([500]));
  const many = planCumulate(task([5000, 1000]), { ...gpuProfile, running }, settings);
  assert.equal(many.steps.length, 1, "rows that fill the device are one workgroup's work each");
});

test("the kernels are valid", { skip: without("spirv-val") }, () => {
  for (const subgroupSize of [0, 8, 32]) {
    const profile = { ...gpuProfile, running: { lanes: 256, perLane: 16 } };
    for (const { kernel } of planCumulate(task([2, 100_001], { isReverse: true }), profile, settings).steps) {
      assertValid(emitSpirv(kernel, { subgroupSize }));
    }
  }
});
