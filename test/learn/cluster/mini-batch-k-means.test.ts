/** Mini-batch k-means against scikit-learn on the same batches; where its fits end, and how good they are; transforms; misuse. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, random, type Tensor, vmap } from "../../../src/index.js";
import { unseen } from "../../../src/learn/cluster/mini-batch.js";
import { kMeans, miniBatchKMeans } from "../../../src/learn/index.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

interface Stream {
  readonly name: string;
  readonly x: readonly (readonly number[])[];
  readonly weights: readonly number[] | null;
  readonly init: readonly (readonly number[])[];
  readonly batchSize: number;
  readonly steps: readonly {
    readonly centers: readonly (readonly number[])[];
    readonly counts: readonly number[];
    readonly labels: readonly number[];
    readonly inertia: number;
    readonly sinceReassignment: number;
  }[];
  readonly distances: readonly (readonly number[])[];
  readonly score: number;
}

interface End {
  readonly options: {
    readonly batch_size: number;
    readonly max_iter?: number;
    readonly max_no_improvement?: number | null;
    readonly tol?: number;
  };
  readonly steps: number;
  readonly centers: readonly (readonly number[])[];
}

const casesOf = (name: string) => JSON.parse(readFileSync(resolve(`test/learn/cluster/${name}.json`), "utf8"));
const { streams, ends }: { streams: readonly Stream[]; ends: readonly End[] } = casesOf("mini-batch-cases");
const { sets }: { sets: Readonly<Record<string, number[][]>> } = casesOf("k-means-cases");

/** A model that has seen nothing but its first centres. */
function unseenModel({ init }: Stream, x: Tensor) {
  const first = unseen(of(init, x.dtype));
  const none = of(0, "i32");
  const learned = { ...first, labels: none, inertia: of(0, x.dtype), steps: none, key: random.key(0) as Tensor };
  const features = { count: x.shape[1] as number, names: null, categories: null };
  return miniBatchKMeans.model(learned, { nClusters: init.length, reassignmentRatio: 0 }, { features, classes: null });
}

describeOnTensorDevices("mini-batch k-means", (device) => {
  for (const [place, each] of streams.entries()) {
    if (place > 0 && device !== "cpu") break;
    for (const dtype of dtypesOf(device, place === 0)) {
      test(`${each.name}, ${dtype}: batch by batch, scikit-learn's centres`, async () => {
        const x = of(each.x, dtype);
        const within = dtype === "f64" ? 1e-12 : 1e-5;
        let model = unseenModel(each, x);
        for (const [step, wanted] of each.steps.entries()) {
          const [from, to] = [step * each.batchSize, (step + 1) * each.batchSize];
          const weights = each.weights?.slice(from, to);
          model = model.partialFit(x.at(`${from}:${to}`) as Tensor, weights ? { weights } : {});
          const { centers, counts, labels, inertia, sinceReassignment, steps } = model.learned;
          await closeTo(centers, wanted.centers, within, "centres");
          await closeTo(counts, wanted.counts, within, "counts");
          await closeTo(inertia, wanted.inertia, dtype === "f64" ? 1e-11 : 1e-3, "inertia");
          assert.deepEqual(numbersOf(labels), wanted.labels);
          assert.equal(await sinceReassignment.item(), wanted.sinceReassignment);
          assert.equal(await steps.item(), step + 1);
        }
        await closeTo(
          model.transform(x.at(":4") as Tensor),
          each.distances,
          dtype === "f64" ? 1e-8 : 1e-3,
          "distances",
        );
        await closeTo(model.score(x), each.score, dtype === "f64" ? 1e-11 : 1e-3, "score");
      });
    }
  }

  test("a fit goes on with other batches", async () => {
    const x = of(sets.blobs, "f32");
    const model = await miniBatchKMeans({ nClusters: 5, batchSize: 30 }).fit(x.at(":100") as Tensor);
    const later = model.partialFit(x.at("100:") as Tensor).partialFit(sets.blobs!.slice(100));
    assert.equal(await later.learned.steps.sub(model.learned.steps).item(), 2);
    assert.deepEqual(later.learned.labels.shape, [20]);
    await closeTo(later.learned.counts.sub(model.learned.counts).sum() as Tensor, 40, 1e-5, "counts");
    assert.notDeepEqual(numbersOf(later.learned.key), numbersOf(model.learned.key));
  });
});

for (const { options, steps, centers } of ends) {
  test(`a fit by ${JSON.stringify(options)} ends with scikit-learn's step ${steps}`, async () => {
    const x = Array.from({ length: 32 }, (_, i) => [i < 16 ? 0 : 8]);
    const { learned } = await miniBatchKMeans({
      nClusters: 2,
      init: [[1], [6]],
      batchSize: options.batch_size,
      ...("max_iter" in options && { maxIter: options.max_iter }),
      ...("max_no_improvement" in options && { maxNoImprovement: options.max_no_improvement }),
      ...("tol" in options && { tol: options.tol }),
    }).fit(x, undefined, { dtype: "f64", device: "cpu" });
    assert.equal(await learned.steps.item(), steps);
    await closeTo(learned.centers, centers, 1e-12, "centres");
  });
}

test("whole fits end a few percent above k-means; from drawn centres, the best of them do", async () => {
  for (const [set, nClusters] of [
    ["blobs", 5],
    ["iris", 3],
    ["digits", 10],
  ] as const) {
    // biome-ignore format: a table
    const x = of(sets[set], "f64").to("cpu") as Tensor;
    const best = Number(await kMeans({ nClusters, nInit: 10 }).fitTensors(x).learned.inertia.item());
    for (const init of ["k-means++", "random"] as const) {
      const estimator = miniBatchKMeans({ nClusters, init, batchSize: 64, nInit: 10 });
      const fits = vmap((seed: Tensor) => estimator.with({ seed }).fitTensors(x).learned.inertia);
      const found = numbersOf(fits(random.split(random.key(1, { device: "cpu" }), [9]))).sort((a, b) => a - b);
      const [least, median] = [found[0], found[4]] as [number, number];
      assert.ok(
        (init === "random" ? least : median) <= best * 1.03,
        `${set}, ${init}: ${found.map((each) => each / best)}`,
      );
    }
  }
});

test("fits go through jit; weights of zero leave samples out", async () => {
  const x = of(sets.blobs, "f64");
  const estimator = miniBatchKMeans({ nClusters: 4, batchSize: 40, maxIter: 3 });
  const plain = await estimator.fit(x);
  const inside = jit((a: Tensor) => estimator.fitTensors(a))(x);
  await closeTo(inside.learned.centers, await plain.learned.centers.array(), 1e-12, "centres");
  const model = await miniBatchKMeans({ nClusters: 2, batchSize: 8 }).fit([[0], [1], [10], [11], [500]], undefined, {
    weights: [3, 1, 1, 3, 0],
    dtype: "f64",
  });
  assert.ok(numbersOf(model.learned.centers).every((center) => center <= 11));
  assert.ok(Number(await model.learned.inertia.item()) < 4);
});

test("wrong options are refused by name", async () => {
  assert.throws(() => miniBatchKMeans({ batchSize: 0 }), /batchSize is a whole number from 1 on/);
  assert.throws(() => miniBatchKMeans({ maxNoImprovement: -1 }), /maxNoImprovement is a whole number from 0 on/);
  assert.throws(() => miniBatchKMeans({ reassignmentRatio: 2 }), /reassignmentRatio is 2; it is a number, from 0 to 1/);
  assert.throws(() => miniBatchKMeans({ initSize: 0.5 }), /initSize is a whole number from 1 on/);
  assert.throws(() => miniBatchKMeans({ nInit: 0 }), /nInit is a whole number from 1 on/);
  assert.throws(() => miniBatchKMeans({ init: "far" as never }), /init is "far"/);
  await assert.rejects(
    miniBatchKMeans({ nClusters: 3 }).fit([[1], [2]]),
    /nClusters is 3; it is a whole number from 1/,
  );
  const model = await miniBatchKMeans({ nClusters: 1 }).fit([[1], [2]]);
  assert.throws(() => model.partialFit([[1]], { weights: [1, 2] }), /partialFit: there are 1 samples and 2 weights/);
  assert.throws(() => model.partialFit([[1, 2]]), /have 2 features, and the model was fitted with 1/);
});
