/** Searches for neighbours against scikit-learn: by number and by radius, by comparing with all and through the tree, and graphs of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, random, type Tensor } from "../../../src/index.js";
import { nearestNeighbors } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";
import { neighborsCases, partsOf } from "./cases.js";

const cases = neighborsCases();

describeOnTensorDevices("nearest neighbours", (device) => {
  for (const [place, each] of cases.neighbors.entries()) {
    const { metric, p, k: nNeighbors, radius } = each;
    // On Vulkan every combination compiles kernels of its own.
    for (const algorithm of device === "cpu" || place < 2 ? (["brute", "kdTree"] as const) : (["brute"] as const)) {
      for (const dtype of dtypesOf(device, place === 0)) {
        test(`${each.set}, ${metric}, ${algorithm}, ${dtype}: scikit-learn's neighbours`, async () => {
          const { x, queries } = partsOf(cases, each.set);
          const given = { nNeighbors, radius, metric, p, algorithm, leafSize: 4 };
          const model = await nearestNeighbors(given).fit(of(x, dtype));
          const within = dtype === "f64" ? 1e-9 : 1e-5;
          const { distances, indices } = model.kNeighbors(of(queries, dtype));
          await closeTo(distances, each.distances, within, "distances");
          assert.deepEqual(await indices.array(), each.indices);
          await closeTo(model.kNeighbors().distances.at(":5") as Tensor, each.own, within, "of the samples themselves");
          const found = await model.radiusNeighbors(of(queries, dtype));
          const offsets = numbersOf(found.offsets);
          const places = numbersOf(found.indices);
          assert.deepEqual(
            each.within.map((_, i) => places.slice(offsets[i], offsets[i + 1])),
            each.within,
          );
          assert.ok(numbersOf(found.distances).every((distance) => distance <= radius));
        });
      }
    }
  }

  test("graphs have the neighbours' entries, by number and by radius", async () => {
    const model = await nearestNeighbors({ nNeighbors: 1, radius: 2.5 }).fit([[0], [1], [3], [7]], undefined, {
      device,
    });
    const graph = [
      [0, 1, 0, 0],
      [1, 0, 0, 0],
      [0, 1, 0, 0],
      [0, 0, 1, 0],
    ];
    assert.deepEqual(await model.kNeighborsGraph().array(), graph);
    assert.deepEqual(await model.kNeighborsGraph([[5.5]], { nNeighbors: 2, mode: "distance" }).array(), [
      [0, 0, 2.5, 1.5],
    ]);
    assert.deepEqual(await model.radiusNeighborsGraph().array(), [
      [0, 1, 0, 0],
      [1, 0, 1, 0],
      [0, 1, 0, 0],
      [0, 0, 0, 0],
    ]);
    assert.deepEqual(await model.radiusNeighborsGraph([[5]], { mode: "distance" }).array(), [[0, 0, 2, 2]]);
    const { offsets, indices, distances } = await model.radiusNeighbors();
    assert.deepEqual([offsets, indices, distances].map(numbersOf), [
      [0, 1, 3, 4, 4],
      [1, 0, 2, 1],
      [1, 1, 2, 2],
    ]);
  });

  test("of samples equally near, the first comes first, whichever way they are searched", async () => {
    const x = random.randint(random.key(3, { device }), [300, 2], 0, 6).cast("f32") as Tensor;
    const q = random.randint(random.key(4, { device }), [40, 2], 0, 6).cast("f32") as Tensor;
    const found = ["brute", "kdTree"].map(async (algorithm) => {
      const options = { algorithm: algorithm as "brute", leafSize: 8, nNeighbors: 12 };
      const model = await nearestNeighbors(options).fit(x);
      return [model.kNeighbors(q), model.kNeighbors()].flatMap(({ distances, indices }) => [
        numbersOf(distances),
        numbersOf(indices),
      ]);
    });
    const [brute, tree] = await Promise.all(found);
    assert.deepEqual(tree, brute);
  });
});

test("a jitted search through the tree gives the same neighbours as the plain one", async () => {
  const x = random.normal(random.key(5, { device: "cpu" }), [500, 3]) as Tensor;
  const options = { algorithm: "kdTree", leafSize: 16 } as const;
  const plain = (await nearestNeighbors(options).fit(x)).kNeighbors();
  const jitted = jit((a: Tensor) => nearestNeighbors(options).fitTensors(a).kNeighbors())(x);
  assert.deepEqual(numbersOf(jitted.indices), numbersOf(plain.indices));
  assert.deepEqual(numbersOf(jitted.distances), numbersOf(plain.distances));
});

test("more neighbours than samples, wrong radii and algorithms are refused by name", async () => {
  const model = await nearestNeighbors({ nNeighbors: 3 }).fit([[1], [2], [3]]);
  assert.throws(
    () => model.kNeighbors(),
    /nearestNeighbors.kNeighbors: nNeighbors is 3; .* from 1 to 2, the number of other samples/,
  );
  assert.throws(() => model.kNeighbors([[1]], { nNeighbors: 4 }), /from 1 to 3, the number of samples to choose from/);
  assert.throws(() => model.radiusNeighborsGraph([[1]], { radius: -1 }), /radius is -1/);
  assert.throws(() => model.kNeighborsGraph([[1]], { mode: "sparse" as "distance" }), /mode is "sparse"/);
  assert.throws(() => nearestNeighbors({ algorithm: "ballTree" as "brute" }), /algorithm is "ballTree"/);
  assert.throws(() => nearestNeighbors({ leafSize: 0 }), /leafSize is a whole number from 1 on/);
});
