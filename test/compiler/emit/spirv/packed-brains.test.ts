/** Vectors of bf16 as words: every number comes back as it was, and others are rounded, in either half of a word. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitSpirv } from "../../../../src/compiler/emit/spirv/emit-kernel.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { decodeBf16, encodeBf16 } from "../../../../src/core/half.js";
import { disassemble } from "../../../../src/spirv/index.js";
import { runKernel } from "../../../support/kernels.js";
import { assertValid, without } from "../../../support/spirv-val.js";
import { describeOnTensorDevices } from "../../../support/tensors.js";

/** out = in · factor, `width` neighbours to a row; a factor of 1 copies. */
function scaled(rows: number, width: number, factor: number) {
  const k = new KernelBuilder("packed", rows);
  const [source, target] = [k.buffer("bf16", false), k.buffer("bf16", true)];
  const first = k.binary("mul", k.row, k.constant("i32", width));
  const places = Array.from({ length: width }, (_, i) => k.binary("add", first, k.constant("i32", i)));
  const values = places.map((at) => {
    const value = k.load(source, at, "f32");
    return factor === 1 ? value : k.binary("mul", value, k.constant("f32", factor));
  });
  places.forEach((at, i) => {
    k.store(target, at, values[i]!, false);
  });
  return k.finish();
}

test("eight neighbours are one access of 16 bytes, four one of 8", { skip: without("spirv-val") }, () => {
  for (const [width, bytes] of [
    [8, 16],
    [4, 8],
  ] as const) {
    const words = emitSpirv(scaled(4, width, 3));
    assertValid(words);
    assert.equal(disassemble(words).match(new RegExp(`Aligned ${bytes}$`, "gm"))?.length, 2, `${width}`);
  }
});

describeOnTensorDevices("packed bf16", (device) => {
  const numbers = Uint16Array.from({ length: 65536 }, (_, bits) => bits);
  const isPlain = (bits: number) => (bits & 0x7f80) !== 0 && (bits & 0x7fff) < 0x7f80;

  for (const width of [8, 4]) {
    test(`all numbers are copied bit by bit, ${width} at a time`, () => {
      const [, copied] = runKernel(device, scaled(65536 / width, width, 1), [numbers, new Uint16Array(65536)]);
      const wrong = numbers.filter((bits) => (bits & 0x7fff) <= 0x7f80 && copied[bits] !== bits);
      assert.deepEqual([...wrong], []);
    });

    test(`products are rounded to nearest, ${width} at a time`, () => {
      const factor = 1.05078125;
      const [, products] = runKernel(device, scaled(65536 / width, width, factor), [numbers, new Uint16Array(65536)]);
      const wrong = numbers.filter((bits) => {
        const wanted = encodeBf16(Math.fround(decodeBf16(bits) * factor));
        return isPlain(bits) && isPlain(wanted) && products[bits] !== wanted;
      });
      assert.deepEqual([...wrong], []);
    });
  }
});
