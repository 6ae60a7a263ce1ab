/** Words and what does not fit them, against whole numbers without end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { addColumns, mulHigh, splitWord } from "../../../src/compiler/math/wide-integer.js";
import { evaluator } from "../../support/math-evaluator.js";
import { randomFrom } from "../../support/random.js";

const u32 = (value: number) => evaluator.constant("u32", value);

test("a word is split into its halves", () => {
  const { word, low, high } = splitWord(evaluator, u32(0xfedc4321));
  assert.deepEqual([word.value, high.value, low.value], [0xfedc4321, 0xfedc, 0x4321]);
});

test("mulHigh is the upper half of the 64-bit product", () => {
  const random = randomFrom(9);
  const word = () => random.pick([0, 1, 0xffff, 0x10000, 0xffffffff, random.below(2 ** 32), random.below(2 ** 32)]);
  for (let i = 0; i < 2000; i++) {
    const [a, b] = [word(), word()];
    const split = (value: number) => splitWord(evaluator, evaluator.constant("u32", value));
    const high = Number((BigInt(a) * BigInt(b)) >> 32n);
    assert.equal(mulHigh(evaluator, split(a), split(b)).value, high, `${a} * ${b}`);
  }
});

test("columns of words are added with their carries, and the carry out of the first is dropped", () => {
  const random = randomFrom(10);
  const word = () => random.pick([0, 1, 0xffffffff, 0xffffffff, 0x80000000, random.below(2 ** 32)]);
  for (let i = 0; i < 500; i++) {
    const columns = Array.from({ length: 1 + random.below(4) }, () =>
      Array.from({ length: 1 + random.below(5) }, word),
    );
    const total = columns.reduce(
      (sum, column) => (sum << 32n) + column.reduce((part, each) => part + BigInt(each), 0n),
      0n,
    );
    const got = addColumns(
      evaluator,
      columns.map((column) => column.map(u32)),
    ).reduce((sum, { value }) => (sum << 32n) + BigInt(value), 0n);
    assert.equal(got, total & ((1n << BigInt(32 * columns.length)) - 1n));
  }
});
