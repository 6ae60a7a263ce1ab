/** Random numbers on the host: each number and each order as likely, and the same for the same seed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { below, bitsFrom, mixed, permutation } from "../../src/core/seeded-order.js";
import { expectFrequencies } from "../support/goodness-of-fit.js";

test("below gives every number of a range as often", () => {
  const bits = bitsFrom([0, 0]);
  const counts = new Array<number>(7).fill(0);
  for (let i = 0; i < 14_000; i++) counts[below(7, bits)]!++;
  expectFrequencies(counts, new Array(7).fill(1 / 7), "sevenths");
  assert.equal(below(1, bits), 0);
});

test("below takes the upper word of a product of 64 bits, and draws again where the lower one is too small", () => {
  for (const limit of [1, 3, 1000, 65536, 0x12345678, 2 ** 31 + 1, 2 ** 32]) {
    const words = [0, 1, 2, 3, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xdeadbeef, 0xffffffff];
    const taken = words.map((word) => BigInt(word) * BigInt(limit));
    const floor = 2n ** 32n % BigInt(limit);
    const want = taken.flatMap((product) => ((product & 0xffffffffn) >= floor ? [Number(product >> 32n)] : []));
    let at = 0;
    const found = want.map(() => below(limit, () => words[at++]!));
    assert.deepEqual(found, want, String(limit));
  }
});

test("all 24 orders of four numbers are as likely", () => {
  const seen = new Map<string, number>();
  for (let draw = 0; draw < 4800; draw++) {
    const text = permutation(4, [0, draw]).join("");
    seen.set(text, (seen.get(text) ?? 0) + 1);
  }
  assert.equal(seen.size, 24);
  expectFrequencies([...seen.values()], new Array(24).fill(1 / 24), "orders");
});

test("a seed and a stream decide the numbers", () => {
  const first = (seed: readonly [number, number], stream?: number) => Array.from({ length: 8 }, bitsFrom(seed, stream));
  assert.deepEqual(first([1, 2]), first([1, 2], 0));
  assert.notDeepEqual(first([1, 2]), first([1, 2], 1));
  assert.notDeepEqual(first([1, 2]), first([2, 1]));
  assert.deepEqual(permutation(0, [0, 0]).length, 0);
});

test("mixed changes about half the bits of a word when one of them changes", () => {
  let changed = 0;
  for (let word = 0; word < 64; word++) {
    for (let bit = 0; bit < 32; bit++) {
      let difference = mixed(word) ^ mixed(word ^ (1 << bit));
      for (; difference !== 0; difference &= difference - 1) changed++;
    }
  }
  // 65,536 bits, half of them expected to change; standard deviation 128.
  assert.ok(Math.abs(changed - 32768) < 6 * 128, String(changed));
});
