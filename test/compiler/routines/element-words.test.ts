/** Words of elements that are sorted: back to their values, with the order of their keys, and one behind all others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { computeType } from "../../../src/compiler/elements/elements.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { elementWords, keyTypeOf, keyWords } from "../../../src/compiler/routines/element-words.js";
import { runKernel } from "../../support/kernels.js";

const settings = { division: "corrected" } as const;

test("the key of the last word is the largest, for every dtype and in either order", () => {
  for (const dtype of ["u8", "i8", "u32", "i32", "f16", "bf16", "f32"] as const) {
    for (const descending of [false, true]) {
      const words = elementWords({ shape: [1], dtype, keyed: { descending }, result: "values" }, settings);
      const k = new KernelBuilder("last", 1);
      const out = k.buffer("u32", true);
      k.store(out, k.constant("i32", 0), words.keyOf(k, k.constant("u32", words.last)));
      const [found] = runKernel("cpu", k.finish(), [new Uint32Array(1)]);
      assert.equal(found[0], 2 ** 32 - 1, `${dtype}${descending ? ", falling" : ""}`);
    }
  }
});

test("a value comes back with its bits; positions need no value", () => {
  const given = Uint32Array.of(0, 0x8000_0000, 0x7f80_0000, 0x3f80_0001, 0xff7f_ffff);
  const words = elementWords({ shape: [5], dtype: "f32", keyed: {}, result: "values" }, settings);
  const k = new KernelBuilder("round trip", 5);
  const [from, to] = [k.buffer("f32", false), k.buffer("f32", true)];
  k.store(to, k.row, words.valueOf(k, words.wordOf(k, k.load(from, k.row, computeType("f32")))));
  const [, back] = runKernel("cpu", k.finish(), [new Float32Array(given.buffer), new Float32Array(5)]);
  assert.deepEqual([...new Uint32Array(back.buffer)], [...given]);
  assert.equal(elementWords({ shape: [5], dtype: "f32", keyed: {}, result: "positions" }, settings).isAlone, false);
});

test("dtypes of 64 bits have keys of 64 bits", () => {
  assert.deepEqual(
    (["i8", "f16", "f32", "u64", "f64"] as const).map((dtype) => keyTypeOf(dtype)),
    ["u32", "u32", "u32", "u64", "u64"],
  );
  assert.equal(keyWords("u64").last, 2n ** 64n - 1n);
});
