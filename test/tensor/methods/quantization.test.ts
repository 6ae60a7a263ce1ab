/** Quantised numbers, against the formulas of ONNX's QuantizeLinear and DequantizeLinear in plain loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPES } from "../../../src/core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../../src/core/errors.js";
import {
  dequantize,
  grad,
  type QuantizedDType,
  quantizationScale,
  quantize,
  type Tensor,
  tensor,
} from "../../../src/index.js";
import { byteFloats, nearestOf } from "../../support/byte-float-oracle.js";
import { randomFrom } from "../../support/random.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const integers = ["i8", "u8", "i4", "u4", "i2", "u2", "i16", "u16"] as const;

function roundEven(x: number): number {
  const below = Math.floor(x);
  return x - below === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
}

const saturated = (value: number, dtype: QuantizedDType) =>
  Math.min(Math.max(value, Number(DTYPES[dtype].min)), Number(DTYPES[dtype].max)) + 0;

/** q = saturate(round(x / scale) + zeroPoint), with the division in f32. */
const quantized = (x: number, scale: number, zeroPoint: number, dtype: QuantizedDType) =>
  saturated(roundEven(Math.fround(x / scale)) + zeroPoint, dtype);

const samples = (count: number) => {
  const random = randomFrom(count);
  return Array.from({ length: count }, () => Math.fround((random.below(4001) - 2000) / 128));
};

describeOnTensorDevices("quantisation", () => {
  test("the examples of ONNX's QuantizeLinear", () => {
    const x = tensor([0, 2, 3, 1000, -254, -1000]);
    assert.deepEqual(numbersOf(x.quantize("u8", 2, { zeroPoint: 128 })), [128, 129, 130, 255, 1, 0]);
    const rows = tensor([-162, 10, -100, 232, -20, -50], { shape: [3, 2] });
    const scale = tensor([2, 4, 5]);
    const zeroPoint = tensor([84, 24, 196], { dtype: "u8" });
    const q = rows.quantize("u8", scale, { zeroPoint, axis: 0 });
    assert.deepEqual(numbersOf(q), [3, 89, 0, 82, 192, 186]);
    assert.deepEqual(numbersOf(q.dequantize(scale, { zeroPoint, axis: 0 })), [-162, 10, -96, 232, -20, -50]);
    assert.deepEqual(
      numbersOf(tensor([0, 3, 128, 255], { dtype: "u8" }).dequantize(2, { zeroPoint: 128 })),
      [-256, -250, 0, 254],
    );
  });

  for (const dtype of integers) {
    test(`to ${dtype} and back, halves to even`, () => {
      const values = [...samples(200), 0.25, 0.75, 1.25, -0.25, -0.75, 1e9, -1e9, 0];
      const x = tensor(values);
      const zeroPoint = DTYPES[dtype].signed ? -1 : 1;
      const q = x.quantize(dtype, 0.5, { zeroPoint });
      assert.equal(q.dtype, dtype);
      const want = values.map((value) => quantized(value, 0.5, zeroPoint, dtype));
      assert.deepEqual(numbersOf(q), want);
      const back = q.dequantize(0.5, { zeroPoint });
      assert.deepEqual([back.dtype, ...numbersOf(back)], ["f32", ...want.map((value) => (value - zeroPoint) * 0.5)]);
      // Fused, without memory in between.
      assert.deepEqual(
        numbersOf(x.quantize(dtype, 0.5).dequantize(0.5)),
        values.map((value) => quantized(value, 0.5, 0, dtype) * 0.5),
      );
    });
  }

  for (const dtype of byteFloats) {
    test(`to ${dtype}: scaled, rounded once, and never beyond the largest number`, () => {
      const values = [...samples(200), 1e9, -1e9, Infinity, Number.NaN];
      const { max } = DTYPES[dtype];
      const want = values.map((value) =>
        Number.isNaN(value) ? value : nearestOf(saturated(Math.fround(value / 0.25), dtype), dtype),
      );
      const q = tensor(values).quantize(dtype, 0.25);
      assert.deepEqual(
        numbersOf(q).map((value) => value + 0),
        want,
      );
      assert.equal(numbersOf(q.dequantize(0.25))[200], Number(max) * 0.25);
      assert.throws(() => tensor(values).quantize(dtype, 1, { zeroPoint: 1 }), DTypeError);
    });
  }

  test("a scale per place along any axis, and per block of any length", () => {
    const [rows, columns] = [6, 10];
    const values = samples(rows * columns);
    const x = tensor(values, { shape: [rows, columns] });
    const at = (i: number, j: number) => values[columns * i + j]!;
    const eachPlace = (scaleOf: (i: number, j: number) => number, zeroOf: (i: number, j: number) => number) =>
      values.map((_, k) => {
        const [i, j] = [Math.floor(k / columns), k % columns];
        return quantized(at(i, j), scaleOf(i, j), zeroOf(i, j), "i4");
      });
    const scales = [0.5, 1, 2, 4, 0.25, 8, 1, 2, 0.5, 4];
    const byColumn = x.quantize("i4", tensor(scales), { axis: -1 });
    assert.deepEqual(
      numbersOf(byColumn),
      eachPlace(
        (_, j) => scales[j]!,
        () => 0,
      ),
    );
    for (const blockSize of [1, 3, 4, 10, 16]) {
      const blocks = Math.ceil(columns / blockSize);
      const scale = Array.from({ length: rows * blocks }, (_, k) => scales[k % scales.length]!);
      const zero = scale.map((_, k) => (k % 5) - 2);
      const options = {
        axis: 1,
        blockSize,
        zeroPoint: tensor(zero, { shape: [rows, blocks], dtype: "i4" }),
      };
      const scaleTensor = tensor(scale, { shape: [rows, blocks] });
      const q = x.quantize("i4", scaleTensor, options);
      const block = (i: number, j: number) => blocks * i + Math.floor(j / blockSize);
      const want = eachPlace(
        (i, j) => scale[block(i, j)]!,
        (i, j) => zero[block(i, j)]!,
      );
      assert.deepEqual(numbersOf(q), want, `blocks of ${blockSize}`);
      const back = want.map((value, k) => {
        const b = block(Math.floor(k / columns), k % columns);
        return (value - zero[b]!) * scale[b]!;
      });
      assert.deepEqual(numbersOf(q.dequantize(scaleTensor, options)), back, `back, blocks of ${blockSize}`);
    }
  });

  test("the scale that fills the range: nothing is off by more than half a step", () => {
    const values = samples(60);
    const x = tensor(values, { shape: [4, 15] });
    for (const dtype of ["i8", "i4", "u8", "u4"] as const) {
      for (const places of [{}, { axis: 0 }, { axis: 1 }, { axis: 1, blockSize: 4 }]) {
        const { scale, zeroPoint } = quantizationScale(x, dtype, places);
        assert.equal(zeroPoint === undefined, DTYPES[dtype].signed);
        const back = dequantize(quantize(x, dtype, scale, { ...places, zeroPoint }), scale, { ...places, zeroPoint });
        const widest = Math.max(...numbersOf(scale));
        const error = back.sub(x).abs().max().itemSync();
        // A rounded zero point may cost another half step at one end.
        assert.ok(error <= widest * (zeroPoint ? 1.001 : 0.501), `${dtype}: ${error} with steps of ${widest}`);
        assert.ok(error > 0);
      }
    }
    assert.deepEqual(numbersOf(quantizationScale(tensor([0, 0]), "i8").scale), [1]);
    assert.equal(quantizationScale(tensor([-3, 448]), "f8e4m3").scale.itemSync(), 1);
  });

  test("the result has the dtype of the scale, or the one asked for; f64 stays exact", () => {
    const q = tensor([3, -4], { dtype: "i8" });
    assert.equal(q.dequantize(tensor(0.5, { dtype: "f16" })).dtype, "f16");
    assert.equal(q.dequantize(0.5, { dtype: "bf16" }).dtype, "bf16");
    const slope = grad((scale: Tensor) => q.dequantize(scale).sum())(tensor(0.5));
    assert.equal(slope.itemSync(), -1);
  });

  test("scales that do not match are refused with the shape that would", () => {
    const x = tensor([1, 2, 3, 4, 5, 6], { shape: [2, 3] });
    assert.throws(() => x.quantize("i8", tensor([1, 2])), /a scale of shape \[2\] needs \{ axis \}/);
    assert.throws(() => x.quantize("i8", tensor([1, 2]), { axis: 1 }), ShapeError);
    assert.throws(() => x.quantize("i8", tensor([1, 2]), { axis: 0, blockSize: 2 }), /in blocks of 2; it is \[1, 3\]/);
    assert.throws(() => x.quantize("i8", tensor([[1, 1, 1]]), { axis: 0, blockSize: 0 }), ArgumentError);
    assert.throws(() => x.quantize("i32" as "i8", 1), DTypeError);
    assert.throws(() => x.quantize("u4", 1, { zeroPoint: 16 }), /give a tensor, or a whole number of u4 \(0 to 15\)/);
    assert.throws(() => x.quantize("u4", 1).dequantize(1, { zeroPoint: Number.NaN }), ArgumentError);
    assert.throws(() => x.quantize("i8", "1" as unknown as number), ArgumentError);
  });
});
