/** What makes two parameters the same, and hashes that words and their order change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hashString, isSameValue, mix } from "../../src/runtime/same-form.js";

test("values of parameters are the same when every part is; functions only when they are one", () => {
  const f = () => 1;
  const same: [unknown, unknown][] = [
    [NaN, NaN],
    [{ a: [1, { b: "x" }] }, { a: [1, { b: "x" }] }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    [{ f }, { f }],
    [undefined, undefined],
  ];
  const different: [unknown, unknown][] = [
    [0, -0],
    [1, 1n],
    [1, "1"],
    [1, true],
    [null, undefined],
    [null, {}],
    [[], {}],
    [{}, []],
    [[1], [1, 2]],
    [{ a: 1 }, { a: 1, b: undefined }],
    [{ a: 1, b: undefined }, { a: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ f }, { f: () => 1 }],
  ];
  for (const [a, b] of same) assert.ok(isSameValue(a, b), `${String(a)}, ${String(b)}`);
  for (const [a, b] of different) assert.ok(!isSameValue(a, b), `${String(a)}, ${String(b)}`);
});

test("a hash depends on its words and their order, and is a 32-bit integer", () => {
  const hashes = [
    mix(1, 2),
    mix(2, 1),
    mix(mix(0, 1), 2),
    hashString(7, "add"),
    hashString(7, "sub"),
    hashString(8, "add"),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  for (const hash of hashes) assert.equal(hash | 0, hash);
  assert.equal(hashString(7, ""), 7);
});
