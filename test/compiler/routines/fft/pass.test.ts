/** Passes as data: how many transforms they have, which lie side by side, and their stages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { areNeighbours, countOf, stagesOf } from "../../../../src/compiler/routines/fft/pass.js";
import { wholePass } from "./transforms.js";

test("the number of transforms is the product of the digits", () => {
  assert.deepEqual([[1, 1], [3, 1], [3, 5]].map(([outer, inner]) => countOf(wholePass(8, [outer!, inner!]))), [1, 3, 15]); // biome-ignore format: one line
});

test("transforms are neighbours where a step of the first digit is a step in memory", () => {
  assert.equal(areNeighbours(wholePass(8, [1, 1]), "from"), false);
  assert.equal(areNeighbours(wholePass(8, [3, 1]), "from"), false);
  assert.equal(areNeighbours(wholePass(8, [3, 5]), "to"), true);
  const digit = { extent: 4, from: 0, to: 0, fromPosition: 1, toPosition: 2 };
  const split = wholePass(8, [1, 1], { digits: [digit] });
  assert.deepEqual([areNeighbours(split, "from"), areNeighbours(split, "to")], [true, false]);
  assert.equal(areNeighbours({ ...split, fromApart: 3 }, "from"), false);
});

test("stages: the product of the radices before; a convolution goes there, is multiplied, and goes back", () => {
  const factor = { start: 7, isConjugate: true };
  const plain = stagesOf(wholePass(24, [1, 1], { sign: 1, radices: [4, 3, 2], roots: 5 }));
  assert.deepEqual(plain.map(({ radix, done, sign }) => [radix, done, sign]), [[4, 1, 1], [3, 4, 1], [2, 12, 1]]); // biome-ignore format: one line
  assert.ok(plain.every((stage) => stage.factor === null));
  // Two roots for each of four remainders, before one for each of twelve.
  assert.deepEqual(plain.slice(1).map(({ roots }) => roots), [5, 5 + 2 * 4]); // biome-ignore format: one line
  const there = stagesOf(wholePass(6, [1, 1], { sign: 1, convolved: factor, radices: [3, 2] }));
  assert.deepEqual(
    there.map(({ radix, done, sign }) => [radix, done, sign]),
    [[3, 1, 1], [2, 3, 1], [3, 1, -1], [2, 3, -1]], // biome-ignore format: one line
  );
  assert.deepEqual(there.map((stage) => stage.factor), [null, factor, null, null]); // biome-ignore format: one line
});
