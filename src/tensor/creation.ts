/** Making tensors: from values, and from rules that need no memory. */
import { tidyBytes } from "../core/bytes.js";
import { checkDType, complexDType, DTYPES, type DType, isComplex, realDType, type Scalar } from "../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError, SizeMismatchError } from "../core/errors.js";
import { resultType } from "../core/promotion.js";
import { checkShape, formatShape, normalizeAxis, type Shape, sizeOf } from "../core/shape.js";
import { encodeValues, scalarIn } from "../core/storage.js";
import { complex as complexPrimitive } from "../graph/primitives/elementwise.js";
import { iota } from "../graph/primitives/leaf.js";
import { concat as concatPrimitive } from "../graph/primitives/movement.js";
import { backendOf, castNode, checkOneDevice, makeNode, meet, scalarNode, storedNode } from "./build.js";
import { backendFor } from "./devices.js";
import { dtypeOfTypedArray, flattenNested } from "./given-values.js";
import { type Nested, type Operand, Tensor, where } from "./tensor.js";

export interface CreationOptions<D extends DType = DType> {
  readonly dtype?: D;
  readonly device?: string;
}

/** A tensor from nested arrays, a typed array, or one value. */
export function tensor<D extends DType = "f32">(
  values: Nested<Scalar> | ArrayBufferView,
  options: CreationOptions<D> & { readonly shape?: Shape } = {},
): Tensor<D> {
  const backend = backendFor(options.device);
  if (options.dtype !== undefined) checkDType(options.dtype, "tensor");
  if (ArrayBuffer.isView(values)) {
    const own = dtypeOfTypedArray(values);
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const length = (values as Uint8Array).length;
    const shape = options.shape ?? [length];
    if (sizeOf(shape) !== length) throw new ShapeError(`tensor: ${length} values for the shape ${formatShape(shape)}.`);
    const stored = storedNode(backend, bytes, shape, own);
    return new Tensor<D>(castNode(stored, (options.dtype ?? own) as DType));
  }
  const flat = flattenNested(values);
  const shape = options.shape ?? flat.shape;
  if (sizeOf(shape) !== flat.values.length) {
    throw new ShapeError(`tensor: ${flat.values.length} values for the shape ${formatShape(shape)}.`);
  }
  const dtype = options.dtype ?? (flat.values.length ? resultType(flat.values, "tensor") : "f32");
  return new Tensor<D>(storedNode(backend, encodeValues(flat.values, dtype, "tensor"), shape, dtype));
}

/** A tensor over bytes as they lie in memory: little-endian, row-major. They are copied. Of a bool any but 0 is true. */
export function fromBytes<D extends DType>(
  bytes: Uint8Array,
  shape: Shape,
  dtype: D,
  options: { readonly device?: string } = {},
): Tensor<D> {
  const needed = sizeOf(checkShape(shape, "fromBytes")) * DTYPES[dtype].bytes;
  if (bytes.byteLength !== needed) {
    throw new SizeMismatchError(
      `fromBytes: ${bytes.byteLength} bytes for ${formatShape(shape)} of ${dtype}, which has ${needed}.`,
    );
  }
  return new Tensor<D>(storedNode(backendFor(options.device), tidyBytes(dtype, bytes), shape, dtype));
}

/** A tensor of one value. */
export function full<D extends DType = "f32">(
  shape: Shape,
  value: Scalar,
  options: CreationOptions<D> = {},
): Tensor<D> {
  const dtype = options.dtype ?? resultType([value], "full");
  const held = scalarIn(value, dtype, "full");
  return new Tensor<D>(scalarNode(held, dtype, backendFor(options.device), checkShape(shape, "full")));
}

export const zeros = <D extends DType = "f32">(shape: Shape, options: CreationOptions<D> = {}): Tensor<D> =>
  full(shape, 0, options);
export const ones = <D extends DType = "f32">(shape: Shape, options: CreationOptions<D> = {}): Tensor<D> =>
  full(shape, 1, options);

const like = (x: Tensor, value: Scalar): Tensor =>
  new Tensor(scalarNode(scalarIn(value, x.dtype, "fullLike"), x.dtype, backendOf(x.node), x.shape));
export const zerosLike = (x: Tensor): Tensor => like(x, 0);
export const onesLike = (x: Tensor): Tensor => like(x, 1);
export const fullLike = (x: Tensor, value: Scalar): Tensor => like(x, value);

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
  const real = re instanceof Tensor || im instanceof Tensor ? re : full([], re);
  const [first, second] = [real, im].map((part: Operand) => (part instanceof Tensor ? part.node : part));
  const parts = meet("complex", [first, second]);
  const [{ dtype }] = parts;
  if (isComplex(dtype)) throw new DTypeError(`complex: its parts are real, not ${dtype}; take real() or imag() first.`);
  const floats = parts.map((part) => castNode(part, realDType(complexDType(dtype))));
  return new Tensor(makeNode(complexPrimitive, floats, {}, backendOf(floats[0])));
}

function counting(length: number, dtype: DType, device: string | undefined): Tensor {
  const shape = checkShape([length], "counting");
  return new Tensor(makeNode(iota, [], { shape, dtype }, backendFor(device)));
}

/** start, start + step … below stop. Whole numbers give i32, or i64 where they are larger than that, others f32. */
export function arange<D extends DType = "i32" | "f32">(
  start: number,
  stop?: number,
  step = 1,
  options: CreationOptions<D> = {},
): Tensor<D> {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  if (step === 0 || ![from, to, step].every(Number.isFinite)) {
    throw new ArgumentError(`arange: from ${from} to ${to} in steps of ${step} does not end.`);
  }
  const length = Math.max(0, Math.ceil((to - from) / step));
  const isWhole = [from, step].every(Number.isInteger);
  const isLong = [from, to, length].some((value) => Math.abs(value) > 2 ** 31 - 1);
  const whole = isLong ? "i64" : "i32";
  const dtype = options.dtype ?? (isWhole ? whole : "f32");
  return counting(length, isWhole ? whole : "f32", options.device)
    .mul(step)
    .add(from)
    .cast(dtype as D);
}

/** `count` numbers from start to stop, both included unless `endpoint` is false. */
export function linspace<D extends DType = "f32">(
  start: number,
  stop: number,
  count: number,
  options: CreationOptions<D> & { readonly endpoint?: boolean } = {},
): Tensor<D> {
  const gaps = options.endpoint === false ? count : count - 1;
  const dtype = options.dtype ?? "f32";
  // Narrow floats cannot count far, and whole numbers are made by dropping fractions at the end.
  const steps = counting(count, realDType(dtype) === "f64" ? "f64" : "f32", options.device);
  const rising = steps.mul(gaps > 0 ? (stop - start) / gaps : 0).add(start);
  // The last one is exact, whatever rounding the steps had.
  const exact = options.endpoint === false || count < 2 ? rising : where(steps.equal(count - 1), stop, rising);
  return exact.cast(dtype) as Tensor<D>;
}

/** The identity matrix, or one with ones on another diagonal. */
export function eye<D extends DType = "f32">(
  rows: number,
  columns = rows,
  options: CreationOptions<D> & { readonly offset?: number } = {},
): Tensor<D> {
  const down = counting(rows, "i32", options.device).expandDims(1);
  const across = counting(columns, "i32", options.device);
  return across
    .sub(down)
    .equal(options.offset ?? 0)
    .cast((options.dtype ?? "f32") as D);
}

/** Tensors one after another along an axis. */
export function concat(tensors: readonly Tensor[], options: { readonly axis?: number } = {}): Tensor {
  if (tensors.length === 0) throw new ArgumentError("concat: no tensors.");
  const [first] = tensors;
  const dtype = resultType(
    tensors.map((t) => t.dtype),
    "concat",
  );
  checkOneDevice(
    "concat",
    tensors.map((t) => t.node),
  );
  const axis = normalizeAxis(options.axis ?? 0, first.rank, "concat");
  const inputs = tensors.map((t) => castNode(t.node, dtype));
  return new Tensor(makeNode(concatPrimitive, inputs, { axis }, backendOf(first.node)));
}

/** Tensors of one shape along a new axis. */
export function stack(tensors: readonly Tensor[], options: { readonly axis?: number } = {}): Tensor {
  const axis = options.axis ?? 0;
  return concat(
    tensors.map((t) => t.expandDims(axis)),
    { axis },
  );
}
