/** Determinants and their derivatives, beside the polynomial written out: also of matrices without an inverse. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { concat, grad, jit, jvp, linalg, type Tensor, tensor, vmap } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { type Numbers, normals } from "./accuracy.js";

/** The determinant by cofactors of the first row, in sums and products alone. */
function written(a: Tensor): Tensor {
  const n = a.shape[0]!;
  if (n === 1) return a.at(0, 0);
  const terms = Array.from({ length: n }, (_, column) => {
    const rows = a.at("1:");
    const minor = concat([rows.at(":", `:${column}`), rows.at(":", `${column + 1}:`)], { axis: 1 });
    return a
      .at(0, column)
      .mul(written(minor))
      .mul(column % 2 === 0 ? 1 : -1);
  });
  return terms.reduce((sum, term) => sum.add(term));
}

/** Matrices of 4 rows of a rank. */
const ofRank = (rank: number, dtype: Numbers): Tensor =>
  normals([4, rank], dtype, 3).matmul(normals([rank, 4], dtype, 5));

const largest = (x: Tensor): number => x.abs().max().itemSync() as number;
const near = (x: Tensor, y: Tensor, what: string, within = 1e-11) =>
  assert.ok(largest(x.sub(y)) <= within * Math.max(1, largest(y)), `${what}: ${x.arraySync()} and ${y.arraySync()}`);

describeOnTensorDevices("the derivative of a determinant", (device) => {
  test("is the cofactors, of matrices of any rank", () => {
    for (const dtype of device === "cpu" ? (["f64", "c128"] as const) : (["f64"] as const)) {
      for (const rank of [4, 3, 2, 1]) {
        const a = ofRank(rank, dtype);
        const part = (x: Tensor) => (dtype === "c128" ? x.mul({ re: 0.5, im: 2 }).real() : x);
        const found = grad((x: Tensor) => part(linalg.det(x)))(a);
        near(found, grad((x: Tensor) => part(written(x)))(a), `${dtype}, rank ${rank}`);
      }
    }
  });
});

describe("derivatives of determinants", () => {
  test("exact zeros among the pivots, and a matrix of zeros", () => {
    const given = [[1, 2, 3, 4], [2, 4, 6, 8], [0, 1, 0, 2], [5, 0, 1, 1]]; // biome-ignore format: a matrix
    for (const values of [given, given.map((row) => row.map(() => 0))]) {
      const a = tensor(values, { dtype: "f64" });
      near(grad((x: Tensor) => linalg.det(x))(a), grad(written)(a), "zeros");
    }
  });

  test("second ones, forward over backward and backward over backward", () => {
    const along = normals([4, 4], "f64", 8);
    for (const rank of [4, 3, 2]) {
      const a = ofRank(rank, "f64");
      const second = (f: (x: Tensor) => Tensor) => jvp((x: Tensor) => grad(f)(x), [a], [along])[1];
      const twice = (f: (x: Tensor) => Tensor) => grad((x: Tensor) => grad(f)(x).mul(along).sum())(a);
      const det = (x: Tensor) => linalg.det(x);
      near(second(det), second(written), `rank ${rank}`);
      near(twice(det), second(written), `rank ${rank}, twice backward`);
    }
  });

  test("forward mode, batches, vmap and jit", () => {
    const a = normals([3, 5, 5], "f64", 1);
    const along = normals([3, 5, 5], "f64", 2);
    const [value, change] = jvp((x: Tensor) => linalg.det(x), [a], [along]);
    for (let i = 0; i < 3; i++) {
      const [one, its] = jvp(written, [a.at(i)], [along.at(i)]);
      near(value.at(i), one, "value");
      near(change.at(i), its, "tangent");
    }
    const gradient = grad((x: Tensor) => linalg.det(x));
    near(vmap(gradient)(a), grad((x: Tensor) => linalg.det(x).sum())(a), "vmap");
    near(jit(gradient)(a.at(0)), gradient(a.at(0)), "jit");
  });

  test("of f32, and of slogdet", () => {
    const a = ofRank(3, "f32");
    near(grad((x: Tensor) => linalg.det(x))(a), grad(written)(a), "f32", 1e-4);
    const whole = normals([6, 6], "f64", 4);
    const slope = grad((x: Tensor) => linalg.slogdet(x).logAbsDet)(whole);
    near(slope, linalg.inv(whole).mT as Tensor, "slogdet");
  });
});
