/** Sums over lanes up to each of them, against plain sums. The interpreter finds barriers that are missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { LEAST_LANES, laneSums, laneSumsWords } from "../../../src/compiler/routines/lane-sums.js";
import { laneValues } from "../../support/lane-values.js";
import { randomFrom } from "../../support/random.js";

for (const lanes of [LEAST_LANES, 128, 256]) {
  test(`${lanes} lanes: the total before each and the total of all`, () => {
    const random = randomFrom(lanes);
    const values = Array.from({ length: lanes }, () => random.below(2001) - 1000);
    const [before, all] = laneValues({ lanes, inputs: [{ dtype: "i32", values }] }, (k) => {
      const sums = laneSums(k, lanes)(k.load(0, k.lane, "i32"));
      return [sums.before, sums.all];
    });
    const plain = (end: number) => values.slice(0, end).reduce((sum, x) => sum + x, 0);
    assert.deepEqual(
      before,
      values.map((_, lane) => plain(lane)),
    );
    assert.deepEqual(new Set(all), new Set([plain(lanes)]));
  });
}

test("sums are made again and again in the same words, with a barrier between", () => {
  const lanes = LEAST_LANES;
  const [first, second] = laneValues({ lanes }, (k) => {
    const sums = laneSums(k, lanes);
    const { before } = sums(k.constant("i32", 1));
    k.barrier();
    return [before, sums(k.lane).before];
  });
  const numbers = Array.from({ length: lanes }, (_, lane) => lane);
  assert.deepEqual(first, numbers);
  assert.deepEqual(
    second,
    numbers.map((lane) => numbers.slice(0, lane).reduce((sum, x) => sum + x, 0)),
  );
  const unguarded = () => {
    laneValues({ lanes }, (k) => {
      const sums = laneSums(k, lanes);
      return [sums(k.lane).before, sums(k.lane).all];
    });
  };
  assert.throws(unguarded, /without a barrier/);
});

test("the words that it says it takes are those of its arrays", () => {
  for (const lanes of [64, 128, 1024]) {
    const k = new KernelBuilder("sums", 1, lanes);
    laneSums(k, lanes);
    const words = k.finish().arrays.reduce((sum, { size }) => sum + size, 0);
    assert.equal(laneSumsWords(lanes), words);
  }
});
