/** Results beside SciPy's and LAPACK's for the matrices of values.json (make-values.py writes it). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { linalg, type Tensor, tensor } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

type Numbers = readonly (readonly number[])[];
type Matrix = Numbers | { readonly re: Numbers; readonly im: Numbers };
interface Case {
  readonly kind: string;
  readonly [name: string]: unknown;
}

const path = new URL("../../../test/linalg/values.json", import.meta.url);
const cases = JSON.parse(readFileSync(path, "utf8")) as readonly Case[];

function matrix(given: unknown): Tensor {
  const values = given as Matrix | number;
  const part = (x: Numbers | number) => tensor(x as Numbers, { dtype: "f64" });
  if (typeof values === "number" || !("re" in values)) return part(values as Numbers);
  return part(values.re)
    .cast("c128")
    .add(part(values.im).cast("c128").mul({ re: 0, im: 1 }));
}

function near(found: Tensor, expected: Tensor, what: string, within = 1e-10): void {
  assert.deepEqual(found.shape, expected.shape, what);
  const distance = found.sub(expected).abs().max().itemSync() as number;
  const size = expected.abs().max().itemSync() as number;
  assert.ok(distance <= within * Math.max(1e-300, size), `${what}: ${distance / size}`);
}

describeOnTensorDevices("as SciPy", () => {
  for (const { kind, ...given } of cases) {
    test(kind, () => {
      const [a, b, h, small] = ["a", "b", "h", "small"].map((name) => matrix(given[name])) as [Tensor, Tensor, Tensor, Tensor]; // biome-ignore format: one line
      near(linalg.cholesky(h), matrix(given.cholesky), "cholesky");
      near(linalg.eigvalsh(h), matrix(given.eigvalsh), "eigvalsh", 1e-13);
      // As sets: for each of SciPy's the nearest of ours.
      const gaps = linalg
        .eigvals(a)
        .cast("c128")
        .expandDims(0)
        .sub(matrix(given.eigvals).cast("c128").expandDims(1))
        .abs();
      const size = matrix(given.eigvals).abs().max().itemSync() as number;
      assert.ok((gaps.min({ axis: 1 }).max().itemSync() as number) < 1e-12 * size, "eigvals");
      assert.ok((gaps.min({ axis: 0 }).max().itemSync() as number) < 1e-12 * size, "eigvals");
      // The condition of the graded matrix is 1e12.
      const within = kind === "graded" ? 1e-2 : 1e-7;
      const b2 = small.at(":2", ":2");
      near(linalg.solveSylvester(h, b2, b), matrix(given.sylvester), "solveSylvester", within);
      near(
        linalg.hermitianFunction(h, (x) => x.sqrt()),
        matrix(given.sqrtm),
        "sqrtm",
        // ε in the matrix is ε / 2√λ in its root, for the least eigenvalue λ.
        kind === "graded" ? 1e-9 : 1e-10,
      );
      near(linalg.svdvals(a), matrix(given.svdvals), "svdvals", 1e-13);
      near(linalg.pinv(a), matrix(given.pinv), "pinv", within);
      near(linalg.lstsq(a.at(":", ":4"), b).x, matrix(given.lstsq), "lstsq", within);
      const { lu, pivots } = linalg.luFactor(a);
      near(lu, matrix(given.lu), "lu");
      assert.deepEqual([...pivots.dataSync()], given.pivots);
      // Hilbert's matrix of order 6 has a condition of 1e7.
      near(linalg.solve(a, b), matrix(given.solve), "solve", 1e-7);
      near(linalg.inv(h), matrix(given.inv), "inv", 1e-8);
      const { sign, logAbsDet } = linalg.slogdet(a);
      near(sign.reshape([1, 1]), matrix(given.sign).reshape([1, 1]), "sign");
      assert.ok(Math.abs((logAbsDet.itemSync() as number) - (given.logAbsDet as number)) < 1e-7);
      near(linalg.matrixExp(small), matrix(given.expm), "matrixExp", 1e-12);
      near(linalg.matrixPower(small, 5), matrix(given.power), "matrixPower", 1e-12);
      for (const [order, norm] of Object.entries(given.norms as Record<string, number>)) {
        const by = order === "fro" ? order : order === "inf" ? Infinity : order === "-inf" ? -Infinity : Number(order);
        const found = linalg.matrixNorm(a, { order: by as 1 }).itemSync() as number;
        assert.ok(Math.abs(found - norm) < 1e-12 * norm, `norm ${order}: ${found}`);
      }
    });
  }
});
