/** Where `cg` and `gmres` begin, and preconditioners: fewer rounds, the same solutions and derivatives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, full, grad, jit, jvp, linalg, ones, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { adjoint, type Numbers, normals } from "./accuracy.js";

const n = 16;
const product = (a: Tensor, v: Tensor) => a.matmul(v);
/** The inverse of the diagonal. */
const byDiagonal = (a: Tensor, v: Tensor) => v.div(a.diagonal());
const largest = (x: Tensor): number => x.abs().max().itemSync() as number;
/** Positive definite, of a condition of 1e8 that its diagonal takes away. */
const scaled = (dtype: Numbers): Tensor => {
  const m = normals([n, n], dtype, 3).mul(0.1);
  const scales = tensor(Array.from({ length: n }, (_, i) => 10 ** (4 * (i / (n - 1)))), { dtype: "f64" }).cast(dtype); // biome-ignore format: one line
  return m.matmul(adjoint(m)).add(eye(n, { dtype })).mul(scales).mul(scales.expandDims(1));
};
const SOLVERS = {
  cg: (a: Tensor, b: Tensor, rounds: number, more: object = {}) =>
    linalg.cg(product, a, b, { maxRounds: rounds, tolerance: 1e-12, ...more }),
  gmres: (a: Tensor, b: Tensor, rounds: number, more: object = {}) =>
    linalg.gmres(product, a, b, { restart: rounds || 1, maxRestarts: Math.min(rounds, 1), tolerance: 1e-12, ...more }),
} as const;

for (const [name, solver] of Object.entries(SOLVERS)) {
  describeOnTensorDevices(`${name}, begun and preconditioned`, (device) => {
    test("a preconditioner saves rounds, real and complex, eagerly and jitted", () => {
      for (const dtype of device === "cpu" ? (["f64", "c128"] as const) : (["f32"] as const)) {
        const [a, b] = [scaled(dtype), normals([n], dtype, 4)];
        const rest = (x: Tensor) => largest(a.matmul(x).sub(b));
        assert.ok(rest(solver(a, b, 9)) > 1e-2, dtype);
        const within = dtype === "f32" ? 1e-3 : 1e-8;
        assert.ok(rest(solver(a, b, n, { preconditioner: byDiagonal })) < within, dtype);
        const jitted = jit((m: Tensor, side: Tensor) => solver(m, side, n, { preconditioner: byDiagonal }));
        assert.ok(rest(jitted(a, b)) < within, dtype);
      }
    });

    test("begins at x0: no round from the solution, few from beside it", () => {
      const [a, b] = [scaled("f32"), normals([n], "f32", 4)];
      const x = linalg.solve(a, b);
      assert.equal(largest(solver(a, b, 0, { x0: x }).sub(x)), 0);
      const near = solver(a, b, n, { x0: x.mul(1.001), preconditioner: byDiagonal });
      assert.ok(largest(near.sub(x)) < 1e-4 * largest(x));
    });
  });

  test(`${name}: derivatives are those of solve, and zero by x0`, () => {
    for (const dtype of ["f64", "c128"] as const) {
      const [a, b, along] = [scaled(dtype), normals([n], dtype, 4), normals([n, n], dtype, 5)];
      // A gradient moves the matrix to one that is not symmetric, which cg cannot solve.
      const even = (m: Tensor) => (name === "cg" ? m.add(adjoint(m)).mul(0.5) : m);
      const x0 = normals([n], dtype, 6);
      const ours = (m: Tensor, side: Tensor, from: Tensor) =>
        solver(even(m), side, 40, { x0: from, preconditioner: byDiagonal }).abs().square().sum();
      const theirs = (m: Tensor, side: Tensor, _from: Tensor) => linalg.solve(even(m), side).abs().square().sum();
      const near = (x: Tensor, y: Tensor, what: string) =>
        assert.ok(largest(x.sub(y)) < 1e-7 * (1e-9 + largest(y)), `${dtype}, ${what}: ${largest(x.sub(y))}`);
      const by = (f: typeof ours) => grad(f, { argument: [0, 1, 2] })(a, b, x0) as unknown as Tensor[];
      const [found, expected] = [by(ours), by(theirs)];
      near(found[0]!, expected[0]!, "by the matrix");
      near(found[1]!, expected[1]!, "by the right side");
      assert.equal(largest(found[2]!), 0);
      const forward = (f: typeof ours) => jvp(f, [a, b, x0], [along, x0, b])[1];
      near(forward(ours), forward(theirs), "forward");
      if (dtype === "c128") continue;
      const second = (f: typeof ours) => {
        const once = (m: Tensor) => grad((x: Tensor) => f(x, b, x0))(m);
        return grad((m: Tensor) => once(m).mul(along).sum())(a);
      };
      near(second(ours), second(theirs), "second");
    }
  });

  test(`${name}: batches of starts by vmap; a right side of zeros`, () => {
    const a = scaled("f64");
    const [sides, starts] = [normals([3, n], "f64", 7), normals([3, n], "f64", 8)];
    const one = (side: Tensor, x0: Tensor) => solver(a, side, 40, { x0, preconditioner: byDiagonal });
    const found = vmap(one)(sides, starts);
    const rest = largest(found.matmul(a.mT).sub(sides));
    // The residual of such a start is 1e8, and one restart takes off some 15 digits.
    assert.ok(rest < 1e-6, `${rest}`);
    assert.equal(largest(one(zeros([n], { dtype: "f64" }), starts.at(0) as Tensor)), 0);
  });

  test(`${name}: starts and products of other shapes are refused by name`, () => {
    const [a, b] = [eye(3), ones([3])];
    const error = new RegExp(`linalg\\.${name}: x0 is \\[2\\] and the right side \\[3\\]`);
    assert.throws(() => solver(a, b, 3, { x0: ones([2]) }), error);
    assert.throws(() => solver(a, b, 3, { x0: 3 }), new RegExp(`linalg\\.${name}: x0`));
    assert.throws(
      () => solver(a, b, 3, { preconditioner: () => full([2], 1) }),
      new RegExp(`linalg\\.${name}: the preconditioner gave .*\\[2\\].*\\[3\\]`),
    );
    assert.throws(() => solver(ones([2, 3]), b, 3), new RegExp(`linalg\\.${name}: the function gave`));
  });
}
