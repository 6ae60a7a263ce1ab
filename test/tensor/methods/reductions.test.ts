/** Long sums, positions of extremes, counts, norms and covariance, against loops in f64. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ShapeError } from "../../../src/core/errors.js";
import { tensor, zeros } from "../../../src/tensor/index.js";
import {
  alongAxis,
  count,
  describeOnTensorDevices,
  dropAxis,
  expectTensor,
  floatDTypes,
  narrowDTypes,
  plainOf,
  read,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

/** The first position of the extreme; of a NaN where there is one. */
function firstExtreme(line: readonly number[], isBetter: (a: number, b: number) => boolean): number {
  const nan = line.findIndex(Number.isNaN);
  if (nan >= 0) return nan;
  return line.reduce((best, value, i) => (isBetter(value, line[best]!) ? i : best), 0);
}
const argmax = (line: readonly number[]) => firstExtreme(line, (a, b) => a > b);
const argmin = (line: readonly number[]) => firstExtreme(line, (a, b) => a < b);

describeOnTensorDevices("long sums down few columns", () => {
  for (const [rows, columns] of [
    [513, 1],
    [4096, 3],
    [4099, 5],
    [100_003, 2],
  ] as const) {
    test(`${rows} × ${columns}, in chunks that need not come out even, are exact`, () => {
      const values = Float32Array.from({ length: rows * columns }, (_, i) => i % 7);
      const want = new Array<number>(columns).fill(0);
      values.forEach((value, i) => {
        want[i % columns]! += value;
      });
      assert.deepEqual(
        tensor(values, { shape: [rows, columns] })
          .sum({ axis: 0 })
          .arraySync(),
        want,
      );
    });
  }
});

describeOnTensorDevices("argmax and argmin", () => {
  for (const dtype of [...realDTypes, ...narrowDTypes, "bool"] as const) {
    test(`of ${dtype}: the first of equal extremes, NaN first of all`, () => {
      const plain = { shape: [5, 7], values: sampleValues(dtype, 35, 5, true) };
      const x = toTensor(plain, dtype);
      expectTensor(
        x.argmax({ axis: 1 }),
        dropAxis(
          alongAxis(plain, 1, (line) => [argmax(line)]),
          1,
        ),
        "i32",
      );
      expectTensor(
        x.argmin({ axis: 1 }),
        dropAxis(
          alongAxis(plain, 1, (line) => [argmin(line)]),
          1,
        ),
        "i32",
      );
    });
  }

  test("along any axis of any view, with keepDims", () => {
    const plain = { shape: [2, 3, 4, 2], values: sampleValues("f32", 48, 6, true) };
    for (const { name, x } of viewsOf(plain, "f32")) {
      for (const axis of [0, 1, -1]) {
        const want = alongAxis(plain, axis, (line) => [argmax(line)]);
        expectTensor(x.argmax({ axis, keepDims: true }), want, "i32", undefined, `${name}, axis ${axis}`);
      }
    }
  });

  test("over all elements counts in row-major order", () => {
    const plain = { shape: [3, 5], values: sampleValues("f32", 15, 7) };
    const x = toTensor(plain, "f32");
    assert.equal(x.argmax().itemSync(), argmax(plain.values));
    assert.deepEqual(x.argmin({ keepDims: true }).arraySync(), [[argmin(plain.values)]]);
    assert.equal(tensor(4).argmax().itemSync(), 0);
  });

  test("of a long row", () => {
    const values = sampleValues("f32", 10007, 8);
    assert.equal(
      toTensor({ shape: [10007], values }, "f32")
        .argmax()
        .itemSync(),
      argmax(values),
    );
  });

  test("there is no extreme of nothing, but none is needed for no rows", () => {
    assert.throws(() => zeros([3, 0]).argmax({ axis: 1 }), { name: ShapeError.name, message: /argmax.*\[3, 0\]/ });
    assert.deepEqual(zeros([0, 3]).argmax({ axis: 1 }).shape, [0]);
    assert.throws(() => zeros([3]).argmin({ axis: 1 }), ShapeError);
  });
});

describeOnTensorDevices("max and min of booleans", () => {
  test("say whether any and whether all are true, as in NumPy", () => {
    const x = tensor([
      [true, false],
      [false, false],
      [true, true],
    ]);
    assert.deepEqual(x.max({ axis: 1 }).arraySync(), [true, false, true]);
    assert.deepEqual(x.min({ axis: 1, keepDims: true }).arraySync(), [[false], [false], [true]]);
    assert.equal(x.max().itemSync(), true);
    assert.deepEqual(x.windowMax([2, 1]).arraySync(), [
      [true, false],
      [true, true],
    ]);
    assert.throws(() => zeros([0], { dtype: "bool" }).max(), ShapeError);
  });
});

describeOnTensorDevices("countNonzero", () => {
  for (const dtype of [...realDTypes, ...narrowDTypes, "bool"] as const) {
    test(`of ${dtype}: NaN differs from zero, -0 does not`, () => {
      const plain = { shape: [4, 9], values: sampleValues(dtype, 36, 9, true).map((v, i) => (i % 5 === 0 ? 0 : v)) };
      const want = alongAxis(plain, 0, (line) => [line.filter((v) => v !== 0).length]);
      expectTensor(toTensor(plain, dtype).countNonzero({ axis: 0 }), dropAxis(want, 0), "i32");
    });
  }
});

describeOnTensorDevices("logsumexp and softmax of nothing", () => {
  test("the logarithm of no sum is -infinity, as scipy's", () => {
    const x = zeros([3, 0]);
    assert.deepEqual(x.logsumexp({ axis: 1 }).arraySync(), [-Infinity, -Infinity, -Infinity]);
    assert.deepEqual(x.logsumexp({ axis: 1, keepDims: true }).shape, [3, 1]);
    assert.deepEqual(x.logsumexp({ axis: 0 }).shape, [0]);
    assert.equal(x.logsumexp().itemSync(), -Infinity);
    assert.equal(zeros([0], { dtype: "f16" }).logsumexp().dtype, "f16");
    assert.equal(zeros([0], { dtype: "i32" }).logsumexp().dtype, "f32");
    assert.throws(() => zeros([0], { dtype: "c64" }).logsumexp(), /^DTypeError: logsumexp/);
    assert.throws(() => x.logsumexp({ axis: 2 }), /^\w+: logsumexp: axis 2/);
  });

  test("the shares of nothing are nothing", () => {
    for (const shape of [[3, 0], [0, 3], [0]]) {
      const shares = zeros(shape, { dtype: "bf16" }).softmax();
      assert.deepEqual([shares.shape, shares.dtype, shares.dataSync().length], [shape, "bf16", 0]);
    }
    assert.equal(zeros([2, 0], { dtype: "i32" }).softmax({ axis: 0 }).dtype, "f32");
    assert.throws(() => zeros([2, 0]).softmax({ axis: 2 }), /^\w+: softmax: axis 2/);
  });
});

describeOnTensorDevices("norm", () => {
  const oracle = (line: readonly number[], p: number): number => {
    const sizes = line.map(Math.abs);
    if (p === Infinity) return Math.max(...sizes);
    if (p === -Infinity) return Math.min(...sizes);
    if (p === 0) return sizes.filter((v) => v !== 0).length;
    return sizes.reduce((sum, v) => sum + v ** p, 0) ** (1 / p);
  };
  for (const dtype of floatDTypes) {
    test(`orders 0, 1, 2, 3, 0.5 and ±infinity of ${dtype}`, () => {
      const plain = { shape: [3, 11], values: sampleValues(dtype, 33, 10) };
      for (const order of [0, 1, 2, 3, 0.5, Infinity, -Infinity]) {
        const want = dropAxis(
          alongAxis(plain, 1, (line) => [oracle(line, order)]),
          1,
        );
        const relative = { bf16: 2e-2, f16: 2e-3, f32: 1e-5, f64: 1e-13 }[dtype];
        expectTensor(toTensor(plain, dtype).norm({ order, axis: 1 }), want, dtype, { relative }, `order ${order}`);
      }
    });
  }
  test("of integers is a float; over all axes by default; of nothing is zero", () => {
    assert.equal(
      tensor(
        [
          [3, 0],
          [0, 4],
        ],
        { dtype: "i32" },
      )
        .norm()
        .itemSync(),
      5,
    );
    assert.equal(zeros([0]).norm().itemSync(), 0);
    assert.throws(() => zeros([0]).norm({ order: Infinity }), ShapeError);
  });
});

describeOnTensorDevices("covariance", () => {
  test("a correction beyond the count divides by 0, as NumPy does", () => {
    const x = tensor([
      [1, 5],
      [3, 5],
      [2, 5],
    ]);
    assert.deepEqual(x.variance({ axis: 0, correction: 4 }).arraySync(), [Infinity, Number.NaN]);
    assert.deepEqual(x.std({ axis: 0, correction: 9 }).arraySync(), [Infinity, Number.NaN]);
    const [[first]] = x.covariance({ correction: 5 }).arraySync() as number[][];
    assert.equal(first, Infinity);
  });

  test("of columns, in batches, with a correction", () => {
    const plain = { shape: [2, 7, 3], values: sampleValues("f64", 42, 11) };
    for (const correction of [0, 1]) {
      const want = plainOf([2, 3, 3], ([batch, i, j]) => {
        const column = (v: number) => Array.from({ length: 7 }, (_, n) => read(plain, [batch!, n, v]));
        const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
        const [a, b] = [column(i!), column(j!)];
        const [ma, mb] = [mean(a), mean(b)];
        return a.reduce((sum, v, n) => sum + (v - ma) * (b[n]! - mb), 0) / (7 - correction);
      });
      for (const { name, x } of viewsOf(plain, "f64")) {
        expectTensor(x.covariance({ correction }), want, "f64", { absolute: 1e-12 }, name);
      }
    }
    assert.equal(count(plain.shape), 42);
    assert.throws(() => zeros([3]).covariance(), { name: ShapeError.name, message: /covariance/ });
  });
});
