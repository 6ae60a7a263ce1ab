/** Factors of indefinite matrices: products, triangles, blocks, and derivatives against differences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, linalg, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { adjoint, EPSILON, GENERAL, type Numbers, normals } from "./accuracy.js";

const largest = (x: Tensor): number => x.abs().max().itemSync() as number;

function check(a: Tensor, dtype: Numbers, what: string): void {
  const n = a.shape.at(-1) as number;
  const { l, d, order } = linalg.ldl(a);
  const made = l.matmul(d).matmul(adjoint(l));
  assert.ok(largest(made.sub(a)) <= 8 * n * EPSILON[dtype] * (largest(a) || 1), `${what}: ${largest(made.sub(a))}`);
  const triangle = l.take(order, { axis: 0 });
  assert.equal(largest(triangle.triu(1)), 0, what);
  assert.equal(largest(triangle.diagonal().sub(1)), 0, what);
  // Bunch and Parlett's bound is 2.78.
  assert.ok(largest(l) < 2.8, `${what}: ${largest(l)}`);
  const beside = d.diagonal({ offset: -1 }).abs().arraySync() as number[];
  assert.ok(
    beside.every((x, i) => x === 0 || (beside[i + 1] ?? 0) === 0),
    `${what}: blocks of three rows`,
  );
  assert.equal(largest(d.tril(-2)), 0);
}

describeOnTensorDevices("ldl", (device) => {
  test("of Hermitian matrices of every dtype", () => {
    for (const dtype of device === "cpu" ? (["f32", "f64", "c64", "c128"] as const) : (["f32"] as const)) {
      for (const n of device !== "cpu" ? [6] : dtype === "f32" ? [1, 2, 3, 40] : [9]) {
        const a = normals([n, n], dtype, n);
        check(a.add(adjoint(a)), dtype, `${dtype} ${n}`);
      }
    }
  });
});

test("graded, singular and indefinite ones, and zeros on the diagonal", () => {
  for (const [name, make] of Object.entries(GENERAL)) {
    const a = make(12, "f64");
    check(a.add(a.mT), "f64", name);
  }
  const swap = tensor([[0, 1, 0], [1, 0, 0], [0, 0, 0]], { dtype: "f64" }); // biome-ignore format: a matrix
  check(swap, "f64", "zeros");
  assert.deepEqual(linalg.ldl(swap).d.arraySync(), swap.arraySync());
  check(zeros([4, 4], { dtype: "f64" }), "f64", "all zeros");
});

test("the inertia of the blocks is that of the matrix (Sylvester)", () => {
  const a = normals([9, 9], "f64", 3);
  const signs = (x: Tensor) => linalg.eigvalsh(x).sign().arraySync();
  assert.deepEqual(signs(linalg.ldl(a.add(a.mT)).d), signs(a.add(a.mT)));
});

test("one half is read; batches, vmap and jit; nothing has nothing", () => {
  const a = normals([3, 5, 5], "f64", 2);
  const whole = a.add(a.mT);
  const product = (x: Tensor, upper = false) => {
    const { l, d } = linalg.ldl(x, { upper });
    return l.matmul(d).matmul(l.mT);
  };
  assert.ok(largest(product(whole.tril()).sub(whole)) < 1e-13);
  assert.ok(largest(product(whole.triu(), true).sub(whole)) < 1e-13);
  assert.ok(largest(vmap((x: Tensor) => product(x))(whole).sub(whole)) < 1e-13);
  assert.ok(largest(jit((x: Tensor) => product(x))(whole).sub(whole)) < 1e-13);
  const none = linalg.ldl(zeros([2, 0, 0]));
  assert.deepEqual([none.l.shape, none.d.shape, none.order.shape], [[2, 0, 0], [2, 0, 0], [2, 0]]); // biome-ignore format: one line
});

test("the derivative of the factors, against differences", () => {
  const [a, along] = [normals([4, 4], "f64", 1), normals([4, 4], "f64", 2)];
  const [left, right] = [normals([4, 4], "f64", 3), normals([4, 4], "f64", 4)];
  const f = (x: Tensor) => {
    const { l, d } = linalg.ldl(x.add(x.mT));
    return l.mul(left).sum().add(d.mul(right).sum());
  };
  const moved = (h: number) => f(a.add(along.mul(h))).itemSync() as number;
  const slope = grad(f)(a).mul(along).sum().itemSync() as number;
  assert.ok(Math.abs(slope - (moved(1e-6) - moved(-1e-6)) / 2e-6) < 1e-6 * (1 + Math.abs(slope)));
});
