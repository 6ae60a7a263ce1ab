/** The probabilities of t-SNE, its divergence and its gradient against scikit-learn and finite differences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import { neighborGraph } from "../../../src/learn/manifold/neighbor-graph.js";
import { type Attraction, attractionOf, forcesAt } from "../../../src/learn/manifold/t-sne-forces.js";
import { closeTo, dtypesOf, of } from "../../support/learn-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { tsneCases } from "./cases.js";

const { x, places, perplexity, joint, klDivergence, gradient } = tsneCases();
const all = x.length - 1;

const attraction = (samples: Tensor, nNeighbors = all): Promise<Attraction> =>
  attractionOf(neighborGraph("test", samples, nNeighbors, {}), perplexity);

/** Rows of edges as a matrix of all pairs. */
function dense({ edges }: Attraction): number[][] {
  const found = x.map(() => new Array<number>(x.length).fill(0));
  const [owners, others, weights] = [edges.owners, edges.others, edges.weights].map(numbersOf) as [
    number[],
    number[],
    number[],
  ];
  const width = others.length / owners.length;
  weights.forEach((weight, e) => {
    const owner = owners[Math.floor(e / width)]!;
    found[owner]![others[e]!]! += weight;
  });
  return found;
}

describeOnTensorDevices("t-SNE's forces", (device) => {
  for (const dtype of dtypesOf(device, true)) {
    const within = dtype === "f64" ? 1e-8 : 2e-5;
    test(`${dtype}: probabilities of pairs, the divergence and its gradient are scikit-learn's`, async () => {
      const attracted = await attraction(of(x, dtype));
      await closeTo(f64(dense(attracted)), joint, within, "probabilities");
      const found = forcesAt(of(places, dtype).T as Tensor, attracted, 1);
      await closeTo(found.divergence, klDivergence, within, "the divergence");
      await closeTo(found.gradient.T as Tensor, gradient, within, "the gradient");
    });
  }
});

test("the gradient is the slope of the divergence, with one, two and three components, and few neighbours", async () => {
  for (const components of [1, 2, 3]) {
    const attracted = await attraction(f64(x), 7);
    const at = Array.from({ length: components }, (_, i) => places.map(([a = 0, b = 0]) => a * (i + 1) - b * i * i));
    const divergence = async (matrix: number[][]) =>
      Number(await forcesAt(f64(matrix), attracted, 1).divergence.item());
    const found = (await forcesAt(f64(at), attracted, 1).gradient.array()) as number[][];
    for (const [i, j] of [
      [0, 0],
      [components - 1, 5],
      [0, 23],
    ] as const) {
      const step = 1e-5;
      const moved = (by: number) => at.map((row, a) => row.map((v, b) => (a === i && b === j ? v + by : v)));
      const slope = ((await divergence(moved(step))) - (await divergence(moved(-step)))) / (2 * step);
      assert.ok(Math.abs(found[i]![j]! - slope) < 1e-8, `${components} components: ${found[i]![j]} and ${slope}`);
    }
  }
});

test("samples at one place are pairs like others, and far apart sums keep their digits in f32", async () => {
  const attracted = await attractionOf(neighborGraph("test", of([[0], [1], [2]], "f32"), 2, {}), 1.5);
  const at = (places: number[][]) => forcesAt(of([places.map(([p]) => p!)], "f32"), attracted, 1).divergence.item();
  const exact = forcesAt(
    f64([[0, 5000, 11000]]),
    await attractionOf(neighborGraph("test", f64([[0], [1], [2]]), 2, {}), 1.5),
    1,
  );
  const far = Number(await at([[0], [5000], [11000]]));
  assert.ok(Math.abs(far - Number(await exact.divergence.item())) < 1e-4 * far);
  // All pairs are equally near: q is 1/6 for each, p is whatever the samples say.
  const p = numbersOf(attracted.edges.weights).filter((weight) => weight > 0);
  const joined = new Map<string, number>();
  const [owners, others] = [numbersOf(attracted.edges.owners), numbersOf(attracted.edges.others)];
  numbersOf(attracted.edges.weights).forEach((weight, e) => {
    const pair = `${owners[Math.floor(e / (others.length / owners.length))]} ${others[e]}`;
    joined.set(pair, (joined.get(pair) ?? 0) + weight);
  });
  const wanted = [...joined.values()].filter((v) => v > 0).reduce((sum, v) => sum + v * Math.log(6 * v), 0);
  assert.ok(p.length > 0 && Math.abs(Number(await at([[3], [3], [3]])) - wanted) < 1e-5);
});
