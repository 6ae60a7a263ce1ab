/** Bools and integers of 8 and 16 bits in vectors: every value there is, and words whose high bits are dropped, against typed arrays. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { computeType } from "../../../../src/compiler/elements/elements.js";
import { isNarrowInteger } from "../../../../src/compiler/emit/wasm/narrow-integers.js";
import { planVectors } from "../../../../src/compiler/emit/wasm/vector-plan.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { DTYPE_NAMES } from "../../../../src/core/dtype.js";
import { runKernel } from "../../../support/kernels.js";

const ARRAYS = { i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array } as const;
type Integer = keyof typeof ARRAYS;

const COUNT = 2 ** 16;
const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** A kernel of so many rows over `from` and `to`, in vectors. */
function run(rows: number, given: Uint8Array, size: number, build: (k: KernelBuilder) => void): Uint8Array {
  const k = new KernelBuilder("narrow", rows);
  build(k);
  const kernel = k.finish();
  assert.ok(planVectors(kernel).isRowVector);
  return runKernel("cpu", kernel, [given, new Uint8Array(size)])[1]!;
}

test("they are the dtypes of one and two bytes that are no floats and not packed", () => {
  assert.deepEqual(DTYPE_NAMES.filter(isNarrowInteger).sort(), ["bool", "i16", "i8", "u16", "u8"]);
});

for (const dtype of Object.keys(ARRAYS) as Integer[]) {
  describe(dtype, () => {
    const Kind = ARRAYS[dtype];
    const type = computeType(dtype);

    test("every value becomes the number it is", () => {
      const values = Kind.from(Array.from({ length: COUNT }, (_, i) => i));
      const got = run(COUNT, bytesOf(values), 4 * COUNT, (k) => {
        const [source, target] = [k.buffer(dtype, false), k.buffer("f32", true)];
        k.store(target, k.row, k.convert("f32", k.load(source, k.row, type)));
      });
      assert.deepEqual(new Float32Array(got.buffer, got.byteOffset, COUNT), Float32Array.from(values));
    });

    test("of words the low bits are stored, whatever the high ones are", () => {
      const words = Int32Array.from({ length: COUNT }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
      const got = run(COUNT, bytesOf(words), Kind.BYTES_PER_ELEMENT * COUNT, (k) => {
        const [source, target] = [k.buffer("i32", false), k.buffer(dtype, true)];
        k.store(target, k.row, k.convert(type, k.load(source, k.row, "i32")));
      });
      assert.deepEqual(new Kind(got.slice().buffer), Kind.from(words));
    });
  });
}

test("a bool is any byte but zero, and is stored as one", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const got = run(256, bytes, 256, (k) => {
    const [source, target] = [k.buffer("bool", false), k.buffer("bool", true)];
    k.store(target, k.row, k.load(source, k.row, "bool"));
  });
  assert.deepEqual(
    got,
    bytes.map((byte) => Math.min(byte, 1)),
  );
});

test("a bool that is computed chooses numbers", () => {
  const places = Float32Array.from({ length: 103 }, (_, i) => i - 50);
  const got = run(103, bytesOf(places), 103, (k) => {
    const [source, target] = [k.buffer("f32", false), k.buffer("bool", true)];
    k.store(target, k.row, k.compare("gt", k.load(source, k.row, "f32"), k.constant("f32", 3)));
  });
  assert.deepEqual(
    [...got],
    [...places].map((x) => Number(x > 3)),
  );
});
