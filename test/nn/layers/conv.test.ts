/** Convolutions as layers: shapes, adjoints, multiply-adds and errors; numbers against PyTorch by layer-cases.json. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import {
  conv,
  convTranspose,
  depthwiseConv,
  type Layer,
  separableConv,
  sequential,
  summary,
} from "../../../src/nn/index.js";
import { describeLayerCases, seeded } from "../../support/layer-cases.js";
import { numbersOf } from "../../support/tensors.js";

describeLayerCases("conv", "convTranspose", "depthwiseConv", "separableConv");

const key = random.key(0, { device: "cpu" });
const made = (shape: readonly number[], seed: number): Tensor =>
  tensor(seeded({ shape, seed }), { shape, dtype: "f64", device: "cpu" });
const outputShape = (layer: Layer, shape: readonly number[]): readonly number[] => {
  const { params } = layer.init(key, shape);
  return layer.apply(params, made(shape, 1)).shape;
};

test("a transposed convolution is the adjoint of the convolution with the same weights", () => {
  const sweep = [
    [{}, [1, 4, 5, 6]],
    [{ stride: 2, padding: 1 }, [2, 4, 5, 7]],
    [{ stride: 3, padding: [[0, 1], 1] }, [1, 4, 5, 6]],
    [{ dilation: 2, groups: 2, padding: 2 }, [1, 4, 5, 6]],
    [{ channels: "last", stride: [1, 2] }, [1, 6, 7, 4]],
  ] as const;
  for (const [options, shape] of sweep) {
    const groups = "groups" in options ? options.groups : 1;
    const weights = made([6, 4 / groups, 3, 3], 3);
    const x = made(shape, 1);
    const there = conv(6, 3, { ...options, useBias: false }).apply({ weights }, x);
    const back = (y: Tensor, outputPadding: number[]) =>
      convTranspose(4, 3, { ...options, outputPadding, useBias: false }).apply({ weights }, y);
    const y = made(there.shape, 2);
    const spatial = shape[3] === 4 ? [1, 2] : [2, 3];
    const least = back(y, [0, 0]);
    const result = back(
      y,
      spatial.map((axis) => shape[axis]! - least.shape[axis]!),
    );
    assert.deepEqual(result.shape, x.shape);
    const [left, right] = [numbersOf(there.mul(y).sum())[0]!, numbersOf(result.mul(x).sum())[0]!];
    assert.ok(Math.abs(left - right) < 1e-9 * Math.abs(left), `${JSON.stringify(options)}: ${left} and ${right}`);
  }
});

test("same keeps extents over the stride, or multiplies them", () => {
  for (const [kernel, stride, n] of [
    [3, 1, 5],
    [2, 1, 5],
    [3, 2, 5],
    [2, 3, 7],
    [5, 4, 1],
  ] as const) {
    assert.deepEqual(outputShape(conv(2, kernel, { stride, padding: "same" }), [1, 3, n]), [
      1,
      2,
      Math.ceil(n / stride),
    ]);
    assert.deepEqual(outputShape(convTranspose(2, kernel, { stride, padding: "same" }), [1, 3, n]), [1, 2, n * stride]);
  }
  assert.deepEqual(outputShape(conv(2, 3), [0, 3, 5, 5]), [0, 2, 3, 3]);
  assert.deepEqual(outputShape(separableConv(5, 3, { channels: "last" }), [2, 4, 4, 3]), [2, 2, 2, 5]);
});

test("parameters have the documented shapes, and multiply-adds are counted", () => {
  const shapes = (layer: Layer, shape: readonly number[]) =>
    Object.fromEntries(
      Object.entries(layer.init(key, shape).params).map(([name, value]) => [name, (value as Tensor).shape]),
    );
  assert.deepEqual(shapes(conv(6, [3, 1], { groups: 2 }), [1, 4, 5, 5]), { weights: [6, 2, 3, 1], biases: [6] });
  assert.deepEqual(shapes(convTranspose(6, 3, { groups: 2 }), [1, 4, 5, 5]), { weights: [4, 3, 3, 3], biases: [6] });
  assert.deepEqual(shapes(depthwiseConv(3, { multiplier: 2, useBias: false }), [1, 4, 5]), { weights: [8, 1, 3] });
  assert.deepEqual(shapes(separableConv(6, 3), [1, 4, 5]), { weights: [4, 1, 3], pointwise: [6, 4, 1], biases: [6] });
  assert.equal(summary(conv(6, 3, { groups: 2 }), [1, 4, 5, 5]).multiplyAdds, 6 * 9 * 2 * 9);
  assert.equal(summary(convTranspose(6, 3), [1, 4, 5]).multiplyAdds, 4 * 5 * 6 * 3);
});

test("wrong options are refused by name", () => {
  const refused = (make: () => unknown, message: RegExp) => assert.throws(make, { message });
  refused(() => conv(0, 3), /conv: the number of filters is a whole number from 1 on/);
  refused(() => conv(4, 0), /conv: the size of the kernel/);
  refused(() => conv(4, 3, { stirde: 2 } as never), /conv: there is no option "stirde"/);
  refused(() => conv(4, 3, { padding: "full" as never }), /conv: the option padding/);
  refused(() => conv(4, 3, { groups: 3 }), /conv: 4 filters do not divide into 3 groups/);
  refused(() => conv(4, 3, { groups: 2 }).init(key, [1, 3, 5]), /conv: the input has 3 channels/);
  refused(() => conv(4, [3, 3]).init(key, [1, 3, 5]), /conv: a kernel of \[3, 3\] for an input with 1 spatial axis/);
  refused(() => conv(4, 3).init(key, [1, 3]), /conv takes \[batch, channels, …\]/);
  refused(() => conv(4, 3).init(key, [1, 3, 5, 5, 5, 5]), /conv takes one to three spatial axes/);
  refused(
    () => convTranspose(4, 3, { stride: 2, outputPadding: 2 }).init(key, [1, 3, 5]),
    /outputPadding of 2; it is less than/,
  );
  refused(() => depthwiseConv(3, { multiplier: 0 }), /depthwiseConv: the multiplier/);
});

test("a kernel larger than the padded input is refused by the layer's path", () => {
  const key = random.key(0, { device: "cpu" });
  for (const [name, each] of Object.entries({
    conv: conv(3, 5),
    depthwiseConv: depthwiseConv(5),
    separableConv: separableConv(3, 5),
  })) {
    assert.throws(() => sequential({ c: each }).init(key, [null, 4, 3, 3]), {
      name: "ShapeError",
      message: new RegExp(
        `${name} "c".*a kernel of \\[5, 5\\] does not fit the input \\[1, 4, 3, 3\\] with padding "valid"`,
      ),
    });
  }
  assert.deepEqual(conv(3, 5, { padding: 1 }).init(key, [null, 4, 3, 3]).params.weights!.shape, [3, 4, 5, 5]);
});
