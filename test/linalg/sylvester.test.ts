/** Sylvester's equation: residuals, batches, and derivatives against differences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, jvp, linalg, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { type Numbers, normals } from "./accuracy.js";

const largest = (x: Tensor): number => x.abs().max().itemSync() as number;
const rest = (a: Tensor, b: Tensor, c: Tensor, x: Tensor) => largest(a.matmul(x).add(x.matmul(b)).sub(c));
const three = (dtype: Numbers): [Tensor, Tensor, Tensor] => [
  normals([5, 5], dtype, 1),
  normals([3, 3], dtype, 2),
  normals([5, 3], dtype, 3),
];

describeOnTensorDevices("solveSylvester", (device) => {
  test("a·x + x·b is c", () => {
    for (const dtype of device === "cpu" ? (["f32", "c128"] as const) : (["f32"] as const)) {
      const [a, b, c] = three(dtype);
      const x = linalg.solveSylvester(a, b, c);
      assert.equal(x.dtype, dtype);
      assert.ok(rest(a, b, c, x) < (dtype === "f32" ? 1e-4 : 1e-12), dtype);
    }
  });
});

test("batches broadcast; vmap and jit give the same; nothing has nothing", () => {
  const a = normals([2, 4, 4], "f64", 1);
  const [b, c] = [normals([3, 3], "f64", 2), normals([4, 3], "f64", 3)];
  const x = linalg.solveSylvester(a, b, c);
  assert.ok(rest(a, b, c, x) < 1e-12);
  const each = vmap((one: Tensor) => linalg.solveSylvester(one, b, c))(a);
  assert.ok(largest(each.sub(x)) < 1e-12);
  assert.ok(largest(jit(linalg.solveSylvester)(a, b, c).sub(x)) < 1e-12);
  assert.deepEqual(linalg.solveSylvester(zeros([0, 0]), zeros([2, 2]), zeros([0, 2])).shape, [0, 2]);
});

test("derivatives by all three, forward and backward, and second ones, against differences", () => {
  for (const dtype of ["f64", "c128"] as const) {
    const given = three(dtype);
    const weights = normals([5, 3], dtype, 7);
    const f = (...matrices: Tensor[]) =>
      linalg.solveSylvester(matrices[0]!, matrices[1]!, matrices[2]!).mul(weights).sum().real();
    given.forEach((at, which) => {
      const along = normals(at.shape, dtype, 11 + which);
      const one = (x: Tensor) => f(...given.map((other, i) => (i === which ? x : other)));
      const slope = (x: Tensor) => grad(one)(x).mul(along).sum().real();
      const difference = (of: (x: Tensor) => Tensor, h: number) =>
        ((of(at.add(along.mul(h))).itemSync() as number) - (of(at.sub(along.mul(h))).itemSync() as number)) / (2 * h);
      const near = (x: number, y: number, what: string) =>
        assert.ok(Math.abs(x - y) < 1e-5 * (1 + Math.abs(y)), `${dtype}, argument ${which}, ${what}: ${x} and ${y}`);
      const found = slope(at).itemSync() as number;
      near(found, difference(one, 1e-6), "backward");
      if (which < 2) near(jvp(one, [at], [along])[1].itemSync() as number, found, "forward");
      if (dtype === "f64" && which === 0)
        near(jvp(slope, [at], [along])[1].itemSync() as number, difference(slope, 1e-5), "second");
    });
  }
});

test("shapes that do not fit, and eigenvalues that cancel", () => {
  assert.throws(
    () => linalg.solveSylvester(zeros([2, 2]), zeros([3, 3]), zeros([3, 2])),
    /linalg\.solveSylvester: the right side is \[3, 2\].*2 rows and 3 columns/s,
  );
  const none = linalg.solveSylvester(tensor([[1]]), tensor([[-1]]), tensor([[1]])).itemSync() as number;
  assert.ok(!Number.isFinite(none));
});
