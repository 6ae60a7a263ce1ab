/** What is done to the elements of a product before they are stored, and where they are stored then. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as E from "../../../src/graph/primitives/elementwise.js";
import * as M from "../../../src/graph/primitives/movement.js";
import { make } from "../../support/nodes.js";
import { lowered, matrix, product, run, sample } from "./product-kernels.js";

const tile = { kind: "registers", rows: 4, columns: 4 } as const;
const [m, k, n] = [6, 5, 4];
const [a, b] = [matrix("f32", 1, m, k), matrix("f32", 1, k, n)];
const [x, y] = [sample(m * k, 1), sample(k * n, 2)];
const plain = product(m, k, n, x, y);

test("elementwise operations on the product are computed before it is stored", () => {
  const bias = matrix("f32", 1, m, n);
  const z = sample(m * n, 3);
  const kernel = lowered(tile, a, b, (dot) => make(E.maximum, [make(E.neg, [dot]), bias]));
  const values = new Map([
    [a, x],
    [b, y],
    [bias, z],
  ]);
  assert.deepEqual(
    run(kernel, values),
    plain.map((value, i) => Math.max(-value + 0, z[i]!)),
  );
});

test("a product that is then transposed and reshaped is stored at its new places", () => {
  const kernel = lowered(tile, a, b, (dot) =>
    make(M.reshape, [make(M.permute, [dot], { axes: [0, 2, 1] })], { shape: [2, n / 2, m] }),
  );
  const values = new Map([
    [a, x],
    [b, y],
  ]);
  const want = Array.from({ length: n * m }, (_, at) => plain[(at % m) * n + Math.floor(at / m)]!);
  assert.deepEqual(run(kernel, values), want);
});
