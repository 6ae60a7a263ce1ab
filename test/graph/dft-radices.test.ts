/** The butterflies of a length: its factors, few and of a small sum, the largest first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { radicesFor } from "../../src/graph/dft-radices.js";

/** The fewest factors of at most `largest`, and the least sum of that many, by trying all. */
function fewest(length: number, largest: number): readonly [count: number, sum: number] {
  if (length === 1) return [0, 0];
  let best: readonly [number, number] = [Number.POSITIVE_INFINITY, 0];
  for (let radix = 2; radix <= largest; radix++) {
    if (length % radix !== 0) continue;
    const [count, sum] = fewest(length / radix, largest);
    if (count + 1 < best[0] || (count + 1 === best[0] && sum + radix < best[1])) best = [count + 1, sum + radix];
  }
  return best;
}

test("factors of at most the largest, as few as can be and then with the least sum, falling", () => {
  for (const largest of [4, 8, 16]) {
    for (const length of [1, 2, 3, 4, 6, 8, 9, 12, 16, 24, 27, 32, 36, 48, 64, 81, 96, 128, 256, 1024, 4096]) {
      const found = radicesFor(length, largest);
      const sum = found.reduce((a, b) => a + b, 0);
      const [count, least] = fewest(length, largest);
      assert.equal(found.reduce((a, b) => a * b, 1), length); // biome-ignore format: one line
      assert.deepEqual([found.length, sum], [count, least], `${length}, at most ${largest}: ${found}`);
      assert.deepEqual(found, [...found].sort((a, b) => b - a)); // biome-ignore format: one line
    }
  }
});

test("a larger prime factor is a butterfly by itself, and raises the limit to itself alone", () => {
  assert.deepEqual(radicesFor(13, 8), [13]);
  assert.deepEqual(radicesFor(22, 8), [11, 2]);
  assert.deepEqual(radicesFor(5 * 7, 4), [7, 5]);
  assert.ok(radicesFor(13 * 64, 8).every((radix) => radix <= 13));
  assert.throws(() => radicesFor(17, 8), /17 has a prime factor beyond/);
});
