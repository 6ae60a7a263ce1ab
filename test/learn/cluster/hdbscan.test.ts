/** HDBSCAN against a plain implementation (make-density-cases.py), trees that are worked out by hand, and its own laws. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { random, type Tensor } from "../../../src/index.js";
import { type HdbscanOptions, hdbscan } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { clusterCases, inFirstOrder } from "./cases.js";

interface HdbscanCase {
  readonly set: string;
  readonly options: HdbscanOptions;
  readonly labels: readonly number[];
  readonly probabilities: readonly number[];
  /** Distances at which clusters of the condensed tree are born. */
  readonly splits: readonly number[];
}

const { sets: own, hdbscan: cases } = JSON.parse(
  readFileSync(resolve("test/learn/cluster/density-cases.json"), "utf8"),
) as {
  readonly sets: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly hdbscan: readonly HdbscanCase[];
};
const sets = { ...clusterCases().sets, ...own };

/** Distances at which clusters of a fitted tree are born, in order. */
const splitsOf = (tree: Readonly<Record<string, Tensor>>, count: number): number[] => {
  const [children, lambdas] = [numbersOf(tree.children as Tensor), numbersOf(tree.lambdas as Tensor)];
  return lambdas.filter((_, row) => children[row]! > count).map((lambda) => 1 / lambda).sort((a, b) => a - b); // biome-ignore format: a chain
};

describeOnTensorDevices("hdbscan", (device) => {
  cases.forEach(({ set, options, labels, probabilities, splits }, i) => {
    if (device !== "cpu" && i % 3 > 0) return;
    const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
    test(`${set}, ${JSON.stringify(options)}: labels, probabilities and splits of the definition`, async () => {
      const { learned } = await hdbscan(options).fit(of(sets[set], dtype));
      assert.deepEqual(inFirstOrder(numbersOf(learned.labels)), inFirstOrder(labels));
      const within = dtype === "f64" ? 1e-9 : 1e-5;
      await closeTo(learned.probabilities, probabilities, within, "probabilities", 1);
      const found = splitsOf(learned.tree, labels.length);
      assert.equal(found.length, splits.length);
      for (const [k, split] of splits.entries()) assert.ok(Math.abs(found[k]! - split) <= within * split);
    });
  });

  test("moons in f32 have the same clusters", async () => {
    const { learned } = await hdbscan().fit(of(sets.moons, "f32"));
    const { options, labels } = cases.find(({ set }) => set === "moons") as HdbscanCase;
    assert.deepEqual(options, { minClusterSize: 5 });
    assert.deepEqual(inFirstOrder(numbersOf(learned.labels)), inFirstOrder(labels));
  });
});

/** Three pairs on a line, `gap` between the first two: minSamples 1 leaves distances as they are. */
const pairs = (gap: number, options: HdbscanOptions = {}) =>
  hdbscan({ minClusterSize: 2, minSamples: 1, ...options }).fit([[0], [1], [1 + gap], [2 + gap], [20], [21]]);

test("three pairs on a line: the tree, and the choices by excess of mass, leaves and distance, as worked out by hand", async () => {
  // The root splits at 16, its first part at 2; every pair ends at 1.
  const { learned } = await pairs(2);
  const rows = numbersOf(learned.tree.parents).map((parent, row) => {
    const of = (name: string): number => numbersOf(learned.tree[name] as Tensor)[row]!;
    return [parent, of("children"), of("lambdas"), of("sizes")];
  });
  const found = new Set(
    rows.map(([, child, lambda, size]) => `${child! < 6 ? "sample" : "cluster"} ${lambda} ${size}`),
  );
  assert.equal(rows.length, 10);
  const splitAt = Math.fround(1 / 16);
  assert.deepEqual(found, new Set([`cluster ${splitAt} 4`, `cluster ${splitAt} 2`, "cluster 0.5 2", "sample 1 1"]));
  // Two pairs: 4 (1/2 − 1/16) = 1.75 for both together, 2 (1 − 1/2) = 1 for each, which is more.
  assert.deepEqual(inFirstOrder(numbersOf(learned.labels)), [0, 0, 1, 1, 2, 2]);
  assert.deepEqual(numbersOf(learned.probabilities), [1, 1, 1, 1, 1, 1]);
  // With a gap of 1.5 they last: 4 (2/3 − 2/33) = 2.42 against 2 · 2 (1 − 2/3) = 1.33.
  const near = await pairs(1.5);
  assert.deepEqual(inFirstOrder(numbersOf(near.learned.labels)), [0, 0, 0, 0, 1, 1]);
  const leaves = await pairs(1.5, { clusterSelectionMethod: "leaf" });
  assert.deepEqual(inFirstOrder(numbersOf(leaves.learned.labels)), [0, 0, 1, 1, 2, 2]);
  const joined = await pairs(1.5, { clusterSelectionMethod: "leaf", clusterSelectionEpsilon: 1.6 });
  assert.deepEqual(inFirstOrder(numbersOf(joined.learned.labels)), [0, 0, 0, 0, 1, 1]);
  const small = await pairs(1.5, { maxClusterSize: 3 });
  assert.deepEqual(inFirstOrder(numbersOf(small.learned.labels)), [0, 0, 1, 1, 2, 2]);
});

test("one sample and samples without a split are noise, unless one cluster is allowed; equal samples are one", async () => {
  const single = { minClusterSize: 2, minSamples: 1, allowSingleCluster: true } as const;
  const labelsOf = async (options: HdbscanOptions, x: number[][]) =>
    numbersOf((await hdbscan(options).fit(x)).learned.labels);
  assert.deepEqual(await labelsOf({ minClusterSize: 2, minSamples: 1 }, [[4, 4]]), [-1]);
  const line = [[0], [1], [2], [3]]; // biome-ignore format: a line
  assert.deepEqual(await labelsOf({ minClusterSize: 3, minSamples: 1 }, line), [-1, -1, -1, -1]);
  assert.deepEqual(await labelsOf({ ...single, minClusterSize: 3 }, line), [0, 0, 0, 0]);
  const same = await hdbscan(single).fit(Array(7).fill([2, 3]));
  assert.deepEqual(numbersOf(same.learned.labels), Array(7).fill(0));
  assert.deepEqual(numbersOf(same.learned.probabilities), Array(7).fill(1));
  await assert.rejects(hdbscan().fit([[1], [2]]), /minSamples is 5, and there are 2 samples/);
});

test("clusters have minClusterSize samples or more, and are as many whatever the order of samples", async () => {
  const x = random.uniform(random.key(4, { device: "cpu" }), [150, 2], { dtype: "f64" }) as Tensor;
  for (const clusterSelectionMethod of ["eom", "leaf"] as const) {
    for (const minClusterSize of [4, 9]) {
      const estimator = hdbscan({ minClusterSize, clusterSelectionMethod });
      const { learned } = await estimator.fit(x);
      const labels = numbersOf(learned.labels);
      const sizes = numbersOf(learned.tree.chosen).map((_, label) => labels.filter((each) => each === label).length);
      assert.ok(sizes.length > 1 && sizes.every((size) => size >= minClusterSize), String(sizes));
      const turned = (await estimator.fit(x.flip(0) as Tensor)).learned;
      assert.equal(turned.tree.chosen.size, sizes.length);
    }
  }
});

test("precomputed distances give what their samples give", async () => {
  const x = of(sets.blobs, "f64");
  const distances = x.expandDims(1).sub(x).square().sum({ axis: 2 }).sqrt() as Tensor;
  const [a, b] = await Promise.all([hdbscan().fit(x), hdbscan({ metric: "precomputed" }).fit(distances)]);
  assert.deepEqual(numbersOf(b.learned.labels), numbersOf(a.learned.labels));
});

test("wrong options are refused by name", () => {
  assert.throws(() => hdbscan({ minClusterSize: 1 }), /minClusterSize is a whole number from 2 on/);
  assert.throws(() => hdbscan({ clusterSelectionMethod: "best" as never }), /it is "eom" or "leaf"/);
  assert.throws(() => hdbscan({ clusterSelectionEpsilon: -1 }), /clusterSelectionEpsilon is -1/);
  assert.throws(() => hdbscan({ alpha: 0 }), /alpha is 0/);
});
