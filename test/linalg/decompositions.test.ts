/**
 * QR, eigenvalues and singular values: errors in units of n·ε, for matrices of every kind and sizes on both sides of every
 * change of method. PUMICE_LINALG_SIZES=all tries all sizes up to 70.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { arange, eye, grad, jit, linalg, random, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { adjoint, EPSILON, GENERAL, type Numbers, normals } from "./accuracy.js";

const length = (x: Tensor): number => x.abs().square().sum().sqrt().itemSync() as number;
const unit = (n: number, dtype: Numbers) => eye(n, { dtype });

/** ‖x - y‖ / ‖y‖ over n·ε, in the sum of squares. */
const off = (x: Tensor, y: Tensor, n: number, dtype: Numbers): number =>
  length(x.sub(y)) / (length(y) || 1) / (Math.max(1, n) * EPSILON[dtype]);

/** How far columns are from orthonormal, over n·ε. */
const slant = (q: Tensor, dtype: Numbers): number => {
  const n = q.shape.at(-1) as number;
  return length(adjoint(q).matmul(q).sub(unit(n, dtype))) / (Math.max(1, ...q.shape) * EPSILON[dtype]);
};

/** The largest error that is seen is 2. */
const MOST = 6;

function checkEigh(a: Tensor, dtype: Numbers, what: string): void {
  const n = a.shape[0]!;
  const { eigenvalues, eigenvectors } = linalg.eigh(a);
  const sides = off(a.matmul(eigenvectors), eigenvectors.mul(eigenvalues.cast(dtype)), n, dtype);
  const size = length(a) || 1;
  const residual = length(a.matmul(eigenvectors).sub(eigenvectors.mul(eigenvalues.cast(dtype))));
  assert.ok(residual / size / (n * EPSILON[dtype]) < MOST, `${what}: residual ${sides}`);
  assert.ok(slant(eigenvectors, dtype) < MOST, `${what}: vectors ${slant(eigenvectors, dtype)}`);
  const values = eigenvalues.arraySync() as number[];
  assert.ok(
    values.every((x, i) => i === 0 || values[i - 1]! <= x),
    `${what}: order`,
  );
}

function checkSvd(a: Tensor, dtype: Numbers, full: boolean, what: string): void {
  const [m, n] = a.shape as [number, number];
  const { u, s, vh } = linalg.svd(a, { full });
  const k = Math.min(m, n);
  assert.deepEqual([u.shape, s.shape, vh.shape], full ? [[m, m], [k], [n, n]] : [[m, k], [k], [k, n]]);
  const made = u
    .at(":", `:${k}`)
    .mul(s.cast(dtype))
    .matmul(vh.at(`:${k}`));
  const most = Math.max(m, n);
  assert.ok(off(made, a, most, dtype) < MOST, `${what}: product ${off(made, a, most, dtype)}`);
  assert.ok(slant(u, dtype) < MOST, `${what}: u ${slant(u, dtype)}`);
  assert.ok(slant(adjoint(vh), dtype) < MOST, `${what}: vh ${slant(adjoint(vh), dtype)}`);
  const values = s.arraySync() as number[];
  assert.ok(
    values.every((x, i) => x >= 0 && (i === 0 || values[i - 1]! >= x)),
    `${what}: order`,
  );
}

function checkQr(a: Tensor, dtype: Numbers, mode: "reduced" | "complete", what: string): void {
  const [m, n] = a.shape as [number, number];
  const { q, r } = linalg.qr(a, { mode });
  const k = mode === "complete" ? m : Math.min(m, n);
  assert.deepEqual(
    [q.shape, r.shape],
    [
      [m, k],
      [k, n],
    ],
  );
  const most = Math.max(m, n);
  assert.ok(off(q.matmul(r), a, most, dtype) < MOST, `${what}: product ${off(q.matmul(r), a, most, dtype)}`);
  assert.ok(slant(q, dtype) < MOST, `${what}: q ${slant(q, dtype)}`);
  assert.equal(length(r.tril(-1)), 0, `${what}: r`);
}

/** Hermitian matrices by their eigenvalues. */
function withSpectrum(n: number, dtype: Numbers, of: (i: number) => number): Tensor {
  const { q } = linalg.qr(normals([n, n], dtype, n));
  const values = tensor(
    Array.from({ length: n }, (_, i) => of(i)),
    { dtype: dtype === "f32" || dtype === "c64" ? "f32" : "f64" },
  );
  const made = q.mul(values.cast(dtype)).matmul(adjoint(q));
  return made.add(adjoint(made)).mul(0.5);
}

const HERMITIAN: Readonly<Record<string, (n: number, dtype: Numbers) => Tensor>> = {
  ...Object.fromEntries(
    Object.entries(GENERAL).map(([name, make]) => [
      name,
      (n: number, dtype: Numbers) => make(n, dtype).add(adjoint(make(n, dtype))),
    ]),
  ),
  repeated: (n, dtype) => withSpectrum(n, dtype, (i) => i % 3),
  clustered: (n, dtype) => withSpectrum(n, dtype, (i) => 1 + 1e-10 * i + (i % 2)),
  tiny: (n, dtype) => withSpectrum(n, dtype, (i) => 1e-15 * (i + 1)),
  diagonal: (n, dtype) => eye(n, { dtype }).mul(normals([n], dtype, 4).abs().cast(dtype)),
  unit,
  zero: (n, dtype) => zeros([n, n], { dtype }),
  "W of Wilkinson": (n, dtype) =>
    tensor(
      Array.from({ length: n }, (_, i) =>
        Array.from({ length: n }, (__, j) => (i === j ? Math.abs(i - (n - 1) / 2) : Math.abs(i - j) === 1 ? 1 : 0)),
      ),
      { dtype },
    ),
};

const SMALL = process.env.PUMICE_LINALG_SIZES === "all" ? Array.from({ length: 70 }, (_, i) => i + 1) : [1, 2, 5, 32];

describeOnTensorDevices("decompositions of random matrices", (device) => {
  const isCpu = device === "cpu";
  test("eigenvalues and their vectors", () => {
    for (const dtype of ["f32", "c128"] as const) {
      for (const n of isCpu ? [...SMALL, 64, 65, 129] : dtype === "f32" ? [16, 70] : [5]) {
        const a = normals([n, n], dtype, n);
        checkEigh(a.add(adjoint(a)), dtype, `${dtype} ${n}`);
      }
    }
  });

  test("singular values and their vectors, reduced and full, tall and wide", () => {
    for (const dtype of ["f64", "c64"] as const) {
      for (const n of isCpu ? [...SMALL, 70] : dtype === "f64" ? [5] : []) {
        checkSvd(normals([n, n], dtype, n), dtype, false, `${dtype} ${n}`);
        checkSvd(normals([n + 1, n], dtype, n), dtype, true, `${dtype} ${n + 1}×${n}`);
        checkSvd(normals([n, 2 * n + 1], dtype, n), dtype, true, `${dtype} ${n}×${2 * n + 1}`);
      }
    }
  });

  test("orthonormal columns and a triangle, reduced and complete, tall and wide", () => {
    for (const dtype of ["f32", "c128"] as const) {
      for (const n of isCpu ? [...SMALL, 64, 129] : dtype === "f32" ? [70] : [5]) {
        checkQr(normals([n, n], dtype, n), dtype, "reduced", `${dtype} ${n}`);
        checkQr(normals([n + 7, n], dtype, n), dtype, "complete", `${dtype} ${n + 7}×${n}`);
        checkQr(normals([n, 2 * n], dtype, n), dtype, "reduced", `${dtype} ${n}×${2 * n}`);
      }
    }
  });

  test("a thousand small ones at once", () => {
    const a = normals([1000, 8, 8], "f32", 1);
    const { eigenvalues, eigenvectors } = linalg.eigh(a.add(a.mT));
    assert.ok(off(eigenvectors.mul(eigenvalues.expandDims(-2)).matmul(eigenvectors.mT), a.add(a.mT), 8, "f32") < MOST);
    const { u, s, vh } = linalg.svd(a);
    assert.ok(off(u.mul(s.expandDims(-2)).matmul(vh), a, 8, "f32") < MOST);
    const { q, r } = linalg.qr(a);
    assert.ok(off(q.matmul(r), a, 8, "f32") < MOST);
  });
});

describe("matrices that are hard to decompose", () => {
  for (const [name, make] of Object.entries(HERMITIAN)) {
    test(name, () => {
      for (const [n, dtype] of [
        [24, "f32"],
        [24, "f64"],
        [90, "f32"],
        [90, "f64"],
      ] as const) {
        const a = make(n, dtype);
        checkEigh(a, dtype, `eigh ${dtype} ${n}`);
        checkSvd(a, dtype, false, `svd ${dtype} ${n}`);
        checkQr(a, dtype, "reduced", `qr ${dtype} ${n}`);
      }
    });
  }

  test("a row or column of zeros, real and complex: vectors stay orthonormal", () => {
    for (const dtype of ["f32", "c64", "c128"] as const) {
      for (const n of [6, 13]) {
        const a = normals([n, n], dtype, n).mul(arange(n).less(n - 1).cast(dtype)); // biome-ignore format: one line
        checkSvd(a, dtype, false, `svd ${dtype} ${n}, a column of zeros`);
        checkSvd(a.mT, dtype, false, `svd ${dtype} ${n}, a row of zeros`);
      }
    }
  });

  test("512, in f32", () => {
    const a = normals([512, 512], "f32", 2);
    checkEigh(a.add(a.mT), "f32", "eigh 512");
    checkQr(a, "f32", "reduced", "qr 512");
  });

  test("nothing, one row, one column", () => {
    assert.deepEqual(linalg.eigh(zeros([0, 0])).eigenvectors.shape, [0, 0]);
    assert.deepEqual(linalg.eigvalsh(zeros([0, 3, 3])).shape, [0, 3]);
    assert.deepEqual(linalg.svd(zeros([0, 3]), { full: true }).vh.arraySync(), eye(3).arraySync());
    assert.deepEqual(linalg.qr(zeros([3, 0]), { mode: "complete" }).q.arraySync(), eye(3).arraySync());
    assert.deepEqual(linalg.svdvals(tensor([[3, 4]])).arraySync(), [5]);
    assert.deepEqual(linalg.pinv(tensor([[3], [4]], { dtype: "f64" })).shape, [1, 2]);
  });

  test("what is not finite gives NaN for its own matrix alone", () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const a = tensor([
        [
          [bad, 1],
          [1, 2],
        ],
        [
          [2, 0],
          [0, 3],
        ],
      ]);
      assert.deepEqual(linalg.eigvalsh(a).arraySync(), [
        [Number.NaN, Number.NaN],
        [2, 3],
      ]);
      assert.deepEqual(linalg.svdvals(a).arraySync(), [
        [Number.NaN, Number.NaN],
        [3, 2],
      ]);
      for (const full of [false, true]) {
        for (const given of [a, a.at("...", ":1"), a.at("...", ":1", ":")]) {
          for (const part of Object.values(linalg.svd(given, { full })) as Tensor[]) {
            const [spoiled, fine] = [part.at(0).isNaN().all().itemSync(), part.at(1).isFinite().all().itemSync()];
            assert.deepEqual([spoiled, fine], [true, true], `${given.shape}, ${full}: ${part.shape}`);
          }
        }
      }
      assert.deepEqual(linalg.matrixRank(a).arraySync(), [0, 2]);
    }
  });
});

describe("what follows from them", () => {
  const a = () => normals([6, 3], "f64", 3);

  test("a pseudo-inverse has the four properties of Moore and Penrose, also of a matrix of lower rank", () => {
    for (const given of [a(), a().mT, normals([6, 2], "c128", 1).matmul(normals([2, 5], "c128", 2))]) {
      const inverse = linalg.pinv(given);
      const near = (x: Tensor, y: Tensor) => assert.ok(length(x.sub(y)) < 1e-12 * length(y));
      near(given.matmul(inverse).matmul(given), given);
      near(inverse.matmul(given).matmul(inverse), inverse);
      near(adjoint(given.matmul(inverse)), given.matmul(inverse));
      near(adjoint(inverse.matmul(given)), inverse.matmul(given));
    }
  });

  test("least squares: the residual is orthogonal to the columns, and the solution has none of the null space", () => {
    const low = normals([6, 2], "f64", 1).matmul(normals([2, 4], "f64", 2));
    const b = normals([6], "f64", 5);
    const { x, residuals, rank, s } = linalg.lstsq(low, b);
    const rest = b.sub(low.matmul(x));
    assert.ok(length(low.mT.matmul(rest)) < 1e-13);
    assert.ok(length(x.sub(linalg.pinv(low).matmul(low).matmul(x))) < 1e-13);
    assert.ok(Math.abs((residuals.itemSync() as number) - length(rest) ** 2) < 1e-13);
    assert.deepEqual([rank.itemSync(), s.shape, x.shape], [2, [4], [4]]);
  });

  test("the rank counts what is not lost in rounding", () => {
    const low = normals([3, 9, 4], "f32", 1).matmul(normals([3, 4, 7], "f32", 2));
    assert.deepEqual(linalg.matrixRank(low).arraySync(), [4, 4, 4]);
    assert.equal(
      linalg
        .matrixRank(
          tensor([
            [1, 0],
            [0, 1e-3],
          ]),
          { rtol: 0.01 },
        )
        .itemSync(),
      1,
    );
    assert.equal(linalg.matrixRank(zeros([3, 3])).itemSync(), 0);
  });

  test("norms and condition numbers of singular values", () => {
    const given = tensor(
      [
        [3, 0, 0],
        [0, 4, 0],
      ],
      { dtype: "f64" },
    );
    const norm = (order: "nuc" | 2 | -2) => linalg.matrixNorm(given, { order }).itemSync();
    assert.deepEqual([norm("nuc"), norm(2), norm(-2)], [7, 4, 3]);
    assert.deepEqual(linalg.matrixNorm(given, { order: 2, keepDims: true }).shape, [1, 1]);
    assert.deepEqual([linalg.cond(given).itemSync(), linalg.cond(given, { order: -2 }).itemSync()], [4 / 3, 3 / 4]);
    // The value of NumPy.
    const hilbert = GENERAL.hilbert!(3, "f64");
    assert.ok(Math.abs((linalg.cond(hilbert).itemSync() as number) - 524.0567775860627) < 1e-9);
    assert.ok(Math.abs((linalg.cond(hilbert, { order: 1 }).itemSync() as number) - 748) < 1e-9);
    assert.equal(
      linalg
        .cond(
          tensor([
            [1, 0],
            [0, 0],
          ]),
        )
        .itemSync(),
      Infinity,
    );
    assert.throws(() => linalg.cond(given, { order: 1 }), /square/);
    const singular = [zeros([2, 2]), tensor([[1, 2], [2, 4]]), tensor([[1, 0], [0, 0]])]; // biome-ignore format: one line
    for (const order of [2, 1, "fro", "nuc"] as const) {
      for (const a of singular.slice(order === 2 ? 2 : 0)) assert.equal(linalg.cond(a, { order }).itemSync(), Infinity);
      assert.equal(linalg.cond(zeros([2, 2]), { order }).itemSync(), Infinity);
      const spoiled = tensor([[1, Number.NaN], [0, 1]]); // biome-ignore format: a matrix
      assert.equal(linalg.cond(spoiled, { order }).itemSync(), Number.NaN);
    }
  });

  test("pivots make the diagonal of r fall, and show the rank", () => {
    const low = normals([7, 3], "f64", 1).matmul(normals([3, 6], "f64", 2));
    const { q, r, pivots } = linalg.qr(low, { pivoting: true });
    assert.ok(length(low.take(pivots, { axis: 1 }).sub(q.matmul(r))) < 1e-13);
    const sizes = r.diagonal().abs().arraySync() as number[];
    assert.ok(sizes[0]! >= sizes[1]! && sizes[1]! >= sizes[2]!);
    assert.ok(sizes[2]! > 0.1 && sizes[3]! < 1e-12);
  });

  test("polar factors have their true derivatives among equal singular values, wide and complex ones, too", () => {
    const weights = { u: tensor([[1, 2], [3, 4]], { dtype: "f64" }), p: tensor([[5, 1], [-1, 2]], { dtype: "f64" }) }; // biome-ignore format: one line
    const found = grad((x: Tensor) => {
      const { u, p } = linalg.polar(x);
      return u.mul(weights.u).sum().add(p.mul(weights.p).sum());
    })(eye(2, { dtype: "f64" }));
    // Of u near the identity, I + (A - Aᵀ) / 2; of p, I + (A + Aᵀ) / 2.
    const expected = tensor([[5, -0.5], [0.5, 2]], { dtype: "f64" }); // biome-ignore format: a matrix
    assert.ok(length(found.sub(expected)) < 1e-12);
    for (const dtype of ["f64", "c128"] as const) {
      const rows = adjoint(linalg.qr(normals([4, 2], dtype, 5)).q);
      const along = normals([2, 4], dtype, 6);
      const w = normals([4, 4], dtype, 7);
      const loss = (t: Tensor) => {
        const { u, p } = linalg.polar(rows.add(along.mul(t.cast(dtype))));
        return p
          .add(w.matmul(adjoint(u)).matmul(u))
          .mul(w)
          .sum()
          .real();
      };
      const at = (t: number) => loss(tensor(t, { dtype: "f64" })).itemSync() as number;
      const slope = (at(2 ** -14) - at(-(2 ** -14))) * 2 ** 13;
      const derivative = grad(loss)(tensor(0, { dtype: "f64" })).itemSync() as number;
      assert.ok(Math.abs(derivative - slope) < 1e-5 * (1 + Math.abs(slope)), `${dtype}: ${derivative}, ${slope}`);
    }
  });

  test("polar factors: orthonormal columns and a positive semi-definite matrix", () => {
    const { u, p } = linalg.polar(a());
    assert.ok(slant(u, "f64") < MOST);
    assert.ok(length(u.matmul(p).sub(a())) < 1e-13);
    assert.ok((linalg.eigvalsh(p).at(0).itemSync() as number) > 0);
  });

  test("a randomised decomposition finds the values of a matrix of low rank", () => {
    const low = normals([200, 5], "f64", 1).matmul(normals([5, 80], "f64", 2));
    for (const given of [low, low.mT]) {
      const { u, s, vh } = linalg.randomizedSvd(random.key(1), given, 5);
      assert.ok(length(u.mul(s).matmul(vh).sub(given)) < 1e-12 * length(given));
    }
    assert.throws(() => linalg.randomizedSvd(random.key(1), low, 81), /rank 81.*1 to 80/s);
    const withoutKey = linalg.randomizedSvd as unknown as (a: Tensor, rank: number) => unknown;
    assert.throws(() => withoutKey(low, 3), /^ArgumentError: linalg\.randomizedSvd: the first argument is a key/);
  });

  test("the upper half is read when it is asked for, and only one half ever", () => {
    const whole = tensor([
      [2, 1],
      [1, 3],
    ]);
    const lower = linalg.eigvalsh(
      tensor([
        [2, Number.NaN],
        [1, 3],
      ]),
    );
    const upper = linalg.eigvalsh(
      tensor([
        [2, 1],
        [Number.NaN, 3],
      ]),
      { upper: true },
    );
    assert.deepEqual(lower.arraySync(), linalg.eigvalsh(whole).arraySync());
    assert.deepEqual(upper.arraySync(), lower.arraySync());
  });

  test("narrow floats and integers are computed in f32", () => {
    const given = tensor([
      [2, 1],
      [1, 2],
    ]);
    for (const dtype of ["f16", "bf16"] as const) {
      const { eigenvalues, eigenvectors } = linalg.eigh(given.cast(dtype));
      assert.deepEqual([eigenvalues.dtype, eigenvectors.dtype], [dtype, dtype]);
      assert.deepEqual(eigenvalues.arraySync(), [1, 3]);
    }
    assert.equal(linalg.svdvals(given.cast("i32")).dtype, "f32");
  });
});

describe("derivatives of decompositions", () => {
  test("among equal values what does not depend on the choice of vectors has its derivative", () => {
    const at = eye(3, { dtype: "f64" });
    assert.deepEqual(grad((x: Tensor) => linalg.eigvalsh(x).sum())(at).arraySync(), at.arraySync());
    assert.deepEqual(grad((x: Tensor) => linalg.svdvals(x).sum())(at).arraySync(), at.arraySync());
    const squares = grad((x: Tensor) => linalg.svd(x).s.square().sum())(
      tensor([
        [1, 1],
        [1, 1],
        [1, 1],
      ]),
    );
    assert.ok(length(squares.sub(2)) < 1e-5);
    const projector = (x: Tensor) => {
      const { eigenvectors: v } = linalg.eigh(x);
      return v
        .at(":", ":2")
        .matmul(v.at(":", ":2").mT)
        .mul(
          tensor([
            [1, 2, 3],
            [4, 5, 6],
            [7, 8, 9],
          ]),
        )
        .sum();
    };
    const two = tensor(
      [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 2],
      ],
      { dtype: "f64" },
    );
    const change = grad(projector)(two).arraySync() as number[][];
    assert.deepEqual(change, [
      [0, 0, 0],
      [0, 0, 0],
      [-10, -14, 0],
    ]);
  });

  test("of complex matrices, against differences", () => {
    const weights = normals([4, 4], "c128", 9);
    const functions: Record<string, (a: Tensor) => Tensor> = {
      eigh: (a) => {
        const { eigenvalues, eigenvectors: v } = linalg.eigh(a);
        const first = v.at(":", ":2");
        return eigenvalues
          .sin()
          .sum()
          .add(first.matmul(adjoint(first)).mul(weights).sum().real());
      },
      svd: (a) => {
        const { u, s, vh } = linalg.svd(a);
        return u.mul(s.sin().cast("c128")).matmul(vh).mul(weights).sum().real();
      },
      qr: (a) => {
        const { q, r } = linalg.qr(a);
        return q.add(r).mul(weights).sum().real();
      },
      pinv: (a) => linalg.pinv(a).mul(weights).sum().real(),
      lstsq: (a) => linalg.lstsq(a, weights).x.mul(weights).sum().real(),
    };
    const a = normals([4, 4], "c128", 1);
    const direction = normals([4, 4], "c128", 2);
    for (const [name, f] of Object.entries(functions)) {
      const moved = (h: number) => f(a.add(direction.mul(h))).itemSync() as number;
      const difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      const slope = grad(f)(a).mul(direction).sum().real().itemSync() as number;
      assert.ok(Math.abs(slope - difference) < 1e-6 * (1 + Math.abs(slope)), `${name}: ${slope} and ${difference}`);
    }
  });

  test("a jitted step with decompositions of large matrices gives what the functions give", () => {
    const step = (a: Tensor) => linalg.svdvals(linalg.qr(a).r.add(linalg.eigh(a.add(a.mT)).eigenvalues));
    const a = normals([66, 66], "f64", 1);
    const [eager, jitted] = [step(a), jit(step)(a)];
    assert.ok(length(eager.sub(jitted)) <= 1e-12 * length(eager));
    const batch = normals([2, 66, 66], "f64", 2);
    const values = (x: Tensor) => linalg.eigvalsh(x.add(x.mT));
    const each = [0, 1].map((i) => values(batch.at(i)).arraySync());
    const together = vmap(values)(batch);
    assert.ok(length(together.sub(tensor(each as number[][], { dtype: "f64" }))) < 1e-12 * length(together));
  });
});
