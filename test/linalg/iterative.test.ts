/** Conjugate gradients: residuals, and derivatives beside those of `solve`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, grad, jit, jvp, linalg, type Tensor } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { normals } from "./accuracy.js";

describeOnTensorDevices("cg", () => {
  const n = 12;
  const m = () => normals([n, n], "f64", 3);
  const matrix = () =>
    m()
      .matmul(m().mT)
      .add(eye(n, { dtype: "f64" }));
  const symmetric = (a: Tensor, v: Tensor) => a.add(a.mT).mul(0.5).matmul(v);
  const b = () => normals([n], "f64", 4);

  test("finds the solution, eagerly and jitted, also of several right sides at once", () => {
    const found = linalg.cg(symmetric, matrix(), b());
    assert.ok((matrix().matmul(found).sub(b()).abs().max().itemSync() as number) < 1e-8);
    const jitted = jit((a: Tensor, side: Tensor) => linalg.cg(symmetric, a, side))(matrix(), b());
    assert.ok((jitted.sub(found).abs().max().itemSync() as number) < 1e-8);
  });

  test("its gradient, by matrix and right side, is that of solve", () => {
    const loss = (x: Tensor) => x.square().sum();
    const byCg = grad((a: Tensor) => loss(linalg.cg(symmetric, a, b())))(matrix());
    const bySolve = grad((a: Tensor) => loss(linalg.solve(a.add(a.mT).mul(0.5), b())))(matrix());
    assert.ok((byCg.sub(bySolve).abs().max().itemSync() as number) < 1e-8);
    const sideByCg = grad((side: Tensor) => loss(linalg.cg(symmetric, matrix(), side)))(b());
    const sideBySolve = grad((side: Tensor) => loss(linalg.solve(matrix(), side)))(b());
    assert.ok((sideByCg.sub(sideBySolve).abs().max().itemSync() as number) < 1e-8);
  });

  test("second derivatives and forward mode are those of solve", () => {
    const along = normals([n, n], "f64", 5);
    const second = (f: (a: Tensor) => Tensor) => grad((a: Tensor) => grad(f)(a).mul(along).sum())(matrix());
    const byCg = (a: Tensor) => linalg.cg(symmetric, a, b()).square().sum();
    const bySolve = (a: Tensor) => linalg.solve(a.add(a.mT).mul(0.5), b()).square().sum();
    const size = second(bySolve).abs().max().itemSync() as number;
    assert.ok((second(byCg).sub(second(bySolve)).abs().max().itemSync() as number) < 1e-7 * size);
    const [, forward] = jvp(byCg, [matrix()], [along]);
    const [, expected] = jvp(bySolve, [matrix()], [along]);
    assert.ok(Math.abs((forward.itemSync() as number) / (expected.itemSync() as number) - 1) < 1e-7);
  });

  test("stops after the rounds it is given", () => {
    const one = linalg.cg(symmetric, matrix(), b(), { maxRounds: 1 });
    assert.ok((matrix().matmul(one).sub(b()).abs().max().itemSync() as number) > 1e-3);
  });
});
