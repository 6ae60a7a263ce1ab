/**
 * Sorting digit by digit, whatever the length of the rows and whichever way the device would take by itself: tiles of one
 * thread everywhere, tiles of a workgroup on GPUs. Against JavaScript's stable sort.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import { emitWasm } from "../../../src/compiler/emit/wasm/emit-kernel.js";
import { printKernel } from "../../../src/compiler/print/print-kernel.js";
import { keyWords } from "../../../src/compiler/routines/element-words.js";
import { canSortByDigits, rowsAsTiles, sortByDigits } from "../../../src/compiler/routines/radix-sort.js";
import { sortRowsKernel } from "../../../src/compiler/routines/radix-tile-sort.js";
import type { SortProfile } from "../../../src/compiler/target/profile.js";
import { cpuProfile, gpuProfile } from "../../../src/compiler/target/profile.js";
import { DTYPES } from "../../../src/core/dtype.js";
import { WebAssembly } from "../../../src/core/webassembly.js";
import type { Backend } from "../../../src/runtime/backend.js";
import { tensorOn, withProfile } from "../../support/forced-tiles.js";
import { randomFrom } from "../../support/random.js";
import { assertValid, without } from "../../support/spirv-val.js";
import { alongAxis, expectTensor, numbersOf, realDTypes, sampleValues, testDevices } from "../../support/tensors.js";

const byThreads: SortProfile = { digitsFrom: 1, lanes: 1, sharedBytes: 0 };
/** The least that holds four elements of 64 bits per lane, so that the kernels stay small. */
const byWorkgroups: SortProfile = { digitsFrom: 1, lanes: 256, sharedBytes: 20544 };
/** Rows of up to 4096 are one tile. */
const rowByRow: SortProfile = { digitsFrom: 1, lanes: 256, sharedBytes: 49152 };
const settings = { division: "corrected" } as const;

/** Positions in order; NaN last, 0 and -0 equal. */
function order(line: readonly number[], isDescending = false): number[] {
  const compare = (a: number, b: number): number => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a === b ? 0 : a < b !== isDescending ? -1 : 1;
  };
  return line.map((_, i) => i).sort((i, j) => compare(line[i]!, line[j]!));
}

const random = randomFrom(7);
const wide = () => random.below(2 ** 16) * 2 ** 16 + random.below(2 ** 16);
/** Keys of 32 bits: patterns that leave digits empty, fill one, or are in some order already. */
const patterns: Record<string, (i: number, extent: number) => number> = {
  random: () => wide(),
  "few values": () => random.below(3) * 2 ** 30,
  "all equal": () => 77,
  rising: (i) => i,
  falling: (i, extent) => extent - i,
  "the largest and others": () => (random.below(2) === 0 ? 2 ** 32 - 1 : wide()),
};

function suite(name: string, sort: SortProfile, device: string, extents: readonly number[]): void {
  describe(`sort digit by digit, ${name}, ${device}`, () => {
    let known: Backend | undefined;
    const backend = () => {
      known ??= withProfile(device, () => ({ sort }));
      return known;
    };

    for (const extent of extents) {
      test(`rows of ${extent}`, () => {
        for (const [pattern, key] of Object.entries(patterns)) {
          const values = Array.from({ length: extent }, (_, i) => key(i, extent));
          const got = numbersOf(tensorOn(backend(), { shape: [extent], values }, "u32").argsort());
          assert.deepEqual(got, order(values), pattern);
        }
      });
    }

    test("keys of 64 bits, whose digits all matter", () => {
      const keys = Array.from({ length: 1500 }, () => (BigInt(wide()) << 32n) | BigInt(wide()));
      keys.push(...keys.slice(0, 100), 2n ** 64n - 1n, 0n, 2n ** 63n);
      const bytes = new Uint8Array(BigUint64Array.from(keys).buffer);
      const plain = { shape: [keys.length], values: keys.map(() => 0) };
      const x = tensorOn(backend(), plain, "u64");
      x.node.realize(backend().upload(bytes));
      const want = keys.map((_, i) => i).sort((i, j) => (keys[i]! < keys[j]! ? -1 : keys[i]! > keys[j]! ? 1 : i - j));
      assert.deepEqual(numbersOf(x.argsort()), want);
    });

    test("many rows, each with tiles of its own", () => {
      const plain = { shape: [5, 1301], values: Array.from({ length: 5 * 1301 }, () => random.below(1000)) };
      expectTensor(
        tensorOn(backend(), plain, "i32").argsort(),
        alongAxis(plain, 1, (line) => order(line)),
        "i32",
      );
    });

    for (const dtype of ["f32", "f64", "i8"] as const) {
      test(`of ${dtype}: ties in order, NaN last, both directions`, () => {
        assert.ok(realDTypes.includes(dtype));
        const plain = { shape: [3, 37], values: sampleValues(dtype, 111, 31, true) };
        for (const descending of [false, true]) {
          expectTensor(
            tensorOn(backend(), plain, dtype).sort({ descending }),
            alongAxis(plain, 1, (line) => order(line, descending).map((i) => line[i]!)),
            dtype,
          );
        }
      });
    }
  });
}

// Before the suites on devices: starting the validator takes the longer the more memory this process has.
describe("kernels that sort digit by digit", () => {
  const all = (["u32", "u64"] as const).flatMap((type) =>
    [1, 4].flatMap((rows) => [10000, 10001].map((extent) => ({ type, rows, extent }))),
  );
  for (const { type, rows, extent } of all) {
    test(`${rows}×${extent} of ${type} are valid`, { skip: without("spirv-val") }, () => {
      for (const sort of [byWorkgroups, byThreads]) {
        for (const { kernel } of sortByDigits({ dtype: type, shape: [rows, extent] }, { ...gpuProfile, sort }, settings)
          .steps) {
          assertValid(emitSpirv(kernel));
        }
      }
      for (const { kernel } of sortByDigits(
        { dtype: type, shape: [rows, extent] },
        { ...cpuProfile, sort: byThreads },
        settings,
      ).steps) {
        assert.ok(WebAssembly.validate(emitWasm(kernel)), kernel.name);
      }
    });
  }

  test("a workgroup's arrays fit the shared memory it has, and rows are merged where they do not", () => {
    for (const sharedBytes of [32768, 49152, 65536]) {
      const profile = { ...gpuProfile, sort: { ...byWorkgroups, sharedBytes } };
      for (const type of ["u32", "u64"] as const) {
        for (const { kernel } of sortByDigits({ dtype: type, shape: [1e6] }, profile, settings).steps) {
          const bytes = kernel.arrays.reduce((sum, { type, size }) => sum + size * (type === "u64" ? 8 : 4), 0);
          assert.ok(bytes <= sharedBytes, `${kernel.name}: ${bytes} of ${sharedBytes}`);
        }
      }
    }
    assert.equal(canSortByDigits(1e6, { ...gpuProfile, sort: { ...byWorkgroups, sharedBytes: 16384 } }), false);
  });

  test("counting can be printed", () => {
    const [count] = sortByDigits({ dtype: "u32", shape: [300] }, { ...cpuProfile, sort: byThreads }, settings).steps;
    assert.match(printKernel(count!.kernel), /count a0\[%\d+\] \+= 1 \(each lane\)/);
  });
});

const edges = [1, 2, 255, 256, 257, 1023, 1024, 1025, 4097];
for (const device of testDevices()) {
  suite("tiles of a thread", byThreads, device, [...edges, 50001]);
  if (device === "cpu") continue;
  suite("tiles of a workgroup", byWorkgroups, device, edges);
  suite("a row per workgroup", rowByRow, device, [100, 256, 1000, 4096]);
}

test("a row is one tile of as many lanes as it needs, if the shared memory holds it", () => {
  const tileFor = (type: "u32" | "u64", extent: number, sharedBytes = 49152) => {
    const found = rowsAsTiles({ dtype: type, shape: [3, extent] }, { ...rowByRow, sharedBytes });
    if (!found) return null;
    const bytes = sortRowsKernel(found, keyWords(type)).arrays.reduce(
      (sum, each) => sum + each.size * DTYPES[each.type].bytes,
      0,
    );
    assert.ok(bytes <= sharedBytes, `${bytes} bytes of ${sharedBytes}`);
    return [found.lanes, found.perLane];
  };
  assert.deepEqual(tileFor("u32", 200), [64, 4]);
  assert.deepEqual(tileFor("u32", 1000), [256, 4]);
  assert.deepEqual(tileFor("u32", 4096), [256, 16]);
  assert.deepEqual(tileFor("u64", 2000), [256, 8]);
  assert.equal(tileFor("u32", 4097), null);
  assert.equal(tileFor("u32", 4096, 16384), null);
});
