/** Convolution against plain loops over its definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { castScalar } from "../../../src/core/cast.js";
import { type DType, isInteger } from "../../../src/core/dtype.js";
import { backendFor, type ConvOptions } from "../../../src/tensor/index.js";
import {
  count,
  describeOnTensorDevices,
  expectTensor,
  narrowDTypes,
  type Plain,
  plainOf,
  read,
  realDTypes,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";
import { type ConvGeometry, convolution } from "../../support/window-oracle.js";

const sample = (shape: readonly number[], seed: number, dtype: DType = "f32"): Plain => ({
  shape,
  values: sampleValues(dtype, count(shape), seed),
});

const geometry = (rank: number, options: Partial<ConvGeometry> = {}): ConvGeometry => {
  const ones = new Array<number>(rank).fill(1);
  return {
    stride: ones,
    padding: ones.map(() => [0, 0]),
    inputDilation: ones,
    kernelDilation: ones,
    featureGroups: 1,
    batchGroups: 1,
    ...options,
  };
};

describeOnTensorDevices("conv", () => {
  const cases: [readonly number[], readonly number[], Partial<ConvGeometry>][] = [
    [[1, 1, 5], [1, 1, 3], {}],
    [[2, 3, 7], [4, 3, 3], {}],
    [[2, 3, 7], [4, 3, 1], { stride: [2] }],
    [[2, 3, 9], [4, 3, 2], { stride: [2], padding: [[1, 2]], kernelDilation: [3] }],
    [[2, 3, 4], [4, 3, 3], { inputDilation: [2], padding: [[2, 2]] }],
    [[1, 2, 8], [2, 2, 3], { padding: [[-1, -2]] }],
    [[1, 2, 2], [2, 2, 5], {}],
    [[2, 3, 6, 5], [4, 3, 3, 2], {}],
    [
      [2, 3, 6, 5],
      [4, 3, 3, 2],
      {
        stride: [2, 1],
        padding: [
          [1, 1],
          [0, 2],
        ],
        kernelDilation: [1, 2],
        inputDilation: [2, 1],
      },
    ],
    [[1, 4, 5, 5], [6, 2, 3, 3], { featureGroups: 2 }],
    [
      [2, 4, 5, 5],
      [8, 1, 3, 3],
      {
        featureGroups: 4,
        padding: [
          [1, 1],
          [1, 1],
        ],
      },
    ],
    [[6, 2, 5, 4], [9, 2, 2, 2], { batchGroups: 3 }],
    [
      [4, 3, 4, 4],
      [4, 3, 3, 3],
      {
        batchGroups: 4,
        stride: [2, 2],
        padding: [
          [1, 1],
          [1, 1],
        ],
      },
    ],
    [[1, 2, 4, 5, 3], [3, 2, 2, 3, 2], {}],
    [
      [2, 2, 3, 4, 3],
      [2, 1, 2, 2, 2],
      {
        featureGroups: 2,
        stride: [1, 2, 1],
        padding: [
          [1, 0],
          [1, 1],
          [0, 1],
        ],
      },
    ],
    [[0, 3, 5], [2, 3, 3], {}],
    [[2, 0, 5], [2, 0, 3], {}],
    [[1, 3, 0], [2, 3, 1], { padding: [[1, 1]] }],
    [[1, 40, 6], [2, 40, 3], {}],
    [[1, 2, 140], [130, 2, 3], {}],
  ];
  for (const [input, kernel, options] of cases) {
    test(`[${input}] by [${kernel}] ${JSON.stringify(options)}`, () => {
      const [x, w] = [sample(input, 1), sample(kernel, 2)];
      const expected = convolution(x, w, geometry(input.length - 2, options));
      expectTensor(toTensor(x, "f32").conv(toTensor(w, "f32"), options), expected, "f32", {});
    });
  }

  for (const dtype of [...realDTypes, ...narrowDTypes]) {
    test(`of ${dtype}: integers wrap, f16 and bf16 are added up in f32`, () => {
      const [x, w] = [sample([2, 2, 6], 3, dtype), sample([3, 2, 3], 4, dtype)];
      const exact = convolution(x, w, geometry(1, { padding: [[1, 1]] }));
      const values = exact.values.map((value) => Number(castScalar(value, isInteger(dtype) ? "i64" : "f64", dtype)));
      const actual = toTensor(x, dtype).conv(toTensor(w, dtype), { padding: [[1, 1]] });
      expectTensor(actual, { ...exact, values }, dtype, {});
    });
  }

  test('padding "same" and "valid", one number for all axes', () => {
    const [x, w] = [sample([1, 2, 7, 6], 5), sample([3, 2, 4, 3], 6)];
    const [a, b] = [toTensor(x, "f32"), toTensor(w, "f32")];
    const at = (options: Partial<ConvGeometry>) => convolution(x, w, geometry(2, options));
    expectTensor(
      a.conv(b, { padding: "same" }),
      at({
        padding: [
          [1, 2],
          [1, 1],
        ],
      }),
      "f32",
      {},
    );
    // ⌈7/2⌉ = 4 windows reach 3·2 + 4 = 10 = 7 + 3; ⌈6/2⌉ = 3 reach 2·2 + 3 = 7 = 6 + 1
    expectTensor(
      a.conv(b, { padding: "same", stride: 2 }),
      at({
        padding: [
          [1, 2],
          [0, 1],
        ],
        stride: [2, 2],
      }),
      "f32",
      {},
    );
    expectTensor(a.conv(b, { padding: "valid", stride: 3 }), at({ stride: [3, 3] }), "f32", {});
    const everywhere = [
      [2, 2],
      [2, 2],
    ] as const;
    expectTensor(a.conv(b, { padding: 2 }), at({ padding: everywhere }), "f32", {});
    expectTensor(a.conv(b, { padding: 0 }), at({}), "f32", {});
    const mixed = [
      [1, 1],
      [0, 2],
    ] as const;
    expectTensor(a.conv(b, { padding: [1, [0, 2]] }), at({ padding: mixed }), "f32", {});
    for (const padding of [1.5, [1], [1, 2, 3], [[1, 2, 3], 1], "full"] as const) {
      assert.throws(
        () => a.conv(b, { padding: padding as "same" }),
        /^ArgumentError: conv: padding .*; give .* for each of 2 axes/,
      );
    }
  });

  test("layouts reorder axes", () => {
    const [x, w] = [sample([2, 3, 5, 4], 7), sample([6, 3, 2, 3], 8)];
    const expected = convolution(x, w, geometry(2));
    const nhwc = toTensor(
      plainOf([2, 5, 4, 3], ([n, h, v, c]) => read(x, [n!, c!, h!, v!])),
      "f32",
    );
    const hwio = toTensor(
      plainOf([2, 3, 3, 6], ([h, v, i, o]) => read(w, [o!, i!, h!, v!])),
      "f32",
    );
    const channelsLast = plainOf([2, 4, 2, 6], ([n, h, v, c]) => read(expected, [n!, c!, h!, v!]));
    const layouts: ConvOptions = { inputLayout: "NHWC", kernelLayout: "HWIO" };
    expectTensor(nhwc.conv(hwio, layouts), channelsLast, "f32", {});
    expectTensor(nhwc.conv(hwio, { ...layouts, outputLayout: "NCHW" }), expected, "f32", {});
  });

  test("of views, in one kernel that stores no windows", () => {
    const [x, w] = [sample([2, 3, 5], 9), sample([4, 3, 2], 10)];
    const expected = convolution(x, w, geometry(1));
    for (const left of viewsOf(x, "f32")) {
      for (const right of viewsOf(w, "f32")) {
        const { counters } = backendFor();
        const before = counters.kernels;
        expectTensor(left.x.conv(right.x), expected, "f32", {}, `${left.name}, ${right.name}`);
        assert.equal(counters.kernels - before, 1);
      }
    }
  });

  test("an input that is costly to compute is computed once", () => {
    const [x, w] = [sample([1, 3, 8], 11), sample([4, 3, 3], 12)];
    const bounded = { ...x, values: x.values.map(Math.tanh) };
    const { counters } = backendFor();
    const result = toTensor(x, "f32").tanh().conv(toTensor(w, "f32"));
    const before = counters.kernels;
    expectTensor(result, convolution(bounded, w, geometry(1)), "f32", { absolute: 1e-5 });
    assert.equal(counters.kernels - before, 2);
  });

  test("misuse is explained", () => {
    const of = (...shape: number[]) => toTensor(sample(shape, 1), "f32");
    assert.throws(() => of(1, 2, 5).conv(of(1, 3, 2)), {
      name: "ShapeError",
      message: "conv: the input has 2 channels, the kernel is for 3; they must agree.",
    });
    assert.throws(() => of(1, 4, 5).conv(of(3, 2, 2), { featureGroups: 2 }), /3 kernels do not divide into 2 groups/);
    assert.throws(
      () => of(3, 2, 5).conv(of(4, 2, 2), { batchGroups: 2 }),
      /a batch of 3 does not divide into 2 groups/,
    );
    assert.throws(() => of(4, 4, 5).conv(of(4, 2, 2), { featureGroups: 2, batchGroups: 2 }), /one of them is 1/);
    assert.throws(() => of(2, 5).conv(of(1, 2)), /both have two axes and one to three spatial ones/);
    assert.throws(() => of(1, 2, 5).conv(of(1, 2, 2, 2)), /both have two axes/);
    assert.throws(() => of(1, 2, 5).conv(of(1, 2, 2), { inputLayout: "NWX" }), /inputLayout "NWX"|orders N, C/);
    assert.throws(() => of(1, 2, 5).conv(of(1, 2, 2), { kernelLayout: "OWW" }), /kernelLayout "OWW" for 3 axes/);
    assert.throws(() => of(1, 2, 5).conv(of(1, 2, 2), { featureGroups: 0 }), /featureGroups of 0/);
    assert.throws(() => of(1, 2, 5).conv(of(1, 2, 2), { inputDilation: 0 }), /a inputDilation of 0|inputDilation/);
  });
});
