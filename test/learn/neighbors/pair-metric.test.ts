/** Searches by metrics that few samples are compared by: scikit-learn's by name, precomputed ones, and functions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor } from "../../../src/index.js";
import {
  kNeighborsClassifier,
  kNeighborsRegressor,
  localOutlierFactor,
  metrics,
  nearestNeighbors,
  radiusNeighborsRegressor,
} from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { neighborsCases, partsOf } from "./cases.js";

const cases = neighborsCases();
const manhattan = (a: Tensor, b: Tensor): Tensor => a.sub(b).abs().sum() as Tensor;
const sums = (values: Tensor, offsets: readonly number[]): number[] => {
  const numbers = numbersOf(values);
  return offsets.slice(1).map((end, i) => numbers.slice(offsets[i], end).reduce((a, b) => a + b, 0));
};

describeOnTensorDevices("neighbours by other metrics", (device) => {
  for (const [place, each] of cases.pairs.entries()) {
    // On Vulkan every metric compiles kernels of its own.
    if (device !== "cpu" && place > 1) continue;
    for (const dtype of dtypesOf(device, false)) {
      test(`${each.set}, ${each.metric}, ${dtype}: scikit-learn's distances`, async () => {
        const { metric, k: nNeighbors, radius, options } = each;
        const { x, queries } = partsOf(cases, each.set);
        const model = await nearestNeighbors({ nNeighbors, radius, metric, ...options }).fit(of(x, dtype));
        const within = dtype === "f64" ? 1e-9 : 1e-5;
        const { distances, indices } = model.kNeighbors(of(queries, dtype));
        await closeTo(distances, each.distances, within, "distances", 1);
        await closeTo(
          model.kNeighbors().distances.at(":5") as Tensor,
          each.own,
          within,
          "of the samples themselves",
          1,
        );
        const all = metrics.pairwiseDistances(of(queries, dtype), of(x, dtype), { metric, ...options });
        await closeTo(all.takeAlongAxis(indices, { axis: 1 }) as Tensor, each.distances, within, "of those found", 1);
        const found = await model.radiusNeighbors(of(queries, dtype));
        const offsets = numbersOf(found.offsets);
        assert.deepEqual(
          offsets.slice(1).map((end, i) => end - offsets[i]!),
          each.counts,
        );
        sums(found.distances, offsets).forEach((sum, i) => {
          assert.ok(Math.abs(sum - each.sums[i]!) <= within * 10, `${sum}, not ${each.sums[i]}`);
        });
      });
    }
  }

  test("a function of two samples, and distances computed before, find the neighbours of the metric by name", async () => {
    const { x, y, queries } = partsOf(cases, "diabetes");
    const [samples, asked] = [of(x, "f32"), of(queries, "f32")];
    const search = { nNeighbors: 4, radius: 3, metric: "manhattan" } as const;
    const byName = await nearestNeighbors(search).fit(samples);
    const byFunction = await nearestNeighbors({ ...search, metric: manhattan }).fit(samples);
    const own = metrics.pairwiseDistances(samples, samples, { metric: "manhattan" });
    const far = metrics.pairwiseDistances(asked, samples, { metric: "manhattan" });
    const precomputed = await nearestNeighbors({ ...search, metric: "precomputed" }).fit(own);
    for (const [model, given] of [
      [byFunction, asked],
      [precomputed, far],
    ] as const) {
      assert.deepEqual(numbersOf(model.kNeighbors(given).indices), numbersOf(byName.kNeighbors(asked).indices));
      assert.deepEqual(numbersOf(model.kNeighbors().indices), numbersOf(byName.kNeighbors().indices));
      const [lists, wanted] = [await model.radiusNeighbors(given), await byName.radiusNeighbors(asked)];
      assert.deepEqual(numbersOf(lists.indices), numbersOf(wanted.indices));
      await closeTo(lists.distances, numbersOf(wanted.distances), 1e-5, "distances");
    }
    const options = { weights: "distance", nNeighbors: 3 } as const;
    const wanted = numbersOf((await kNeighborsRegressor({ ...options, metric: "l1" }).fit(samples, y)).predict(asked));
    const means = await kNeighborsRegressor({ ...options, metric: "precomputed" }).fit(own, y);
    await closeTo(means.predict(far), wanted, 1e-5, "means");
    const radius = { radius: 12 } as const;
    const within = await radiusNeighborsRegressor({ ...radius, metric: "l1" }).fit(samples, y);
    const withinGiven = await radiusNeighborsRegressor({ ...radius, metric: "precomputed" }).fit(own, y);
    await closeTo(withinGiven.predict(far), numbersOf(within.predict(asked)), 1e-5, "means within a radius");
    const factors = await localOutlierFactor({ nNeighbors: 5, metric: "l1" }).fit(samples);
    const factorsGiven = await localOutlierFactor({ nNeighbors: 5, metric: "precomputed" }).fit(own);
    await closeTo(factorsGiven.scoreSamples(far), numbersOf(factors.scoreSamples(asked)), 1e-5, "factors");
  });
});

test("a metric of one's own goes through jit and grad", async () => {
  const { x, y, queries } = partsOf(cases, "iris");
  const [samples, asked] = [of(x, "f64"), of(queries.slice(0, 2), "f64")];
  const scaled = (scale: Tensor) => {
    const metric = (a: Tensor, b: Tensor): Tensor => a.sub(b).mul(scale).square().sum().sqrt() as Tensor;
    const model = kNeighborsRegressor({ metric, weights: "distance" }).fitTensors(
      samples,
      tensor(y as number[], { dtype: "f64" }),
    );
    return model.predict(asked).sum() as Tensor;
  };
  const scale = tensor([1, 2, 1, 0.5], { dtype: "f64" });
  const h = 1e-6;
  const [up, down] = [h, -h].map((step) => numbersOf(scaled(scale.add(tensor([step, 0, 0, 0], { dtype: "f64" }))))[0]!);
  const [slope] = numbersOf(jit(grad(scaled))(scale));
  assert.ok(Math.abs(slope! - (up! - down!) / (2 * h)) < 1e-5);
});

test("rows of zeros are at cosine distance 1 from each other, and at 0 from themselves", async () => {
  const rows = [
    [0, 0],
    [1, 2],
    [0, 0],
    [2, 2],
  ];
  const far = metrics.pairwiseDistances(rows, null, { metric: "cosine" });
  await closeTo(far.at(":", 0) as Tensor, [0, 1, 1, 1], 1e-6, "zeros");
  const others = metrics.pairwiseDistances(rows, [[0, 0]], { metric: "cosine" });
  await closeTo(others, [1, 1, 1, 1], 1e-6, "zeros beside zeros");
  const model = await nearestNeighbors({ metric: "cosine", nNeighbors: 3 }).fit(rows);
  assert.deepEqual(numbersOf(model.kNeighbors().distances.at(0) as Tensor), [1, 1, 1]);
  assert.deepEqual(numbersOf(model.kNeighbors([[0, 0]]).distances), [1, 1, 1]);
});

test("a sample is at distance 0 from itself where its metric has nothing to compare", async () => {
  const rows = [
    [0, 0, 0],
    [1, 2, 3],
    [0, 0, 0],
  ];
  for (const metric of ["braycurtis", "correlation", "dice", "sokalsneath"] as const) {
    const far = await metrics.pairwiseDistances(rows, null, { metric }).array();
    assert.deepEqual([far[0]![0], far[1]![1], far[0]![2]], [0, 0, Number.NaN], metric);
  }
});

test("misuse is refused by name", async () => {
  assert.throws(
    () => nearestNeighbors({ metric: "euclid" as "l2" }),
    /nearestNeighbors: metric is "euclid"; it is "minkowski"/,
  );
  assert.throws(
    () => nearestNeighbors({ metric: "mahalanobis" }),
    /the metric "mahalanobis" needs the option covariance/,
  );
  assert.throws(
    () => nearestNeighbors({ metric: "jaccard", algorithm: "kdTree" }),
    /"kdTree" bounds norms .* take "brute"/,
  );
  const fit = (metric: "precomputed" | "seuclidean", more: object = {}) =>
    nearestNeighbors({ metric, ...more }).fit([
      [0, 1],
      [1, 0],
      [2, 2],
    ]);
  await assert.rejects(
    fit("precomputed"),
    /nearestNeighbors.fit: precomputed distances are \[samples, samples\], not \[3, 2\]/,
  );
  await assert.rejects(fit("seuclidean", { variances: [1] }), /variances has the shape \[1\], not \[2\]/);
  const wide = kNeighborsClassifier({ metric: (a) => a, nNeighbors: 1 }).fit(
    [
      [0, 1],
      [1, 0],
    ],
    [0, 1],
  );
  const model = await wide;
  assert.throws(() => model.predict([[1, 1]]), /gives one number for two samples, not a tensor of shape \[2\]/);
});
