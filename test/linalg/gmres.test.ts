/** Generalised minimal residuals: residuals, restarts, and derivatives beside those of `solve`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, grad, jit, jvp, linalg, type Tensor, vmap, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { type Numbers, normals } from "./accuracy.js";

const n = 12;
const product = (a: Tensor, v: Tensor) => a.matmul(v);
const largest = (x: Tensor): number => x.abs().max().itemSync() as number;
/** Not symmetric, and far from singular. */
const matrix = (dtype: Numbers): Tensor => normals([n, n], dtype, 3).add(eye(n, { dtype }).mul(6));

describeOnTensorDevices("gmres", (device) => {
  test("finds the solution, with one restart or many, real and complex, jitted", () => {
    for (const dtype of device === "cpu" ? (["f64", "c128", "f32"] as const) : (["f32"] as const)) {
      const [a, b] = [matrix(dtype), normals([n], dtype, 4)];
      const within = dtype === "f32" ? 2e-4 : 1e-8;
      for (const restart of device === "cpu" ? [n, 4] : [n]) {
        assert.ok(largest(a.matmul(linalg.gmres(product, a, b, { restart })).sub(b)) < within, `${dtype} ${restart}`);
      }
      const quick = jit((m: Tensor, side: Tensor) => linalg.gmres(product, m, side));
      assert.ok(largest(a.matmul(quick(a, b)).sub(b)) < within);
    }
  });
});

test("right sides of any shape, of zeros, of nothing", () => {
  const a = matrix("f64");
  const sides = normals([n, 2], "f64", 5);
  assert.ok(largest(a.matmul(linalg.gmres(product, a, sides)).sub(sides)) < 1e-8);
  assert.equal(largest(linalg.gmres(product, a, zeros([n], { dtype: "f64" }))), 0);
  assert.deepEqual(linalg.gmres(product, zeros([0, 0]), zeros([0])).shape, [0]);
});

test("a basis that is complete before the restart: the unit matrix, and eigenvectors as right sides", () => {
  const b = normals([n], "f64", 6);
  const unit = eye(n, { dtype: "f64" });
  assert.ok(largest(linalg.gmres(product, unit, b).sub(b)) < 1e-14);
  assert.ok(largest(linalg.gmres(product, unit.mul(3), b).mul(3).sub(b)) < 1e-13);
});

test("gradients by matrix and right side, forward mode and second derivatives are those of solve", () => {
  for (const dtype of ["f64", "c128"] as const) {
    const [a, b, along] = [matrix(dtype), normals([n], dtype, 4), normals([n, n], dtype, 5)];
    const options = { restart: n, tolerance: 1e-14 };
    const ours = (m: Tensor, side: Tensor) => linalg.gmres(product, m, side, options).abs().square().sum();
    const theirs = (m: Tensor, side: Tensor) => linalg.solve(m, side).abs().square().sum();
    const near = (x: Tensor, y: Tensor, what: string) =>
      assert.ok(largest(x.sub(y)) < 1e-8 * (1 + largest(y)), `${dtype}, ${what}`);
    near(grad((m: Tensor) => ours(m, b))(a), grad((m: Tensor) => theirs(m, b))(a), "by the matrix");
    near(grad((side: Tensor) => ours(a, side))(b), grad((side: Tensor) => theirs(a, side))(b), "by the right side");
    const forward = (f: typeof ours) => jvp((m: Tensor) => f(m, b), [a], [along])[1];
    near(forward(ours), forward(theirs), "forward");
    if (dtype === "c128") continue;
    const second = (f: typeof ours) =>
      grad((m: Tensor) =>
        grad((x: Tensor) => f(x, b))(m)
          .mul(along)
          .sum(),
      )(a);
    near(second(ours), second(theirs), "second");
  }
});

test("stops after the restarts it is given, and refuses what is no count", () => {
  const [a, b] = [matrix("f64"), normals([n], "f64", 4)];
  const one = linalg.gmres(product, a, b, { restart: 2, maxRestarts: 1 });
  assert.ok(largest(a.matmul(one).sub(b)) > 1e-3);
  assert.throws(() => linalg.gmres(product, a, b, { restart: 0 }), /linalg\.gmres: .*restarts/);
});

test("batches of right sides and of matrices by vmap are those of a loop", () => {
  const [a, sides, along] = [matrix("f64"), normals([3, n], "f64", 6), normals([3, n, n], "f64", 7)];
  const matrices = along.mul(0.1).add(a);
  const options = { restart: n, tolerance: 1e-12 };
  const one = (m: Tensor, side: Tensor) => linalg.gmres(product, m, side, options);
  const together = [vmap((side: Tensor) => one(a, side))(sides), vmap(one)(matrices, sides)];
  for (const [which, found] of together.entries()) {
    for (let i = 0; i < 3; i++) {
      const m = which === 0 ? a : (matrices.at(i) as Tensor);
      const x = found.at(i) as Tensor;
      assert.ok(largest(x.sub(linalg.solve(m, sides.at(i) as Tensor))) < 1e-8 * (1 + largest(x)));
    }
  }
});
