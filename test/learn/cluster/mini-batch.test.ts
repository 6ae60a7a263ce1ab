/** A batch's step against scikit-learn's own, where a centre with a small count gets a sample, and where it does not. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { random, type Tensor } from "../../../src/index.js";
import { afterBatch, unseen } from "../../../src/learn/cluster/mini-batch.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";

interface Case {
  readonly x: readonly (readonly number[])[];
  readonly centers: readonly (readonly number[])[];
  readonly counts: readonly number[];
  readonly ratio: number;
  readonly inertia: number;
  readonly after: {
    /** Centres before any got a sample. */
    readonly means: readonly (readonly number[])[];
    readonly counts: readonly number[];
    readonly isReassigned: readonly boolean[];
  };
}

const { reassigns }: { reassigns: readonly Case[] } = JSON.parse(
  readFileSync(resolve("test/learn/cluster/mini-batch-cases.json"), "utf8"),
);

describeOnTensorDevices("a batch of k-means", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  const within = dtype === "f64" ? 1e-12 : 1e-5;
  for (const { x, centers, counts, ratio, inertia, after } of device === "cpu" ? reassigns : reassigns.slice(0, 1)) {
    const moved = after.isReassigned.filter(Boolean).length;
    test(`${x.length} samples, ${counts.length} centres, ${moved} of which get a sample, ${dtype}`, async () => {
      const batch = of(x, dtype);
      const before = { ...unseen(of(centers, dtype)), counts: of(counts, dtype) };
      // Nothing is due: no centre is without samples, and few samples have been seen.
      const key = random.key(3);
      const waits = afterBatch(batch, null, before, { key, ratio });
      await closeTo(waits.inertia, inertia, within, "inertia");
      await closeTo(waits.seen.centers, after.means, within, "centres");
      assert.equal(await waits.seen.sinceReassignment.item(), x.length);
      const late = { ...before, sinceReassignment: of(10 * counts.length - x.length, "i32") };
      const { seen } = afterBatch(batch, null, late, { key, ratio });
      await closeTo(seen.counts, after.counts, within, "counts");
      assert.equal(await seen.sinceReassignment.item(), 0);
      const rows = (await batch.array()) as number[][];
      const taken = new Set<string>();
      for (const [place, center] of ((await seen.centers.array()) as number[][]).entries()) {
        if (after.isReassigned[place]) {
          const row = rows.find((each) => each.every((value, i) => value === center[i]));
          assert.ok(row, `${center} is no sample of the batch`);
          taken.add(String(row));
        } else await closeTo(seen.centers.at(place) as Tensor, after.means[place], 1e-4, "a centre that stays");
      }
      assert.equal(taken.size, moved, "each gets a sample of its own");
    });
  }

  test("a centre without samples is looked at with the next batch, and samples of weight zero are not given", async () => {
    const x = of([[0], [1], [50], [60], [70]], dtype);
    const before = { ...unseen(of([[0], [900]], dtype)), counts: of([2, 0], dtype) };
    for (let seed = 0; seed < 8; seed++) {
      const { seen } = afterBatch(x, of([1, 1, 0, 0, 0], dtype), before, { key: random.key(seed), ratio: 0.5 });
      assert.deepEqual(numbersOf(seen.counts), [4, 4]);
      assert.ok([0, 1].includes(numbersOf(seen.centers)[1] as number));
    }
    const none = afterBatch(x, null, before, { key: random.key(0), ratio: 0 });
    assert.equal(numbersOf(none.seen.centers)[1], 900);
  });
});
