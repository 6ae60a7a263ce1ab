/** matmul and its relatives, against the definition: one loop per index, in f64. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { castScalar } from "../../../src/core/cast.js";
import { type DType, isInteger } from "../../../src/core/dtype.js";
import { ArgumentError, ShapeError } from "../../../src/core/errors.js";
import { backendFor, type Tensor } from "../../../src/tensor/index.js";
import { sumOfProducts } from "../../support/contraction-oracle.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  narrowDTypes,
  type Plain,
  plainOf,
  read,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

const sample = (shape: readonly number[], seed: number, dtype: DType = "f32"): Plain => ({
  shape,
  values: sampleValues(dtype, count(shape), seed),
});

/** The samples are multiples of 1/4 below 10, so sums of a few are exact in f32; f16 and bf16 round once at the end. */
const inDType = (plain: Plain, dtype: DType): Plain => ({
  ...plain,
  values: plain.values.map((value) => Number(castScalar(value, isInteger(dtype) ? "i64" : "f64", dtype))),
});

describeOnTensorDevices("matmul", () => {
  // Letters of both operands and of the result, with the shapes NumPy's rules give them.
  const cases: [readonly number[], readonly number[], readonly [string, string, string]][] = [
    [
      [3, 4],
      [4, 5],
      ["ij", "jk", "ik"],
    ],
    [
      [1, 1],
      [1, 1],
      ["ij", "jk", "ik"],
    ],
    [
      [7, 13],
      [13, 11],
      ["ij", "jk", "ik"],
    ],
    [[4], [4], ["j", "j", ""]],
    [[4], [4, 3], ["j", "jk", "k"]],
    [[2, 4], [4], ["ij", "j", "i"]],
    [
      [2, 3, 4],
      [4, 5],
      ["bij", "jk", "bik"],
    ],
    [
      [2, 3, 4],
      [2, 4, 5],
      ["bij", "bjk", "bik"],
    ],
    [
      [3, 4],
      [2, 4, 5],
      ["ij", "bjk", "bik"],
    ],
    [
      [2, 3, 1, 2, 3],
      [2, 3, 4, 3, 2],
      ["abcij", "abdjk", "abdik"],
    ],
    [[5, 2, 4], [4], ["bij", "j", "bi"]],
    [[4], [3, 4, 2], ["j", "bjk", "bk"]],
    [
      [0, 4],
      [4, 5],
      ["ij", "jk", "ik"],
    ],
    [
      [3, 0],
      [0, 5],
      ["ij", "jk", "ik"],
    ],
    [
      [2, 0, 4],
      [4, 3],
      ["bij", "jk", "bik"],
    ],
    [
      [3, 70],
      [70, 2],
      ["ij", "jk", "ik"],
    ],
    [
      [1, 300],
      [300, 1],
      ["ij", "jk", "ik"],
    ],
    [
      [130, 3],
      [3, 131],
      ["ij", "jk", "ik"],
    ],
  ];
  for (const [left, right, [a, b, out]] of cases) {
    test(`[${left}] × [${right}]`, () => {
      const [x, y] = [sample(left, 1), sample(right, 2)];
      expectTensor(toTensor(x, "f32").matmul(toTensor(y, "f32")), sumOfProducts([a, b], out, [x, y]), "f32", {});
    });
  }

  test("leading axes broadcast on both sides", () => {
    const [x, y] = [sample([5, 1, 2, 3], 3), sample([4, 3, 2], 4)];
    const expected = sumOfProducts(["aij", "bjk"], "abik", [{ ...x, shape: [5, 2, 3] }, y]);
    expectTensor(toTensor(x, "f32").matmul(toTensor(y, "f32")), expected, "f32", {});
  });

  for (const dtype of [...realDTypes, ...narrowDTypes]) {
    test(`of ${dtype}: integers wrap, f16 and bf16 are added up in f32`, () => {
      const [x, y] = [sample([5, 9], 5, dtype), sample([9, 3], 6, dtype)];
      const expected = inDType(sumOfProducts(["ij", "jk"], "ik", [x, y]), dtype);
      expectTensor(toTensor(x, dtype).matmul(toTensor(y, dtype)), expected, dtype, {});
    });
  }

  test("of bool: whether any pair is true", () => {
    const [x, y] = [sample([6, 5], 7, "bool"), sample([5, 4], 8, "bool")];
    const sums = sumOfProducts(["ij", "jk"], "ik", [x, y]);
    const expected = { ...sums, values: sums.values.map((value) => Number(value > 0)) };
    expectTensor(toTensor(x, "bool").matmul(toTensor(y, "bool")), expected, "bool");
  });

  test("of mixed dtypes: promoted", () => {
    const [x, y] = [sample([2, 3], 9, "i32"), sample([3, 2], 10, "f32")];
    const expected = sumOfProducts(["ij", "jk"], "ik", [x, y]);
    expectTensor(toTensor(x, "i32").matmul(toTensor(y, "f32")), expected, "f32", {});
  });

  test("of views gives what it gives of copies", () => {
    const [x, y] = [sample([4, 6], 11), sample([6, 5], 12)];
    const expected = sumOfProducts(["ij", "jk"], "ik", [x, y]);
    for (const left of viewsOf(x, "f32")) {
      for (const right of viewsOf(y, "f32")) {
        expectTensor(left.x.matmul(right.x), expected, "f32", {}, `${left.name} × ${right.name}`);
      }
    }
  });

  test("2000 f16 ones add up to 2000, which f16 sums would not", () => {
    const ones = plainOf([1, 4000], () => 1);
    const total = toTensor(ones, "f16").matmul(toTensor({ ...ones, shape: [4000, 1] }, "f16"));
    assert.deepEqual([...total.dataSync()], [4000]);
  });

  test("NaN and infinity pass through", () => {
    const x = toTensor({ shape: [1, 2], values: [Infinity, 1] }, "f32");
    const y = toTensor({ shape: [2, 3], values: [1, 0, -1, Number.NaN, 1, 1] }, "f32");
    assert.deepEqual([...x.matmul(y).dataSync()], [Number.NaN, Number.NaN, -Infinity]);
  });

  test("a product of three computes the inner one once, in a kernel of its own", (t) => {
    const [x, y, z] = [sample([6, 5], 13), sample([5, 7], 14), sample([7, 4], 15)];
    const expected = sumOfProducts(["ij", "jk", "kl"], "il", [x, y, z]);
    const [a, b, c] = [x, y, z].map((plain) => toTensor(plain, "f32"));
    const product = a!.matmul(b!).matmul(c!);
    const backend = backendFor();
    const before = backend.counters.kernels;
    expectTensor(product, expected, "f32", {});
    assert.equal(backend.counters.kernels - before, 2, t.name);
  });

  test("an operand that costs much is stored before it is used often, and one that costs little is not", () => {
    const [x, y] = [sample([6, 5], 16), sample([5, 7], 17)];
    const backend = backendFor();
    const kernelsOf = (operand: Tensor, of: (value: number) => number) => {
      const computed = { ...x, values: x.values.map(of) };
      const product = operand.matmul(toTensor(y, "f32"));
      const before = backend.counters.kernels;
      expectTensor(product, sumOfProducts(["ij", "jk"], "ik", [computed, y]), "f32", { absolute: 1e-5 });
      return backend.counters.kernels - before;
    };
    assert.equal(
      kernelsOf(toTensor(x, "f32").tanh(), (value) => Math.tanh(value)),
      2,
    );
    assert.equal(
      kernelsOf(toTensor(x, "f32").mul(2), (value) => 2 * value),
      1,
    );
  });

  test("misuse is explained", () => {
    const of = (shape: readonly number[]) => toTensor(sample(shape, 1), "f32");
    assert.throws(() => of([2, 3]).matmul(of([2, 3])), {
      name: "ShapeError",
      message: "matmul: [2, 3] and [2, 3] do not fit: the left has 3 columns, the right 2 rows; they must be equal.",
    });
    assert.throws(() => of([]).matmul(of([2])), /matmul: a scalar is no matrix; use mul to scale\./);
    assert.throws(() => of([2, 1, 3]).matmul(of([3, 3, 1])), ShapeError);
  });
});

describeOnTensorDevices("dot", () => {
  test("pairs any axes; batch axes come first", () => {
    const [x, y] = [sample([3, 2, 4, 5], 1), sample([5, 6, 3, 2], 2)];
    const [a, b] = [toTensor(x, "f32"), toTensor(y, "f32")];
    const one = sumOfProducts(["bcij", "jkbd"], "bcikd", [x, y]);
    expectTensor(a.dot(b, { axes: [3, 0], batchAxes: [0, 2] }), one, "f32", {});
    const batchAxes = [
      [0, 1],
      [2, 3],
    ] as const;
    const two = sumOfProducts(["bcij", "jkbc"], "bcik", [x, y]);
    expectTensor(a.dot(b, { axes: [[3], [0]], batchAxes }), two, "f32", {});
  });

  test("without axes it is NumPy's dot", () => {
    const [x, y] = [sample([2, 3, 4], 3), sample([5, 4, 6], 4)];
    const expected = sumOfProducts(["aij", "bjk"], "aibk", [x, y]);
    expectTensor(toTensor(x, "f32").dot(toTensor(y, "f32")), expected, "f32", {});
    const scalar = toTensor({ shape: [], values: [3] }, "f32");
    expectTensor(scalar.dot(toTensor(x, "f32")), { ...x, values: x.values.map((value) => 3 * value) }, "f32", {});
  });

  test("in a wider dtype the sums do not wrap", () => {
    const x = toTensor({ shape: [3], values: [100, 100, 100] }, "i8");
    assert.deepEqual([...x.dot(x, { axes: [0, 0], dtype: "i32" }).dataSync()], [30000]);
    assert.deepEqual([...x.dot(x).dataSync()], [30000 % 256]);
  });

  test("misuse is explained", () => {
    const of = (shape: readonly number[]) => toTensor(sample(shape, 1), "f32");
    assert.throws(() => of([2, 3]).dot(of([3, 2]), { axes: [[0, 1], [0]] }), {
      name: "ArgumentError",
      message: "dot: axes name 2 axes of the left operand and 1 of the right; they go in pairs.",
    });
    assert.throws(() => of([2, 3]).dot(of([2, 3]), { axes: [0, 0], batchAxes: [0, 1] }), ShapeError);
    assert.throws(() => of([2, 2]).dot(of([2, 2]), { axes: [0, 0], batchAxes: [0, 1] }), {
      name: "ArgumentError",
      message: "dot: axis 0 of the left operand is summed over and a batch axis; it can be one of them.",
    });
    assert.throws(() => of([2, 3]).dot(of([4, 3])), /along the axes \[1\] and \[0\] the sizes are \[3\] and \[4\]/);
  });
});

describeOnTensorDevices("tensordot, inner, outer, vdot, kron", () => {
  test("tensordot sums over the last axes of the left and the first of the right, or over pairs", () => {
    const [x, y] = [sample([2, 3, 4], 1), sample([3, 4, 5], 2)];
    const [a, b] = [toTensor(x, "f32"), toTensor(y, "f32")];
    expectTensor(a.tensordot(b), sumOfProducts(["ijk", "jkl"], "il", [x, y]), "f32", {});
    expectTensor(a.tensordot(b, 0), sumOfProducts(["ijk", "lmn"], "ijklmn", [x, y]), "f32", {});
    const pairs = a.tensordot(b, [
      [2, 1],
      [1, 0],
    ]);
    expectTensor(pairs, sumOfProducts(["ijk", "jkl"], "il", [x, y]), "f32", {});
    assert.throws(() => a.tensordot(b, 4), ArgumentError);
  });

  test("inner sums over the last axes", () => {
    const [x, y] = [sample([2, 3, 4], 3), sample([5, 4], 4)];
    expectTensor(toTensor(x, "f32").inner(toTensor(y, "f32")), sumOfProducts(["ijk", "lk"], "ijl", [x, y]), "f32", {});
  });

  test("outer flattens", () => {
    const [x, y] = [sample([2, 3], 5), sample([4], 6)];
    const expected = sumOfProducts(["i", "j"], "ij", [{ ...x, shape: [6] }, y]);
    expectTensor(toTensor(x, "f32").outer(toTensor(y, "f32")), expected, "f32", {});
    expectTensor(toTensor(sample([0], 1), "f32").outer(toTensor(y, "f32")), { shape: [0, 4], values: [] }, "f32", {});
  });

  test("vdot flattens", () => {
    const [x, y] = [sample([2, 3], 7), sample([6], 8)];
    const expected = sumOfProducts(["i", "i"], "", [{ ...x, shape: [6] }, y]);
    expectTensor(toTensor(x, "f32").vdot(toTensor(y, "f32")), expected, "f32", {});
    assert.throws(() => toTensor(x, "f32").vdot(toTensor(sample([5], 1), "f32")), ShapeError);
  });

  test("kron puts blocks side by side, also of different ranks", () => {
    const [x, y] = [sample([2, 3], 9), sample([4, 5], 10)];
    const expected = plainOf([8, 15], ([i, j]) => {
      const block = read(x, [Math.floor(i! / 4), Math.floor(j! / 5)]);
      return block * read(y, [i! % 4, j! % 5]);
    });
    expectTensor(toTensor(x, "f32").kron(toTensor(y, "f32")), expected, "f32", {});
    const line = sample([3], 11);
    const mixed = plainOf([2, 9], ([i, j]) => read(x, [i!, Math.floor(j! / 3)]) * line.values[j! % 3]!);
    expectTensor(toTensor(x, "f32").kron(toTensor(line, "f32")), mixed, "f32", {});
  });
});
