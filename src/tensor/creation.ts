/** Tensors made of values, or by a rule that needs no memory. */

import {
  checkNumber,
  checkOptions,
  checkWhole,
  inOperation,
  type OptionKinds,
  type Values,
} from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { tensorBytes, tidyBytes } from "../core/bytes.js";
import {
  type Complex,
  checkDType,
  complexDType,
  DTYPES,
  type DType,
  isComplex,
  isInteger,
  positionDType,
  realDType,
  type Scalar,
} from "../core/dtype.js";
import { ArgumentError, DTypeError, SizeMismatchError } from "../core/errors.js";
import { checkScalar, resultType } from "../core/promotion.js";
import { checkShape, formatShape, type Shape, sizeOf } from "../core/shape.js";
import { remedyForTensor, shown } from "../core/shown.js";
import { scalarIn, viewBytes } from "../core/storage.js";
import { complex as complexPrimitive } from "../graph/primitives/elementwise.js";
import { iota } from "../graph/primitives/leaf.js";
import { backendOf, castNode, makeNode, meet, scalarNode, storedNode } from "./build.js";
import { backendFor } from "./devices.js";
import { valuesNode } from "./given-values.js";
import { heldOffset } from "./methods/diagonals.js";
import { where } from "./methods/where.js";
import { spaced, wholeSpaced } from "./spaced.js";
import { type Operand, Tensor } from "./tensor.js";
import { checkTensor, isTensor, nodeOrScalar } from "./tensor-checks.js";

/** Options of functions that make tensors. */
export interface CreationOptions<D extends DType = DType> {
  readonly dtype?: D;
  readonly device?: string;
}

export const CREATION: OptionKinds<CreationOptions> = { dtype: "dtype", device: "text" };

const TENSOR: OptionKinds<CreationOptions & { readonly shape?: Shape }> = { ...CREATION, shape: "any" };

/** The dtype of typed arrays. */
interface ArrayDTypes {
  Int8Array: "i8";
  Int16Array: "i16";
  Int32Array: "i32";
  BigInt64Array: "i64";
  Uint8Array: "u8";
  Uint8ClampedArray: "u8";
  Uint16Array: "u16";
  Uint32Array: "u32";
  BigUint64Array: "u64";
  Float32Array: "f32";
  Float64Array: "f64";
}

/** The dtype of values unless told: numbers f32, bigints i64, booleans bool, { re, im } c64, typed arrays their own. */
export type DTypeOf<V> = [V] extends [Values<number>]
  ? "f32"
  : [V] extends [Values<bigint>]
    ? "i64"
    : [V] extends [Values<boolean>]
      ? "bool"
      : [V] extends [Values<Complex>]
        ? "c64"
        : V extends { readonly [Symbol.toStringTag]: infer N extends keyof ArrayDTypes }
          ? ArrayDTypes[N]
          : DType;

/** A tensor from nested arrays, a typed array, or one value: `tensor([[1, 2], [3, 4]], { dtype: "f64" })`. */
export function tensor<V extends Values<Scalar> | ArrayBufferView, D extends DType = DTypeOf<V>>(
  values: V,
  options: CreationOptions<D> & { readonly shape?: Shape } = {},
): Tensor<D> {
  checkCount("tensor", 2, arguments);
  checkOptions<typeof options>("tensor", options, TENSOR);
  return new Tensor(valuesNode(backendFor(options.device, "tensor"), values, options));
}

/**
 * A tensor over bytes as they lie in memory: little-endian, row-major. They are copied. Of bool, every byte but 0 is true,
 * as in NumPy.
 */
export function fromBytes<D extends DType>(
  bytes: Uint8Array,
  shape: Shape,
  dtype: D,
  options: { readonly device?: string } = {},
): Tensor<D> {
  checkCount("fromBytes", 4, arguments);
  checkOptions("fromBytes", options, { device: "text" });
  const isOptions = typeof shape === "object" && shape !== null && !Array.isArray(shape) && dtype === undefined;
  if (isOptions) {
    throw new ArgumentError(
      `fromBytes: ${shown(shape)} stands where the shape does; write fromBytes(bytes, [2, 3], "f32", { device }).`,
    );
  }
  checkDType(dtype, "fromBytes");
  if (!ArrayBuffer.isView(bytes)) {
    throw new ArgumentError(`fromBytes: takes a Uint8Array, not ${shown(bytes)}.`);
  }
  const needed = tensorBytes({ shape: checkShape(shape, "fromBytes"), dtype });
  if (bytes.byteLength !== needed) {
    throw new SizeMismatchError(
      `fromBytes: ${bytes.byteLength} bytes for ${formatShape(shape)} of ${dtype}, which has ${needed}.`,
    );
  }
  const tidy = tidyBytes(dtype, viewBytes(bytes), sizeOf(shape));
  return new Tensor<D>(storedNode(backendFor(options.device, "fromBytes"), tidy, shape, dtype));
}

/** A tensor of one value: `full([2, 3], 7)`. A number for a shape is the extent of its only axis. */
export function full<V extends Scalar, D extends DType = DTypeOf<V>>(
  shape: Shape | number,
  value: V,
  options: CreationOptions<D> = {},
): Tensor<D> {
  checkShapeInList("full", arguments, 1);
  checkCount("full", 3, arguments);
  return filled("full", shape, value, options);
}

/** Throws on sizes that stand side by side, as in zeros(2, 3), before `after` more arguments. */
function checkShapeInList(operation: string, given: ArrayLike<unknown>, after = 0): void {
  const numbers = Array.from(given);
  if (numbers.length < 2 + after || !numbers.every((value) => typeof value === "number")) return;
  const shape = formatShape(numbers.slice(0, numbers.length - after));
  const call = [shape, ...numbers.slice(numbers.length - after)].join(", ");
  throw new ArgumentError(`${operation}: a shape of several axes is a list; write ${operation}(${call}).`);
}

function filled<D extends DType>(
  operation: string,
  shape: Shape | number,
  value: Scalar,
  options: CreationOptions<D>,
): Tensor<D> {
  checkOptions<CreationOptions>(operation, options, CREATION);
  checkScalar(value, operation);
  const extents = checkShape(typeof shape === "number" ? [shape] : shape, operation);
  const dtype = options.dtype ?? resultType([value], operation);
  const stored = scalarIn(value, dtype, operation);
  return new Tensor<D>(scalarNode(stored, dtype, backendFor(options.device, operation), extents));
}

/** A tensor of zeros: `zeros([2, 3])`. */
export function zeros<D extends DType = "f32">(shape: Shape | number, options: CreationOptions<D> = {}): Tensor<D> {
  checkShapeInList("zeros", arguments);
  checkCount("zeros", 2, arguments);
  return filled("zeros", shape, 0, options);
}

/** A tensor of ones: `ones([2, 3])`. */
export function ones<D extends DType = "f32">(shape: Shape | number, options: CreationOptions<D> = {}): Tensor<D> {
  checkShapeInList("ones", arguments);
  checkCount("ones", 2, arguments);
  return filled("ones", shape, 1, options);
}

function like<D extends DType>(operation: string, x: Tensor, value: Scalar, options: CreationOptions<D>): Tensor<D> {
  checkTensor(operation, "the first argument", x);
  checkOptions<CreationOptions>(operation, options, CREATION);
  const dtype = options.dtype ?? x.dtype;
  const backend = options.device === undefined ? backendOf(x.node) : backendFor(options.device, operation);
  return new Tensor(scalarNode(scalarIn(value, dtype, operation), dtype, backend, x.shape));
}

/** Zeros of the shape of a tensor, and of its dtype and device unless told: `zerosLike(x, { dtype: "i32" })`. */
export function zerosLike<D extends DType, T extends DType = D>(
  x: Tensor<D>,
  options: CreationOptions<T> = {},
): Tensor<T> {
  checkCount("zerosLike", 2, arguments);
  return like("zerosLike", x, 0, options);
}

/** Ones of the shape of a tensor, and of its dtype and device unless told. */
export function onesLike<D extends DType, T extends DType = D>(
  x: Tensor<D>,
  options: CreationOptions<T> = {},
): Tensor<T> {
  checkCount("onesLike", 2, arguments);
  return like("onesLike", x, 1, options);
}

/** One value in the shape of a tensor, and in its dtype and device unless told. */
export function fullLike<D extends DType, T extends DType = D>(
  x: Tensor<D>,
  value: Scalar,
  options: CreationOptions<T> = {},
): Tensor<T> {
  checkCount("fullLike", 3, arguments);
  return like("fullLike", x, value, options);
}

/** A tensor that is about to be given values. Memory is never shown as it was left: they are zeros. */
export function empty<D extends DType = "f32">(shape: Shape | number, options: CreationOptions<D> = {}): Tensor<D> {
  checkShapeInList("empty", arguments);
  checkCount("empty", 2, arguments);
  return filled("empty", shape, 0, options);
}

/** The same in the shape of a tensor, and in its dtype and device unless told. */
export function emptyLike<D extends DType, T extends DType = D>(
  x: Tensor<D>,
  options: CreationOptions<T> = {},
): Tensor<T> {
  checkCount("emptyLike", 2, arguments);
  return like("emptyLike", x, 0, options);
}

/** The dtype of a tensor of parts; JavaScript values have none of their own. */
type PartOf<O> = O extends Tensor<infer D> ? D : never;
type ComplexOfParts<P extends DType> = [P] extends [never]
  ? "c64"
  : DType extends P
    ? "c64" | "c128"
    : "f64" extends P
      ? "c128"
      : "c64";

/** Complex numbers of their real and imaginary parts, which broadcast: c128 where one is f64, else c64. */
export function complex<R extends Operand, I extends Operand>(
  re: R,
  im: I,
): Tensor<ComplexOfParts<PartOf<R> | PartOf<I>>> {
  checkCount("complex", 2, arguments);
  const real = isTensor(re) || isTensor(im) ? re : filled("complex", [], re, {});
  const parts = meet("complex", [nodeOrScalar(real), nodeOrScalar(im)]);
  const [{ dtype }] = parts;
  if (isComplex(dtype)) throw new DTypeError(`complex: its parts are real, not ${dtype}; take real() or imag() first.`);
  const floats = parts.map((part) => castNode(part, realDType(complexDType(dtype))));
  return new Tensor(makeNode(complexPrimitive, floats, {}, backendOf(floats[0])));
}

function counting(operation: string, length: number, dtype: DType, device: string | undefined): Tensor {
  const shape = checkShape([length], operation);
  return new Tensor(makeNode(iota, [], { shape, dtype }, backendFor(device, operation)));
}

/** At most so many numbers, the last of which may be left out, and options after them. */
function numbersThenOptions<O extends object>(given: readonly unknown[], most: number): [(number | undefined)[], O] {
  const last = given.at(-1);
  const isOptions = (typeof last === "object" && last !== null) || (given.length > most && last !== undefined);
  return [(isOptions ? given.slice(0, -1) : given) as (number | undefined)[], (isOptions ? last : {}) as O];
}

/**
 * start, start + step … below stop: `arange(stop)`, `arange(start, stop)`, `arange(start, stop, step)`, and options after
 * any of these. Whole numbers give i32, others f32, unless `dtype` says otherwise; whole numbers that i32 does not hold
 * need one.
 */
export function arange<D extends DType = "i32" | "f32">(stop: number, options?: CreationOptions<D>): Tensor<D>;
export function arange<D extends DType = "i32" | "f32">(
  start: number,
  stop: number | undefined,
  options?: CreationOptions<D>,
): Tensor<D>;
export function arange<D extends DType = "i32" | "f32">(
  start: number,
  stop: number | undefined,
  step: number | undefined,
  options?: CreationOptions<D>,
): Tensor<D>;
export function arange(...given: readonly unknown[]): Tensor {
  const [[start = Number.NaN, stop, step = 1], options] = numbersThenOptions<CreationOptions>(given, 3);
  checkOptions("arange", options, CREATION);
  if (Number.isNaN(start))
    throw new ArgumentError("arange: from NaN; give the numbers, as in arange(5) or arange(2, 5).");
  const bigint = [start, stop, step].find((value) => typeof value === "bigint");
  if (bigint !== undefined) {
    throw new ArgumentError(
      `arange: takes numbers, not ${shown(bigint)}; write ${String(bigint)} and pass { dtype: "i64" } for bigints.`,
    );
  }
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  if (step === 0 || ![from, to, step].every(Number.isFinite)) {
    throw new ArgumentError(
      `arange: from ${shown(from)} to ${shown(to)} in steps of ${shown(step)} does not end.${remedyForTensor(from, to, step)}`,
    );
  }
  const length = Math.max(0, Math.ceil((to - from) / step));
  const isWhole = [from, step].every(Number.isInteger);
  const isLong = [from, to, step, length].some((value) => Math.abs(value) > 2 ** 31 - 1);
  const whole = isLong ? "i64" : "i32";
  const dtype = options.dtype ?? (isWhole ? "i32" : "f32");
  if (dtype === "i32" && options.dtype === undefined && length > 0) checkHeldByI32([from, from + (length - 1) * step]);
  if (isWhole) {
    const counted = counting("arange", length, whole, options.device);
    const scaled = step === 1 ? counted : counted.mul(step);
    return (from === 0 ? scaled : scaled.add(from)).cast(dtype);
  }
  const counted = counting("arange", length, positionDType(length), options.device);
  return spaced(counted, from, step, floatFor(dtype, counted)).cast(dtype);
}

/** Throws on whole numbers beyond i32. With i64 instead, `data()` would give bigints, which the type cannot say. */
function checkHeldByI32(ends: readonly number[]): void {
  const { min, max } = DTYPES.i32;
  const beyond = ends.find((end) => end < Number(min) || end > Number(max));
  if (beyond === undefined) return;
  throw new ArgumentError(
    `arange: ${beyond} is more than i32 holds, which whole numbers are unless told; pass { dtype: "i64" }, or a float.`,
  );
}

/** The float dtype in which fractions are computed on the way to a dtype: f64 where f32 would lose digits. */
function floatFor(dtype: DType, { node }: Tensor): "f32" | "f64" {
  return realDType(dtype) === "f64" || (isInteger(dtype) && backendOf(node).hasDoubles) ? "f64" : "f32";
}

/** `count` numbers from start to stop, both included unless `endpoint` is false. Whole numbers are rounded down, as NumPy's. */
export function linspace<D extends DType = "f32">(
  start: number,
  stop: number,
  count: number,
  options: CreationOptions<D> & { readonly endpoint?: boolean } = {},
): Tensor<D> {
  checkCount("linspace", 4, arguments);
  checkOptions<typeof options>("linspace", options, { ...CREATION, endpoint: "flag" });
  checkNumber("linspace", "the start", start);
  checkNumber("linspace", "the stop", stop);
  checkShape([count], "linspace");
  const gaps = options.endpoint === false ? count : count - 1;
  const dtype = options.dtype ?? "f32";
  const steps = counting("linspace", count, positionDType(count), options.device);
  if (isInteger(dtype) && [start, stop].every(Number.isSafeInteger)) {
    const apart = Math.max(1, gaps);
    const last = start + Math.floor((Math.max(0, count - 1) * (stop - start)) / apart);
    for (const end of [start, last]) scalarIn(end, dtype, "linspace");
    return wholeSpaced(steps, start, stop, apart).cast(dtype) as Tensor<D>;
  }
  const rising = spaced(steps, start, gaps > 0 ? (stop - start) / gaps : 0, floatFor(dtype, steps));
  // The last one is exact, whatever rounding the steps had.
  const exact = options.endpoint === false || count < 2 ? rising : where(steps.equal(count - 1), stop, rising);
  return (isInteger(dtype) ? exact.floor() : exact).cast(dtype) as Tensor<D>;
}

/** A diagonal above the main one when positive, below when negative. */
export type MatrixOptions<D extends DType = DType> = CreationOptions<D> & { readonly offset?: number };

const MATRIX: OptionKinds<MatrixOptions> = { ...CREATION, offset: "number" };

/** The identity matrix, or one with ones on another diagonal: `eye(rows)`, `eye(rows, columns)`, options after either. */
export function eye<D extends DType = "f32">(rows: number, options?: MatrixOptions<D>): Tensor<D>;
export function eye<D extends DType = "f32">(
  rows: number,
  columns: number | undefined,
  options?: MatrixOptions<D>,
): Tensor<D>;
export function eye(...given: readonly unknown[]): Tensor {
  const [[rows = Number.NaN, columns = rows], options] = numbersThenOptions<MatrixOptions>(given, 2);
  checkOptions("eye", options, MATRIX);
  const { offset = 0 } = options;
  checkWhole("eye", "the offset", offset);
  // Each by itself: of a matrix with more elements than can be counted, a part may be asked for.
  for (const extent of [rows, columns]) checkShape([extent], "eye");
  const rowIndex = counting("eye", rows, positionDType(rows), options.device).expandDims(1);
  const columnIndex = counting("eye", columns, positionDType(columns), options.device);
  return columnIndex
    .sub(rowIndex)
    .equal(heldOffset(offset, rows, columns))
    .cast(options.dtype ?? "f32");
}

/** Ones on and below a diagonal, zeros above: `tri(rows)`, `tri(rows, columns)`, options after either. */
export function tri<D extends DType = "f32">(rows: number, options?: MatrixOptions<D>): Tensor<D>;
export function tri<D extends DType = "f32">(
  rows: number,
  columns: number | undefined,
  options?: MatrixOptions<D>,
): Tensor<D>;
export function tri(...given: readonly unknown[]): Tensor {
  const [[rows = Number.NaN, columns = rows], options] = numbersThenOptions<MatrixOptions>(given, 2);
  checkOptions("tri", options, MATRIX);
  const { offset = 0, ...creation } = options;
  return inOperation("tri", () => full([rows, columns], 1, creation).tril(offset));
}
