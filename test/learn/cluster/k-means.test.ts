/** k-means against scikit-learn from the same first centres, and from its own; corner cases; transforms. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, random, type Tensor, tensor, vmap } from "../../../src/index.js";
import { kMeans } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

interface Case {
  readonly set: string;
  readonly init: readonly (readonly number[])[];
  readonly weights: readonly number[] | null;
  readonly options: { readonly maxIter: number; readonly tol: number };
  readonly centers: readonly (readonly number[])[];
  readonly labels: readonly number[];
  readonly inertia: number;
  readonly iterations: number;
  /** The least inertia of many starts. */
  readonly best: number;
  readonly distances: readonly (readonly number[])[];
  readonly score: number;
}

const { sets, kMeans: cases }: { sets: Readonly<Record<string, number[][]>>; kMeans: readonly Case[] } = JSON.parse(
  readFileSync(resolve("test/learn/cluster/k-means-cases.json"), "utf8"),
);

const fitOptions = ({ weights }: Case) => (weights ? { weights } : {});

/** The cases that are fitted in f32, too, and on Vulkan; the others in f64 on the CPU alone. */
const IN_ALL = 3;

describeOnTensorDevices("k-means", (device) => {
  for (const [place, each] of cases.entries()) {
    if (place >= IN_ALL && device !== "cpu") break;
    for (const dtype of place < IN_ALL ? dtypesOf(device, place === 0) : (["f64"] as const)) {
      const { set, init, options, labels } = each;
      test(`${set}, ${init.length} clusters${each.weights ? ", weights" : ""}, ${dtype}: from the same start, scikit-learn's end`, async () => {
        const x = of(sets[set], dtype);
        const model = await kMeans({ nClusters: init.length, init, ...options }).fit(x, undefined, fitOptions(each));
        const { centers, inertia, iterations } = model.learned;
        const within = dtype === "f64" ? 1e-12 : 1e-5;
        await closeTo(centers, each.centers, within, "centers");
        await closeTo(inertia, each.inertia, dtype === "f64" ? 1e-12 : 1e-4, "inertia");
        assert.deepEqual(numbersOf(model.learned.labels), labels);
        assert.equal(await iterations.item(), each.iterations);
        if (!each.weights) assert.deepEqual(numbersOf(model.predict(x)), labels);
        await closeTo(
          model.transform(x.at(":5") as Tensor),
          each.distances,
          dtype === "f64" ? 1e-8 : 1e-4,
          "distances",
        );
        await closeTo(model.score(x), each.score, dtype === "f64" ? 1e-12 : 1e-4, "score");
      });
    }
  }

  test("duplicates: clusters beyond the distinct samples wait at others", async () => {
    const x = [
      [1, 1],
      [1, 1],
      [1, 1],
      [2, 2],
    ];
    const model = await kMeans({ nClusters: 3 }).fit(x);
    assert.equal(await model.learned.inertia.item(), 0);
    assert.equal(new Set(numbersOf(model.learned.labels)).size, 2);
    assert.deepEqual(numbersOf(model.predict(x)), numbersOf(model.learned.labels));
  });
});

for (const init of ["k-means++", "random"] as const) {
  test(`${init}: the best of several starts is as good as scikit-learn's best of twenty`, async () => {
    for (const each of cases.filter(({ set }) => set !== "digits")) {
      const estimator = kMeans({ nClusters: each.init.length, init, nInit: 10, seed: 3 });
      const { learned } = await estimator.fit(of(sets[each.set], "f64"), undefined, {
        ...fitOptions(each),
        device: "cpu",
      });
      const inertia = Number(await learned.inertia.item());
      assert.ok(inertia <= each.best * 1.01, `${each.set}: ${inertia} and ${each.best}`);
    }
  });
}

test("spread starts are drawn by squared distance: of far blobs, each gets a centre", async () => {
  const blobs = random.normal(random.key(0, { device: "cpu" }), [6, 50, 2]);
  const places = tensor(
    [
      [0, 0],
      [90, 0],
      [0, 90],
      [90, 90],
      [-90, 0],
      [0, -90],
    ],
    { device: "cpu" },
  );
  const x = blobs.add(places.expandDims(1)).reshape(300, 2) as Tensor;
  const one = (seed: Tensor) => kMeans({ nClusters: 6, maxIter: 1, seed }).fitTensors(x).learned.inertia;
  const inertias = numbersOf(vmap(one)(random.split(random.key(1, { device: "cpu" }), [20])));
  assert.ok(
    inertias.every((inertia) => inertia < 800),
    String(inertias),
  );
});

test("samples of weight zero are no first centres, and weights stand for repeated samples", async () => {
  const x = [[0], [1], [10], [11], [500]];
  for (const init of ["k-means++", "random"] as const) {
    const estimator = kMeans({ nClusters: 2, init, nInit: 4 });
    const model = await estimator.fit(x, undefined, { weights: [3, 1, 1, 3, 0], dtype: "f64" });
    assert.deepEqual(
      numbersOf(model.learned.centers).sort((a, b) => a - b),
      [0.25, 10.75],
    );
    assert.equal(await model.learned.inertia.item(), 1.5);
  }
});

test("fits go through jit and vmap, over keys and over samples", async () => {
  const x = of(sets.iris, "f64");
  const plain = kMeans({ nClusters: 3 }).fitTensors(x);
  const inside = jit((a: Tensor) => kMeans({ nClusters: 3 }).fitTensors(a))(x);
  assert.deepEqual(numbersOf(inside.learned.labels), numbersOf(plain.learned.labels));
  const keys = random.split(random.key(4), [3]);
  const many = vmap((seed: Tensor) => kMeans({ nClusters: 3, nInit: 2, seed }).fitTensors(x))(keys);
  const alone = kMeans({ nClusters: 3, nInit: 2, seed: keys.at(1) as Tensor }).fitTensors(x);
  await closeTo(many.learned.centers.at(1) as Tensor, await alone.learned.centers.array(), 1e-12, "centers");
  const halves = x.reshape(2, 75, 4);
  const both = vmap((a: Tensor) => kMeans({ nClusters: 2 }).fitTensors(a).learned.inertia)(halves);
  const second = kMeans({ nClusters: 2 }).fitTensors(halves.at(1) as Tensor);
  await closeTo(both.at(1) as Tensor, await second.learned.inertia.item(), 1e-12, "inertia");
});

test("wrong options are refused by name", async () => {
  assert.throws(() => kMeans({ nClusters: 0 }), /nClusters is a whole number from 1 on/);
  assert.throws(() => kMeans({ nInit: 0 }), /nInit is a whole number from 1 on/);
  assert.throws(() => kMeans({ tol: -1 }), /tol is -1/);
  assert.throws(() => kMeans({ init: "far" as never }), /init is "far"; it is "k-means\+\+" or "random"/);
  assert.throws(() => kMeans({ nClusters: 2, init: [[1]] }), /init is 1 rows; it is 2 rows/);
  assert.throws(() => kMeans({ nClusters: 1, init: [[Number.NaN]] }), /init holds a number that is not finite/);
  assert.throws(() => kMeans({ seed: 0.5 }), /seed is 0.5; it is a whole number, or a key/);
  await assert.rejects(
    kMeans({ nClusters: 3 }).fit([[1], [2]]),
    /nClusters is 3; it is a whole number from 1 to 2 here/,
  );
  await assert.rejects(
    kMeans({ nClusters: 1, init: [[1, 2]] }).fit([[1], [2]]),
    /init has the shape \[1, 2\], and the samples have 1 features/,
  );
});
