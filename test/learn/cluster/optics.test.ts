/** OPTICS against scikit-learn's order, distances and clusters, and against DBSCAN. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { dbscan, optics } from "../../../src/learn/index.js";
import { of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { clusterCases } from "./cases.js";

const { sets, optics: cases } = clusterCases();

const closeOrInfinite = (found: readonly number[], wanted: readonly (number | null)[], within: number): void => {
  assert.equal(found.length, wanted.length);
  found.forEach((value, i) => {
    const want = wanted[i] ?? Number.POSITIVE_INFINITY;
    assert.ok(value === want || Math.abs(value - want) <= within * want, `${i}: ${value}, not ${want}`);
  });
};

describeOnTensorDevices("optics", (device) => {
  for (const { set, minSamples, options, ordering, predecessor, reachability, coreDistances, labels } of cases) {
    const { max_eps, cluster_method, predecessor_correction, min_cluster_size, ...same } = options;
    const settings = {
      ...same,
      minSamples,
      maxEps: max_eps,
      clusterMethod: cluster_method,
      predecessorCorrection: predecessor_correction,
      minClusterSize: min_cluster_size,
    };
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${set}, ${JSON.stringify(options)}, ${dtype}: scikit-learn's order, distances and labels`, async () => {
        const { learned } = await optics(settings).fit(of(sets[set], dtype));
        assert.deepEqual(numbersOf(learned.ordering), ordering);
        assert.deepEqual(numbersOf(learned.predecessors), predecessor);
        const within = dtype === "f64" ? 1e-12 : 1e-6;
        closeOrInfinite(numbersOf(learned.reachability), reachability, within);
        closeOrInfinite(numbersOf(learned.coreDistances), coreDistances, within);
        assert.deepEqual(numbersOf(learned.labels), labels);
      });
    }
  }
});

test("precomputed distances give what their samples give, and at one distance core samples are DBSCAN's", async () => {
  const x = of(sets.moons, "f64");
  const distances = x.expandDims(1).sub(x).square().sum({ axis: 2 }).sqrt() as Tensor;
  const options = { clusterMethod: "dbscan", eps: 0.2 } as const;
  const [a, b] = await Promise.all([
    optics(options).fit(x),
    optics({ ...options, metric: "precomputed" }).fit(distances),
  ]);
  assert.deepEqual(numbersOf(b.learned.ordering), numbersOf(a.learned.ordering));
  assert.deepEqual(numbersOf(b.learned.labels), numbersOf(a.learned.labels));
  const { learned } = await dbscan({ eps: 0.2 }).fit(x);
  const [labels, known] = [numbersOf(a.learned.labels), numbersOf(learned.labels)];
  const pairs = new Set(numbersOf(learned.coreIndices).map((i) => `${labels[i]} ${known[i]}`));
  assert.equal(pairs.size, new Set(known.filter((label) => label >= 0)).size);
});

test("ranges of the order hold their clusters; samples that are all the same are none", async () => {
  const { learned } = await optics({ minSamples: 8, xi: 0.1 }).fit(of(sets.blobs, "f64"));
  const [labels, ordering] = [numbersOf(learned.labels), numbersOf(learned.ordering)];
  const ranges = (await learned.hierarchy.array()) as number[][];
  assert.ok(ranges.length > 2);
  for (const label of new Set(labels.filter((each) => each >= 0))) {
    const places = ordering.flatMap((i, place) => (labels[i] === label ? [place] : []));
    assert.ok(
      ranges.some(([first, last]) => first === places[0] && last === places.at(-1)),
      `cluster ${label}`,
    );
  }
  const same = await optics({ minSamples: 2 }).fit(Array(6).fill([1, 2]));
  assert.deepEqual(numbersOf(same.learned.ordering), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(numbersOf(same.learned.reachability), [Number.POSITIVE_INFINITY, 0, 0, 0, 0, 0]);
});

test("wrong options are refused by name", async () => {
  assert.throws(() => optics({ minSamples: 1 }), /minSamples is 1; it is a whole number above 1, or a share below 1/);
  assert.throws(() => optics({ xi: 1 }), /xi is 1; it is a share/);
  assert.throws(() => optics({ eps: 3, maxEps: 2 }), /eps is 3; it is a distance above 0, at most maxEps, which is 2/);
  assert.throws(() => optics({ clusterMethod: "ward" as never }), /clusterMethod is "ward"; it is "xi" or "dbscan"/);
  await assert.rejects(optics().fit([[1], [2]]), /minSamples is 5, and there are 2 samples/);
});
