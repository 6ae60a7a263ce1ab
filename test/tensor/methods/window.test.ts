/** Window reductions and their scatter forms, against plain loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../../src/core/dtype.js";
import { foldWindows, type Windows, windowNode } from "../../../src/graph/windows.js";
import { backendFor, Tensor } from "../../../src/tensor/index.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  type Plain,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";
import { countWindows, type Geometry, windowed, windowScattered } from "../../support/window-oracle.js";

const sample = (shape: readonly number[], seed: number, dtype: DType = "f32"): Plain => ({
  shape,
  values: sampleValues(dtype, count(shape), seed),
});
const sum = (elements: readonly number[]) => elements.reduce((total, x) => total + x, 0);
const mean = (elements: readonly number[]) => sum(elements) / elements.length;
const product = (elements: readonly number[]) => elements.reduce((total, x) => total * x, 1);

const geometries: [readonly number[], Geometry][] = [
  [[10], { size: [3], stride: [1], dilation: [1], padding: [[0, 0]] }],
  [[10], { size: [3], stride: [2], dilation: [2], padding: [[1, 3]] }],
  [[7], { size: [7], stride: [1], dilation: [1], padding: [[0, 0]] }],
  [[3], { size: [5], stride: [1], dilation: [1], padding: [[0, 0]] }],
  [[3], { size: [5], stride: [3], dilation: [1], padding: [[4, 4]] }],
  [[9], { size: [2], stride: [5], dilation: [1], padding: [[-2, -1]] }],
  [
    [5, 7],
    {
      size: [2, 3],
      stride: [1, 2],
      dilation: [1, 1],
      padding: [
        [0, 0],
        [0, 0],
      ],
    },
  ],
  [
    [5, 7],
    {
      size: [2, 3],
      stride: [3, 1],
      dilation: [2, 2],
      padding: [
        [1, 0],
        [2, 1],
      ],
    },
  ],
  [
    [2, 3, 5, 6],
    {
      size: [1, 1, 3, 2],
      stride: [1, 1, 2, 2],
      dilation: [1, 1, 1, 2],
      padding: [
        [0, 0],
        [0, 0],
        [1, 1],
        [0, 1],
      ],
    },
  ],
  [
    [1, 1],
    {
      size: [1, 1],
      stride: [1, 1],
      dilation: [1, 1],
      padding: [
        [0, 0],
        [0, 0],
      ],
    },
  ],
  [
    [0, 4],
    {
      size: [1, 2],
      stride: [1, 1],
      dilation: [1, 1],
      padding: [
        [0, 0],
        [0, 0],
      ],
    },
  ],
];
const name = (shape: readonly number[], { size, stride, dilation, padding }: Geometry) =>
  `[${shape}] by [${size}], stride [${stride}], dilation [${dilation}], padding ${JSON.stringify(padding)}`;

describeOnTensorDevices("window reductions", () => {
  for (const [shape, geometry] of geometries) {
    test(name(shape, geometry), () => {
      const plain = sample(shape, 1);
      const x = toTensor(plain, "f32");
      const { size, ...options } = geometry;
      const close = { relative: 1e-6 };
      expectTensor(x.windowSum(size, options), windowed(plain, geometry, 0, sum), "f32", {}, "sum");
      expectTensor(x.windowMean(size, options), windowed(plain, geometry, 0, mean), "f32", close, "mean");
      expectTensor(x.windowProduct(size, options), windowed(plain, geometry, 1, product), "f32", close, "product");
      const max = windowed(plain, geometry, -Infinity, (elements) => Math.max(...elements));
      expectTensor(x.windowMax(size, options), max, "f32", {}, "max");
      const min = windowed(plain, geometry, Infinity, (elements) => Math.min(...elements));
      expectTensor(x.windowMin(size, options), min, "f32", {}, "min");
    });
  }

  for (const dtype of realDTypes) {
    test(`of ${dtype}`, () => {
      const plain = sample([4, 5], 2, dtype);
      const x = toTensor(plain, dtype);
      const geometry: Geometry = {
        size: [2, 2],
        stride: [1, 2],
        dilation: [1, 1],
        padding: [
          [1, 0],
          [0, 1],
        ],
      };
      const { size, ...options } = geometry;
      const wide = ({ i8: "i32", i16: "i32", u8: "u32", u16: "u32" } as Record<string, DType>)[dtype] ?? dtype;
      expectTensor(x.windowSum(size, options), windowed(plain, geometry, 0, sum), wide, {}, "sum");
      const max = windowed(plain, geometry, -1e9, (elements) => Math.max(...elements));
      expectTensor(x.windowMax(size, options), max, dtype, {}, "max");
      const min = windowed(plain, geometry, 1e9, (elements) => Math.min(...elements));
      expectTensor(x.windowMin(size, options), min, dtype, {}, "min");
    });
  }

  test("along chosen axes, with the window of one number", () => {
    const plain = sample([3, 4, 5], 3);
    const geometry: Geometry = {
      size: [1, 2, 2],
      stride: [1, 2, 2],
      dilation: [1, 1, 1],
      padding: [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
    };
    const expected = windowed(plain, geometry, 0, sum);
    const x = toTensor(plain, "f32");
    expectTensor(x.windowSum(2, { axis: [1, -1], stride: 2 }), expected, "f32", {});
    expectTensor(x.windowSum([2, 2], { axis: [2, 1], stride: [2, 2] }), expected, "f32", {});
  });

  test('"same" keeps the extent at stride 1, with the larger half of the padding behind', () => {
    const plain = sample([6], 4);
    const x = toTensor(plain, "f32");
    const at = (stride: number, padding: readonly [number, number]): Geometry => ({
      size: [4],
      stride: [stride],
      dilation: [1],
      padding: [padding],
    });
    expectTensor(x.windowSum([4], { padding: "same" }), windowed(plain, at(1, [1, 2]), 0, sum), "f32", {});
    expectTensor(x.windowSum([4], { padding: "same", stride: 3 }), windowed(plain, at(3, [0, 1]), 0, sum), "f32", {});
    expectTensor(
      x.windowMax([2], { padding: "same", stride: 3 }),
      windowed(plain, { ...at(3, [0, 0]), size: [2] }, -Infinity, (e) => Math.max(...e)),
      "f32",
      {},
    );
  });

  test("NaN wins", () => {
    const x = toTensor({ shape: [4], values: [1, Number.NaN, 3, 2] }, "f32");
    assert.deepEqual([...x.windowMax([2]).dataSync()], [Number.NaN, Number.NaN, 3]);
    assert.deepEqual([...x.windowMin([2]).dataSync()], [Number.NaN, Number.NaN, 2]);
  });

  test("of views, in one kernel", () => {
    const plain = sample([5, 6], 5);
    const geometry: Geometry = {
      size: [2, 3],
      stride: [1, 1],
      dilation: [1, 1],
      padding: [
        [1, 1],
        [0, 0],
      ],
    };
    const { size, ...options } = geometry;
    for (const { name: which, x } of viewsOf(plain, "f32")) {
      const { counters } = backendFor();
      x.realize();
      const before = counters.kernels;
      expectTensor(x.windowSum(size, options), windowed(plain, geometry, 0, sum), "f32", {}, which);
      assert.equal(counters.kernels - before, 1);
    }
  });

  test("misuse is explained", () => {
    const x = toTensor(sample([4, 4], 1), "f32");
    assert.throws(() => x.windowSum([2]), {
      name: "ArgumentError",
      message: "windowSum: a window of [2] for 2 axes of [4, 4]; name the axes it slides along with { axis }.",
    });
    assert.throws(() => x.windowSum([0, 2]), /windowSum: a size of 0; it is a whole number from 1 on\./);
    assert.throws(() => x.windowMax([2, 2], { stride: 0 }), /a stride of 0/);
    assert.throws(() => x.windowMax([2, 2], { dilation: [1] }), /dilation \[1\] for 2 axes/);
    assert.throws(
      () => x.windowMax([2, 2], { padding: [[1, 1]] }),
      /padding \[\[1, 1\]\]; give "valid", "same", a number, or for each of 2 axes/,
    );
    assert.deepEqual(x.windowMax([3, 3], { padding: 1 }).shape, x.shape, "one number pads both ends of every axis");
    assert.throws(() => x.windowMax([2, 2], { padding: "full" as never }), /padding "full"/);
  });
});

describeOnTensorDevices("window scatter", () => {
  test("the example of Nx's window_scatter_max", () => {
    const x = toTensor(
      { shape: [4, 6], values: [7, 2, 5, 3, 10, 2, 3, 8, 9, 3, 4, 2, 1, 5, 7, 5, 6, 1, 0, 6, 2, 7, 2, 8] },
      "i32",
    );
    const source = toTensor({ shape: [2, 2], values: [2, 6, 3, 1] }, "i32");
    const result = x.windowScatterMax(source, [2, 3], { stride: [2, 3] });
    assert.deepEqual(result.arraySync(), [
      [0, 0, 0, 0, 6, 0],
      [0, 0, 2, 0, 0, 0],
      [0, 0, 3, 0, 0, 0],
      [0, 0, 0, 0, 0, 1],
    ]);
  });

  for (const [shape, geometry] of geometries) {
    test(name(shape, geometry), () => {
      // Few distinct values, so that windows have several extremes, and overlaps meet in one place.
      const plain = { shape, values: sampleValues("i8", count(shape), 6).map((x) => x % 3) };
      const source = sample(countWindows(shape, geometry), 7);
      const [x, y] = [toTensor(plain, "f32"), toTensor(source, "f32")];
      const { size, ...options } = geometry;
      const max = windowScattered(plain, source, geometry, 0, (a, b) => a > b);
      expectTensor(x.windowScatterMax(y, size, options), max, "f32", {}, "max");
      const min = windowScattered(plain, source, geometry, 2, (a, b) => a < b);
      expectTensor(x.windowScatterMin(y, size, { ...options, initial: 2 }), min, "f32", {}, "min");
    });
  }

  test("padding is never chosen, even when the window is -infinity", () => {
    const x = toTensor({ shape: [3], values: [-Infinity, -Infinity, 0] }, "f32");
    const source = toTensor({ shape: [3], values: [1, 2, 4] }, "f32");
    assert.deepEqual([...x.windowScatterMax(source, [2], { padding: [[1, 0]] }).dataSync()], [3, 0, 4]);
  });

  test("a source of another shape is refused", () => {
    const x = toTensor(sample([4], 1), "f32");
    assert.throws(() => x.windowScatterMax(x, [2]), {
      name: "ShapeError",
      message: "windowScatterMax: a source of [4] for the windows of [4], which are [3].",
    });
  });

  test("a scattered sum has the dtype of its source, which holds what it begins with", () => {
    const x = toTensor(sample([4], 1), "f32");
    for (const dtype of [...realDTypes, "c64"] as const) {
      const source = toTensor({ shape: [2], values: [1, 1] }, "f32").cast(dtype);
      assert.equal(x.windowScatterMax(source, 2, { stride: 2, initial: 3 }).dtype, dtype);
    }
    const whole = toTensor({ shape: [2], values: [1, 1] }, "i32");
    assert.throws(() => x.windowScatterMax(whole, 2, { stride: 2, initial: 0.5 }), {
      name: "DTypeError",
      message: "windowScatterMax: 0.5 does not fit i32; cast the tensor first.",
    });
    assert.throws(() => x.windowScatterMin(whole.cast("bool"), 2, { stride: 2 }), {
      name: "DTypeError",
      message: "windowScatterMin: adds numbers, not bool; cast the source first.",
    });
  });

  test("folding windows is the transpose of looking through them", () => {
    for (const [shape, { size, stride, dilation, padding }] of geometries) {
      const windows: Windows = { axes: shape.map((_, i) => i), size, stride, dilation, padding };
      const x = toTensor(sample(shape, 8), "f64");
      const seen = new Tensor(windowNode(x.node, windows, 0));
      const y = toTensor(sample(seen.shape, 9), "f64");
      const folded = new Tensor(foldWindows(y.node, windows, shape));
      assert.deepEqual(folded.shape, shape);
      // ⟨W x, y⟩ = ⟨x, Wᵀ y⟩
      assert.equal(seen.mul(y).sum().itemSync(), x.mul(folded).sum().itemSync());
    }
  });
});
