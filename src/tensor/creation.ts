/** Making tensors: from values, and from rules that need no memory. */
import { checkNumber, checkOptions, checkWhole, type OptionKinds, type Values } from "../core/arguments.js";
import { tidyBytes } from "../core/bytes.js";
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
import { ArgumentError, DTypeError, ShapeError, SizeMismatchError } from "../core/errors.js";
import { checkScalar, resultType } from "../core/promotion.js";
import { checkShape, formatShape, normalizeAxis, type Shape, sameShape, sizeOf } from "../core/shape.js";
import { remedyForTensor, shown } from "../core/shown.js";
import { encodeValues, scalarIn, viewBytes } from "../core/storage.js";
import { complex as complexPrimitive } from "../graph/primitives/elementwise.js";
import { iota } from "../graph/primitives/leaf.js";
import { concat as concatPrimitive } from "../graph/primitives/movement.js";
import { backendOf, castNode, checkOneDevice, commonDType, makeNode, meet, scalarNode, storedNode } from "./build.js";
import { backendFor } from "./devices.js";
import { dtypeOfTypedArray, flattenNested } from "./given-values.js";
import { spaced, wholeSpaced } from "./spaced.js";
import { checkTensor, checkTensors, type Operand, Tensor, where } from "./tensor.js";

export interface CreationOptions<D extends DType = DType> {
  readonly dtype?: D;
  readonly device?: string;
}

const CREATION: OptionKinds<CreationOptions> = { dtype: "dtype", device: "text" };

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

/** The dtype of values when nobody says: numbers f32, bigints i64, booleans bool, { re, im } c64, typed arrays their own. */
type DTypeOf<V> = [V] extends [Values<number>]
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

/** One dtype where there is one, and any where there are several. */
export type OneOf<D extends DType, All extends DType = D> = D extends DType ? ([All] extends [D] ? D : DType) : never;

/** A tensor from nested arrays, a typed array, or one value. */
export function tensor<V extends Values<Scalar> | ArrayBufferView, D extends DType = DTypeOf<V>>(
  values: V,
  options: CreationOptions<D> & { readonly shape?: Shape } = {},
): Tensor<D> {
  checkOptions<typeof options>("tensor", options, { ...CREATION, shape: "any" });
  const backend = backendFor(options.device, "tensor");
  if (ArrayBuffer.isView(values)) {
    const own = dtypeOfTypedArray(values);
    const shape = shapeFor((values as unknown as Uint8Array).length, options.shape);
    const stored = storedNode(backend, viewBytes(values), shape, own);
    return new Tensor<D>(castNode(stored, (options.dtype ?? own) as DType));
  }
  checkNoTensor(values);
  const flat = flattenNested(values, "tensor");
  const shape = options.shape ? shapeFor(flat.values.length, options.shape) : flat.shape;
  const dtype = options.dtype ?? (flat.values.length ? resultType(flat.values, "tensor") : "f32");
  return new Tensor<D>(storedNode(backend, encodeValues(flat.values, dtype, "tensor"), shape, dtype));
}

function checkNoTensor(values: unknown): void {
  if (values instanceof Tensor) {
    throw new ArgumentError(
      "tensor: this is a tensor already; cast() gives it another dtype, to() another device, reshape() another shape.",
    );
  }
  if (Array.isArray(values) && values[0] instanceof Tensor) {
    throw new ArgumentError("tensor: a list of tensors becomes one with stack(), or with concat().");
  }
}

/** The shape of so many values: one axis of them unless told. */
function shapeFor(count: number, shape: Shape = [count]): Shape {
  if (sizeOf(checkShape(shape, "tensor")) === count) return shape;
  throw new ShapeError(`tensor: ${count} values for the shape ${formatShape(shape)}.`);
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
  checkOptions("fromBytes", options, { device: "text" });
  checkDType(dtype, "fromBytes");
  if (!ArrayBuffer.isView(bytes)) {
    throw new ArgumentError(`fromBytes: takes a Uint8Array, not ${shown(bytes)}.`);
  }
  const needed = sizeOf(checkShape(shape, "fromBytes")) * DTYPES[dtype].bytes;
  if (bytes.byteLength !== needed) {
    throw new SizeMismatchError(
      `fromBytes: ${bytes.byteLength} bytes for ${formatShape(shape)} of ${dtype}, which has ${needed}.`,
    );
  }
  const held = tidyBytes(dtype, viewBytes(bytes));
  return new Tensor<D>(storedNode(backendFor(options.device, "fromBytes"), held, shape, dtype));
}

/** A tensor of one value. A number for a shape is the extent of its only axis. */
export function full<V extends Scalar, D extends DType = DTypeOf<V>>(
  shape: Shape | number,
  value: V,
  options: CreationOptions<D> = {},
): Tensor<D> {
  return filled("full", shape, value, options);
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
  const held = scalarIn(value, dtype, operation);
  return new Tensor<D>(scalarNode(held, dtype, backendFor(options.device, operation), extents));
}

export const zeros = <D extends DType = "f32">(shape: Shape | number, options: CreationOptions<D> = {}): Tensor<D> =>
  filled("zeros", shape, 0, options);
export const ones = <D extends DType = "f32">(shape: Shape | number, options: CreationOptions<D> = {}): Tensor<D> =>
  filled("ones", shape, 1, options);

function like<D extends DType>(operation: string, x: Tensor<D>, value: Scalar): Tensor<D> {
  checkTensor(operation, "the first argument", x);
  return new Tensor(scalarNode(scalarIn(value, x.dtype, operation), x.dtype, backendOf(x.node), x.shape));
}
export const zerosLike = <D extends DType>(x: Tensor<D>): Tensor<D> => like("zerosLike", x, 0);
export const onesLike = <D extends DType>(x: Tensor<D>): Tensor<D> => like("onesLike", x, 1);
export const fullLike = <D extends DType>(x: Tensor<D>, value: Scalar): Tensor<D> => like("fullLike", x, value);

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
  const real = re instanceof Tensor || im instanceof Tensor ? re : filled("complex", [], re, {});
  const [first, second] = [real, im].map((part: Operand) => (part instanceof Tensor ? part.node : part));
  const parts = meet("complex", [first, second]);
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
export function numbersThenOptions<O extends object>(
  given: readonly unknown[],
  most: number,
): [(number | undefined)[], O] {
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

/** Without this, whether there are bigints in a tensor would depend on how far it counts, which its type cannot say. */
function checkHeldByI32(ends: readonly number[]): void {
  const { min, max } = DTYPES.i32;
  const beyond = ends.find((end) => end < Number(min) || end > Number(max));
  if (beyond === undefined) return;
  throw new ArgumentError(
    `arange: ${beyond} is more than i32 holds, which whole numbers are unless told; pass { dtype: "i64" }, or a float.`,
  );
}

/** What fractions are computed in on the way to a dtype: f32 unless that loses what the dtype could hold. */
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

export const MATRIX: OptionKinds<MatrixOptions> = { ...CREATION, offset: "number" };

/** The offset of a diagonal, or of the nearest outside: what counts a matrix's columns may not hold numbers beyond. */
export const heldOffset = (offset: number, rows: number, columns: number): number =>
  Math.min(Math.max(offset, -rows), columns);

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
  // Each by itself: a part of a matrix may be asked for that has more elements than can be counted.
  for (const extent of [rows, columns]) checkShape([extent], "eye");
  const down = counting("eye", rows, positionDType(rows), options.device).expandDims(1);
  const across = counting("eye", columns, positionDType(columns), options.device);
  return across
    .sub(down)
    .equal(heldOffset(offset, rows, columns))
    .cast(options.dtype ?? "f32");
}

/** Tensors one after another along an axis. */
export function concat<D extends DType>(
  tensors: readonly Tensor<D>[],
  options: { readonly axis?: number } = {},
): Tensor<OneOf<D>> {
  checkOptions("concat", options, { axis: "number" });
  checkTensors("concat", tensors);
  return joined("concat", tensors, options.axis ?? 0) as Tensor<OneOf<D>>;
}

function joined(operation: string, tensors: readonly Tensor[], along: number): Tensor {
  const nodes = tensors.map(({ node }) => node);
  const dtype = commonDType(operation, nodes);
  checkOneDevice(operation, nodes);
  const axis = normalizeAxis(along, tensors[0].rank, operation);
  const inputs = nodes.map((node) => castNode(node, dtype));
  return new Tensor(makeNode(concatPrimitive, inputs, { axis }, backendOf(nodes[0])));
}

/** Tensors of one shape along a new axis. */
export function stack<D extends DType>(
  tensors: readonly Tensor<D>[],
  options: { readonly axis?: number } = {},
): Tensor<OneOf<D>> {
  checkOptions("stack", options, { axis: "number" });
  checkTensors("stack", tensors);
  const [{ shape: first }] = tensors;
  const other = tensors.find(({ shape }) => !sameShape(shape, first));
  if (other) {
    throw new ShapeError(`stack: ${formatShape(first)} and ${formatShape(other.shape)} differ; all have one shape.`);
  }
  const axis = normalizeAxis(options.axis ?? 0, first.length + 1, "stack");
  const parts = tensors.map((t) => t.expandDims(axis));
  return joined("stack", parts, axis) as Tensor<OneOf<D>>;
}
