/**
 * Eigenvalues of general matrices: residuals in units of n·ε for matrices of every kind, both engines, derivatives against differences.
 * PUMICE_LINALG_SIZES=all tries all sizes up to 70, and 127, 128, 129 and 512.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eye, grad, jit, jvp, linalg, stack, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { EPSILON, GENERAL, type Numbers, normals, withSpectrum } from "./accuracy.js";

const COMPLEX = { f32: "c64", f64: "c128", c64: "c64", c128: "c128" } as const;
const isLong = process.env.PUMICE_LINALG_SIZES === "all";

/** The largest error that is seen is 2. */
const MOST = 6;

/** A·V = V·Λ within a small multiple of n·ε, columns of length 1, and eigenvalues whose sum is the trace, with vectors or without. */
function check(a: Tensor, dtype: Numbers, what: string): void {
  const n = a.shape.at(-1) as number;
  const size = (a.abs().max().itemSync() as number) || 1;
  // One program serves all matrices of a shape, and computes everything at once.
  const given = tensor(a.div(size).arraySync() as never, { dtype });
  const wide = given.cast(COMPLEX[dtype]);
  const { eigenvalues, eigenvectors } = linalg.eig(given);
  const long = (x: Tensor): Tensor => x.abs().square().sum().sqrt();
  const errors = stack([
    long(given),
    long(wide.matmul(eigenvectors).sub(eigenvectors.mul(eigenvalues))),
    long(eigenvectors.abs().square().sum({ axis: -2 }).sub(1)),
    long(eigenvalues.sum().sub(wide.trace())),
    long(linalg.eigvals(given).sum().sub(wide.trace())),
  ]);
  const [whole, rest, lengths, ...sums] = errors.arraySync() as number[] as [number, number, number, number, number];
  const unit = n * EPSILON[dtype];
  assert.ok(rest <= MOST * unit * (whole || 1), `${what}: ${rest / unit / whole}`);
  assert.ok(lengths < 4 * n * unit, `${what}: lengths ${lengths / unit}`);
  for (const sum of sums) assert.ok(sum <= MOST * unit * n, `${what}: trace ${sum / unit}`);
}

const matrix = (n: number, dtype: Numbers, of: (i: number, j: number) => number): Tensor =>
  tensor(
    Array.from({ length: n }, (_, i) => Array.from({ length: n }, (__, j) => of(i, j))),
    { dtype: "f64" },
  )
    .reshape([n, n])
    .cast(dtype);

const KINDS: Readonly<Record<string, (n: number, dtype: Numbers) => Tensor>> = {
  ...GENERAL,
  zero: (n, dtype) => zeros([n, n], { dtype }),
  unit: (n, dtype) => eye(n, { dtype }),
  "a Jordan block": (n, dtype) => matrix(n, dtype, (i, j) => (i === j ? 2 : j === i + 1 ? 1 : 0)),
  nilpotent: (n, dtype) => matrix(n, dtype, (i, j) => (j === i + 1 ? 1 : 0)),
  // Shifts by the last block leave it as it is: exceptional ones are needed.
  cyclic: (n, dtype) => matrix(n, dtype, (i, j) => ((i + 1) % n === j ? 1 : 0)),
  "a companion of a polynomial": (n, dtype) =>
    matrix(n, dtype, (i, j) => (i === 0 ? 5 * Math.sin(7 * j) : i === j + 1 ? 1 : 0)),
  "Frank's": (n, dtype) => matrix(n, dtype, (i, j) => (j >= i - 1 ? n - Math.max(i, j) : 0)),
  "graded by rows and columns": (n, dtype) =>
    matrix(n, dtype, (i, j) => Math.sin(31 * i + 17 * j + 1) * 10 ** ((12 * (j - i)) / n)),
  quarters: (n, dtype) =>
    matrix(n, dtype, (i, j) => (i % 2 === 0 && j === i + 1 ? -1 : i % 2 === 1 && j === i - 1 ? 1 : 0)),
  "clustered, not normal": (n, dtype) =>
    matrix(n, dtype, (i, j) => (i === j ? 1 + 1e-10 * i : j > i ? Math.sin(i + 3 * j) : 0)),
};

describeOnTensorDevices("eigenvalues of general matrices", (device) => {
  const isCpu = device === "cpu";
  test("random ones, of every dtype", () => {
    for (const [dtype, sizes] of [
      ["f32", isCpu ? [1, 2, 3, 8, 33, 129] : [9, 70]],
      ["f64", isCpu ? [5, 64] : [5]],
      ["c64", isCpu ? [1, 20] : [4]],
      ["c128", isCpu ? [2, 65] : []],
    ] as const) {
      const all = isLong ? [...Array.from({ length: 70 }, (_, i) => i + 1), 127, 128, 129, 512] : sizes;
      for (const n of all) check(normals([n, n], dtype, n), dtype, `${dtype} ${n}`);
    }
  });

  test("batches: each matrix has the eigenvalues it has alone", () => {
    const a = normals([3, 5, 5], "f32", 4);
    const together = linalg.eigvals(a);
    for (let i = 0; i < 3; i++) assert.deepEqual(together.at(i).arraySync(), linalg.eigvals(a.at(i)).arraySync());
    assert.deepEqual(vmap((x: Tensor) => linalg.eigvals(x))(a).arraySync(), together.arraySync());
  });
});

describe("matrices that are hard", () => {
  for (const [name, make] of Object.entries(KINDS)) {
    test(name, () => {
      for (const dtype of isLong ? (["f32", "f64", "c128"] as const) : (["f32", "f64"] as const)) {
        for (const n of isLong ? [2, 3, 4, 12, 30, 90, 128] : [3, 30]) check(make(n, dtype), dtype, `${dtype} ${n}`);
      }
    });
  }

  test("three eigenvalues, each many times: rounding beside small numbers does not keep them from converging", () => {
    for (const dtype of ["f32", "f64"] as const)
      check(
        withSpectrum(400, dtype, (i) => (i % 3) - 1),
        dtype,
        dtype,
      );
  });

  test("of numbers whose squares overflow, and of whole numbers", () => {
    for (const factor of [1e300, 1e-300]) check(normals([6, 6], "f64", 2).mul(factor), "f64", `times ${factor}`);
    assert.deepEqual(linalg.eigvals(tensor([[5]], { dtype: "i32" })).arraySync(), [{ re: 5, im: 0 }]);
    assert.equal(linalg.eig(tensor([[1, 2], [3, 4]], { dtype: "f16" })).eigenvalues.dtype, "c64"); // biome-ignore format: a matrix
  });
});

describe("what eig promises", () => {
  test("a quarter turn has ±i, with conjugate vectors; real eigenvalues have real vectors", () => {
    const { eigenvalues, eigenvectors } = linalg.eig(tensor([[0, -1], [1, 0]], { dtype: "f64" })); // biome-ignore format: a matrix
    assert.deepEqual(eigenvalues.arraySync(), [
      { re: 0, im: 1 },
      { re: 0, im: -1 },
    ]);
    const [upper, lower] = eigenvectors.mT.arraySync() as { re: number; im: number }[][];
    assert.deepEqual(lower, upper!.map(({ re, im }) => ({ re, im: im === 0 ? 0 : -im })).map(({ re, im }) => ({ re, im: im === 0 ? lower![0]!.im : im }))); // biome-ignore format: one line
    const real = linalg.eig(tensor([[2, 1, 0], [0, 3, 5], [0, 1, -1]], { dtype: "f64" })); // biome-ignore format: a matrix
    assert.equal(real.eigenvectors.imag().abs().max().itemSync(), 0);
    assert.equal(real.eigenvalues.imag().abs().max().itemSync(), 0);
  });

  test("the largest element of a vector is real and positive", () => {
    const { eigenvectors } = linalg.eig(normals([6, 6], "c128", 5));
    const columns = eigenvectors.mT.arraySync() as { re: number; im: number }[][];
    for (const column of columns) {
      const { re, im } = column.reduce((a, b) => (Math.hypot(b.re, b.im) > Math.hypot(a.re, a.im) ? b : a));
      assert.ok(re > 0 && Math.abs(im) < 1e-15);
    }
  });

  test("what is not finite gives NaN for its own matrix alone; nothing has nothing", () => {
    const a = tensor([[[Number.NaN, 1], [1, 2]], [[2, 0], [0, 3]]]); // biome-ignore format: matrices
    const [bad, good] = linalg.eigvals(a).arraySync() as { re: number; im: number }[][];
    assert.ok(bad!.every(({ re }) => Number.isNaN(re)));
    assert.deepEqual(good, [
      { re: 2, im: 0 },
      { re: 3, im: 0 },
    ]);
    assert.ok(Number.isNaN((linalg.eig(a).eigenvectors.at(0, 0, 0).itemSync() as { re: number }).re));
    assert.deepEqual(linalg.eig(zeros([2, 0, 0])).eigenvectors.shape, [2, 0, 0]);
    assert.deepEqual(linalg.eigvals(zeros([0, 3, 3])).shape, [0, 3]);
    assert.throws(() => linalg.eig(zeros([2, 3])), /linalg\.eig: \[2, 3\] are no square matrices/);
  });
});

describe("derivatives", () => {
  // Made in the tests: they choose the device.
  const weights = () => normals([4, 4], "c128", 9);
  const functions: Record<string, (a: Tensor) => Tensor> = {
    eigvals: (a) => linalg.eigvals(a).mul(weights().at(0)).sum().real(),
    vectors: (a) => linalg.eig(a).eigenvectors.mul(weights()).sum().real(),
    "a function of the matrix": (a) => {
      const { eigenvalues, eigenvectors } = linalg.eig(a);
      return eigenvectors.mul(eigenvalues.sin()).matmul(linalg.inv(eigenvectors)).mul(weights()).sum().real();
    },
  };
  for (const [name, f] of Object.entries(functions)) {
    test(`${name}: first and second, forward and backward, against differences; jit`, () => {
      for (const dtype of ["f64", "c128"] as const) {
        const [a, direction] = [normals([4, 4], dtype, 1), normals([4, 4], dtype, 2)];
        const slopeAt = (x: Tensor) => grad(f)(x).mul(direction).sum().real();
        const near = (x: number, y: number, what: string) =>
          assert.ok(Math.abs(x - y) < 1e-5 * (1 + Math.abs(y)), `${dtype}, ${what}: ${x} and ${y}`);
        const difference = (of: (x: Tensor) => Tensor, h: number) =>
          ((of(a.add(direction.mul(h))).itemSync() as number) - (of(a.sub(direction.mul(h))).itemSync() as number)) /
          (2 * h);
        const slope = slopeAt(a).itemSync() as number;
        near(slope, difference(f, 1e-6), "backward");
        near(jvp(f, [a], [direction])[1].itemSync() as number, slope, "forward");
        near(jvp(slopeAt, [a], [direction])[1].itemSync() as number, difference(slopeAt, 1e-5), "second");
        near(jit(f)(a).itemSync() as number, f(a).itemSync() as number, "jit");
      }
    });
  }

  test("the trace of a matrix with equal eigenvalues has its derivative, and of a diagonal one nothing is NaN", () => {
    const at = eye(3, { dtype: "f64" });
    const change = grad((x: Tensor) => linalg.eigvals(x).sum().real())(at);
    assert.deepEqual(change.arraySync(), at.arraySync());
    const vectors = grad((x: Tensor) => linalg.eig(x).eigenvectors.real().sum())(at);
    assert.ok((vectors.isFinite().all().itemSync() as boolean) === true);
  });
});
