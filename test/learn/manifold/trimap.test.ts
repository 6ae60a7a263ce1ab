/** TriMap: its triplets and weights by their definitions, its loss against NumPy, and embeddings by their quality. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import {
  crossValidate,
  kNeighborsClassifier,
  linearRegression,
  pca,
  type TriMapOptions,
  triMap,
  trustworthiness,
} from "../../../src/learn/index.js";
import { graphOfTriplets, lossAt } from "../../../src/learn/manifold/trimap.js";
import { drawnOutside, tripletsOf } from "../../../src/learn/manifold/triplets.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { casesOf, digitLabels, digits } from "./cases.js";

type Matrix = number[][];
const { x, places, nearer, farther, weights, loss, gradient, scaled } = casesOf<
  Readonly<Record<"x" | "places" | "nearer" | "farther" | "weights" | "gradient" | "scaled", Matrix>> & {
    readonly loss: number;
  }
>("trimap-cases.json");
const device = "cpu";
const triple = { nInliers: 4, nOutliers: 3, nRandom: 2, weightTemp: 0.5 };
const count = x.length;

describeOnTensorDevices("TriMap", (device) => {
  for (const dtype of dtypesOf(device, true)) {
    test(`${dtype}: the loss of given triplets and its gradient are NumPy's`, async () => {
      const i32 = (values: Matrix): Tensor => tensor(values, { dtype: "i32", device }) as Tensor;
      const given = { nearer: i32(nearer), farther: i32(farther), weights: of(weights, dtype) };
      const graph = await graphOfTriplets(given);
      const found = lossAt(of(places, dtype).T as Tensor, graph);
      const within = dtype === "f64" ? 1e-12 : 1e-5;
      await closeTo(found.loss, loss, within, "the loss");
      await closeTo(found.gradient.T as Tensor, gradient, within, "the gradient");
    });

    test(`${dtype}: triplets are neighbours and samples beyond them, with the weights of the paper`, async () => {
      const found = tripletsOf("test", of(x, dtype), triple, random.key(1, { device }));
      const [near, far, weigh] = [found.nearer, found.farther, found.weights].map(numbersOf) as [
        number[],
        number[],
        number[],
      ];
      const width = near.length / count;
      assert.equal(width, 4 * 3 + 2);
      const raw: number[] = [];
      for (let i = 0; i < count; i++) {
        const byDistance = Array.from({ length: count }, (_, j) => j)
          .filter((j) => j !== i)
          .sort((p, q) => scaled[i]![p]! - scaled[i]![q]!);
        for (let t = 0; t < width; t++) {
          const [j, k] = [near[i * width + t]!, far[i * width + t]!];
          assert.ok(j !== i && k !== i && j !== k && k >= 0 && k < count, `${i}, ${j}, ${k}`);
          if (t < 12) {
            const place = Math.floor(t / 3);
            assert.equal(j, byDistance[place]);
            assert.ok(byDistance.indexOf(k) > place, `${k} is beyond`);
          }
          const difference = scaled[i]![k]! - scaled[i]![j]!;
          assert.ok(t < 12 || difference >= 0, "random triplets are put in order");
          raw.push(t < 12 ? difference : 0.1 * difference);
        }
      }
      const least = Math.min(...raw);
      const wanted = raw.map((w) => 2 * (Math.sqrt(1 + w - least) - 1));
      await closeTo(f64(weigh), wanted, dtype === "f64" ? 1e-9 : 1e-4, "weights");
    });
  }
});

test("samples are drawn evenly among those that are not excluded", () => {
  const excluded = tensor(
    [
      [0, 3, 4, 9],
      [5, 12, 12, 12],
    ],
    { dtype: "i32", device },
  ) as Tensor;
  const found = drawnOutside(random.key(2, { device }), excluded, 12, [2, 8000]);
  [new Set([0, 3, 4, 9]), new Set([5])].forEach((gone, row) => {
    const drawn = numbersOf(found.at(row));
    const share = 8000 / (12 - gone.size);
    let squares = 0;
    for (let i = 0; i < 12; i++) {
      const times = drawn.filter((each) => each === i).length;
      if (gone.has(i)) assert.equal(times, 0);
      else squares += (times - share) ** 2 / share;
    }
    // Less than one in a thousand of χ² with 10 degrees of freedom is above 29.6.
    assert.ok(squares < 29.6, `${squares}`);
    assert.ok(drawn.every((each) => each >= 0 && each < 12));
  });
});

test("a weight's temperature: 0 leaves it as it is, 1 takes its logarithm", async () => {
  const weighed = (weightTemp: number) =>
    numbersOf(tripletsOf("test", f64(x), { ...triple, weightTemp }, random.key(1, { device })).weights);
  const plain = weighed(0);
  assert.ok(Math.min(...plain) === 0);
  await closeTo(f64(weighed(1)), plain.map(Math.log1p), 1e-12, "logarithms");
});

/** exp(1 − e / e₀) of the errors with which places, and the principal components, give the samples by a linear map. */
async function globalScore(samples: Tensor, embedding: Tensor): Promise<number> {
  const error = async (of: Tensor) => {
    const model = await linearRegression().fit(of, samples);
    return Number(await samples.sub(model.predict(of)).square().sum().item());
  };
  const components = (await pca({ nComponents: 2 }).fit(samples)).transform(samples);
  const least = await error(components);
  return Math.exp(-((await error(embedding.cast("f64") as Tensor)) - least) / least);
}

test("digits: the whole is kept nearly as by principal components, and neighbours can be trusted", async () => {
  const [data, labels] = [digits(400), digitLabels(400)];
  const { learned } = await triMap().fit(data, undefined, { device });
  const score = await globalScore(f64(data), learned.embedding);
  assert.ok(score > 0.85, `global score ${score}`);
  const trusted = Number(await trustworthiness(data, learned.embedding, { device }).item());
  assert.ok(trusted > 0.97, `trustworthiness ${trusted}`);
  const { scores } = await crossValidate(kNeighborsClassifier(), learned.embedding, labels, { splits: 3 });
  const mean = scores.score!.reduce((sum, each) => sum + each, 0) / 3;
  assert.ok(mean > 0.88, `${scores.score}`);
  const first = await triMap({ maxIter: 0 }).fit(data, undefined, { device });
  assert.ok(Number(await learned.loss.item()) < 0.5 * Number(await first.learned.loss.item()));
});

test("first places of every kind; distances in place of samples; a watched fit tells of its rounds", async () => {
  const options: TriMapOptions = { nInliers: 5, maxIter: 30 };
  for (const init of ["pca", "random", places] as const) {
    const { learned } = await triMap({ ...options, init }).fit(x, undefined, { device });
    assert.ok(numbersOf(learned.embedding).every(Number.isFinite));
  }
  const distances = f64(x).expandDims(1).sub(f64(x)).square().sum({ axis: 2 }).sqrt() as Tensor;
  const few = { ...options, init: places, maxIter: 5 };
  const byDistance = await triMap({ ...few, metric: "precomputed" }).fit(distances);
  const plain = await triMap(few).fit(f64(x));
  await closeTo(byDistance.learned.embedding, numbersOf(plain.learned.embedding), 1e-6, "places");
  const run = triMap({ ...options, maxIter: 120, nComponents: 3, nRandom: 0 }).fit(x, undefined, { device });
  const steps: number[] = [];
  for await (const { step } of run) steps.push(step);
  assert.deepEqual(steps, [50, 100, 120]);
  assert.deepEqual((await run).learned.embedding.shape, [30, 3]);
  const same = await triMap({ nInliers: 2, maxIter: 20 }).fit(Array(6).fill([1, 1]), undefined, { device });
  assert.ok(numbersOf(same.learned.embedding).every(Number.isFinite));
});

test("wrong options are named, with what they may be", async () => {
  await assert.rejects(triMap().fit(x.slice(0, 9)), /triMap\.fit: nInliers is 12; of 9 samples it is 7 at most/);
  await assert.rejects(
    triMap({ metric: "precomputed", init: "pca" }).fit(x.map((_, i) => x.map((_, j) => Math.abs(i - j)))),
    /distances have no components/,
  );
  await assert.rejects(triMap({ metric: "precomputed" }).fit(x), /precomputed distances are \[samples, samples\]/);
  assert.throws(() => triMap({ nInliers: 0 }), /nInliers/);
  assert.throws(() => triMap({ nRandom: -1 }), /nRandom/);
  assert.throws(() => triMap({ weightTemp: -1 }), /weightTemp is -1; it is a number, zero or more/);
  assert.throws(() => triMap({ learningRate: 0 }), /learningRate is 0/);
  assert.throws(() => triMap({ init: "spectral" as never }), /it is "pca" or "random"/);
});
