/** Cholesky factors and triangular equations, against textbook loops in f64. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cholesky, triangularSolve } from "../../src/linalg/index.js";
import { tensor } from "../../src/tensor/index.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  indicesOf,
  type Plain,
  plainOf,
  read,
  sampleValues,
  toTensor,
  viewsOf,
} from "../support/tensors.js";

/** M·Mᵀ + n·I of small quarters: exact in f32, positive definite, with a condition number of a few dozen. */
function positiveDefinite(batch: readonly number[], n: number, seed: number): Plain {
  const m: Plain = {
    shape: [...batch, n, n],
    values: sampleValues("f32", count([...batch, n, n]), seed).map((x) => x / 8),
  };
  return plainOf([...batch, n, n], (index) => {
    const [i, j] = index.slice(-2) as [number, number];
    const at = (row: number, k: number) => read(m, [...index.slice(0, -2), row, k]);
    let total = i === j ? n : 0;
    for (let k = 0; k < n; k++) total += at(i, k) * at(j, k);
    return Math.fround(total);
  });
}

function choleskyOracle(a: Plain): Plain {
  const n = a.shape.at(-1)!;
  const values = new Map<string, number>();
  for (const b of indicesOf(a.shape.slice(0, -2))) {
    const l = Array.from({ length: n }, () => new Array<number>(n).fill(0));
    for (let j = 0; j < n; j++) {
      for (let i = j; i < n; i++) {
        let rest = read(a, [...b, i, j]);
        for (let k = 0; k < j; k++) rest -= l[i]![k]! * l[j]![k]!;
        l[i]![j] = i === j ? Math.sqrt(rest) : rest / l[j]![j]!;
      }
    }
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) values.set([...b, i, j].join(), l[i]![j]!);
  }
  return plainOf(a.shape, (index) => values.get(index.join())!);
}

const within = { f32: { relative: 1e-4, absolute: 1e-5 }, f64: { relative: 1e-12, absolute: 1e-13 } } as const;

describeOnTensorDevices("cholesky", () => {
  for (const [batch, n] of [
    [[], 1],
    [[], 2],
    [[], 7],
    [[3], 5],
    [[2, 3], 4],
    [[], 40],
    [[2], 70],
    [[0], 3],
    [[], 0],
  ] as const) {
    for (const dtype of ["f32", "f64"] as const) {
      test(`of [${[...batch, n, n]}] ${dtype}`, () => {
        const a = positiveDefinite(batch, n, 1 + n);
        expectTensor(cholesky(toTensor(a, dtype)), choleskyOracle(a), dtype, within[dtype]);
      });
    }
  }

  test("of views; only the lower half is read", () => {
    const a = positiveDefinite([2], 6, 3);
    const expected = choleskyOracle(a);
    for (const { name, x } of viewsOf(a, "f64")) expectTensor(cholesky(x), expected, "f64", within.f64, name);
    const spoiled = plainOf(a.shape, (index) => (index[2]! > index[1]! ? Number.NaN : read(a, index)));
    expectTensor(cholesky(toTensor(spoiled, "f64")), expected, "f64", within.f64);
  });

  test("the upper factor is the transpose", () => {
    const a = toTensor(positiveDefinite([], 5, 4), "f64");
    assert.deepEqual(cholesky(a, { upper: true }).arraySync(), cholesky(a).mT.arraySync());
  });

  test("the product of the factors is the matrix", () => {
    const plain = positiveDefinite([3], 20, 5);
    const l = cholesky(toTensor(plain, "f32"));
    expectTensor(l.matmul(l.mT), plain, "f32", { absolute: 2e-5, relative: 1e-6 });
  });

  test("a matrix that is not positive definite gives NaN from the impossible column on; others of the batch are fine", () => {
    const a = tensor([
      [
        [4, 2],
        [2, 1 / 4],
      ],
      [
        [4, 2],
        [2, 2],
      ],
    ]);
    assert.deepEqual(cholesky(a).arraySync(), [
      [
        [2, 0],
        [1, Number.NaN],
      ],
      [
        [2, 0],
        [1, 1],
      ],
    ]);
  });

  test("f16, bf16 and integers", () => {
    const a = { shape: [2, 2], values: [4, 2, 2, 10] };
    const expected = { shape: [2, 2], values: [2, 0, 1, 3] };
    for (const dtype of ["f16", "bf16"] as const) expectTensor(cholesky(toTensor(a, dtype)), expected, dtype);
    expectTensor(cholesky(toTensor(a, "i32")), expected, "f32");
  });

  test("matrices that are not square are refused", () => {
    assert.throws(() => cholesky(tensor([[1, 2]])), {
      name: "ShapeError",
      message: "linalg.cholesky: [1, 2] are no square matrices; the last two axes are equal.",
    });
    assert.throws(() => cholesky(tensor([1, 2])), /no square matrices/);
  });
});

/** The half of a matrix that counts, with the diagonal as it counts. */
function halfOf(a: Plain, lower: boolean, unitDiagonal: boolean): Plain {
  return plainOf(a.shape, (index) => {
    const [i, j] = index.slice(-2) as [number, number];
    if (i === j && unitDiagonal) return 1;
    return i === j || (lower ? i > j : i < j) ? read(a, index) : 0;
  });
}

function solveOracle(matrix: number[][], b: number[][], lower: boolean): number[][] {
  const n = matrix.length;
  const x = b.map((row) => [...row]);
  for (let step = 0; step < n; step++) {
    const i = lower ? step : n - 1 - step;
    for (let c = 0; c < x[i]!.length; c++) {
      for (let k = 0; k < n; k++) if (lower ? k < i : k > i) x[i]![c]! -= matrix[i]![k]! * x[k]![c]!;
      x[i]![c]! /= matrix[i]![i]!;
    }
  }
  return x;
}

describeOnTensorDevices("triangularSolve", () => {
  const transpose = (rows: number[][]): number[][] => (rows[0] ?? []).map((_, j) => rows.map((row) => row[j]!));
  for (const lower of [true, false]) {
    for (const transposed of [false, true]) {
      for (const left of [true, false]) {
        for (const unitDiagonal of [false, true]) {
          const options = { lower, transposed, left, unitDiagonal };
          test(JSON.stringify(options), () => {
            const [n, m] = [6, 3];
            const a = positiveDefinite([], n, 7);
            const half = toTensor(halfOf(a, lower, unitDiagonal), "f64").arraySync() as number[][];
            const b: Plain = { shape: left ? [n, m] : [m, n], values: sampleValues("f32", n * m, 8) };
            const sides = toTensor(b, "f64").arraySync() as number[][];
            // x·a = b is solved as aᵀ·xᵀ = bᵀ
            const isTransposed = transposed !== !left;
            const matrix = isTransposed ? transpose(half) : half;
            const solved = solveOracle(matrix, left ? sides : transpose(sides), lower !== isTransposed);
            const expected = { shape: b.shape, values: (left ? solved : transpose(solved)).flat() };
            const actual = triangularSolve(toTensor(a, "f64"), toTensor(b, "f64"), options);
            expectTensor(actual, expected, "f64", within.f64);
            if (unitDiagonal) return;
            const single = triangularSolve(toTensor(a, "f32"), toTensor(b, "f32"), options);
            expectTensor(single, expected, "f32", within.f32);
          });
        }
      }
    }
  }

  for (const [batchA, batchB, n, m] of [
    [[], [], 1, 1],
    [[4], [4], 5, 2],
    [[], [3], 4, 2],
    [[2, 1], [3], 3, 2],
    [[], [], 90, 1],
    [[2], [2], 70, 5],
    [[0], [0], 3, 2],
    [[], [], 0, 2],
    [[], [], 3, 0],
  ] as const) {
    test(`[${[...batchA, n, n]}] and [${[...batchB, n, m]}]`, () => {
      const a = positiveDefinite(batchA, n, 9);
      const x = { shape: [...batchB, n, m], values: sampleValues("f32", count([...batchB, n, m]), 10) };
      const [matrix, solution] = [toTensor(halfOf(a, true, false), "f64"), toTensor(x, "f64")];
      const back = triangularSolve(toTensor(a, "f64"), matrix.matmul(solution));
      const shape = matrix.matmul(solution).shape;
      const expected = plainOf(shape, (index) => read(x, index.slice(shape.length - x.shape.length)));
      expectTensor(back, expected, "f64", { absolute: 1e-10 });
    });
  }

  test("a vector stays a vector", () => {
    const a = tensor([
      [2, 0],
      [1, 4],
    ]);
    assert.deepEqual([...triangularSolve(a, tensor([2, 9])).dataSync()], [1, 2]);
    assert.deepEqual([...triangularSolve(a, tensor([4, 8]), { left: false }).dataSync()], [1, 2]);
  });

  test("a zero on the diagonal gives infinity or NaN, as a division does", () => {
    const a = tensor([
      [0, 0],
      [1, 1],
    ]);
    assert.deepEqual([...triangularSolve(a, tensor([1, 1])).dataSync()], [Infinity, -Infinity]);
  });

  test("misuse is explained", () => {
    const a = tensor([
      [1, 0],
      [0, 1],
    ]);
    assert.throws(() => triangularSolve(a, tensor([1, 2, 3])), {
      name: "ShapeError",
      message: "linalg.triangularSolve: matrices of [2, 2] and right sides of [3]; b has 2 rows, or is a vector of 2.",
    });
    assert.throws(() => triangularSolve(tensor([[1, 2]]), tensor([1])), /no square matrices/);
  });
});
