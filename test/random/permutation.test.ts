/** Random order and drawing from elements. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as random from "../../src/random/index.js";
import { arange, type Tensor, tensor } from "../../src/tensor/index.js";
import { expectFrequencies, expectMoments } from "../support/goodness-of-fit.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const drawn = (x: Tensor): number[] => Array.from(x.dataSync() as ArrayLike<number>, Number);
const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describeOnTensorDevices("permutation and shuffle", () => {
  test("every number comes once, at every size", () => {
    for (const n of [0, 1, 2, 7, 100, 3000]) {
      assert.deepEqual(sorted(drawn(random.permutation(random.key(n), n))), upTo(n), `${n}`);
    }
  });

  test("sorts by the bits of the second key of each split, as JAX does", () => {
    const n = 20;
    const bits = drawn(random.bits(random.split(random.key(5))[1]!, [n]));
    const order = upTo(n).sort((a, b) => bits[a]! - bits[b]!);
    assert.deepEqual(drawn(random.permutation(random.key(5), n)), order);
  });

  test("all orders are equally likely", () => {
    const lines = 6000;
    const x = arange(4).expandDims(0).broadcastTo([lines, 4]);
    const flat = drawn(random.shuffle(random.key(6), x, { axis: 1, independent: true }));
    const counts = new Map<string, number>();
    for (let i = 0; i < lines; i++) {
      const order = flat.slice(4 * i, 4 * i + 4);
      assert.deepEqual(sorted(order), upTo(4));
      counts.set(order.join(), (counts.get(order.join()) ?? 0) + 1);
    }
    assert.equal(counts.size, 24);
    expectFrequencies([...counts.values()], new Array(24).fill(1 / 24), "orders");
  });

  test("shuffle moves whole slices along an axis", () => {
    const x = arange(12).reshape(3, 4);
    const columns = random.shuffle(random.key(7), x, { axis: 1 });
    const order = drawn(random.permutation(random.key(7), 4));
    assert.deepEqual(
      columns.arraySync(),
      (x.arraySync() as number[][]).map((row) => order.map((j) => row[j])),
    );
    assert.deepEqual(random.shuffle(random.key(7), x).shape, [3, 4]);
  });
});

describeOnTensorDevices("choice", () => {
  const N = 20000;
  const counts = (values: readonly number[], cells: number) =>
    upTo(cells).map((cell) => values.filter((value) => value === cell).length);

  test("with replacement: uniform, or by weights that need not add up to 1", () => {
    const flat = drawn(random.choice(random.key(1), 5, { shape: [N] }));
    expectFrequencies(counts(flat, 5), new Array(5).fill(0.2), "uniform");
    const p = tensor([1, 0, 3, 4]);
    const weighted = drawn(random.choice(random.key(2), 4, { shape: [N], p }));
    expectFrequencies(counts(weighted, 4), [1 / 8, 0, 3 / 8, 1 / 2], "weighted");
  });

  test("without replacement: distinct; the first follows the weights", () => {
    assert.deepEqual(sorted(drawn(random.choice(random.key(3), 6, { shape: [6], replace: false }))), upTo(6));
    const p = tensor([0.5, 0.25, 0.25]);
    const firsts: number[] = [];
    for (const key of random.split(random.key(4), 300)) {
      const pair = drawn(random.choice(key, 3, { shape: [2], replace: false, p }));
      assert.notEqual(pair[0], pair[1]);
      firsts.push(pair[0]!);
    }
    expectFrequencies(counts(firsts, 3), [0.5, 0.25, 0.25], "first draws");
  });

  test("elements of a tensor along an axis, in any shape", () => {
    const x = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const rows = random.choice(random.key(5), x, { shape: [4] });
    assert.deepEqual(rows.shape, [4, 3]);
    const columns = random.choice(random.key(5), x, { shape: [2, 2], axis: 1 });
    assert.deepEqual(columns.shape, [2, 2, 2]);
    assert.deepEqual(random.choice(random.key(5), tensor([7])).itemSync(), 7);
  });

  test("misuse is explained", () => {
    assert.throws(() => random.choice(random.key(0), 3, { shape: [4], replace: false }), /draw fewer, or use/);
    assert.throws(() => random.choice(random.key(0), 0, { shape: [1] }), /1 draws from 0 elements/);
    assert.throws(() => random.choice(random.key(0), 3, { p: tensor([1, 2]) }), /weights p of \[2\] for 3 elements/);
  });
});

describeOnTensorDevices("multivariateNormal", () => {
  test("has the mean and the covariance", () => {
    const N = 20000;
    const mean = tensor([1, -2]);
    const covariance = tensor([
      [2, 1.2],
      [1.2, 1],
    ]);
    const x = random.multivariateNormal(random.key(1), mean, covariance, [N]);
    assert.deepEqual(x.shape, [N, 2]);
    const [first, second] = [drawn(x.at(":", 0)), drawn(x.at(":", 1))];
    expectMoments(first, { mean: 1, variance: 2, kurtosis: 3 }, "first");
    expectMoments(second, { mean: -2, variance: 1, kurtosis: 3 }, "second");
    const difference = first.map((value, i) => value - 1.2 * second[i]!);
    // Var(x - 1.2 y) = 2 - 2·1.2·1.2 + 1.44
    expectMoments(difference, { mean: 3.4, variance: 0.56, kurtosis: 3 }, "difference");
  });

  test("batches of means and covariances", () => {
    const mean = tensor([
      [0, 0],
      [10, 10],
      [20, 20],
    ]);
    const covariance = tensor([
      [1, 0],
      [0, 1],
    ]);
    const x = random.multivariateNormal(random.key(2), mean, covariance, undefined, { dtype: "f64" });
    assert.deepEqual([x.shape, x.dtype], [[3, 2], "f64"]);
    assert.throws(() => random.multivariateNormal(random.key(2), tensor([1, 2, 3]), covariance), /\[\.\., n, n\]/);
  });
});
