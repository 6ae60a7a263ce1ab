/** The nuclear norm's derivatives, which hold among equal singular values; condition numbers at any scale. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, grad, hessian, jvp, linalg, type Tensor, tensor, vmap } from "../../src/index.js";
import { type Numbers, normals } from "./accuracy.js";

const nuclear = (a: Tensor) => linalg.matrixNorm(a, { order: "nuc" });
const numberOf = (x: Tensor) => x.itemSync() as number;
const largest = (x: Tensor): number => numberOf(x.abs().max());

test("its second derivative at the identity: a turn by t has two singular values of √(1 + t²), a stretch is linear", () => {
  const second = hessian(nuclear)(eye(2, { dtype: "f64", device: "cpu" }));
  const along = (s: Tensor) => numberOf(second.mul(s).sum({ axis: [-2, -1] }).mul(s).sum()); // biome-ignore format: one line
  const direction = (rows: number[][]) => tensor(rows, { dtype: "f64", device: "cpu" });
  for (const [rows, expected] of [
    [
      [
        [0, 1],
        [-1, 0],
      ],
      2,
    ],
    [
      [
        [0, 1],
        [1, 0],
      ],
      0,
    ],
    [
      [
        [1, 0],
        [0, -3],
      ],
      0,
    ],
    [
      [
        [0, 1],
        [0, 0],
      ],
      0.5,
    ],
  ] as const) {
    // biome-ignore format: a row each
    assert.ok(Math.abs(along(direction(rows as unknown as number[][])) - expected) < 1e-14, `${rows}`);
  }
});

test("derivatives of wide, tall and complex matrices, against differences; vmap", () => {
  for (const [m, n, dtype] of [
    [3, 3, "f64"],
    [2, 4, "f64"],
    [4, 2, "c128"],
    [3, 3, "c128"],
  ] as const) {
    // biome-ignore format: one line
    const [a, along] = [normals([m, n], dtype as Numbers, 2), normals([m, n], dtype as Numbers, 7)];
    const slope = (x: Tensor) => grad(nuclear)(x).mul(along).sum().real();
    const near = (found: Tensor, f: (x: Tensor) => Tensor, what: string) => {
      const at = (h: number) => numberOf(f(a.add(along.mul(h))));
      const expected = (at(1e-5) - at(-1e-5)) / 2e-5;
      assert.ok(Math.abs(numberOf(found) - expected) < 1e-8 * (1 + Math.abs(expected)), `${dtype} ${m}×${n} ${what}`);
    };
    near(slope(a), nuclear, "first");
    near(jvp(nuclear, [a], [along])[1], nuclear, "forward");
    near(jvp(slope, [a], [along])[1], slope, "second");
  }
  const two = normals([2, 3, 3], "f64", 1);
  const each = vmap(grad(nuclear))(two);
  assert.ok(largest(each.at(1).sub(grad(nuclear)(two.at(1) as Tensor))) < 1e-14);
});

test("condition numbers are the same for matrices of any scale, real and complex", () => {
  const a = tensor([[4, 1, 0], [1, 3, -1], [2, 0, 5]], { dtype: "f64", device: "cpu" }); // biome-ignore format: a matrix
  for (const dtype of ["f64", "c128"] as const) {
    for (const order of ["fro", "nuc", 1, -1, 2, Infinity] as const) {
      const expected = numberOf(linalg.cond(a.cast(dtype), { order }));
      assert.ok(expected > 1 && expected < 20);
      for (const scale of [1e300, 1e-300]) {
        const found = numberOf(linalg.cond(a.mul(scale).cast(dtype), { order }));
        assert.ok(Math.abs(found / expected - 1) < 1e-13, `${dtype} ${order} ${scale}: ${found}, not ${expected}`);
      }
    }
  }
});
