/** Functions of Hermitian matrices: roots, and derivatives that hold among equal eigenvalues. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, grad, jvp, linalg, type Tensor, tensor, vmap } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { adjoint, type Numbers, normals } from "./accuracy.js";

const largest = (x: Tensor): number => x.abs().max().itemSync() as number;
const positive = (n: number, dtype: Numbers): Tensor => {
  const a = normals([n, n], dtype, n);
  return a.matmul(adjoint(a)).add(eye(n, { dtype }));
};

describeOnTensorDevices("hermitianFunction", (device) => {
  test("the square of the root is the matrix", () => {
    for (const dtype of device === "cpu" ? (["f32", "f64", "c128"] as const) : (["f32"] as const)) {
      const a = positive(5, dtype);
      const root = linalg.hermitianFunction(a, (x) => x.sqrt());
      assert.equal(root.dtype, dtype);
      assert.ok(largest(root.matmul(root).sub(a)) < (dtype === "f32" ? 1e-4 : 1e-12), dtype);
    }
  });
});

test("a function that gives something else is refused by name", () => {
  const a = positive(3, "f64");
  for (const f of [(x: Tensor) => x.sum(), () => 3 as never]) {
    assert.throws(() => linalg.hermitianFunction(a, f), /linalg\.hermitianFunction: the function gave .*\[3\]/s);
  }
});

test("among equal eigenvalues the derivative is that of the polynomial, forward and backward", () => {
  const weights = normals([3, 3], "f64", 4);
  const even = (x: Tensor) => x.add(x.mT).mul(0.5);
  const cubed = (x: Tensor) => even(x).matmul(even(x)).matmul(even(x)).mul(weights).sum();
  const ours = (x: Tensor) =>
    linalg
      .hermitianFunction(even(x), (v) => v.pow(3))
      .mul(weights)
      .sum();
  for (const diagonal of [
    [1, 1, 1],
    [1, 1, 2],
    [0, 0, 0],
    [1, 1 + 1e-9, 2],
    [1, 2, 5],
  ]) {
    // biome-ignore format: one line
    const at = tensor(diagonal, { dtype: "f64" }).mul(eye(3, { dtype: "f64" }));
    assert.ok(largest(grad(ours)(at).sub(grad(cubed)(at))) < 1e-9, `${diagonal}`);
    const [, forward] = jvp(ours, [at], [weights]);
    const [, expected] = jvp(cubed, [at], [weights]);
    assert.ok(Math.abs((forward.itemSync() as number) - (expected.itemSync() as number)) < 1e-8, `${diagonal}`);
  }
});

test("second derivatives, too: forward over reverse, reverse over reverse, forward over forward", () => {
  const [weights, along] = [normals([3, 3], "f64", 4), normals([3, 3], "f64", 5)];
  const even = (x: Tensor) => x.add(x.mT).mul(0.5);
  const power = (x: Tensor) => even(x).matmul(even(x)).matmul(even(x)).matmul(even(x)).mul(weights).sum();
  const ours = (x: Tensor) =>
    linalg
      .hermitianFunction(even(x), (v) => v.pow(4))
      .mul(weights)
      .sum();
  const ways: Readonly<Record<string, (f: (x: Tensor) => Tensor, at: Tensor) => Tensor>> = {
    "forward over reverse": (f, at) => jvp(grad(f), [at], [along])[1],
    "reverse over reverse": (f, at) => grad((x: Tensor) => grad(f)(x).mul(along).sum())(at),
    "forward over forward": (f, at) => jvp((x: Tensor) => jvp(f, [x], [along])[1], [at], [weights])[1],
  };
  for (const diagonal of [
    [1, 1, 1],
    [1, 1, 2],
    [2, 1, 1],
    [0, 0, 0],
    [1, 1 + 1e-9, 2],
    [1, 1 + 1e-4, 2],
    [1, 2, 5],
  ]) {
    const at = tensor(diagonal, { dtype: "f64" }).mul(eye(3, { dtype: "f64" }));
    for (const [name, second] of Object.entries(ways)) {
      const expected = second(power, at);
      const apart = largest(second(ours, at).sub(expected));
      assert.ok(apart < 1e-6 * (1 + largest(expected)), `${diagonal}, ${name}: ${apart}`);
    }
  }
});

test("the second derivative of a complex matrix, against differences of the first", () => {
  const a = eye(3, { dtype: "c128" }).mul(2);
  const weights = normals([3, 3], "c128", 3);
  const raw = normals([3, 3], "c128", 2);
  const along = raw.add(adjoint(raw));
  const f = (x: Tensor) =>
    linalg
      .hermitianFunction(x, (v) => v.log())
      .mul(weights)
      .sum()
      .real();
  const slope = (x: Tensor) => grad(f)(x).mul(along).sum().real().itemSync() as number;
  const second = grad((x: Tensor) => grad(f)(x).mul(along).sum().real())(a)
    .mul(along)
    .sum()
    .real()
    .itemSync() as number;
  const differences = (slope(a.add(along.mul(1e-5))) - slope(a.sub(along.mul(1e-5)))) / 2e-5;
  assert.ok(Math.abs(second - differences) < 1e-6 * (1 + Math.abs(second)), `${second} ${differences}`);
});

test("derivatives of logarithms of complex matrices, against differences; vmap", () => {
  const [a, weights] = [positive(4, "c128"), normals([4, 4], "c128", 3)];
  const f = (x: Tensor) =>
    linalg
      .hermitianFunction(x, (v) => v.log())
      .mul(weights)
      .sum()
      .real();
  const raw = normals([4, 4], "c128", 2);
  const along = raw.add(adjoint(raw));
  const moved = (h: number) => f(a.add(along.mul(h))).itemSync() as number;
  const slope = grad(f)(a).mul(along).sum().real().itemSync() as number;
  assert.ok(Math.abs(slope - (moved(1e-6) - moved(-1e-6)) / 2e-6) < 1e-6 * (1 + Math.abs(slope)));
  const two = normals([2, 3, 3], "f64", 1);
  const square = (x: Tensor) => linalg.hermitianFunction(x, (v) => v.square());
  const whole = two.add(two.mT);
  assert.ok(largest(vmap(square)(whole).sub(whole.matmul(whole))) < 1e-13);
  assert.ok(
    largest(
      square(whole.triu() as Tensor).sub(
        square(
          whole
            .diagonal()
            .expandDims(-1)
            .mul(eye(3, { dtype: "f64" })),
        ),
      ),
    ) < 1e-13,
  );
});

test("composed of eigenvalues and vectors, a function lacks f' between equal eigenvalues in its derivative, and nothing else", () => {
  // Eigenvalues 1, 1, 1 and 3, exactly.
  const turn = tensor([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], { dtype: "f64" }).mul(0.5); // biome-ignore format: a matrix
  const a = turn.mul(tensor([1, 1, 1, 3], { dtype: "f64" })).matmul(turn.mT);
  const half = normals([4, 4], "f64", 2);
  const weights = half.add(half.mT);
  const even = (x: Tensor) => x.add(x.mT).mul(0.5);
  const composed = (x: Tensor) => {
    const { eigenvalues, eigenvectors } = linalg.eigh(even(x));
    return eigenvectors.mul(eigenvalues.pow(2)).matmul(eigenvectors.mT).mul(weights).sum();
  };
  const whole = (x: Tensor) =>
    linalg
      .hermitianFunction(even(x), (v) => v.pow(2))
      .mul(weights)
      .sum();
  // Of a²: a·weights + weights·a.
  const truth = a.matmul(weights).add(weights.matmul(a));
  assert.ok(largest(grad(whole)(a).sub(truth)) < 1e-13);
  const { eigenvalues, eigenvectors } = linalg.eigh(a);
  const inside = eigenvectors.mT.matmul(weights).matmul(eigenvectors);
  const isEqual = eigenvalues.expandDims(1).sub(eigenvalues).abs().less(1e-9);
  const isBeside = isEqual.logicalAnd(eye(4, { dtype: "bool" }).logicalNot());
  const lacking = eigenvectors.matmul(inside.mul(2).mul(isBeside.cast("f64"))).matmul(eigenvectors.mT);
  assert.ok(largest(lacking) > 0.1);
  assert.ok(largest(grad(composed)(a).add(lacking).sub(truth)) < 1e-13);
});
