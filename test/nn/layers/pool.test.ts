/** Pools over windows; numbers against PyTorch by layer-cases.json, edges by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor, tensor } from "../../../src/index.js";
import { averagePool, blurPool, type Layer, lpPool, maxPool, sequential } from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";

describeLayerCases("maxPool", "averagePool", "lpPool", "blurPool");

const on = (layer: Layer, values: number[][][], dtype: "f32" | "bf16" = "f32") =>
  layer.apply({}, tensor(values, { device: "cpu", dtype }) as Tensor).array();

test("padding is no element of a maximum or, where told, of a mean", async () => {
  const x = [[[-3, -1, -2]]];
  assert.deepEqual(await on(maxPool(2, { stride: 1, padding: 1 }), x), [[[-3, -1, -1, -2]]]);
  assert.deepEqual(await on(averagePool(2, { stride: 1, padding: 1, countPadding: false }), x), [[[-3, -2, -1.5, -2]]]);
  assert.deepEqual(await on(averagePool(2, { stride: 1, padding: 1 }), x), [[[-1.5, -2, -1.5, -1]]]);
  assert.deepEqual(await on(averagePool(2, { padding: "same", countPadding: false }), x, "bf16"), [[[-2, -2]]]);
});

test("p-norms: of order 1 and infinity by sizes, of zeros 0 with slope 0", async () => {
  const x = [[[-3, 1, 2, -2]]];
  assert.deepEqual(await on(lpPool(2, { norm: 1 }), x), [[[4, 4]]]);
  assert.deepEqual(await on(lpPool(2, { norm: Infinity }), x), [[[3, 2]]]);
  assert.deepEqual(await on(lpPool(2, { norm: 2 }), [[[3, -4]]]), [[[5]]]);
  const slope = grad((z: Tensor) => lpPool(2).apply({}, z).sum())(tensor([[[0, 0]]], { device: "cpu" }));
  assert.deepEqual(await slope.array(), [[[0, 0]]]);
});

test("a blurred constant stays, also of one pixel and in wide filters", async () => {
  for (const [size, n] of [
    [3, 1],
    [5, 4],
    [2, 3],
    [1, 2],
  ] as const) {
    const found = (await on(blurPool({ size, stride: 1 }), [[new Array(n).fill(3)]])) as number[][][];
    assert.deepEqual(found, [[new Array(n).fill(3)]]);
  }
  assert.deepEqual(await on(blurPool(), [[[0, 0, 4, 0, 0]]]), [[[0, 2, 0]]]);
});

test("wrong options are refused by name", () => {
  for (const [name, make] of Object.entries({ maxPool, averagePool, lpPool })) {
    assert.throws(() => make(0), { message: new RegExp(`${name}: the size of the window`) });
    assert.throws(() => make(2, { strides: 2 } as never), {
      message: new RegExp(`${name}: there is no option "strides"`),
    });
    assert.throws(() => make(2, { padding: "full" as never }), { message: new RegExp(`${name}: the option padding`) });
    assert.throws(() => on(make([2, 2]), [[[1, 2]]]), { message: new RegExp(`${name}: a window of \\[2, 2\\]`) });
  }
  assert.throws(() => lpPool(2, { norm: 0 }), { message: /lpPool: the option norm is a number greater than 0/ });
  assert.throws(() => blurPool({ size: 0 }), { message: /blurPool: the size of the filter/ });
});

test("windows that the input cannot fill, and padding that fills a window alone, are refused", () => {
  assert.throws(() => on(sequential({ p: maxPool(20) }), [[[1, 2, 3]]]), {
    name: "ShapeError",
    message: /maxPool "p".*a window of \[20\] does not fit the input \[1, 1, 3\] with padding "valid"/,
  });
  assert.throws(() => on(averagePool(2, { dilation: 3 }), [[[1, 2, 3]]]), { message: /reaches over 4 places/ });
  assert.throws(() => on(lpPool(3, { padding: "same" }), [[[]]]), { name: "ShapeError" });
  for (const make of [maxPool, averagePool, lpPool]) {
    assert.throws(() => make(2, { padding: 2 }), {
      name: "ArgumentError",
      message: /padding of 2 around windows of 2/,
    });
    assert.throws(() => make([3, 2], { padding: [0, [0, 2]] }), { name: "ArgumentError" });
    assert.ok(make(2, { padding: 1 }) && make(2, { padding: 2, dilation: 2 }));
  }
});
