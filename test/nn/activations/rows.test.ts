/** Activations of an axis: values, gradients, digits, kernels. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, grad, jit, random, type Tensor, tensor, where } from "../../../src/index.js";
import { activations } from "../../../src/nn/index.js";
import { testAgainstTorch } from "../../support/activation-cases.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { softmax, logSoftmax, logSumExp, sparsemax } = activations;

testAgainstTorch({ softmax, logSoftmax, logSumExp });

/** log(softmax) of a row, in plain JavaScript. */
function logShares(row: readonly number[]): number[] {
  const largest = Math.max(...row);
  const total = row.reduce((sum, x) => sum + Math.exp(x - largest), 0);
  return row.map((x) => x - largest - Math.log(total));
}

function isNear(got: readonly number[], want: readonly number[], tolerance: number): void {
  assert.equal(got.length, want.length);
  got.forEach((value, i) => {
    assert.ok(Math.abs(value - want[i]!) <= tolerance, `element ${i} is ${value}, not ${want[i]}`);
  });
}

/** The nearest point of the simplex, by bisection of the threshold. */
function nearest(row: readonly number[]): number[] {
  let [low, high] = [Math.min(...row) - 1, Math.max(...row)];
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (row.reduce((sum, x) => sum + Math.max(x - middle, 0), 0) > 1) low = middle;
    else high = middle;
  }
  return row.map((x) => Math.max(x - (low + high) / 2, 0));
}

describeOnTensorDevices("logSoftmax", () => {
  test("keeps its digits where x - logsumexp(x) has lost them", () => {
    const rows = [[10_000, 10_001, 10_002.5], [-3e4, -3e4 + 0.125, -3e4 - 7], [0, 1e-3, -2e-3]]; // biome-ignore format: rows
    const values = numbersOf(logSoftmax(tensor(rows)));
    rows.flatMap(logShares).forEach((want, i) => {
      assert.ok(Math.abs(values[i]! / want - 1) < 3e-7, `element ${i} is ${values[i]}, not ${want}`);
    });
  });

  test("has the gradient g - softmax·Σg, also where elements are -infinity", () => {
    const row = [1, -Infinity, 3, 2.5];
    const g = [0.5, 2, -1, 4];
    const total = g[0]! + g[2]! + g[3]!;
    const isThere = tensor([true, false, true, true]);
    const loss = (x: Tensor) => where(isThere, logSoftmax(x).mul(tensor(g)), 0).sum();
    numbersOf(grad(loss)(tensor(row))).forEach((value, i) => {
      const want = (i === 1 ? 0 : g[i]!) - Math.exp(logShares(row)[i]!) * total;
      assert.ok(Math.abs(value - want) < 1e-6, `element ${i} is ${value}, not ${want}`);
    });
  });

  test("is one kernel, and its gradient too", () => {
    const x = random.normal(random.key(0), [1024, 128]).realize();
    const y = random.normal(random.key(1), [1024, 128]).realize();
    const slope = grad((at: Tensor) => logSoftmax(at).mul(y).sum())(x);
    for (const result of [logSoftmax(x), slope]) assert.match(String(explain(result)), /: 1 kernel\n/);
  });

  test("takes any axis, and rounds bf16 once", () => {
    const x = f64([[1, 2, 4], [3, -1, 0]]); // biome-ignore format: rows
    const columns = [[1, 3], [2, -1], [4, 0]]; // biome-ignore format: columns
    isNear(numbersOf(logSoftmax(x, { axis: 0 }).T), columns.flatMap(logShares), 1e-14);
    const narrow = tensor([1, 2, 4]).cast("bf16");
    assert.equal(logSoftmax(narrow).dtype, "bf16");
    assert.deepEqual(numbersOf(logSoftmax(narrow)), numbersOf(logSoftmax(narrow.cast("f32")).cast("bf16")));
  });
});

describeOnTensorDevices("sparsemax", () => {
  const rows = [[0.1, 1.1, 0.2, 0.9], [5, 1, 1, 1], [0.3, 0.3, 0.3, 0.3], [-1, -1.2, 2, 2]]; // biome-ignore format: rows
  test("is the nearest point of the simplex", () => {
    const values = numbersOf(sparsemax(tensor(rows)));
    isNear(values, rows.flatMap(nearest), 1e-6);
    assert.equal(values.filter((value) => value === 0).length, 7);
  });
  test("has the gradient of the projection: g less its mean, on the elements above zero", () => {
    const g = [1, -2, 0.5, 3];
    const slopes = numbersOf(grad((x: Tensor) => sparsemax(x).mul(tensor(g)).sum())(tensor(rows)));
    const want = rows.flatMap((row) => {
      const on = nearest(row).map((p) => p > 1e-9);
      const mean = g.reduce((sum, v, i) => sum + (on[i] ? v : 0), 0) / on.filter(Boolean).length;
      return g.map((v, i) => (on[i] ? v - mean : 0));
    });
    isNear(slopes, want, 1e-6);
  });
});

test("logSumExp keeps the axis unless told, and empty tensors stay empty", async () => {
  const x = f64([[0, Math.log(3)]]);
  assert.deepEqual(logSumExp(x).shape, [1, 1]);
  assert.ok(Math.abs(Number(await logSumExp(x, { keepDims: false }).item()) - Math.log(4)) < 1e-15);
  const none = tensor([], { shape: [0, 3], device: "cpu" });
  for (const f of [softmax, logSoftmax, sparsemax]) assert.deepEqual(f(none).shape, [0, 3]);
  assert.deepEqual(jit(logSoftmax)(none).shape, [0, 3]);
});
