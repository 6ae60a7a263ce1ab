/** Losses of vectors: cosine, contrastive, triplets, InfoNCE, NT-Xent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, grad, type Tensor, tensor } from "../../../src/index.js";
import { losses } from "../../../src/nn/index.js";
import { drawn, near, testLossesAgainstTorch, testSlopes } from "../../support/loss-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { contrastive, cosineSimilarity, infoNCE, ntXent, triplet } = losses;
const each = { reduction: "none" } as const;

testLossesAgainstTorch({
  cosineSimilarity: ([a, b], _, o) => cosineSimilarity(a!, b!, o),
  triplet: ([a, b, c], _, o) => triplet(a!, { positive: b!, negative: c! }, o),
  "triplet swap": ([a, b, c], _, o) => triplet(a!, { positive: b!, negative: c! }, { ...o, margin: 2, swap: true }),
  infoNCE: ([a, b], _, o) => infoNCE(a!, b!, { ...o, temperature: 0.2 }),
});

const vectors = drawn([4, 3], -2, 2);
testSlopes({
  cosineSimilarity: [cosineSimilarity, vectors, vectors],
  contrastive: [(d) => contrastive(d, f64([1, 0, 1, 0]), { margin: 3 }), drawn([4], 0.5, 2)],
  triplet: [(a, b, c) => triplet(a, { positive: b, negative: c }, { margin: 9 }), vectors, vectors, vectors],
  infoNCE: [(a, b) => infoNCE(a, b, { temperature: 0.5 }), vectors, vectors],
  "infoNCE of both directions": [(a, b) => infoNCE(a, b, { symmetric: true, normalize: false }), vectors, vectors],
  ntXent: [ntXent, vectors, vectors],
});

/** The loss of SimCLR by loops. */
function plainNtXent(a: readonly number[][], b: readonly number[][], temperature: number): number[] {
  const all = [...a, ...b];
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, v, i) => sum + v * y[i]!, 0);
  const similar = (i: number, j: number) =>
    dot(all[i]!, all[j]!) / Math.sqrt(dot(all[i]!, all[i]!) * dot(all[j]!, all[j]!)) / temperature;
  return all.map((_, i) => {
    const others = all.map((_, j) => j).filter((j) => j !== i);
    const right = (i + a.length) % all.length;
    return Math.log(others.reduce((sum, j) => sum + Math.exp(similar(i, j)), 0)) - similar(i, right);
  });
}

test("ntXent is the loss of SimCLR, and symmetric in its views", () => {
  const a = [[1, 2, 0.5], [-1, 0.3, 2], [0.2, -2, 1]]; // biome-ignore format: rows
  const b = [[1.2, 1.8, 0.1], [-0.5, 0.6, 1.5], [2, 1, -1]]; // biome-ignore format: rows
  const found = numbersOf(ntXent(f64(a), f64(b), { ...each, temperature: 0.3 }));
  near(found, plainNtXent(a, b, 0.3), 1e-12, "losses");
  const turned = numbersOf(ntXent(f64(b), f64(a), { ...each, temperature: 0.3 }));
  near([...turned.slice(3), ...turned.slice(0, 3)], found, 1e-12, "turned");
});

test("contrastive pulls pairs together up to nothing and others apart up to the margin", () => {
  const d = f64([0.5, 0.5, 2]);
  near(numbersOf(contrastive(d, f64([1, 0, 0]), each)), [0.25, 0.25, 0], 1e-12, "losses");
});

test("vectors of zeros and equal vectors have finite slopes", () => {
  const [zero, one] = [f64([[0, 0]]), f64([[1, 2]])];
  assert.deepEqual(numbersOf(cosineSimilarity(zero, one)), [1]);
  const both = (x: Tensor) => cosineSimilarity(x, concat([one, one])).add(triplet(x, { positive: x, negative: x }));
  assert.ok(numbersOf(grad(both)(concat([zero, one]))).every(Number.isFinite));
});

test("temperatures, shapes and targets that do not fit are refused", () => {
  const [a, b] = [f64([[1, 2]]), f64([[1, 2], [3, 4]])]; // biome-ignore format: rows
  assert.throws(() => infoNCE(a, b), { name: "ShapeError", message: /^infoNCE/ });
  assert.throws(() => ntXent(a, a, { temperature: 0 }), { name: "ArgumentError", message: /temperature is a number/ });
  assert.throws(() => ntXent(f64([1, 2]), f64([1, 2])), { name: "ShapeError", message: /vectors in rows, \[n, d\]/ });
  assert.throws(() => triplet(a, null as never), { name: "ArgumentError", message: /\{ positive, negative \}/ });
});

describeOnTensorDevices("cosines of vectors far from 1", (device) => {
  test("keep their digits in f32, values and slopes", () => {
    const [a, b] = [[1, 2, -0.5], [2, 1, 0.25]]; // biome-ignore format: vectors
    const on = (values: readonly number[], factor: number) =>
      tensor([values.map((value) => value * factor)], { dtype: "f32", device });
    const wanted = numbersOf(cosineSimilarity(f64([a]), f64([b])));
    const slope = numbersOf(grad((x: Tensor) => cosineSimilarity(x, f64([b])))(f64([a])));
    for (const factor of [1e-25, 1, 1e25]) {
      const [x, y] = [on(a, factor), on(b, factor)];
      near(numbersOf(cosineSimilarity(x, y)), wanted, 1e-6, `${factor}`);
      const found = numbersOf(grad((each: Tensor) => cosineSimilarity(each, y))(x)).map((each) => each * factor);
      near(found, slope, 1e-6, `the slope at ${factor}`);
    }
    near(numbersOf(infoNCE(on(a, 1e-25), on(b, 1e25))), [0], 1e-6, "one pair");
  });
});
