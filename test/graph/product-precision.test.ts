/** The precision of products: where it enters the graph, and that derivatives, batches and programs keep it. */
import assert from "node:assert/strict";
import { afterEach, before, test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { type Node, pendingInOrder } from "../../src/graph/node.js";
import { dot, matrixProduct } from "../../src/graph/primitives/dot.js";
import {
  conv,
  einsum,
  grad,
  jit,
  matmulPrecision,
  ones,
  setDefaultDevice,
  setMatmulPrecision,
  type Tensor,
  vmap,
} from "../../src/index.js";

before(() => setDefaultDevice("cpu"));
afterEach(() => setMatmulPrecision("highest"));

/** Precisions of the products behind a node, and of its convolutions. */
const precisionsOf = (node: Node): unknown[] =>
  pendingInOrder([node])
    .filter(({ primitive }) => primitive === dot || primitive === matrixProduct || primitive.name === "conv")
    .map(({ params }) => params.precision);

const matrix = (dtype: "f32" | "f64" | "bf16" = "f32"): Tensor => ones([3, 3], { dtype }).realize();

test("products have no precision of their own unless told, by the setting or by the call", () => {
  const a = matrix();
  assert.deepEqual(precisionsOf(a.matmul(a).node), [undefined]);
  assert.deepEqual(precisionsOf(a.matmul(a, { precision: "high" }).node), ["high"]);
  assert.deepEqual(precisionsOf(a.dot(a, { precision: "fast" }).node), ["fast"]);
  setMatmulPrecision("high");
  assert.equal(matmulPrecision(), "high");
  assert.deepEqual(precisionsOf(einsum("ij,jk->ik", a, a).node), ["high"]);
  assert.deepEqual(precisionsOf(a.matmul(a, { precision: "highest" }).node), [undefined]);
  assert.equal(matmulPrecision(), "high", "a call leaves the setting alone");
  const image = ones([1, 1, 4, 4]).realize();
  assert.deepEqual(precisionsOf(conv(image, ones([1, 1, 3, 3])).node), ["high"]);
});

test("only f32 has a choice", () => {
  setMatmulPrecision("fast");
  for (const dtype of ["f64", "bf16"] as const) {
    const a = matrix(dtype);
    assert.deepEqual(precisionsOf(a.matmul(a).node), [undefined]);
  }
});

test("gradients and batches have the precision of their product", () => {
  const a = matrix();
  const loss = (x: Tensor) => x.matmul(a, { precision: "high" }).square().sum();
  const found = precisionsOf(grad(loss)(a).node);
  assert.ok(found.length >= 1 && found.every((precision) => precision === "high"), String(found));
  const stack = ones([4, 3, 3]).realize();
  const batched = precisionsOf(vmap((x: Tensor) => x.matmul(x, { precision: "fast" }))(stack).node);
  assert.deepEqual(batched, ["fast"]);
});

test("a jitted function is traced again when the setting changes, and remembers both", async () => {
  const a = matrix();
  let traces = 0;
  const f = jit((x: Tensor) => {
    traces++;
    return x.matmul(x).sum();
  });
  for (const precision of ["highest", "high", "highest", "high"] as const) {
    setMatmulPrecision(precision);
    assert.equal(await f(a).item(), 27);
  }
  assert.equal(traces, 2);
});

test("an unknown precision is refused by name, and changes nothing", () => {
  const a = matrix();
  assert.throws(() => setMatmulPrecision("best" as "high"), ArgumentError);
  assert.throws(
    () => a.matmul(a, { precision: "low" as "high" }),
    /matmul: precision "low"; give "highest", "high" or "fast"/,
  );
  assert.equal(matmulPrecision(), "highest");
});
