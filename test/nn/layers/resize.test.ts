/** Images in other sizes: bilinear and bicubic against PyTorch by layer-cases.json, all methods by plain sums over their kernels here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../src/index.js";
import { type ResizeMethod, resize } from "../../../src/nn/index.js";
import { describeLayerCases, seeded } from "../../support/layer-cases.js";
import { numbersOf } from "../../support/tensors.js";

describeLayerCases("resize");

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
const KERNELS: Record<string, (x: number) => number> = {
  bilinear: (x) => (x < 1 ? 1 - x : 0),
  bicubic: (x) => (x < 1 ? 1.5 * x ** 3 - 2.5 * x ** 2 + 1 : x < 2 ? -0.5 * x ** 3 + 2.5 * x ** 2 - 4 * x + 2 : 0),
  lanczos3: (x) => (x < 3 ? sinc(x) * sinc(x / 3) : 0),
  lanczos5: (x) => (x < 5 ? sinc(x) * sinc(x / 5) : 0),
};

/** One result: a mean of all pixels, weighted by the kernel around its place. */
function expected(values: number[], m: number, j: number, method: string, antialias: boolean): number {
  const ratio = values.length / m;
  const place = (j + 0.5) * ratio - 0.5;
  const width = antialias && ratio > 1 ? ratio : 1;
  const weights = values.map((_, i) => KERNELS[method]!(Math.abs(i - place) / width));
  return values.reduce((sum, v, i) => sum + v * weights[i]!, 0) / weights.reduce((a, b) => a + b, 0);
}

test("each result is the mean of pixels weighted by the kernel, up and down", () => {
  for (const method of Object.keys(KERNELS) as ResizeMethod[]) {
    for (const antialias of [true, false]) {
      for (const [n, m] of [
        [1, 4],
        [5, 3],
        [4, 9],
        [9, 2],
        [6, 6],
      ] as const) {
        const values = seeded({ shape: [n], seed: n });
        const x = tensor(values, { shape: [1, n, 1], dtype: "f64", device: "cpu" });
        const found = numbersOf(resize(m, { method, antialias, channels: "last" }).apply({}, x));
        found.forEach((value, j) => {
          const wanted = expected(values, m, j, method, antialias);
          assert.ok(Math.abs(value - wanted) < 1e-12, `${method} ${antialias} ${n} to ${m}: ${value} for ${wanted}`);
        });
      }
    }
  }
});

test("nearest takes the pixel that a place lies in, of any dtype", async () => {
  const x = tensor([[[1, 2, 3]]], { dtype: "i32", device: "cpu" }) as Tensor;
  const to = (size: number) => resize(size, { method: "nearest" }).apply({}, x);
  assert.deepEqual([to(6).dtype, await to(6).array()], ["i32", [[[1, 1, 2, 2, 3, 3]]]]);
  assert.deepEqual(await to(2).array(), [[[1, 3]]]);
  assert.deepEqual(await to(1).array(), [[[2]]]);
  assert.deepEqual(resize(4).apply({}, x.at("0:0")).shape, [0, 1, 4]);
});

test("wrong options are refused by name", () => {
  assert.throws(() => resize(0), { message: /resize: the size is a whole number from 1 on/ });
  assert.throws(() => resize(2, { method: "cubic" as never }), { message: /resize: the option method is "cubic"/ });
  assert.throws(() => resize(2, { align: true } as never), { message: /resize: there is no option "align"/ });
});
