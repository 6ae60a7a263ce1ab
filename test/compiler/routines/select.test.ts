/**
 * Elements by their rank: kernels that select, on GPUs, and sorting elsewhere, against JavaScript's stable sort. Rows that a
 * workgroup holds and rows in chunks; keys that are all equal, few, or in the worst order for the list of the first ones.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import { argsortAtRoutine } from "../../../src/compiler/routines/select.js";
import { firstsKernel, type Ranks, ranksKernel } from "../../../src/compiler/routines/select-kernel.js";
import { gpuProfile, type TargetProfile } from "../../../src/compiler/target/profile.js";
import { argsortAt } from "../../../src/graph/primitives/order.js";
import { vmap } from "../../../src/index.js";
import type { Backend } from "../../../src/runtime/backend.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { tensorOn, withProfile } from "../../support/forced-tiles.js";
import { runKernel } from "../../support/kernels.js";
import { make, storedAs } from "../../support/nodes.js";
import { randomFrom } from "../../support/random.js";
import { assertValid, without } from "../../support/spirv-val.js";
import { numbersOf, testDevices } from "../../support/tensors.js";

const random = randomFrom(11);
const patterns: Record<string, (i: number) => number> = {
  random: () => random.below(2 ** 16) * 2 ** 16 + random.below(2 ** 16),
  "few values": () => random.below(3) * 2 ** 30,
  "all equal": () => 77,
  "the last key": () => 2 ** 32 - 1,
  rising: (i) => i,
  falling: (i) => 100_000 - i,
};
const order = (line: ArrayLike<number>): number[] =>
  Array.from(line, (_, i) => i).sort((a, b) => line[a]! - line[b]! || a - b);

const gpus = testDevices().filter((device) => device !== "cpu");

for (const device of gpus) {
  describe(`selection, ${device}`, () => {
    for (const [extent, lanes, perLane] of [
      [64, 64, 4],
      [255, 64, 4],
      [301, 64, 8],
      [512, 128, 4],
    ] as const) {
      test(`ranks of rows of ${extent} by ${lanes} lanes`, () => {
        const ranks = [0, 1, 7, extent >> 1, (extent >> 1) + 1, extent - 1];
        const kernel = ranksKernel({ rows: 3, extent, lanes, perLane }, ranks);
        for (const [name, key] of Object.entries(patterns)) {
          const keys = Uint32Array.from({ length: 3 * extent }, (_, i) => key(i));
          const [, got] = runKernel(device, kernel, [keys, new Int32Array(3 * ranks.length)]);
          for (let row = 0; row < 3; row++) {
            const sorted = order(keys.subarray(row * extent, (row + 1) * extent));
            assert.deepEqual(
              [...got.subarray(row * ranks.length).slice(0, ranks.length)],
              ranks.map((r) => sorted[r]),
              name,
            );
          }
        }
      });
    }

    for (const [extent, count] of [
      [256, 9],
      [250, 60],
      [1000, 9],
      [1001, 100],
      [3000, 128],
    ] as const) {
      test(`the first ${count} of rows of ${extent}, 256 held at a time`, () => {
        const kernel = firstsKernel({ rows: 2, extent, lanes: 64, perLane: 4 }, count);
        for (const [name, key] of Object.entries(patterns)) {
          const keys = Uint32Array.from({ length: 2 * extent }, (_, i) => key(i));
          const [, got] = runKernel(device, kernel, [keys, new Int32Array(2 * count)]);
          for (let row = 0; row < 2; row++) {
            const want = order(keys.subarray(row * extent, (row + 1) * extent)).slice(0, count);
            assert.deepEqual([...got.subarray(row * count, (row + 1) * count)], want, name);
          }
        }
      });
    }

    let known: Backend | undefined;
    const backend = () => {
      known ??= withProfile(device, ({ tiles }: TargetProfile) => ({
        sort: { ...gpuProfile.sort, sharedBytes: 32768 },
        tiles: { ...tiles, maxLanes: 256 },
      }));
      return known;
    };
    test("makes the keys of every dtype of up to 32 bits itself, in either direction", () => {
      for (const dtype of ["i32", "u32", "f16", "bf16", "i8", "bool"] as const) {
        const low = dtype === "u32" || dtype === "bool" ? 0 : -9;
        const values = Array.from({ length: 2 * 90 }, (_, i) => ((i * 7) % (dtype === "bool" ? 2 : 19)) + low);
        const x = tensorOn(backend(), { shape: [2, 90], values }, dtype);
        for (const largest of [true, false]) {
          const want = [0, 90].flatMap((start) => {
            const line = values.slice(start, start + 90);
            const sign = largest ? -1 : 1;
            return order(line.map((value) => sign * value)).slice(0, 12);
          });
          assert.deepEqual(numbersOf(x.topK(12, { largest }).indices), want, `${dtype} ${largest}`);
        }
      }
    });

    test("topK, median and quantiles keep ties in order, and NaN last", () => {
      const values = Array.from({ length: 4 * 200 }, (_, i) => (i % 13) - 6);
      values[10] = Number.NaN;
      values[20] = -0;
      const plain = { shape: [4, 200], values };
      const x = tensorOn(backend(), plain, "f32");
      const rows = Array.from({ length: 4 }, (_, row) => values.slice(row * 200, (row + 1) * 200));
      const falling = rows.map((line) =>
        line
          .map((_, i) => i)
          .sort(
            (a, b) => Number(Number.isNaN(line[a])) - Number(Number.isNaN(line[b])) || line[b]! - line[a]! || a - b,
          ),
      );
      const { values: got, indices } = x.topK(20);
      assert.deepEqual(
        numbersOf(indices),
        falling.flatMap((line) => line.slice(0, 20)),
      );
      assert.deepEqual(
        numbersOf(got),
        falling.flatMap((line, row) => line.slice(0, 20).map((i) => rows[row]![i])),
      );
      const middle = rows.map((line) => {
        const sorted = [...line].sort((a, b) => a - b);
        return line.some(Number.isNaN) ? Number.NaN : (sorted[99]! + sorted[100]!) / 2;
      });
      assert.deepEqual(numbersOf(x.median({ axis: 1 })), middle);
      assert.deepEqual(numbersOf(x.quantile(0.5, { axis: 1 })), middle);
      for (const [share, place] of [
        [0, 0],
        [37 / 199, 37],
        [1, 199],
      ] as const) {
        const want = rows.map((line) =>
          line.some(Number.isNaN) ? Number.NaN : [...line].sort((p, q) => p - q)[place]!,
        );
        // The place is rounded, so that neighbours may be mixed by a millionth.
        for (const [row, got] of numbersOf(x.quantile(share, { axis: 1 })).entries()) {
          assert.ok(
            Object.is(got, want[row]) || Math.abs(got - want[row]!) < 1e-5,
            `${share}: ${got}, not ${want[row]}`,
          );
        }
      }
      const batched = vmap((line: Tensor) => line.topK(3).indices)(x);
      assert.deepEqual(
        numbersOf(batched),
        falling.flatMap((line) => line.slice(0, 3)),
      );
    });
  });
}

describe("the plan of a selection", () => {
  const stepsFor = (shape: readonly number[], ranks: Ranks, profile: TargetProfile = gpuProfile) => {
    const inputs = [storedAs("u32", ...shape), ...(ranks === "around" ? [storedAs("i32", 1)] : [])];
    return argsortAtRoutine(make(argsortAt, inputs, { ranks }), profile, { division: "corrected" }).steps;
  };
  const firsts = (count: number) => Array.from({ length: count }, (_, i) => i);

  test("one kernel where a workgroup holds the row, or a few are the first", () => {
    assert.equal(stepsFor([4096, 1024], [511, 512, 1023]).length, 1);
    assert.equal(stepsFor([4096, 4096], firsts(32)).length, 1);
    assert.equal(stepsFor([100, 100_000], firsts(10)).length, 1);
    assert.equal(stepsFor([4096, 1024], "around").length, 1);
  });

  test("rows are sorted where they are short, or ranks are many, or lanes cannot work together", () => {
    const kernels = (shape: readonly number[], ranks: readonly number[], profile?: TargetProfile) =>
      stepsFor(shape, ranks, profile).map(({ kernel }) => kernel.name.split(" ")[0]);
    assert.ok(kernels([10, 20], [3]).every((name) => name === "sort"));
    assert.ok(kernels([10, 1000], firsts(900)).every((name) => name === "sort"));
    assert.ok(kernels([10, 100_000], [50_000]).every((name) => name === "sort"));
    const alone = { ...gpuProfile, sort: { ...gpuProfile.sort, lanes: 1 } };
    assert.ok(kernels([10, 1000], [500], alone).every((name) => name === "sort"));
  });

  test("its kernels are valid, and fit the least shared memory", { skip: without("spirv-val") }, () => {
    for (const [shape, ranks] of [
      [[7, 1000], [500]],
      [[7, 1000], firsts(20)],
      [[7, 50_000], firsts(20)],
      [[7, 1000], "around"],
      [[7, 30], "around"],
    ] as const) {
      for (const { kernel } of stepsFor(shape, ranks)) {
        assertValid(emitSpirv(kernel, { subgroupSize: 32 }));
        const words = kernel.arrays.reduce((sum, { size }) => sum + size, 0);
        assert.ok(4 * (words + 2 * kernel.lanes) <= gpuProfile.sort.sharedBytes, kernel.name);
      }
    }
  });
});
