/** Gradients by the parameters of a model against difference quotients in f64 along one random direction, and numbers that agree. */
import assert from "node:assert/strict";
import { grad, random, type Tensor, tree } from "../../src/index.js";
import type { VariableTree } from "../../src/nn/index.js";
import { numbersOf } from "./tensors.js";

/** Numbers that agree to an absolute tolerance. */
export function assertNear(found: readonly number[], wanted: readonly number[], tolerance: number, what = ""): void {
  assert.equal(found.length, wanted.length, what);
  wanted.forEach((value, i) => {
    assert.ok(Math.abs(found[i]! - value) <= tolerance, `${what} ${found[i]} for ${value} at ${i}`);
  });
}

/** The gradient of a loss along a direction, and its difference quotient, extrapolated from two steps. Parameters are f64. */
export function assertSlopes(loss: (params: VariableTree) => Tensor, params: VariableTree, tolerance = 1e-7): void {
  const { leaves, unflatten } = tree.flatten(params);
  const way = leaves.map((leaf, i) =>
    random.normal(random.key(i, { device: leaf.device }), leaf.shape, { dtype: "f64" }),
  );
  const at = (h: number): number => numbersOf(loss(unflatten(leaves.map((leaf, i) => leaf.add(way[i]!.mul(h))))))[0]!;
  const quotient = (h: number): number => (at(h) - at(-h)) / (2 * h);
  const step = 2 ** -10;
  const wanted = (4 * quotient(step) - quotient(2 * step)) / 3;
  const slopes = tree.leaves(grad(loss)(params));
  const found = slopes.reduce((sum, leaf, i) => sum + numbersOf(leaf.mul(way[i]!).sum())[0]!, 0);
  assert.ok(Math.abs(found - wanted) <= tolerance * Math.max(1, Math.abs(wanted)), `${found} for ${wanted}`);
}
