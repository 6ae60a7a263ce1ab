/** Spectral clusters and embeddings against scikit-learn, and graphs whose parts are known. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor } from "../../../src/index.js";
import { spectralClustering, spectralEmbedding } from "../../../src/learn/index.js";
import { closeTo, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles, f64, numbersOf } from "../../support/tensors.js";
import { inFirstOrder } from "./cases.js";
import { graphCases } from "./graph-cases.js";

const { sets, spectral, embedding } = graphCases();

describeOnTensorDevices("spectral clusters", (device) => {
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  spectral.forEach(({ set, options, labels }, i) => {
    if (device !== "cpu" && i > 1) return;
    test(`${set}, ${JSON.stringify(options)}: scikit-learn's labels`, async () => {
      const { learned } = await spectralClustering(options).fit(of(sets[set], dtype));
      assert.deepEqual(inFirstOrder(numbersOf(learned.labels)), inFirstOrder(labels));
    });
  });

  embedding.forEach(({ set, options, places }, i) => {
    if (device !== "cpu" && i > 0) return;
    test(`${set}, ${JSON.stringify(options)}: scikit-learn's embedding, but for signs`, async () => {
      const found = spectralEmbedding(of(sets[set], dtype), options);
      const count = places[0]!.length;
      for (let j = 0; j < count; j++) {
        const [got, want] = [numbersOf(found.at(":", j) as Tensor), places.map((row) => row[j]!)];
        const sign = Math.sign(got.reduce((sum, value, k) => sum + value * want[k]!, 0));
        await closeTo(found.at(":", j).mul(sign) as Tensor, want, dtype === "f64" ? 1e-8 : 1e-3, `column ${j}`);
      }
    });
  });
});

test("moons in f32 have the same clusters, and a fit traces", async () => {
  const { options, labels } = spectral.find(({ set }) => set === "moons")!;
  const x = of(sets.moons, "f32");
  const traced = jit((samples: Tensor) => spectralClustering(options).fitTensors(samples, undefined as never))(x);
  assert.deepEqual(inFirstOrder(numbersOf(traced.learned.labels)), inFirstOrder(labels));
});

test("parts of a graph that one weak edge connects, and parts that none does, are clusters by every way", async () => {
  // Three rings of four; 0 and 4 touch weakly, 8 to 11 touch no other.
  const edge = (a: number, b: number): number =>
    a >> 2 === b >> 2 && (a - b) % 2 !== 0 ? 1 : Math.min(a, b) === 0 && Math.max(a, b) === 4 ? 0.01 : 0;
  const graph = Array.from({ length: 12 }, (_, a) => Array.from({ length: 12 }, (_, b) => edge(a, b)));
  for (const assignLabels of ["kMeans", "clusterQr", "discretize"] as const) {
    const { learned } = await spectralClustering({ nClusters: 3, affinity: "precomputed", assignLabels }).fit(
      f64(graph),
    );
    assert.deepEqual(inFirstOrder(numbersOf(learned.labels)), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], assignLabels);
  }
});

test("the embedding of a ring is a circle: cos and sin of 2πk/n, in closed form", async () => {
  const n = 16;
  const ring = Array.from({ length: n }, (_, a) =>
    Array.from({ length: n }, (_, b) => ((a - b + n) % n === 1 || (b - a + n) % n === 1 ? 1 : 0)),
  );
  const places = (await spectralEmbedding(f64(ring), { affinity: "precomputed" }).array()) as number[][];
  // Each vertex has two edges, so that a unit vector is divided by √2: radius √(2/n) / √2.
  for (const [a, [x, y]] of (places as [number, number][]).entries()) {
    assert.ok(Math.abs(Math.hypot(x, y) - Math.sqrt(1 / n)) < 1e-12);
    const [nextX, nextY] = places[(a + 1) % n] as [number, number];
    assert.ok(Math.abs((x * nextX + y * nextY) * n - Math.cos((2 * Math.PI) / n)) < 1e-10);
  }
});

test("one sample, samples that are all the same, and wrong options", async () => {
  assert.deepEqual(numbersOf((await spectralClustering({ nClusters: 1 }).fit([[3, 4]])).learned.labels), [0]);
  const same = await spectralClustering({ nClusters: 2 }).fit(Array(6).fill([1, 1]));
  assert.ok(numbersOf(same.learned.labels).every((label) => label === 0 || label === 1));
  await assert.rejects(
    spectralClustering({ nClusters: 3 }).fit([[1], [2]]),
    /nClusters is 3; it is a whole number from 1 to 2/,
  );
  await assert.rejects(
    spectralClustering({ nClusters: 1, affinity: "precomputed" }).fit([[1, 2]]),
    /affinities are \[samples, samples\], not \[1, 2\]/,
  );
  assert.throws(() => spectralClustering({ assignLabels: "best" as never }), /it is "kMeans" or "clusterQr" or/);
  assert.throws(() => spectralEmbedding([[1], [2]], { gamma: 0 }), /spectralEmbedding: gamma is 0/);
  assert.throws(() => spectralEmbedding([[1], [2]]), /nComponents is 2; it is a whole number from 1 to 1/);
});
