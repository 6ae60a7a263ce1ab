/** Functions of scaled numbers: `quantize(x, "i8", 0.1)` is `x.quantize("i8", 0.1)`. */
import { checkCount } from "../../core/arity.js";
import type { DType } from "../../core/dtype.js";
import type {
  DequantizeOptions,
  QuantizationScale,
  QuantizationScaleOptions,
  QuantizedDType,
  QuantizeOptions,
} from "../methods/quantization.js";
import type { Operand, Tensor } from "../tensor.js";
import { checkTensor } from "../tensor-checks.js";

/** The numbers over a scale, as integers of a narrow dtype or as 8-bit floats; what lies beyond the range becomes its end. */
export function quantize<T extends QuantizedDType>(
  x: Tensor,
  dtype: T,
  scale: Operand,
  options: QuantizeOptions = {},
): Tensor<T> {
  checkCount("quantize", 4, arguments);
  checkTensor("quantize", "the first argument", x);
  return x.quantize(dtype, scale, options);
}

/** The numbers that quantised ones stand for. */
export function dequantize<T extends DType = "f32">(
  x: Tensor,
  scale: Operand,
  options: DequantizeOptions<T> = {},
): Tensor<T> {
  checkCount("dequantize", 3, arguments);
  checkTensor("dequantize", "the first argument", x);
  return x.dequantize(scale, options);
}

/** The scale, and the zero point, with which the numbers fill the range of a dtype. */
export function quantizationScale(
  x: Tensor,
  dtype: QuantizedDType,
  options: QuantizationScaleOptions = {},
): QuantizationScale {
  checkCount("quantizationScale", 3, arguments);
  checkTensor("quantizationScale", "the first argument", x);
  return x.quantizationScale(dtype, options);
}
