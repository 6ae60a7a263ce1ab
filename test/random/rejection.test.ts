/** The first accepted round of a rejection sampler, against a loop over every table of conditions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, random, type Tensor, tensor, vmap } from "../../src/index.js";
import { firstAccepted } from "../../src/random/rejection.js";
import { describeOnTensorDevices } from "../support/tensors.js";

/** The bits of an element are the rounds that it accepts. */
const accepts = (patterns: Tensor) => (round: Tensor) => patterns.rightShift(round).bitwiseAnd(1).equal(1);

function firstBit(pattern: number, rounds: number): number {
  for (let round = 0; round < rounds; round++) if ((pattern >> round) & 1) return round;
  return rounds - 1;
}

describeOnTensorDevices("rejection", (device) => {
  const key = random.key(0, { device });
  const all = (rounds: number) => Array.from({ length: 2 ** rounds }, (_, i) => (i * 37) % 2 ** rounds);

  for (const rounds of [1, 2, 7]) {
    test(`the first of ${rounds} rounds that is accepted, else the last`, async () => {
      const patterns = tensor(all(rounds), { dtype: "i32", device });
      const found = firstAccepted(key, rounds, 1, accepts(patterns));
      assert.deepEqual(
        [...(await found.data())],
        all(rounds).map((pattern) => firstBit(pattern, rounds)),
      );
    });
  }

  test("an element by itself, two samplers in one kernel, and under vmap", async () => {
    const single = (pattern: number) => firstAccepted(key, 5, 0, accepts(tensor(pattern, { dtype: "i32", device })));
    assert.equal(await single(0b01100).item(), 2);
    assert.equal(await single(0).item(), 4);
    const patterns = tensor(all(5), { dtype: "i32", device });
    const both = firstAccepted(key, 5, 1, accepts(patterns))
      .mul(10)
      .add(firstAccepted(key, 5, 1, accepts(patterns.rightShift(1))));
    assert.deepEqual(
      [...(await both.data())],
      all(5).map((p) => 10 * firstBit(p, 5) + firstBit(p >> 1, 5)),
    );
    const rows = vmap((row: Tensor) => firstAccepted(key, 5, 1, accepts(row)))(patterns.reshape([4, 8]));
    assert.deepEqual(
      [...(await rows.data())],
      all(5).map((pattern) => firstBit(pattern, 5)),
    );
  });

  test("its kernel ends the loop with the first accepted round", () => {
    const text = explain(random.gamma(key, 2.5, [1000]), { verbose: true });
    assert.match(text, /loop .* < 8/);
    assert.match(text, /exit if/);
  });
});
