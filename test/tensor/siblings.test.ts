/** Values that are asked for together share kernels. Counted on every device, and compared with plain loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { backendOf } from "../../src/tensor/build.js";
import { type Tensor, tensor } from "../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

/** Computes tensors together and says how many kernels that took. */
function kernelsFor(...tensors: Tensor[]): number {
  const backend = backendOf(tensors[0]!.node);
  const before = backend.counters.kernels;
  backend.realize(tensors.map((t) => t.node));
  return backend.counters.kernels - before;
}

function assertClose(actual: Tensor, expected: readonly number[], relative = 1e-5): void {
  const values = numbersOf(actual);
  assert.equal(values.length, expected.length);
  expected.forEach((want, i) => {
    const got = values[i]!;
    assert.ok(Math.abs(got - want) <= relative * Math.max(1, Math.abs(want)), `element ${i} is ${got}, not ${want}`);
  });
}

const rows = 200;
const columns = 300;
const data = Float32Array.from({ length: rows * columns }, (_, i) => ((i * 7919) % 1000) / 100 - 3);
const rowsOf = (values: Float32Array): number[][] =>
  Array.from({ length: rows }, (_, i) => Array.from(values.subarray(i * columns, (i + 1) * columns)));
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const variance = (values: readonly number[]): number => {
  const mean = total(values) / values.length;
  return total(values.map((value) => (value - mean) ** 2)) / values.length;
};

describeOnTensorDevices("siblings", () => {
  const matrix = () => tensor(data, { shape: [rows, columns] });

  test("two sums of the same data are one kernel", () => {
    const x = matrix();
    const [sums, squares] = [x.sum({ axis: 1 }), x.square().sum({ axis: 1 })];
    assert.equal(kernelsFor(sums, squares), 1);
    assertClose(sums, rowsOf(data).map(total));
    assertClose(
      squares,
      rowsOf(data).map((row) => total(row.map((value) => value * value))),
    );
  });

  test("a mean and a variance along rows are one kernel", () => {
    const x = matrix();
    const [mean, spread] = [x.mean({ axis: 1, keepDims: true }), x.variance({ axis: 1 })];
    assert.equal(kernelsFor(mean, spread), 1);
    assertClose(
      mean,
      rowsOf(data).map((row) => total(row) / columns),
    );
    assertClose(spread, rowsOf(data).map(variance));
  });

  test("a softmax and the largest element are one kernel", () => {
    const x = matrix();
    const [shares, largest] = [x.softmax(), x.max({ axis: 1 })];
    assert.equal(kernelsFor(shares, largest), 1);
    assertClose(
      largest,
      rowsOf(data).map((row) => Math.max(...row)),
    );
    assertClose(
      shares,
      rowsOf(data).flatMap((row) => {
        const powers = row.map((value) => Math.exp(value - Math.max(...row)));
        return powers.map((power) => power / total(powers));
      }),
    );
  });

  test("an Adam step is one kernel", () => {
    const g = matrix();
    const [p, m, v] = [0.5, 0.25, 2].map((scale) =>
      tensor(
        data.map((value) => scale * Math.abs(value)),
        { shape: [rows, columns] },
      ),
    );
    const first = m!.mul(0.9).add(g.mul(0.1));
    const second = v!.mul(0.99).add(g.square().mul(0.01));
    const next = p!.sub(first.div(second.sqrt().add(1e-3)).mul(0.1));
    assert.equal(kernelsFor(next, first, second), 1);
    const wanted = Array.from(data, (value) => {
      const [mean, square] = [
        0.9 * 0.25 * Math.abs(value) + 0.1 * value,
        0.99 * 2 * Math.abs(value) + 0.01 * value ** 2,
      ];
      return { mean, square, next: 0.5 * Math.abs(value) - (0.1 * mean) / (Math.sqrt(square) + 1e-3) };
    });
    assertClose(
      first,
      wanted.map(({ mean }) => mean),
    );
    assertClose(
      second,
      wanted.map(({ square }) => square),
    );
    assertClose(
      next,
      wanted.map((w) => w.next),
    );
  });

  test("a log-likelihood and its gradients are one pass over the data and one over its partial sums", () => {
    const n = 200_000;
    const values = Float32Array.from({ length: n }, (_, i) => ((i * 7919) % 1000) / 500 - 1);
    const x = tensor(values);
    const [location, scale] = [tensor([0.25]), tensor([2])];
    const z = x.sub(location).div(scale);
    const likelihood = z.square().sum().mul(-0.5);
    const byLocation = z.div(scale).sum();
    const byScale = z.square().sub(1).div(scale).sum();
    assert.equal(kernelsFor(likelihood, byLocation, byScale), 2);
    const scores = Array.from(values, (value) => (value - 0.25) / 2);
    assertClose(likelihood, [-0.5 * total(scores.map((s) => s * s))]);
    assertClose(byLocation, [total(scores) / 2]);
    assertClose(byScale, [total(scores.map((s) => (s * s - 1) / 2))]);
  });

  test("a reduction that is padded is not read outside its bounds", () => {
    const x = matrix();
    const padded = x.sum({ axis: 1 }).pad([[1_000_000, 3]]);
    const sums = rowsOf(data).map(total);
    assertClose(padded.at("999998:"), [0, 0, ...sums, 0, 0, 0]);
  });
});
