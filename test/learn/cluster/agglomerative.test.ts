/** Agglomerative clusters against SciPy's trees of merges and scikit-learn's labels, which make-hierarchy-cases.py writes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  agglomerativeClustering,
  copheneticDistances,
  cutTree,
  type LinkageMethod,
  type Metric,
} from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, f64, numbersOf } from "../../support/tensors.js";
import { clusterCases, inFirstOrder } from "./cases.js";

interface HierarchyCase {
  readonly set: string;
  readonly linkage: LinkageMethod;
  readonly metric: Metric;
  readonly p: number;
  readonly tree: readonly (readonly number[])[];
  readonly threshold: number;
  readonly atThreshold: readonly number[];
  readonly counts: readonly number[];
  readonly cuts: readonly (readonly number[])[];
  readonly cophenetic: readonly number[];
  readonly three?: readonly number[];
}

const { sets: own, cases } = JSON.parse(readFileSync(resolve("test/learn/cluster/hierarchy-cases.json"), "utf8")) as {
  readonly sets: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly cases: readonly HierarchyCase[];
};
const sets = { ...clusterCases().sets, ...own };

const columnsOf = (tree: readonly (readonly number[])[]): number[][] =>
  [0, 1, 3].map((j) => tree.map((row) => row[j]!));
const rowsOf = async (x: Tensor): Promise<number[][]> => (await x.array()) as number[][];

describeOnTensorDevices("agglomerativeClustering", (device) => {
  const hasDoubles = devicesWithDoubles().includes(device);
  cases.forEach(({ set, linkage, metric, p, tree, three }, i) => {
    // Another device computes other distances, and the merges of them are the same code.
    if (device !== "cpu" && i % 3 > 0) return;
    test(`${set}, ${linkage}, ${metric}: SciPy's merges in their order, and scikit-learn's labels`, async () => {
      const estimator = agglomerativeClustering({ linkage, metric, p, nClusters: 3 });
      const { learned } = await estimator.fit(of(sets[set], hasDoubles ? "f64" : "f32"));
      const found = await rowsOf(learned.linkage);
      assert.deepEqual(columnsOf(found), columnsOf(tree));
      const heights = tree.map((row) => row[2]!);
      await closeTo(learned.linkage.at(":", 2) as Tensor, heights, hasDoubles ? 1e-12 : 1e-6, "distances");
      if (three) assert.deepEqual(numbersOf(learned.labels), inFirstOrder(three));
    });
  });

  test("blobs in f32 have the same clusters", async () => {
    const blobs = cases.filter(({ set, three }) => set === "blobs" && three);
    for (const { linkage, three } of blobs) {
      const { learned } = await agglomerativeClustering({ linkage, nClusters: 3 }).fit(of(sets.blobs, "f32"));
      assert.deepEqual(numbersOf(learned.labels), inFirstOrder(three as number[]), linkage);
    }
  });
});

test("trees are cut as scikit-learn cuts them to a number of clusters, and as SciPy does at a distance", async () => {
  for (const { linkage, set, tree, counts, cuts, threshold, atThreshold } of cases) {
    const merges = f64(tree as number[][]);
    for (const [i, labels] of cuts.entries()) {
      const found = await cutTree(merges, { nClusters: counts[i]! });
      assert.deepEqual(numbersOf(found), inFirstOrder(labels), `${set}, ${linkage}, ${counts[i]}`);
    }
    const found = await cutTree(merges, { distanceThreshold: threshold });
    assert.deepEqual(numbersOf(found), inFirstOrder(atThreshold), `${set}, ${linkage}, ${threshold}`);
  }
});

test("cophenetic distances are SciPy's", async () => {
  for (const { tree, cophenetic } of cases) {
    const rows = await rowsOf(await copheneticDistances(f64(tree as number[][])));
    const pairs = rows.flatMap((row, a) => row.slice(a + 1)).filter((_, i) => i % 41 === 0);
    assert.deepEqual(pairs, cophenetic);
    assert.ok(rows.every((row, a) => row[a] === 0 && row.every((distance, b) => distance === rows[b]![a])));
  }
});

test("precomputed distances give what their samples give", async () => {
  const x = of(sets.blobs, "f64");
  const distances = x.expandDims(1).sub(x).square().sum({ axis: 2 }).sqrt() as Tensor;
  for (const linkage of ["ward", "single", "average"] as const) {
    const a = await agglomerativeClustering({ linkage }).fit(x);
    const b = await agglomerativeClustering({ linkage, metric: "precomputed" }).fit(distances);
    await closeTo(b.learned.linkage, (await rowsOf(a.learned.linkage)).flat(), 1e-12, linkage);
  }
  const fit = (rows: number[][]) => agglomerativeClustering({ metric: "precomputed" }).fit(rows);
  await assert.rejects(fit([[0, 1]]), /distances are \[samples, samples\], not \[1, 2\]/);
  await assert.rejects(fit([[0, 1], [2, 0]]), /the same both ways, and some here differ by 1/); // biome-ignore format: a matrix
  await assert.rejects(fit([[0, -1], [-1, 0]]), /distances is -1/); // biome-ignore format: a matrix
});

test("a merge at the threshold is not made; one sample is one cluster; equal samples merge at distance 0", async () => {
  const line = await agglomerativeClustering({ distanceThreshold: 2, linkage: "single" }).fit([[0], [1], [3]]);
  assert.deepEqual(numbersOf(line.learned.labels), [0, 0, 1]);
  const one = await agglomerativeClustering({ distanceThreshold: 1 }).fit([[5, 5]]);
  assert.deepEqual([numbersOf(one.learned.labels), one.learned.linkage.shape], [[0], [0, 4]]);
  await assert.rejects(agglomerativeClustering().fit([[5, 5]]), /nClusters is 2, and there are 1 samples/);
  for (const linkage of ["single", "ward", "average", "median"] as const) {
    const same = await agglomerativeClustering({ linkage, distanceThreshold: 1e-6 }).fit(Array(30).fill([7, 7]));
    assert.ok(numbersOf(same.learned.labels).every((label) => label === 0));
    assert.ok(numbersOf(same.learned.linkage.at(":", 2) as Tensor).every((distance) => distance === 0));
  }
});

test("wrong options and matrices that are no linkage are refused by name", async () => {
  assert.throws(() => agglomerativeClustering({ linkage: "far" as never }), /linkage is "far"; it is "ward" or/);
  assert.throws(() => agglomerativeClustering({ metric: "cosine" }), /linkage "ward" is one of Euclidean distances/);
  assert.throws(() => agglomerativeClustering({ nClusters: 0 }), /nClusters is 0/);
  assert.throws(() => agglomerativeClustering({ nClusters: 2, distanceThreshold: 1 }), /cut by one of them/);
  assert.throws(() => agglomerativeClustering({ distanceThreshold: -1 }), /distanceThreshold is -1/);
  await assert.rejects(cutTree(f64([[0, 1, 1]]), { nClusters: 1 }), /a linkage is \[samples - 1, 4\]/);
  await assert.rejects(cutTree(f64([[0, 2, 1, 2]]), { nClusters: 1 }), /row 0 of the linkage merges cluster 2/);
  await assert.rejects(copheneticDistances(f64([[0, 0, 1, 2]])), /merges cluster 0, which is not there/);
});
