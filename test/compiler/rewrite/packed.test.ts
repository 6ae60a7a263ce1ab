/** Packed integers at the edges of a program: the graphs that take elements out of words and put them in, in plain loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, packedMemory, unpacked } from "../../../src/compiler/rewrite/packed.js";
import { packIntegers } from "../../../src/core/packed.js";
import { storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const dtypes = ["u2", "i2", "u4", "i4"] as const;
const bounds = { u2: [0, 3], i2: [-2, 1], u4: [0, 15], i4: [-8, 7] } as const;

/** Every number of a dtype in turn, beginning with the least. */
function sample(dtype: (typeof dtypes)[number], count: number): number[] {
  const [least, most] = bounds[dtype];
  return Array.from({ length: count }, (_, i) => least + ((5 * i) % (most - least + 1)));
}

/** The words of packed bytes, little-endian. */
function wordsOf(bytes: Uint8Array, width: number): number[] {
  return Array.from({ length: bytes.length / width }, (_, word) =>
    Array.from({ length: width }, (_, i) => bytes[word * width + i]! * 256 ** i).reduce((sum, x) => sum + x, 0),
  );
}

test("memory is words of 32 bits where the bytes divide evenly, else bytes", () => {
  assert.deepEqual(packedMemory([2, 8], "u2"), { shape: [1], dtype: "u32" });
  assert.deepEqual(packedMemory([3, 8], "i4"), { shape: [3], dtype: "u32" });
  assert.deepEqual(packedMemory([15], "i2"), { shape: [1], dtype: "u32" });
  assert.deepEqual(packedMemory([3], "u4"), { shape: [2], dtype: "u8" });
  assert.deepEqual(packedMemory([5], "u2"), { shape: [2], dtype: "u8" });
  assert.deepEqual(packedMemory([], "u2"), { shape: [1], dtype: "u8" });
});

for (const dtype of dtypes) {
  // Whole words, words whose last elements do not exist, and bytes.
  for (const shape of [[4, 8], [31], [3, 5], [1], []]) {
    test(`${dtype} [${shape}]: out of memory, and into it`, () => {
      const count = shape.reduce((a, b) => a * b, 1);
      const values = sample(dtype, count);
      const bytes = packIntegers(values, dtype);
      const layout = packedMemory(shape, dtype);
      const words = wordsOf(bytes, layout.dtype === "u32" ? 4 : 1);
      assert.deepEqual(layout.shape, [words.length]);
      const memory = storedAs(layout.dtype, ...layout.shape);
      const elements = unpacked(memory, shape, dtype);
      assert.deepEqual([elements.dtype, elements.shape], [dtype, shape]);
      assert.deepEqual(plainValues([elements], new Map([[memory, words]]))[0]!.map(Number), values);

      const given = storedAs(dtype, ...shape);
      const written = packed(given, dtype);
      assert.deepEqual({ shape: written.shape, dtype: written.dtype }, layout);
      assert.deepEqual(plainValues([written], new Map([[given, values]]))[0]!.map(Number), words);
    });
  }
}
