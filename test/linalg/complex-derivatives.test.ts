/** Derivatives of factors and solutions of complex matrices, forward and backward, against differences along a direction. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, grad, jvp, linalg, type Tensor } from "../../src/index.js";
import { adjoint, normals } from "./accuracy.js";

const n = 4;
const weights = normals([n, n], "c128", 9);
const real = (x: Tensor): Tensor => x.mul(weights).sum().real();
const positive = (a: Tensor): Tensor => a.matmul(adjoint(a)).add(eye(n, { dtype: "c128" }));

const FUNCTIONS: Readonly<Record<string, (a: Tensor) => Tensor>> = {
  solve: (a) => real(linalg.solve(a, weights)),
  inv: (a) => real(linalg.inv(a)),
  lu: (a) => {
    const { l, u } = linalg.lu(a);
    return real(l.add(u));
  },
  luSolve: (a) => real(linalg.luSolve(linalg.luFactor(a), weights, { transposed: true })),
  det: (a) => linalg.det(a).mul({ re: 0.5, im: 2 }).real(),
  "slogdet, sign": (a) => linalg.slogdet(a).sign.mul({ re: 0.5, im: 2 }).real(),
  "slogdet, logarithm": (a) => linalg.slogdet(a).logAbsDet,
  cholesky: (a) => real(linalg.cholesky(positive(a))),
  choSolve: (a) => real(linalg.choSolve(linalg.cholesky(positive(a)), weights)),
  triangularSolve: (a) => real(linalg.triangularSolve(a, weights, { lower: false })),
  ldl: (a) => {
    const { l, d } = linalg.ldl(positive(a));
    return real(l.add(d));
  },
  matrixExp: (a) => real(linalg.matrixExp(a)),
  matrixPower: (a) => real(linalg.matrixPower(a, -3)),
};

for (const [name, f] of Object.entries(FUNCTIONS)) {
  test(name, () => {
    const [a, along] = [normals([n, n], "c128", 1), normals([n, n], "c128", 2)];
    const slope = (x: Tensor) => grad(f)(x).mul(along).sum().real();
    const difference = (of: (x: Tensor) => Tensor, h: number) =>
      ((of(a.add(along.mul(h))).itemSync() as number) - (of(a.sub(along.mul(h))).itemSync() as number)) / (2 * h);
    const near = (x: number, y: number, what: string) =>
      assert.ok(Math.abs(x - y) < 2e-6 * (1 + Math.abs(y)), `${what}: ${x} and ${y}`);
    const backward = slope(a).itemSync() as number;
    near(backward, difference(f, 1e-6), "backward");
    near(jvp(f, [a], [along])[1].itemSync() as number, backward, "forward");
    near(jvp(slope, [a], [along])[1].itemSync() as number, difference(slope, 1e-5), "second");
  });
}
