/** Multidimensional scaling against scikit-learn's SMACOF, and places that are known. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor } from "../../../src/index.js";
import { type MdsOptions, mds, pca } from "../../../src/learn/index.js";
import { drawnPlaces } from "../../../src/learn/manifold/first-places.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, f64, numbersOf } from "../../support/tensors.js";
import { casesOf } from "./cases.js";

const { x, cases, ordered } = casesOf<{
  readonly x: number[][];
  readonly cases: readonly {
    readonly options: MdsOptions;
    readonly embedding: number[][];
    readonly stress: number;
    readonly iterations: number;
  }[];
  readonly ordered: readonly {
    readonly options: MdsOptions;
    readonly distances: number[][];
    readonly embedding: number[][];
    readonly stress: number;
  }[];
}>("mds-cases.json");

const distances = (places: Tensor): Tensor =>
  places.expandDims(1).sub(places).square().sum({ axis: 2 }).sqrt() as Tensor;

describeOnTensorDevices("multidimensional scaling", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  for (const { options, embedding, stress, iterations } of device === "cpu" ? cases : cases.slice(0, 1)) {
    test(`${options.metric}: rounds end where scikit-learn's do`, async () => {
      const { learned } = await mds(options).fit(of(x, dtype));
      assert.deepEqual(numbersOf(learned.iterations), [iterations]);
      await closeTo(learned.embedding, embedding, dtype === "f64" ? 1e-9 : 1e-4, "places");
      await closeTo(learned.stress, stress, dtype === "f64" ? 1e-9 : 1e-4, "stress");
    });
  }

  for (const [i, { options, distances, embedding, stress }] of (device === "cpu"
    ? ordered
    : ordered.slice(0, 1)
  ).entries()) {
    test(`by order alone, case ${i}: rounds end where plain ones do`, async () => {
      const { learned } = await mds(options).fit(of(distances, dtype));
      await closeTo(learned.embedding, embedding, dtype === "f64" ? 1e-9 : 1e-3, "places");
      await closeTo(learned.stress, stress, dtype === "f64" ? 1e-9 : 1e-3, "stress");
      assert.deepEqual(numbersOf(learned.iterations), [options.maxIter]);
    });
  }
});

test("by order alone: a stretch of the distances changes nothing, and the plane is found behind it", async () => {
  const plane = distances(f64(x.map((row) => row.slice(0, 2))));
  const options = {
    method: "nonMetric",
    metric: "precomputed",
    init: x.map((row) => row.slice(1, 3)),
    maxIter: 200,
  } as const;
  const { learned } = await mds(options).fit(plane);
  const stretched = await mds(options).fit(plane.pow(3) as Tensor);
  await closeTo(stretched.learned.embedding, numbersOf(learned.embedding), 1e-9, "places");
  const near = await mds({ ...options, init: "classical", tol: 0, maxIter: 300 }).fit(plane.pow(3) as Tensor);
  const stress = Number(await near.learned.stress.item());
  assert.ok(stress < 0.01, `stress ${stress}`);
  // Classical scaling of the stretched distances is far from the plane.
  const first = await mds({ ...options, init: "classical", maxIter: 1 }).fit(plane.pow(3) as Tensor);
  assert.ok(Number(await first.learned.stress.item()) > 3 * stress);
  const four = await mds({ method: "nonMetric", nInit: 3, maxIter: 30 }).fit(f64([...x, x[0]!, x[0]!]));
  const found = Number(await four.learned.stress.item());
  assert.ok(found > 0 && found < 0.4, `${found}`);
});

test("classical scaling of samples gives their principal components, and of distances in the plane the plane", async () => {
  const { learned } = await mds({ method: "classical", nComponents: 3 }).fit(f64(x));
  const components = (await pca({ nComponents: 3 }).fit(f64(x))).transform(f64(x));
  await closeTo(learned.embedding.abs() as Tensor, numbersOf(components.abs() as Tensor), 1e-9, "components");
  const plane = distances(f64(x.map((row) => row.slice(0, 2))));
  const found = await mds({ method: "classical", metric: "precomputed" }).fit(plane);
  await closeTo(distances(found.learned.embedding), numbersOf(plane), 1e-7, "distances");
  assert.ok(Number(await found.learned.stress.item()) < 1e-12);
});

test("the best of several starts has the least stress of them, and a fit traces", async () => {
  const options = { nInit: 4, maxIter: 40, tol: 1e-6, seed: 2 };
  const stressFrom = async (given: MdsOptions) =>
    Number(await (await mds({ ...options, ...given }).fit(f64(x))).learned.stress.item());
  const starts = drawnPlaces(2, f64(x), 8).mul(distances(f64(x)).mean());
  const alone: number[] = [];
  for (let i = 0; i < 4; i++) alone.push(await stressFrom({ init: starts.at(":", `${2 * i}:${2 * i + 2}`) as Tensor }));
  const several = await stressFrom({});
  assert.ok(Math.abs(several - Math.min(...alone)) < 1e-9 * several, `${several} of ${alone}`);
  const traced = jit((samples: Tensor) => mds(options).fitTensors(samples, undefined as never).learned.stress)(f64(x));
  assert.ok(Math.abs(Number(await traced.item()) - several) < 1e-9 * several);
  const classical = await mds({ ...options, init: "classical" }).fit(f64(x));
  const start = await mds({ method: "classical" }).fit(f64(x));
  assert.ok(Number(await classical.learned.stress.item()) < Number(await start.learned.stress.item()));
});

test("f32 samples in the plane are found again", async () => {
  const plane = x.map((row) => row.slice(0, 2));
  const { learned } = await mds({ init: "classical", maxIter: 20 }).fit(plane, undefined, { device: "cpu" });
  await closeTo(distances(learned.embedding), numbersOf(distances(f64(plane))), 1e-3, "distances");
});

test("one sample, and wrong options", async () => {
  assert.deepEqual(numbersOf((await mds().fit([[3, 4]])).learned.stress), [0]);
  assert.deepEqual(numbersOf((await mds({ method: "nonMetric" }).fit([[3, 4]])).learned.stress), [0]);
  await assert.rejects(mds({ method: "classical", nComponents: 3 }).fit([[1], [2]]), /of 2 samples gives 2 at most/);
  await assert.rejects(mds({ metric: "precomputed" }).fit([[1, 2]]), /precomputed distances are \[samples, samples\]/);
  await assert.rejects(
    mds({ metric: "precomputed" }).fit([
      [0, 1],
      [2, 0],
    ]),
    /the same both ways/,
  );
  await assert.rejects(mds({ init: [[1, 2]] }).fit(x), /init has the shape \[1, 2\]/);
  assert.throws(() => mds({ method: "best" as never }), /it is "smacof" or "nonMetric" or "classical"/);
  assert.throws(() => mds({ init: "pca" as never }), /it is "random" or "classical"/);
  assert.throws(() => mds({ nInit: 0 }), /nInit/);
});
