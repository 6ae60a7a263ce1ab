/**
 * Methods of `Tensor`: floats as narrow numbers and a scale, and back. The meaning is that of ONNX's QuantizeLinear and
 * DequantizeLinear: q = saturate(round(x / scale) + zeroPoint), halves to even, and x ≈ (q - zeroPoint) · scale. A scale
 * serves the whole tensor, or each place along an axis, or each block of neighbours along an axis.
 */
import { checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import { checkDType, DTYPES, type DType, isByteFloat, isComplex, isFloat, isInteger } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { fitsDType } from "../../core/promotion.js";
import { formatShape, normalizeAxis, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Operand, Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { isWholeNumber, scalarLike } from "./operands.js";
import { where } from "./where.js";

/** The dtypes that floats are quantised to. */
export type QuantizedDType = "u2" | "u4" | "u8" | "u16" | "i2" | "i4" | "i8" | "i16" | "f8e4m3" | "f8e5m2";

/** The axis of the scales. Without an axis there is one scale for the whole tensor. */
export interface QuantizationPlaces {
  /** The axis along which scales differ: the scales have one axis, of its extent. */
  readonly axis?: number;
  /** So many neighbours along the axis share a scale; the scales have the tensor's shape with that axis shorter. */
  readonly blockSize?: number;
}

export interface QuantizeOptions extends QuantizationPlaces {
  /** The integer that stands for 0: a number, or a tensor of the scale's shape. Floats have none. */
  readonly zeroPoint?: Operand;
}

export interface DequantizeOptions<T extends DType = DType> extends QuantizeOptions {
  /** Of the result; that of the scale unless told, f32 where that is a number. */
  readonly dtype?: T;
}

export interface QuantizationScaleOptions extends QuantizationPlaces {
  /** 0 stands for 0, and no zero point is needed; true unless told, except for unsigned integers. */
  readonly symmetric?: boolean;
}

/** Options of `quantize` and `dequantize`. */
export interface QuantizationScale {
  readonly scale: Tensor;
  /** Undefined where it is symmetric. */
  readonly zeroPoint: Tensor | undefined;
}

const PLACES = { axis: "number", blockSize: "number" } as const satisfies OptionKinds<QuantizationPlaces>;
const QUANTIZE: OptionKinds<QuantizeOptions> = { ...PLACES, zeroPoint: "any" };
const DEQUANTIZE: OptionKinds<DequantizeOptions> = { ...QUANTIZE, dtype: "dtype" };
const SCALE: OptionKinds<QuantizationScaleOptions> = { ...PLACES, symmetric: "flag" };

export class QuantizationMethods {
  /**
   * The numbers over a scale, as integers of a narrow dtype (rounded, halves to even) or as 8-bit floats. What lies beyond
   * the range becomes its end: `x.quantize("i8", 0.1)`.
   */
  quantize<T extends QuantizedDType>(this: Tensor, dtype: T, scale: Operand, options: QuantizeOptions = {}): Tensor<T> {
    checkQuantized("quantize", dtype);
    checkReal("quantize", this);
    checkOptions("quantize", options, QUANTIZE);
    const { zeroPoint } = options;
    checkZeroPoint("quantize", dtype, zeroPoint);
    return inOperation("quantize", () => {
      const work = workDType(this, scale);
      const over = this.cast(work).div(spread("quantize", this, "scale", scale, work, options));
      if (isFloat(dtype)) return over.cast(dtype, { saturate: true });
      const whole = over.round();
      const moved =
        zeroPoint === undefined ? whole : whole.add(spread("quantize", this, "zero point", zeroPoint, work, options));
      return moved.cast(dtype);
    });
  }

  /** The numbers that quantised ones stand for: `q.dequantize(0.1)`. */
  dequantize<T extends DType = "f32">(this: Tensor, scale: Operand, options: DequantizeOptions<T> = {}): Tensor<T> {
    checkReal("dequantize", this);
    checkOptions("dequantize", options, DEQUANTIZE);
    const { zeroPoint, dtype } = options;
    checkZeroPoint("dequantize", this.dtype, zeroPoint);
    return inOperation("dequantize", () => {
      const work = workDType(this, scale);
      const moved =
        zeroPoint === undefined
          ? this
          : this.cast("i32").sub(spread("dequantize", this, "zero point", zeroPoint, "i32", options));
      const product = moved.cast(work).mul(spread("dequantize", this, "scale", scale, work, options));
      return product.cast(dtype ?? (isTensor(scale) && isFloat(scale.dtype) ? scale.dtype : "f32")) as Tensor<T>;
    });
  }

  /** The scale, and the zero point, with which the numbers fill the range of a dtype. It is 1 where all of them are 0. */
  quantizationScale(this: Tensor, dtype: QuantizedDType, options: QuantizationScaleOptions = {}): QuantizationScale {
    checkQuantized("quantizationScale", dtype);
    checkReal("quantizationScale", this);
    checkOptions("quantizationScale", options, SCALE);
    const { kind, min, max } = DTYPES[dtype];
    const { symmetric = kind !== "uint" } = options;
    if (!symmetric && kind === "float") {
      throw new DTypeError(`quantizationScale: ${dtype} is a float and takes no zero point; leave out symmetric.`);
    }
    return inOperation("quantizationScale", () => {
      const x = blocks("quantizationScale", this.cast(workDType(this, 1)), options);
      const reduced = { axis: x.reduced };
      const unlessZero = (scale: Tensor) => where(scale.equal(0), 1, scale);
      if (symmetric) {
        const scale = unlessZero(x.values.abs().max(reduced).div(Number(max)));
        return { scale, zeroPoint: undefined };
      }
      const low = x.values.min(reduced).minimum(0);
      const scale = unlessZero(
        x.values
          .max(reduced)
          .maximum(0)
          .sub(low)
          .div(Number(max) - Number(min)),
      );
      return { scale, zeroPoint: low.div(scale).neg().add(Number(min)).round().cast(dtype) };
    });
  }
}

function checkQuantized(operation: string, dtype: DType): void {
  const { bits } = DTYPES[checkDType(dtype, operation)];
  if ((isInteger(dtype) && bits <= 16) || isByteFloat(dtype)) return;
  throw new DTypeError(
    `${operation}: to ${dtype}; quantised numbers are integers of 16 bits at most, or 8-bit floats.`,
  );
}

function checkReal(operation: string, { dtype }: Tensor): void {
  if (!isComplex(dtype)) return;
  throw new DTypeError(`${operation}: ${dtype}; quantise the parts, real() and imag(), by themselves.`);
}

function checkZeroPoint(operation: string, dtype: DType, zeroPoint: Operand | undefined): void {
  if (zeroPoint === undefined) return;
  if (!isInteger(dtype)) throw new DTypeError(`${operation}: a zero point for ${dtype}; only integers have one.`);
  if (isTensor(zeroPoint) || (isWholeNumber(zeroPoint) && fitsDType(zeroPoint, dtype))) return;
  const { min, max } = DTYPES[dtype];
  throw new ArgumentError(
    `${operation}: the zero point is ${shown(zeroPoint)}; give a tensor, or a whole number of ${dtype} (${min} to ${max}).`,
  );
}

/** Narrow numbers are divided and multiplied in f32, and rounded once. */
const workDType = (x: Tensor, scale: Operand): "f32" | "f64" =>
  x.dtype === "f64" || (isTensor(scale) && scale.dtype === "f64") ? "f64" : "f32";

/** One value per place as a tensor that broadcasts against x. */
function spread(
  operation: string,
  x: Tensor,
  what: string,
  given: Operand,
  dtype: DType,
  { axis, blockSize }: QuantizationPlaces,
): Tensor {
  if (!isTensor(given)) {
    if (typeof given === "number" || typeof given === "bigint") return scalarLike(x, given, dtype);
    throw new ArgumentError(`${operation}: the ${what} is ${shown(given)}; give a number or a tensor.`);
  }
  const values: Tensor = given.cast(dtype);
  if (values.size === 1 && axis === undefined) return values.reshape([]);
  const at = axisOf(operation, x, `a ${what} of shape ${formatShape(values.shape)}`, axis);
  const own = ([] as number[]).concat(x.shape);
  const blockCount = blockSize === undefined ? own[at] : Math.ceil(own[at] / checkBlockSize(operation, blockSize));
  const wanted = blockSize === undefined ? [own[at]] : own.with(at, blockCount);
  if (!sameShape(values.shape, wanted)) {
    throw new ShapeError(
      `${operation}: a ${what} of shape ${formatShape(values.shape)} for ${formatShape(own)} along axis ${at}` +
        `${blockSize === undefined ? "" : ` in blocks of ${blockSize}`}; it is ${formatShape(wanted)}.`,
    );
  }
  if (blockSize === undefined) return values.reshape(own.map((extent, i) => (i === at ? extent : 1)));
  const repeated = values
    .expandDims(at + 1)
    .broadcastTo([...wanted.slice(0, at + 1), blockSize, ...wanted.slice(at + 1)])
    .reshape(own.with(at, blockCount * blockSize));
  return repeated.at(...own.slice(0, at).map(() => ":" as const), `0:${own[at]}`);
}

function axisOf(operation: string, x: Tensor, what: string, axis: number | undefined): number {
  if (axis !== undefined) return normalizeAxis(axis, x.rank, operation);
  throw new ArgumentError(
    `${operation}: ${what} needs { axis }, the axis of ${formatShape(x.shape)} that it goes along.`,
  );
}

function checkBlockSize(operation: string, blockSize: number): number {
  if (Number.isInteger(blockSize) && blockSize > 0) return blockSize;
  throw new ArgumentError(`${operation}: blocks of ${shown(blockSize)}; give a whole number, 1 or more.`);
}

/** The numbers, with an axis along each block, and the axes over which a scale is shared. */
function blocks(
  operation: string,
  x: Tensor,
  { axis, blockSize }: QuantizationPlaces,
): { readonly values: Tensor; readonly reduced: readonly number[] } {
  const all = x.shape.map((_, i) => i);
  if (blockSize === undefined && axis === undefined) return { values: x, reduced: all };
  const at = axisOf(operation, x, `a block size of ${blockSize}`, axis);
  if (blockSize === undefined) return { values: x, reduced: all.filter((i) => i !== at) };
  const extent = x.shape[at];
  const count = Math.ceil(extent / checkBlockSize(operation, blockSize));
  // Zeros change no range that holds 0.
  const filled = x.pad(x.shape.map((_, i) => [0, i === at ? count * blockSize - extent : 0] as const));
  const values = filled.reshape([...x.shape.slice(0, at), count, blockSize, ...x.shape.slice(at + 1)]);
  return { values, reduced: [at + 1] };
}
