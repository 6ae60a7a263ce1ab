/** Threefry-2x32: the known answers of its authors, and each of the words it gives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError, ShapeError } from "../../../src/core/errors.js";
import { type ThreefryWord, threefry2x32 } from "../../../src/graph/primitives/threefry.js";
import { g } from "../../../src/graph/vocabulary.js";
import { fixed, valuesOf } from "../../support/node-rules.js";
import { make, storedAs } from "../../support/nodes.js";

/** kat_vectors of Random123: counter, key, result of threefry2x32 with 20 rounds. */
const KNOWN = [
  [0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x6b200159, 0x99ba4efe],
  [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7],
  [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xc4923a9c, 0x483df7a0],
] as const;

const words = (word: ThreefryWord) => {
  const column = (i: number) =>
    fixed(
      [3],
      KNOWN.map((row) => row[i]!),
      "u32",
    );
  return valuesOf((...inputs) => g.move(threefry2x32, inputs, { word }), [2, 3, 0, 1].map(column))[0];
};

test("the known answers, word by word and folded", () => {
  assert.deepEqual(
    words("first"),
    KNOWN.map((row) => row[4]),
  );
  assert.deepEqual(
    words("second"),
    KNOWN.map((row) => row[5]),
  );
  assert.deepEqual(
    words("folded"),
    KNOWN.map((row) => (row[4] ^ row[5]) >>> 0),
  );
});

test("words are u32 of one shape", () => {
  const word = storedAs("u32", 4);
  assert.throws(() => make(threefry2x32, [word, word, word, storedAs("i32", 4)], { word: "first" }), DTypeError);
  assert.throws(() => make(threefry2x32, [word, word, word, storedAs("u32", 5)], { word: "first" }), ShapeError);
  assert.throws(() => make(threefry2x32, [word, word, word, storedAs("u32", 4, 1)], { word: "first" }), ShapeError);
});
