/** t-SNE against scikit-learn's: the same rounds from the same places, and embeddings as good; trustworthiness to the last digit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { trustworthiness, tsne } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, f64, numbersOf } from "../../support/tensors.js";
import { digits, tsneCases } from "./cases.js";

const { x, perplexity, start, afterThirty, iris, quality, trust } = tsneCases();
const device = "cpu";

describeOnTensorDevices("t-SNE", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  test("thirty rounds from the same places end where scikit-learn's do", async () => {
    const estimator = tsne({ perplexity, nNeighbors: x.length - 1, init: start, learningRate: 2, maxIter: 30 });
    const { learned } = await estimator.fit(of(x, dtype));
    await closeTo(learned.embedding, afterThirty, dtype === "f64" ? 1e-6 : 1e-2, "places");
    assert.deepEqual(numbersOf(learned.iterations), [30]);
  });

  test("trustworthiness is scikit-learn's", async () => {
    for (const { options, value } of device === "cpu" ? trust : trust.slice(0, 1)) {
      const places = iris.map((row) => row.slice(1, 3));
      await closeTo(trustworthiness(of(iris, dtype), places, options), value, 1e-6, JSON.stringify(options));
    }
  });
});

for (const [name, data] of [
  ["iris", iris],
  ["digits", digits(300)],
] as const) {
  test(`${name}: divergence and trustworthiness are as good as scikit-learn's`, async () => {
    const { options, klDivergence, trustworthiness: theirs } = quality[name];
    const { learned } = await tsne(options).fit(data, undefined, { device });
    const [divergence, trusted] = [learned.klDivergence, trustworthiness(data, learned.embedding, { device })];
    assert.ok(Number(await divergence.item()) < klDivergence * 1.03, `divergence ${await divergence.item()}`);
    assert.ok(Number(await trusted.item()) > theirs - 0.01, `trustworthiness ${await trusted.item()}`);
  });
}

test("distances in place of samples give the same neighbours; drawn places go by the seed", async () => {
  const squares = f64(x).expandDims(1).sub(f64(x)).square().sum({ axis: 2 });
  const options = { perplexity, maxIter: 50, learningRate: 2, init: "random", seed: 3 } as const;
  const places = async (made: ReturnType<typeof tsne>, data: Tensor) =>
    numbersOf((await made.fit(data)).learned.embedding);
  const plain = await places(tsne(options), f64(x));
  await closeTo(
    f64(await places(tsne({ ...options, metric: "precomputed" }), squares.sqrt() as Tensor)),
    plain,
    1e-6,
    "places",
  );
  assert.notDeepEqual(await places(tsne({ ...options, seed: 4 }), f64(x)), plain);
});

test("a watched fit tells of its rounds; it ends when the divergence does not fall", async () => {
  const steps: number[] = [];
  const run = tsne({ perplexity: 2, maxIter: 900, nIterWithoutProgress: 50 }).fit(x, undefined, { device });
  for await (const { step } of run) steps.push(step);
  const iterations = Number(await (await run).learned.iterations.item());
  assert.deepEqual(steps.slice(0, 3), [50, 100, 150]);
  assert.equal(steps.at(-1), iterations);
});

test("samples that are all the same stay together, with a divergence of 0; three components", async () => {
  const { learned } = await tsne({ perplexity: 2, maxIter: 60 }).fit(Array(5).fill([1, 1]), undefined, {
    dtype: "f64",
    device,
  });
  assert.ok(numbersOf(learned.embedding).every(Number.isFinite));
  const three = await tsne({ perplexity: 3, nComponents: 3, maxIter: 20 }).fit(x, undefined, { device });
  assert.deepEqual(three.learned.embedding.shape, [24, 3]);
});

test("wrong options are named, with what they may be", async () => {
  await assert.rejects(tsne().fit(x), /tsne\.fit: perplexity is 30; it is below the number of samples, 24/);
  await assert.rejects(
    tsne({ perplexity: 2, nNeighbors: 24 }).fit(x),
    /nNeighbors is 24; it is a whole number from 1 to 23, the number of other samples/,
  );
  await assert.rejects(tsne({ perplexity: 2, init: [[1, 2]] }).fit(x), /init has the shape \[1, 2\]; .* \[24, 2\]/);
  await assert.rejects(
    tsne({ perplexity: 2, metric: "precomputed" }).fit(x),
    /precomputed distances are \[samples, samples\]/,
  );
  await assert.rejects(
    tsne({ perplexity: 2, metric: "precomputed", init: "pca" }).fit(x.map((_, i) => x.map((_, j) => Math.abs(i - j)))),
    /distances have no components; use \{ init: "random" \}/,
  );
  assert.throws(() => tsne({ init: "best" as never }), /tsne: init is "best"; it is "pca" or "random"/);
  assert.throws(() => tsne({ init: [[1, Number.NaN]] }), /places are rows of finite numbers/);
  assert.throws(() => tsne({ learningRate: 0 }), /learningRate is 0; it is a number above zero/);
  assert.throws(() => tsne({ learningRate: "fast" as never }), /a number above zero, or "auto"/);
  assert.throws(() => tsne({ perplexity: 0.5 }), /perplexity is 0.5/);
  assert.throws(() => tsne({ maxIter: 1.5 }), /maxIter/);
  assert.throws(() => trustworthiness(x, start, { nNeighbors: 12 }), /nNeighbors is 12, and there are 24 samples/);
  assert.throws(() => trustworthiness(x, start.slice(1)), /there are 24 samples and 23 places/);
});
