/** Codes in words, read by an interpreted kernel, against the bytes that were packed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { codeIn, indices, PACKED } from "../../../../src/compiler/routines/trees/codes.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { packedCodes } from "../../../support/tree-oracle.js";
import { numbersIn } from "../linalg/matrices.js";

test("a word has the codes of four features, the first in its lowest bits, the largest 255", () => {
  const codes = [
    [0, 255, 17],
    [255, 1, 128],
    [3, 254, 127],
    [255, 255, 0],
  ];
  const rows = 3;
  const k = new KernelBuilder("codes", rows);
  const { add, times } = indices(k);
  const [words, found] = [k.buffer("u32", false), k.buffer("i32", true)];
  k.loop(PACKED, [], (feature) => {
    const code = codeIn(k, k.load(words, k.row, "u32"), feature);
    k.store(found, add(times(feature, rows), k.row), code);
    return [];
  });
  const out = new Uint8Array(4 * PACKED * rows);
  interpretKernel(k.finish(), [encodeValues([...packedCodes(codes)], "u32", "codes"), out]);
  assert.deepEqual(numbersIn(out, "i32"), codes.flat());
});
