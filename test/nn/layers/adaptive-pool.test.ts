/** Adaptive and global pools, by plain loops over PyTorch's windows; numbers of PyTorch by layer-cases.json. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../src/index.js";
import {
  adaptiveAveragePool,
  adaptiveLpPool,
  adaptiveMaxPool,
  globalAveragePool,
  globalLpPool,
  globalMaxPool,
} from "../../../src/nn/index.js";
import { describeLayerCases, seeded } from "../../support/layer-cases.js";
import { numbersOf } from "../../support/tensors.js";

describeLayerCases("adaptiveAveragePool", "adaptiveMaxPool", "globalAveragePool", "globalMaxPool", "globalLpPool");

const average = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
const norm = (list: number[]) => Math.cbrt(list.reduce((a, b) => a + Math.abs(b) ** 3, 0));

test("windows go from ⌊i·n/m⌋ to before ⌈(i + 1)·n/m⌉, whatever the extents", () => {
  for (let n = 1; n <= 7; n++) {
    const values = seeded({ shape: [n], seed: n });
    const x = tensor(values, { shape: [1, n, 1], dtype: "f64", device: "cpu" });
    for (let m = 1; m <= 8; m++) {
      const windows = Array.from({ length: m }, (_, i) =>
        values.slice(Math.floor((i * n) / m), Math.ceil(((i + 1) * n) / m)),
      );
      const near = (found: Tensor, wanted: number[], what: string) =>
        numbersOf(found).forEach((value, i) => {
          assert.ok(Math.abs(value - wanted[i]!) < 1e-12, `${what} of ${n} to ${m}: ${value} for ${wanted[i]}`);
        });
      const channels = "last";
      near(adaptiveAveragePool(m, { channels }).apply({}, x), windows.map(average), "mean");
      near(
        adaptiveMaxPool(m, { channels }).apply({}, x),
        windows.map((w) => Math.max(...w)),
        "max",
      );
      near(adaptiveLpPool(m, { channels, norm: 3 }).apply({}, x), windows.map(norm), "norm");
    }
  }
});

test("global pools drop the spatial axes unless told", () => {
  const x = tensor(
    [
      [
        [
          [1, 2],
          [3, 6],
        ],
      ],
    ],
    { device: "cpu" },
  );
  assert.deepEqual(globalAveragePool().apply({}, x).shape, [1, 1]);
  assert.deepEqual(globalAveragePool({ keepDims: true }).apply({}, x).shape, [1, 1, 1, 1]);
  assert.deepEqual(numbersOf(globalMaxPool({ channels: "last" }).apply({}, x)), [3, 6]);
  assert.deepEqual(numbersOf(globalLpPool({ norm: 1 }).apply({}, x)), [12]);
  assert.deepEqual(adaptiveMaxPool(2).apply({}, x.at("0:0")).shape, [0, 1, 2, 2]);
});

test("wrong options are refused by name", () => {
  assert.throws(() => adaptiveAveragePool(0), { message: /adaptiveAveragePool: the number of windows/ });
  assert.throws(() => adaptiveLpPool(2, { norm: -1 }), { message: /adaptiveLpPool: the option norm/ });
  assert.throws(() => globalMaxPool({ keepdims: true } as never), {
    message: /globalMaxPool: there is no option "keepdims"/,
  });
  assert.throws(() => globalAveragePool().init(null as never, [1, 2]), { message: /key/ });
});
