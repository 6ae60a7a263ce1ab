/** LU factors, solutions and determinants: backward errors in units of n·ε, closed forms, and SciPy's conventions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { linalg, type Tensor, tensor, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { error, GENERAL, type Numbers, normals } from "./accuracy.js";

const DTYPES: readonly Numbers[] = ["f32", "f64", "c64", "c128"];
const list = (x: Tensor) => [...(x.dataSync() as Float64Array)];

/** Kernels are the same for real and complex numbers, so complex ones have fewer sizes: one kernel, and blocks (compiler/routines/linalg/plan.ts). */
const isReal = (dtype: Numbers): boolean => dtype === "f32" || dtype === "f64";

function sizesOf(device: string, dtype: Numbers): readonly number[] {
  if (device === "cpu") return isReal(dtype) ? [1, 2, 3, 5, 8, 17, 31, 33, 64, 65, 70, 127, 129] : [1, 5, 33, 65, 129];
  return isReal(dtype) ? [1, 5, 33, 70] : [5, 33];
}

describeOnTensorDevices("lu", (device) => {
  for (const dtype of DTYPES) {
    test(`p·l·u is the matrix, of every kind, ${dtype}`, () => {
      for (const [kind, make] of Object.entries(GENERAL)) {
        // Pivots of complex numbers are chosen by another size than their length: graded matrices show it.
        if (device !== "cpu" && !isReal(dtype) && kind !== "random" && kind !== "graded") continue;
        for (const n of kind === "random" ? sizesOf(device, dtype) : [33]) {
          const a = make(n, dtype);
          const { p, l, u } = linalg.lu(a);
          // Wilkinson's matrix grows by 2ⁿ⁻¹, in its factor.
          const growth = kind === "wilkinson" ? Math.max(1, u.abs().max().itemSync() as number) : 1;
          const found = error(p.matmul(l).matmul(u), a, n, dtype) / growth;
          assert.ok(found < 3, `${kind} ${n}: ${found} n ε`);
          assert.ok((l.abs().max().itemSync() as number) <= Math.SQRT2 + 1e-3, `${kind} ${n}: multipliers`);
        }
      }
    });
  }

  test("of matrices of other shapes, and of batches", () => {
    for (const shape of [
      [5, 3],
      [3, 5],
      [2, 70, 40],
      [40, 70],
      [0, 3],
      [3, 0],
      [2, 0, 0],
    ]) {
      const a = normals(shape, "f64", 3);
      const { p, l, u } = linalg.lu(a);
      const [m, n] = shape.slice(-2) as [number, number];
      assert.deepEqual(l.shape.slice(-2), [m, Math.min(m, n)]);
      assert.deepEqual(u.shape.slice(-2), [Math.min(m, n), n]);
      const back = p.matmul(l).matmul(u);
      assert.deepEqual(back.shape, shape);
      if (a.size > 0) assert.ok(error(back, a, m, "f64") < 3, `[${shape}]`);
    }
  });

  test("pivots are LAPACK's, and rows in their order are the product of the factors", () => {
    const a = tensor([[1, 2, 4], [2, 1, 3], [8, 4, 1]], { dtype: "f64" }); // biome-ignore format: a matrix
    const { lu, pivots, order } = linalg.luFactor(a);
    // scipy.linalg.lu_factor
    assert.deepEqual(list(pivots), [2, 2, 2]);
    assert.deepEqual(list(order), [2, 0, 1]);
    assert.deepEqual(list(lu), [8, 4, 1, 0.125, 1.5, 3.875, 0.25, 0, 2.75]);
  });

  test("a column of zeros has a zero pivot, and the rest is factored", () => {
    const a = tensor([[0, 2, 1], [0, 4, 3], [0, 2, 5]], { dtype: "f64" }); // biome-ignore format: a matrix
    const { p, l, u } = linalg.lu(a);
    assert.deepEqual(list(p.matmul(l).matmul(u)), list(a));
    assert.equal(u.at(0, 0).itemSync(), 0);
    assert.equal(linalg.det(a).itemSync(), 0);
    assert.ok(list(linalg.inv(a)).some((x) => !Number.isFinite(x)));
  });
});

describeOnTensorDevices("solve, inv, det, slogdet", (device) => {
  const sizes = device === "cpu" ? [1, 4, 20, 65, 130] : [1, 20, 65];
  for (const dtype of DTYPES) {
    test(`residuals are within n·ε, ${dtype}`, () => {
      for (const n of isReal(dtype) ? sizes : device === "cpu" ? [4, 65] : [33]) {
        const a = normals([n, n], dtype, n);
        const b = normals([n, 3], dtype, 2);
        const x = linalg.solve(a, b);
        const scale = (a.abs().max().itemSync() as number) * (x.abs().max().itemSync() as number) * n;
        const rest = (a.matmul(x).sub(b).abs().max().itemSync() as number) / scale;
        assert.ok(rest < 4 * (dtype === "f32" || dtype === "c64" ? 2 ** -23 : 2 ** -52), `${n}: ${rest}`);
        const back = linalg.luSolve(linalg.luFactor(a), b).sub(x).abs().max().itemSync() as number;
        assert.ok(back <= 1e-5 * (x.abs().max().itemSync() as number), `luSolve ${n}: ${back}`);
        const other = linalg.luSolve(linalg.luFactor(a), b, { transposed: true });
        const residual = error(a.mT.matmul(other), b, n, dtype);
        assert.ok(residual < 1000, `transposed ${n}: ${residual}`);
      }
    });
  }

  test("determinants: closed forms, products, signs and logarithms", () => {
    for (const n of [0, 1, 2, 3, 4, 6, 33]) {
      // Determinant of the matrix with 2 on the diagonal and 1 beside it: n + 1.
      const a = tensor(
        Array.from({ length: n * n }, (_, at) => {
          const distance = Math.abs(Math.floor(at / n) - (at % n));
          return distance === 0 ? 2 : distance === 1 ? -1 : 0;
        }),
        { dtype: "f64" },
      ).reshape([n, n]);
      const found = linalg.det(a).itemSync() as number;
      assert.ok(Math.abs(found - (n + 1)) < 1e-12 * (n + 1), `${n}: ${found}`);
      const { sign, logAbsDet } = linalg.slogdet(a.neg());
      assert.equal(sign.itemSync(), n % 2 === 0 ? 1 : -1);
      assert.ok(Math.abs((logAbsDet.itemSync() as number) - Math.log(n + 1)) < 1e-12);
    }
    const { sign, logAbsDet } = linalg.slogdet(zeros([2, 2]));
    assert.deepEqual([sign.itemSync(), logAbsDet.itemSync()], [0, -Infinity]);
  });

  test("a batch of vectors is told apart from a matrix, with a remedy", () => {
    assert.throws(() => linalg.solve(normals([3, 2, 2], "f64", 1), normals([3, 2], "f64", 2)), {
      name: "ShapeError",
      message: /linalg\.solve: .*\[3, 2, 2\].*\[3, 2\].* A batch of vectors .*b\.expandDims\(-1\)/,
    });
  });

  test("a vector is one right side, leading axes broadcast, and narrow floats go through f32", () => {
    const a = normals([2, 1, 4, 4], "f64", 7);
    const b = normals([3, 4, 2], "f64", 8);
    assert.deepEqual(linalg.solve(a, b).shape, [2, 3, 4, 2]);
    const v = normals([4], "f64", 9);
    const x = linalg.solve(a, v);
    assert.deepEqual(x.shape, [2, 1, 4]);
    assert.ok(error(a.matmul(x.expandDims(-1)).squeeze(-1), v.broadcastTo([2, 1, 4]), 4, "f64") < 100);
    assert.equal(linalg.solve(tensor([[2, 0], [0, 4]], { dtype: "f16" }), tensor([1, 1], { dtype: "f16" })).dtype, "f16"); // biome-ignore format: one line
    assert.deepEqual(list(linalg.inv(tensor([[2, 0], [0, 4]], { dtype: "i32" }))), [0.5, 0, 0, 0.25]); // biome-ignore format: one line
  });
});
