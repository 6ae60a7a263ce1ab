/**
 * Sorting with one kernel per digit: interpreted with subgroups of 32 and races reported, workgroups in any order included;
 * and on a device, with the size of its subgroups. Against JavaScript's stable sort.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import { elementWords, keyWords, type Sorted } from "../../../src/compiler/routines/element-words.js";
import { asVotingRows, sortBySweeps, sweptRows } from "../../../src/compiler/routines/radix-sweep.js";
import type { SortProfile } from "../../../src/compiler/target/profile.js";
import type { RoutinePlan } from "../../../src/compiler/target/routine.js";
import { DTYPES } from "../../../src/core/dtype.js";
import { productOf } from "../../../src/core/shape.js";
import { backendFor } from "../../../src/tensor/index.js";
import { tensorOn, withProfile } from "../../support/forced-tiles.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { randomFrom } from "../../support/random.js";
import { assertValid, without } from "../../support/spirv-val.js";
import { numbersOf, testDevices } from "../../support/tensors.js";

const settings = { division: "corrected" } as const;
const random = randomFrom(11);
/** Room for few elements per lane, so that rows have many tiles. */
const small: SortProfile = { digitsFrom: 1, lanes: 64, sharedBytes: 5000, subgroupSize: 32 };

/** Runs a plan in the interpreter. `order`: the tiles in the order in which workgroups take them; rising unless told. */
function interpreted(plan: RoutinePlan, input: Uint8Array, resultBytes: number, order?: readonly number[]): Uint8Array {
  const result = new Uint8Array(resultBytes);
  const temporaries = plan.temporaries.map(({ dtype, shape }) =>
    new Uint8Array(productOf(shape) * DTYPES[dtype].bytes).fill(0xa5),
  );
  for (const { kernel, buffers } of plan.steps) {
    const memory = buffers.map((buffer) => {
      if (buffer.kind === "input") return input;
      return buffer.kind === "result" ? result : temporaries[buffer.index]!;
    });
    if (!order || !kernel.name.startsWith("sort sweep")) {
      interpretKernel(kernel, memory);
      continue;
    }
    const pass = Number(/sweep (\d+)/.exec(kernel.name)![1]) / 8;
    for (const tile of order) {
      new Uint32Array(memory[0]!.buffer)[pass] = tile;
      interpretKernel({ ...kernel, rows: 1 }, memory);
    }
  }
  return result;
}

const positionsOf = (line: readonly number[]): number[] =>
  line.map((_, i) => i).sort((i, j) => line[i]! - line[j]! || i - j);

test("positions of keys, two rows of five tiles, the last tile ragged", () => {
  const shape = [2, 1100];
  const keys = Uint32Array.from({ length: 2200 }, (_, i) => (i % 3 === 0 ? 2 ** 32 - 1 : random.below(2 ** 31) * 2));
  const swept = sweptRows({ shape, dtype: "u32" }, small)!;
  assert.deepEqual([swept.lanes, swept.perLane, swept.tiles], [64, 4, 5]);
  const plan = sortBySweeps(shape, swept, keyWords("u32"));
  const got = new Int32Array(interpreted(plan, new Uint8Array(keys.buffer), 4 * 2200).buffer);
  for (const row of [0, 1]) {
    const line = [...keys.subarray(1100 * row, 1100 * (row + 1))];
    assert.deepEqual([...got.subarray(1100 * row, 1100 * (row + 1))], positionsOf(line));
  }
});

test("a workgroup that meets no sums counts the tiles itself, whatever the order of the others", () => {
  const keys = Uint32Array.from({ length: 1030 }, () => random.below(2 ** 16) * 2 ** 16 + random.below(2 ** 16));
  const sorted: Sorted = { shape: [1030], dtype: "u32", keyed: { descending: false }, result: "values" };
  const swept = sweptRows(sorted, { ...small, looks: 2 })!;
  const plan = sortBySweeps([1030], swept, elementWords(sorted, settings));
  const want = [...keys].sort((a, b) => a - b);
  for (const order of [
    [4, 3, 2, 1, 0],
    [2, 4, 0, 1, 3],
  ]) {
    const got = new Uint32Array(interpreted(plan, new Uint8Array(keys.buffer.slice(0)), 4 * 1030, order).buffer);
    assert.deepEqual([...got], want, `tiles in the order ${order}`);
  }
});

test("values keep their bits: -0 among 0 in the order they had, NaN last with its payload", () => {
  const values = Float32Array.from({ length: 700 }, (_, i) =>
    i % 5 === 0 ? 0 : i % 5 === 1 ? -0 : 3 - random.below(7),
  );
  const bits = new Uint32Array(values.buffer);
  bits[13] = 0xffc0_0123;
  bits[400] = 0x7f80_0001;
  for (const descending of [false, true]) {
    const sorted: Sorted = { shape: [700], dtype: "f32", keyed: { descending }, result: "values" };
    const plan = sortBySweeps([700], sweptRows(sorted, small)!, elementWords(sorted, settings));
    const got = new Uint32Array(interpreted(plan, new Uint8Array(values.buffer.slice(0)), 2800).buffer);
    const rank = (i: number) =>
      Number.isNaN(values[i]) ? Number.POSITIVE_INFINITY : descending ? -values[i]! : values[i]!;
    const order = [...values.keys()].sort((i, j) => (rank(i) === rank(j) ? i - j : rank(i) - rank(j)));
    // The interpreter's numbers are JavaScript's, which may change the payload of a NaN and nothing else.
    const shown = (word: number) => ((word & 0x7fff_ffff) > 0x7f80_0000 ? "NaN" : word);
    assert.deepEqual(
      [...got].map(shown),
      order.map((i) => shown(bits[i]!)),
    );
  }
});

for (const device of testDevices().filter((name) => name !== "cpu")) {
  const { target } = backendFor(device);
  const size = target.profile.sort.subgroupSize ?? 0;
  describe(`one kernel per digit, ${device}`, { skip: size === 0 || size > 32 ? "lanes cannot vote" : false }, () => {
    const profile: SortProfile = { digitsFrom: 1, lanes: 64, sharedBytes: 64 * 1024, subgroupSize: size };
    const room = [...Array(64).keys()]
      .map((kib) => 1024 * kib)
      .find((sharedBytes) => sweptRows({ shape: [1], dtype: "u64" }, { ...profile, sharedBytes }))!;

    test("values with the looks that the target has; positions with one look, after which tiles are counted again", () => {
      const values = Array.from({ length: 2 * 3001 }, () => Math.fround(random.below(4000) / 7 - 100));
      const lines = [values.slice(0, 3001), values.slice(3001)];
      const tensorWith = (looks?: number) => {
        const backend = withProfile(device, () => ({ sort: { ...profile, sharedBytes: room, looks } }));
        return tensorOn(backend, { shape: [2, 3001], values }, "f32");
      };
      const falling = lines.flatMap((line) => [...line].sort((a, b) => b - a));
      assert.deepEqual(numbersOf(tensorWith().sort({ descending: true })), falling);
      const positions = lines.flatMap((line) => positionsOf(line));
      assert.deepEqual(numbersOf(tensorWith(1).argsort()), positions);
    });
  });
}

test("tiles fit the shared memory; without votes, with large subgroups or short rows there are none", () => {
  const tilesFor = (sort: Partial<SortProfile>, extent = 1e6, dtype: "u32" | "f64" = "u32") => {
    const found = sweptRows({ shape: [extent], dtype }, { ...small, digitsFrom: 4096, lanes: 256, ...sort });
    return found && [found.lanes, found.perLane];
  };
  assert.deepEqual(tilesFor({ sharedBytes: 49152 }), [256, 16]);
  assert.deepEqual(tilesFor({ sharedBytes: 49152 }, 1e6, "f64"), [256, 16]);
  assert.deepEqual(tilesFor({ sharedBytes: 16384 }), [128, 16]);
  assert.deepEqual(tilesFor({ sharedBytes: 32768, subgroupSize: 8 }), [128, 16]);
  assert.equal(tilesFor({ sharedBytes: 49152, subgroupSize: 64 }), null);
  assert.equal(tilesFor({ sharedBytes: 49152, subgroupSize: undefined }), null);
  assert.equal(tilesFor({ sharedBytes: 49152 }, 4095), null);
  assert.equal(tilesFor({ sharedBytes: 49152 }, 2 ** 30), null, "counts have 30 bits");
  assert.equal(tilesFor({ sharedBytes: 4096 }), null);
  for (const subgroupSize of [8, 16, 32]) {
    for (const dtype of ["u32", "u64"] as const) {
      const sharedBytes = 32768;
      const swept = sweptRows({ shape: [1e6], dtype }, { ...small, lanes: 256, sharedBytes, subgroupSize })!;
      for (const { kernel } of sortBySweeps([1e6], swept, keyWords(dtype)).steps) {
        const bytes = kernel.arrays.reduce((sum, { type, size }) => sum + size * DTYPES[type].bytes, 0);
        assert.ok(bytes + 8 * kernel.lanes <= sharedBytes, `${kernel.name}: ${bytes} of ${sharedBytes}`);
      }
    }
  }
});

test("rows in one tile are ranked by votes where the counters fit beside them", () => {
  const tiled = { type: "u32", rows: 2, extent: 4000, lanes: 256, perLane: 16, tiles: 1 } as const;
  const votes = (sharedBytes: number, subgroupSize?: number) =>
    asVotingRows(tiled, { ...small, sharedBytes, subgroupSize })?.subgroupSize ?? null;
  assert.equal(votes(49152, 32), 32);
  assert.equal(votes(49152), null);
  assert.equal(votes(16384, 32), null);
});

test("the kernels are valid", { skip: without("spirv-val") }, () => {
  for (const [dtype, result] of [
    ["f32", "values"],
    ["f64", "positions"],
  ] as const) {
    const sorted: Sorted = { shape: [3, 5000], dtype, keyed: { descending: false }, result };
    const swept = sweptRows(sorted, { ...small, lanes: 256, sharedBytes: 49152 })!;
    for (const { kernel } of sortBySweeps(sorted.shape, swept, elementWords(sorted, settings)).steps) {
      assertValid(emitSpirv(kernel, { subgroupSize: 32 }));
    }
  }
});
