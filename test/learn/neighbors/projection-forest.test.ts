/** Neighbours by a random-projection forest, by NN-descent and LargeVis's graph, against all distances on the digits. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, random, type Tensor, tensor } from "../../../src/index.js";
import { largeVis, type Neighbors, nnDescent, randomProjectionForest } from "../../../src/learn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const images = (JSON.parse(readFileSync(resolve("test/learn/neighbors/digits.json"), "utf8")) as string[]).map(
  (image) => Array.from(image, (pixel) => Number.parseInt(pixel, 36)),
);

/** The square of the distance between two rows. */
function squareOf(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let c = 0; c < a.length; c++) sum += (a[c]! - b[c]!) ** 2;
  return sum;
}

/** Squared distances to the k-th nearest other sample, by looking at all. */
function farthestOf(rows: readonly (readonly number[])[], k: number): number[] {
  return rows.map((row, i) => {
    const all = Float64Array.from(rows, (other, j) => (i === j ? Number.POSITIVE_INFINITY : squareOf(row, other)));
    return all.sort()[k - 1]!;
  });
}

/** The share of true neighbours found: as near as the true k-th, in another place, and none twice. */
function recallOf(
  { indices, distances }: Neighbors,
  rows: readonly (readonly number[])[],
  farthest: readonly number[],
) {
  const [places, found] = [numbersOf(indices), numbersOf(distances)];
  const k = indices.shape[1] as number;
  let right = 0;
  rows.forEach((row, i) => {
    const own = places.slice(i * k, (i + 1) * k);
    assert.equal(new Set(own).size, k, `row ${i} has a neighbour twice: ${own}`);
    own.forEach((place, j) => {
      assert.notEqual(place, i);
      const square = squareOf(row, rows[place]!);
      assert.ok(Math.abs(found[i * k + j]! - Math.sqrt(square)) < 1e-3);
      if (square <= farthest[i]!) right++;
    });
  });
  return right / (rows.length * k);
}

const farthest = farthestOf(images, 10);
const digits = () => tensor(images, { device: "cpu" }) as Tensor;

test("a forest of 24 trees and leaves of 64 finds 0.95 of the ten neighbours of all digits", async () => {
  const model = await randomProjectionForest({ nTrees: 24, leafSize: 64, nNeighbors: 10 }).fit(digits());
  const recall = recallOf(model.kNeighbors(), images, farthest);
  assert.ok(recall >= 0.95, String(recall));
  // The samples themselves are found, as queries that are new.
  const { distances, indices } = model.kNeighbors(images.slice(0, 40), { nNeighbors: 1 });
  assert.deepEqual(numbersOf(indices), [...Array(40).keys()]);
  assert.ok(numbersOf(distances).every((distance) => distance === 0));
});

test("descent finds 0.98 of them where its forest of two trees finds far fewer", async () => {
  const x = digits();
  const few = { nTrees: 2, leafSize: 16, nNeighbors: 10 };
  const start = recallOf(nnDescent(x, { ...few, maxIter: 0 }), images, farthest);
  const recall = recallOf(nnDescent(x, few), images, farthest);
  assert.ok(start < 0.7 && recall >= 0.98, `${start}, then ${recall}`);
});

describeOnTensorDevices("graphs of neighbours", (device) => {
  const x = () => random.normal(random.key(2, { device }), [120, 5]) as Tensor;

  test("LargeVis's probabilities have the perplexity, and both directions of a pair the same weight", () => {
    const { conditional, indices, weights } = largeVis(x(), { nNeighbors: 12, perplexity: 4 });
    const [p, places, w] = [conditional, indices, weights].map(numbersOf) as [number[], number[], number[]];
    const edges = new Map(places.map((place, e) => [`${Math.floor(e / 12)} ${place}`, e]));
    for (let i = 0; i < 120; i++) {
      const row = p.slice(12 * i, 12 * i + 12);
      assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-5);
      assert.ok(
        Math.abs(Math.exp(-row.reduce((sum, value) => sum + (value > 0 ? value * Math.log(value) : 0), 0)) - 4) < 1e-3,
      );
    }
    let both = 0;
    places.forEach((place, e) => {
      const back = edges.get(`${place} ${Math.floor(e / 12)}`);
      const want = (p[e]! + (back === undefined ? 0 : p[back]!)) / 240;
      assert.ok(Math.abs(w[e]! - want) < 1e-7);
      if (back !== undefined) both++;
    });
    assert.ok(both > 100);
  });

  test("a jitted descent finds the neighbours of the plain one, which are the nearest", () => {
    const plain = nnDescent(x(), { nNeighbors: 4 });
    const jitted = jit((a: Tensor) => nnDescent(a, { nNeighbors: 4 }))(x());
    assert.deepEqual(numbersOf(jitted.indices), numbersOf(plain.indices));
    const rows = x().arraySync() as number[][];
    assert.ok(
      recallOf(
        plain,
        rows,
        farthestOf(rows, 4).map((square) => square * 1.00001),
      ) > 0.99,
    );
  });
});

test("wrong options are refused by name", () => {
  const rows = [[1], [2], [4]];
  assert.throws(() => nnDescent(rows, { nNeighbors: 3 }), /nnDescent: nNeighbors is 3; .* from 1 to 2/);
  assert.throws(
    () => largeVis(rows, { nNeighbors: 2, perplexity: 3 }),
    /perplexity is 3; it is a number from 1 to nNeighbors, 2/,
  );
  assert.throws(() => randomProjectionForest({ nTrees: 0 }), /nTrees is a whole number from 1 on/);
  assert.throws(() => nnDescent(rows, { trees: 3 } as object), /no option "trees"/);
});
