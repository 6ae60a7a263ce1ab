/** DBSCAN against scikit-learn, through the tree and through bits from the device, and against its own definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import { dbscan, metrics } from "../../../src/learn/index.js";
import { of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { clusterCases } from "./cases.js";

const { sets, dbscan: cases } = clusterCases();

describeOnTensorDevices("dbscan", (device) => {
  for (const { set, eps, minSamples, metric, p, weights, labels, cores } of cases) {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const)) {
      test(`${set}, ${metric}${weights ? " with weights" : ""}, ${dtype}: scikit-learn's labels and core samples`, async () => {
        const estimator = dbscan({ eps, minSamples, metric, ...(p ? { p } : {}) });
        const model = await estimator.fit(of(sets[set], dtype), undefined, weights ? { weights } : {});
        assert.deepEqual(numbersOf(model.learned.labels), labels);
        assert.deepEqual(numbersOf(model.learned.coreIndices), cores);
      });
    }
  }

  test("all noise, one sample, and samples that are all the same", async () => {
    const noise = await dbscan({ eps: 0.1 }).fit([[0], [1], [2]]);
    assert.deepEqual(numbersOf(noise.learned.labels), [-1, -1, -1]);
    assert.deepEqual(noise.learned.coreIndices.shape, [0]);
    assert.deepEqual(numbersOf((await dbscan({ minSamples: 1 }).fit([[4, 4]])).learned.labels), [0]);
    const same = await dbscan({ minSamples: 30 }).fit(tensor(new Float32Array(120).fill(7), { shape: [60, 2] }));
    assert.ok(numbersOf(same.learned.labels).every((label) => label === 0));
  });
});

/** Clusters by the definition: core samples with enough neighbours, searched depth first, as scikit-learn does. */
function byDefinition(x: readonly number[][], eps: number, least: number): number[] {
  const near = x.map((a) =>
    x.flatMap((b, j) => (a.reduce((sum, v, i) => sum + (v - b[i]!) ** 2, 0) <= eps * eps ? [j] : [])),
  );
  const labels = x.map(() => -1);
  let next = 0;
  for (let i = 0; i < x.length; i++) {
    if (labels[i] !== -1 || near[i]!.length < least) continue;
    for (const stack = [i]; stack.length > 0; ) {
      const at = stack.pop()!;
      if (labels[at] !== -1) continue;
      labels[at] = next;
      if (near[at]!.length >= least) stack.push(...near[at]!.filter((j) => labels[j] === -1));
    }
    next++;
  }
  return labels;
}

test("made samples of one to twelve features have the clusters of the definition, whether dense or thin", async () => {
  for (const features of [1, 2, 3, 5, 12]) {
    for (const eps of [0.02, 0.1, 0.5, 1.1]) {
      const x = random.uniform(random.key(features, { device: "cpu" }), [300, features], { dtype: "f64" }) as Tensor;
      const rows = (await x.array()) as number[][];
      for (const minSamples of [2, 5, 12]) {
        const { learned } = await dbscan({ eps, minSamples }).fit(x);
        assert.deepEqual(numbersOf(learned.labels), byDefinition(rows, eps, minSamples), `${features}, ${eps}`);
      }
    }
  }
});

test("wrong options are refused by name", () => {
  assert.throws(() => dbscan({ eps: 0 }), /eps is 0; it is a distance above 0/);
  assert.throws(() => dbscan({ minSamples: 0 }), /minSamples is a whole number from 1 on/);
  assert.throws(() => dbscan({ metric: "far" as never }), /metric is "far"; it is "minkowski" or/);
  assert.throws(() => dbscan({ p: 0.5 }), /p is 0.5/);
});

test("precomputed distances give the clusters of the samples that they are of, whatever the measure", async () => {
  for (const metric of ["euclidean", "canberra"] as const) {
    const x = random.uniform(random.key(3, { device: "cpu" }), [150, 3], { dtype: "f64" }) as Tensor;
    const matrix = metrics.pairwiseDistances(x, undefined, { metric });
    const eps = metric === "euclidean" ? 0.15 : 0.4;
    const found = await dbscan({ metric: "precomputed", eps, minSamples: 4 }).fit(matrix);
    const rows = (await matrix.array()) as number[][];
    const weights = rows.map((_, i) => (i % 3 === 0 ? 4 : 0.5));
    const weighed = await dbscan({ metric: "precomputed", eps, minSamples: 4 }).fit(matrix, undefined, { weights });
    const heavy = rows.flatMap((row, i) => {
      const sum = row.reduce((total, each, j) => total + (each <= eps ? weights[j]! : 0), 0);
      return sum >= 4 ? [i] : [];
    });
    assert.deepEqual(numbersOf(weighed.learned.coreIndices), heavy);
    if (metric === "euclidean") {
      const { learned } = await dbscan({ eps, minSamples: 4 }).fit(x);
      assert.deepEqual(numbersOf(found.learned.labels), numbersOf(learned.labels));
    } else assert.ok(new Set(numbersOf(found.learned.labels)).size > 2);
  }
  await assert.rejects(async () => dbscan({ metric: "precomputed" }).fit([[0, 1]]), /\[samples, samples\]/);
});
