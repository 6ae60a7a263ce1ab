/**
 * The tensor users hold: a handle on a node of the lazy graph. Operations add nodes and return at once; `data()`, `item()`
 * and `array()` compute. The garbage collector frees what nobody holds; `dispose()` and `using` free it earlier.
 */
import { checkOptions, checkWhole, inOperation, type OptionKinds, type Values } from "../core/arguments.js";
import { calledOperation } from "../core/called.js";
import { castScalar } from "../core/cast.js";
import {
  type Complex,
  checkDType,
  checkOrdered,
  DTYPES,
  type DType,
  defaultDType,
  isComplex,
  isInteger,
  realDType,
  type Scalar,
  type ScalarOf,
  type TypedArrayOf,
} from "../core/dtype.js";
import { ArgumentError, DisposedError, DTypeError, ShapeError } from "../core/errors.js";
import { checkScalar, fitsDType } from "../core/promotion.js";
import {
  checkBroadcastTo,
  checkPermutation,
  formatShape,
  normalizeAxes,
  normalizeAxis,
  reducedShape,
  reshapeInfer,
  type Shape,
  sizeOf,
} from "../core/shape.js";
import { shown } from "../core/shown.js";
import { type IndexArgument, parseIndexing } from "../core/slice.js";
import { dataOf, elementAt, encodeValues, scalarIn } from "../core/storage.js";
import { type DeviceHandle, Node as GraphNode, type Node } from "../graph/node.js";
import type { ElementwisePrimitive, ReducePrimitive } from "../graph/primitive.js";
import * as E from "../graph/primitives/elementwise.js";
import { buffer } from "../graph/primitives/leaf.js";
import * as M from "../graph/primitives/movement.js";
import * as R from "../graph/primitives/reduce.js";
import { checkHasValue, type DeviceStorage } from "./backend.js";
import {
  backendOf,
  broadcastNode,
  castNode,
  checkOneDevice,
  derive,
  makeNode,
  meet,
  reshapeNode,
  scalarNode,
  storedNode,
} from "./build.js";
import { backendFor } from "./devices.js";
import { flattenNested } from "./given-values.js";

/** What stands where a tensor may: a tensor, or a JavaScript value that takes the dtype of the tensor it meets. */
export type Operand = Tensor | Scalar;

/** Positions along an axis: a tensor of integers, or numbers as they are written, in lists to any depth. */
export type Positions = Tensor | Values<number>;

export interface ReduceOptions {
  /** One axis, several, or all when left out. Negative axes count from the end. */
  readonly axis?: number | readonly number[];
  /** Keep reduced axes with extent 1. */
  readonly keepDims?: boolean;
}

const REDUCE: OptionKinds<ReduceOptions> = { axis: "numbers", keepDims: "flag" };

export interface VarianceOptions extends ReduceOptions {
  /** Taken off the count that the sum is divided by: 0 unless told, 1 for the variance of a sample. */
  readonly correction?: number;
}

const VARIANCE: OptionKinds<VarianceOptions> = { ...REDUCE, correction: "number" };

/** Nested arrays of scalars. */
export type Nested<T> = T | Nested<T>[];

/** The dtype of floats: what true division and exp give. */
export type FloatOf<D extends DType> = DType extends D
  ? DType
  : D extends "bool" | "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64"
    ? "f32"
    : D;
/** The dtype sums are made in: narrow integers are widened. */
export type SumOf<D extends DType> = DType extends D
  ? DType
  : D extends "bool" | "i8" | "i16"
    ? "i32"
    : D extends "u8" | "u16"
      ? "u32"
      : D;
/** The dtype of the parts of complex numbers, of their absolute value and phase. Others are their own. */
export type RealOf<D extends DType> = DType extends D ? DType : D extends "c64" ? "f32" : D extends "c128" ? "f64" : D;
/** The complex dtype whose parts hold a dtype's values. */
export type ComplexOf<D extends DType> = DType extends D ? "c64" | "c128" : D extends "f64" | "c128" ? "c128" : "c64";
type WholeOrBool = "bool" | "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64";
/**
 * The dtype of two operands as far as types can tell: equal ones stay, booleans give way, a JavaScript value takes the
 * tensor's dtype where that can hold it. A number whose value the compiler does not know counts as whole.
 */
export type Meeting<D extends DType, O> =
  O extends Tensor<infer E> ? MeetingOf<D, E> : O extends Complex ? ComplexOf<D> : DType extends D ? DType : Met<D, O>;
/** The same of two dtypes. */
export type MeetingOf<D extends DType, E extends DType> = [D, E] extends [E, D]
  ? D
  : [E] extends ["bool"]
    ? D
    : [D] extends ["bool"]
      ? E
      : DType;
/** One end of a range, which may be open. */
export type Bound = Operand | null | undefined;
/** The dtype of what is kept on one side of a bound. */
export type Bounded<D extends DType, B> = B extends Operand ? Meeting<D, B> : D;
type Met<D extends DType, O> = D extends WholeOrBool
  ? O extends number
    ? IsFraction<O> extends true
      ? "f32"
      : D extends "bool"
        ? "i32"
        : D
    : O extends bigint
      ? D extends "bool"
        ? "i64"
        : D
      : D
  : D;
type IsFraction<N extends number> = number extends N ? false : `${N}` extends `${bigint}` ? false : true;

export class Tensor<D extends DType = DType> {
  private current: Node | null;
  /** The shape as users see it. */
  private extents: Shape | null = null;

  /** @internal Use `tensor()`, `zeros()` and the other creation functions. A subclass may find its node later: null. */
  constructor(node: Node | null) {
    this.current = node;
    if (node) node.handles++;
    tracked?.push(this as unknown as Tensor);
  }

  /** @internal */
  get node(): Node {
    if (!this.current) throw new DisposedError(`${calledOperation() ?? "tensor"}: this tensor was disposed.`);
    return this.current;
  }

  /** Frozen, so that nobody changes the extents of a tensor: a copy, since frozen arrays are slower to compute with. */
  get shape(): Shape {
    const { shape } = this.node;
    this.extents ??= Object.freeze([...shape]);
    return this.extents;
  }

  get dtype(): D {
    return this.node.dtype as D;
  }

  /** "cpu", "vulkan:0" … */
  get device(): string {
    return this.node.device.id;
  }

  get rank(): number {
    return this.node.shape.length;
  }

  get size(): number {
    return sizeOf(this.node.shape);
  }

  // ------------------------------------------------------------------------------------------------ values

  /** The elements in row-major order, as the typed array of the dtype. */
  data(): Promise<TypedArrayOf<D>> {
    return this.reading(async () => {
      // The tensor may be disposed while it is being read.
      const { dtype } = this;
      return dataOf(await this.bytes(), dtype) as TypedArrayOf<D>;
    });
  }

  /** The same, blocking. */
  dataSync(): TypedArrayOf<D> {
    const backend = backendOf(this.node);
    backend.realize([this.node]);
    return dataOf(backend.readSync(this.node.storage as DeviceStorage), this.dtype) as TypedArrayOf<D>;
  }

  /** The bytes of the elements as they lie on the device: little-endian, row-major. */
  bytes(): Promise<Uint8Array> {
    return this.reading(async () => {
      const backend = backendOf(this.node);
      backend.realize([this.node]);
      return await backend.read(this.node.storage as DeviceStorage);
    });
  }

  /** The only element. */
  item(): Promise<ScalarOf<D>> {
    return this.reading(async () => {
      this.checkSingle("item");
      const { dtype } = this;
      return elementAt(await this.data(), dtype, 0) as ScalarOf<D>;
    });
  }

  itemSync(): ScalarOf<D> {
    this.checkSingle("itemSync");
    return elementAt(this.dataSync(), this.dtype, 0) as ScalarOf<D>;
  }

  /** Nested arrays. */
  array(): Promise<Nested<ScalarOf<D>>> {
    return this.reading(async () => {
      const { dtype, shape } = this;
      checkNestable(shape, "array");
      return nest(await this.data(), dtype, shape) as Nested<ScalarOf<D>>;
    });
  }

  /** In a trace this throws at once: a promise that nobody awaits would end the process. */
  private reading<T>(read: () => Promise<T>): Promise<T> {
    if (this.current) checkHasValue(this.current);
    return read();
  }

  arraySync(): Nested<ScalarOf<D>> {
    checkNestable(this.node.shape, "arraySync");
    return nest(this.dataSync(), this.dtype, this.node.shape) as Nested<ScalarOf<D>>;
  }

  /** The same values on another device; another handle on the same memory when they are there already. */
  to(device: string): Tensor<D> {
    const target = backendFor(device, "to");
    if (target === backendOf(this.node)) return this.again();
    const from = backendOf(this.node);
    from.realize([this.node]);
    const bytes = from.readSync(this.node.storage as DeviceStorage);
    return new Tensor<D>(storedNode(target, bytes, this.node.shape, this.dtype));
  }

  /** Starts computing this tensor without waiting for it. */
  realize(): this {
    backendOf(this.node).realize([this.node]);
    return this;
  }

  /**
   * Frees the memory now, when no other tensor and no pending operation needs it; otherwise the garbage collector will.
   * Disposing twice is harmless.
   */
  dispose(): void {
    const node = this.current;
    if (!node) return;
    this.current = null;
    node.handles--;
    if (node.handles === 0 && node.users === 0) (node.storage as DeviceStorage | null)?.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal Whether nothing else holds its memory or waits to read it. */
  get isOnlyHolder(): boolean {
    return this.node.handles === 1 && this.node.users === 0;
  }

  /** @internal Ends this handle without freeing the memory, which someone else has taken over. */
  surrender(): void {
    this.node.handles--;
    this.current = null;
  }

  /** Arithmetic operators do not work on tensors, and must not give NaN in silence. */
  [Symbol.toPrimitive](hint: "string" | "number" | "default"): string {
    if (hint === "string") return this.toString();
    throw new ArgumentError(
      "A tensor is no JavaScript number: write a.add(b) for a + b, and itemSync() for the value of a scalar. " +
        "Numbers passed to a jitted function are tensors inside it; list their positions in { static } to keep them numbers.",
    );
  }

  private checkSingle(operation: string): void {
    if (this.size !== 1) {
      throw new ShapeError(
        `${operation}: a tensor of shape ${formatShape(this.node.shape)} has ${this.size} elements; use data() or at().`,
      );
    }
  }

  // ------------------------------------------------------------------------------------------------ arithmetic

  add<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.add, other) as Tensor<Meeting<D, O>>;
  }
  sub<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.sub, other) as Tensor<Meeting<D, O>>;
  }
  mul<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.mul, other) as Tensor<Meeting<D, O>>;
  }
  /** True division: integers become floats first. */
  div<O extends Operand>(other: O): Tensor<FloatOf<Meeting<D, O>>> {
    return this.binary(E.div, other, true) as Tensor<FloatOf<Meeting<D, O>>>;
  }
  pow<O extends Operand>(other: O): Tensor<FloatOf<Meeting<D, O>>> {
    return this.binary(E.pow, other, true) as Tensor<FloatOf<Meeting<D, O>>>;
  }
  /** The larger of two; NaN wins. Of booleans: whether either is true. */
  maximum<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(this.isBoolWith(other) ? E.or : E.maximum, other) as Tensor<Meeting<D, O>>;
  }
  /** The smaller of two; NaN wins. Of booleans: whether both are true. */
  minimum<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(this.isBoolWith(other) ? E.and : E.minimum, other) as Tensor<Meeting<D, O>>;
  }
  neg(): Tensor<D> {
    return this.unary(E.neg) as Tensor<D>;
  }
  /** The absolute value; of a complex number √(re² + im²), a real number. */
  abs(): Tensor<RealOf<D>> {
    return this.unary(E.abs) as Tensor<RealOf<D>>;
  }
  sign(): Tensor<D> {
    return this.unary(E.sign) as Tensor<D>;
  }
  square(): Tensor<D> {
    return this.unary(E.square) as Tensor<D>;
  }
  reciprocal(): Tensor<FloatOf<D>> {
    return this.unary(E.reciprocal, true) as Tensor<FloatOf<D>>;
  }
  sqrt(): Tensor<FloatOf<D>> {
    return this.unary(E.sqrt, true) as Tensor<FloatOf<D>>;
  }
  rsqrt(): Tensor<FloatOf<D>> {
    return this.unary(E.rsqrt, true) as Tensor<FloatOf<D>>;
  }
  floor(): Tensor<D> {
    return this.rounded(E.floor);
  }
  ceil(): Tensor<D> {
    return this.rounded(E.ceil);
  }
  trunc(): Tensor<D> {
    return this.rounded(E.trunc);
  }
  round(): Tensor<D> {
    return this.rounded(E.round);
  }
  exp(): Tensor<FloatOf<D>> {
    return this.unary(E.exp, true) as Tensor<FloatOf<D>>;
  }
  exp2(): Tensor<FloatOf<D>> {
    return this.unary(E.exp2, true) as Tensor<FloatOf<D>>;
  }
  expm1(): Tensor<FloatOf<D>> {
    return this.unary(E.expm1, true) as Tensor<FloatOf<D>>;
  }
  log(): Tensor<FloatOf<D>> {
    return this.unary(E.log, true) as Tensor<FloatOf<D>>;
  }
  log2(): Tensor<FloatOf<D>> {
    return this.unary(E.log2, true) as Tensor<FloatOf<D>>;
  }
  log10(): Tensor<FloatOf<D>> {
    return this.unary(E.log10, true) as Tensor<FloatOf<D>>;
  }
  log1p(): Tensor<FloatOf<D>> {
    return this.unary(E.log1p, true) as Tensor<FloatOf<D>>;
  }
  sin(): Tensor<FloatOf<D>> {
    return this.unary(E.sin, true) as Tensor<FloatOf<D>>;
  }
  cos(): Tensor<FloatOf<D>> {
    return this.unary(E.cos, true) as Tensor<FloatOf<D>>;
  }
  tan(): Tensor<FloatOf<D>> {
    return this.unary(E.tan, true) as Tensor<FloatOf<D>>;
  }
  sinh(): Tensor<FloatOf<D>> {
    return this.unary(E.sinh, true) as Tensor<FloatOf<D>>;
  }
  cosh(): Tensor<FloatOf<D>> {
    return this.unary(E.cosh, true) as Tensor<FloatOf<D>>;
  }
  tanh(): Tensor<FloatOf<D>> {
    return this.unary(E.tanh, true) as Tensor<FloatOf<D>>;
  }
  sigmoid(): Tensor<FloatOf<D>> {
    return this.unary(E.sigmoid, true) as Tensor<FloatOf<D>>;
  }
  softplus(): Tensor<FloatOf<D>> {
    return this.unary(E.softplus, true) as Tensor<FloatOf<D>>;
  }
  /** The number itself where it is positive, else 0. The slope at 0 is 0. */
  relu(): Tensor<D> {
    return this.unary(E.relu) as Tensor<D>;
  }
  /**
   * At least `low` and at most `high`; null or nothing leaves a side open. Whole numbers that an integer dtype does not
   * hold bound it where it ends.
   */
  clip<L extends Bound = null, H extends Bound = null>(low?: L, high?: H): Tensor<Bounded<Bounded<D, L>, H>> {
    const bounded = inOperation("clip", () => {
      const raised: Tensor = low == null ? this : this.maximum<Operand>(withinDType(low, this.dtype));
      return high == null ? raised : raised.minimum<Operand>(withinDType(high, raised.dtype));
    });
    return (bounded === (this as Tensor) ? this.again() : bounded) as Tensor<Bounded<Bounded<D, L>, H>>;
  }

  // ------------------------------------------------------------------------------------------------ comparison, bits

  equal(other: Operand): Tensor<"bool"> {
    return this.compared(E.equal, other);
  }
  notEqual(other: Operand): Tensor<"bool"> {
    return this.compared(E.notEqual, other);
  }
  less(other: Operand): Tensor<"bool"> {
    return this.compared(E.less, other);
  }
  lessEqual(other: Operand): Tensor<"bool"> {
    return this.compared(E.lessEqual, other);
  }
  greater(other: Operand): Tensor<"bool"> {
    return this.compared(E.greater, other);
  }
  greaterEqual(other: Operand): Tensor<"bool"> {
    return this.compared(E.greaterEqual, other);
  }
  logicalAnd(other: Operand): Tensor<"bool"> {
    return this.logical(E.and, "logicalAnd", other);
  }
  logicalOr(other: Operand): Tensor<"bool"> {
    return this.logical(E.or, "logicalOr", other);
  }
  logicalXor(other: Operand): Tensor<"bool"> {
    return this.logical(E.xor, "logicalXor", other);
  }
  logicalNot(): Tensor<"bool"> {
    return this.cast("bool").unary(E.not) as Tensor<"bool">;
  }
  bitwiseAnd<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.and, other) as Tensor<Meeting<D, O>>;
  }
  bitwiseOr<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.or, other) as Tensor<Meeting<D, O>>;
  }
  bitwiseXor<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.xor, other) as Tensor<Meeting<D, O>>;
  }
  bitwiseNot(): Tensor<D> {
    return this.unary(E.not) as Tensor<D>;
  }
  leftShift<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.shiftLeft, other) as Tensor<Meeting<D, O>>;
  }
  rightShift<O extends Operand>(other: O): Tensor<Meeting<D, O>> {
    return this.binary(E.shiftRight, other) as Tensor<Meeting<D, O>>;
  }
  /** False for what cannot be NaN: integers and booleans. */
  isNaN(): Tensor<"bool"> {
    return this.tested(E.isNan);
  }
  /** False for what cannot be infinite: integers and booleans. */
  isInf(): Tensor<"bool"> {
    return this.tested(E.isInf);
  }

  cast<T extends DType>(dtype: T): Tensor<T> {
    checkDType(dtype, "cast");
    // A number given to a jitted function has no dtype of its own until it is cast.
    return new Tensor<T>(this.node.isWeak ? derive(E.cast, this.node, { dtype }) : castNode(this.node, dtype));
  }

  /** The same bits as another dtype of the same width. Of f16 and bf16 a NaN stays one, with other bits perhaps. */
  bitcast<T extends DType>(dtype: T): Tensor<T> {
    checkDType(dtype, "bitcast");
    const [from, to] = [DTYPES[this.dtype], DTYPES[dtype]];
    if (from.bits !== to.bits || [from, to].some(({ kind }) => kind === "bool" || kind === "complex")) {
      throw new DTypeError(`bitcast: ${this.dtype} as ${dtype}; both are numbers of one width, and not complex.`);
    }
    // Between whole numbers of one width a cast keeps the bits.
    if (this.dtype === (dtype as DType) || (isInteger(this.dtype) && isInteger(dtype))) return this.cast(dtype);
    return new Tensor<T>(derive(E.bitcast, this.node, { dtype }));
  }

  // ------------------------------------------------------------------------------------------------ complex numbers

  /** The real part; a real tensor is its own. */
  real(): Tensor<RealOf<D>> {
    return (isComplex(this.dtype) ? this.unary(E.real) : this.again()) as Tensor<RealOf<D>>;
  }
  /** The imaginary part; of a real tensor zeros. */
  imag(): Tensor<RealOf<D>> {
    return this.unary(E.imag) as Tensor<RealOf<D>>;
  }
  /** The complex conjugate; a real tensor is its own. */
  conj(): Tensor<D> {
    return isComplex(this.dtype) ? (this.unary(E.conj) as Tensor<D>) : this.again();
  }
  /** The angle of a complex number, from -π to π; of a real one 0, or π where it is negative. */
  phase(): Tensor<RealOf<FloatOf<D>>> {
    return this.unary(E.phase, true) as Tensor<RealOf<FloatOf<D>>>;
  }

  // ------------------------------------------------------------------------------------------------ reductions

  sum(options: ReduceOptions = {}): Tensor<SumOf<D>> {
    return this.reduce(R.sum, "sum", options) as Tensor<SumOf<D>>;
  }
  prod(options: ReduceOptions = {}): Tensor<SumOf<D>> {
    return this.reduce(R.product, "prod", options) as Tensor<SumOf<D>>;
  }
  /** The largest element; NaN wins. Of booleans: whether any is true. */
  max(options: ReduceOptions = {}): Tensor<D> {
    return this.reduce(R.max, "max", options) as Tensor<D>;
  }
  /** The smallest element; NaN wins. Of booleans: whether all are true. */
  min(options: ReduceOptions = {}): Tensor<D> {
    return this.reduce(R.min, "min", options) as Tensor<D>;
  }
  all(options: ReduceOptions = {}): Tensor<"bool"> {
    return this.cast("bool").reduce(R.all, "all", options) as Tensor<"bool">;
  }
  any(options: ReduceOptions = {}): Tensor<"bool"> {
    return this.cast("bool").reduce(R.any, "any", options) as Tensor<"bool">;
  }

  mean(options: ReduceOptions = {}): Tensor<FloatOf<D>> {
    checkOptions("mean", options, REDUCE);
    return this.averaged(this.asSummable(), "mean", options);
  }

  /** Mean of squared deviations; `correction: 1` divides by n - 1. */
  variance(options: VarianceOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    return this.spread("variance", options);
  }

  private spread(operation: string, options: VarianceOptions): Tensor<RealOf<FloatOf<D>>> {
    checkOptions(operation, options, VARIANCE);
    const x = this.asSummable();
    const deviation = x.sub(x.mean({ axis: this.axesOf(operation, options), keepDims: true }));
    return this.averaged(squaredSize(deviation), operation, options) as unknown as Tensor<RealOf<FloatOf<D>>>;
  }

  /** The sum over the count, in the dtype of this tensor's floats, or the real one of these when x is real. */
  private averaged(x: Tensor, operation: string, options: VarianceOptions): Tensor<FloatOf<D>> {
    const { axis, keepDims, correction = 0 } = options;
    const count = this.reducedCount(operation, options) - correction;
    const { dtype } = this.asFloat();
    const result = isComplex(x.dtype) ? dtype : realDType(dtype);
    return inDType(x.sum({ axis, keepDims }).div(count), result) as unknown as Tensor<FloatOf<D>>;
  }

  std(options: VarianceOptions = {}): Tensor<RealOf<FloatOf<D>>> {
    return flatAtZero(this.spread("std", options), (x) => x.sqrt()) as unknown as Tensor<RealOf<FloatOf<D>>>;
  }

  /** log Σ exp, without overflow; of no elements -infinity. */
  logsumexp(options: ReduceOptions = {}): Tensor<FloatOf<D>> {
    checkOptions("logsumexp", options, REDUCE);
    const shape = reducedShape(this.node.shape, this.axesOf("logsumexp", options), options.keepDims);
    const { dtype } = this.asFloat();
    if (this.reducedCount("logsumexp", options) === 0) {
      checkOrdered(dtype, "logsumexp");
      return new Tensor<FloatOf<D>>(scalarNode(-Infinity, dtype, backendOf(this.node), shape));
    }
    const floats = this.asSummable();
    const largest = floats.reduce(R.max, "logsumexp", { axis: options.axis, keepDims: true });
    // An infinite maximum must not be subtracted from itself.
    const shift = where(largest.abs().less(Infinity), largest, 0).movedBy(M.stopped, {});
    const total = floats
      .sub(shift)
      .exp()
      .sum({ ...options, keepDims: true });
    const isNone = total.equal(0);
    // All powers are zero when all elements are -infinity: a slope through the logarithm would be NaN.
    const logarithm = where(isNone, -Infinity, where(isNone, 1, total).log().add(shift));
    return inDType(logarithm.reshape(shape), dtype) as unknown as Tensor<FloatOf<D>>;
  }

  softmax(options: { readonly axis?: number | readonly number[] } = {}): Tensor<FloatOf<D>> {
    checkOptions("softmax", options, { axis: "numbers" });
    const axis = this.axesOf("softmax", { axis: options.axis ?? -1 });
    const floats = this.asSummable();
    if (this.size === 0) {
      checkOrdered(floats.dtype, "softmax");
      return this.asFloat().again() as unknown as Tensor<FloatOf<D>>;
    }
    // Any shift gives the same shares, so no gradient flows through it.
    const shift = floats.reduce(R.max, "softmax", { axis, keepDims: true }).movedBy(M.stopped, {});
    const powers = floats.sub(shift).exp();
    // A reciprocal for each row, and a product for each element, cost less than a quotient for each element.
    const shares = powers.mul(powers.sum({ axis, keepDims: true }).reciprocal());
    return inDType(shares, this.asFloat().dtype) as unknown as Tensor<FloatOf<D>>;
  }

  // ------------------------------------------------------------------------------------------------ movement

  reshape(...shape: number[] | [Shape]): Tensor<D> {
    const wanted = (shape.length === 1 && typeof shape[0] !== "number" ? shape[0] : shape) as Shape;
    return new Tensor<D>(reshapeNode(this.node, reshapeInfer(this.node.shape, wanted)));
  }

  flatten(): Tensor<D> {
    return this.reshape(-1);
  }

  /** Reverses the axes, or orders them as given. */
  permute(...axes: number[] | [readonly number[]]): Tensor<D> {
    return this.ordered("permute", axes);
  }

  private ordered(operation: string, axes: number[] | [readonly number[]]): Tensor<D> {
    const list = (Array.isArray(axes[0]) ? axes[0] : axes) as readonly number[];
    const wanted = list.length === 0 ? this.node.shape.map((_, i) => this.rank - 1 - i) : list;
    return this.movedBy(M.permute, { axes: checkPermutation(wanted, this.rank, operation) });
  }

  /** Swaps the last two axes. */
  get mT(): Tensor<D> {
    return this.swapAxes(-1, -2);
  }

  /** The transpose: all axes reversed. */
  get T(): Tensor<D> {
    return this.permute();
  }

  /** Another name of `permute`. */
  transpose(...axes: number[] | [readonly number[]]): Tensor<D> {
    return this.ordered("transpose", axes);
  }

  swapAxes(a: number, b: number): Tensor<D> {
    const axes = this.node.shape.map((_, axis) => axis);
    const [i, j] = [normalizeAxis(a, this.rank, "swapAxes"), normalizeAxis(b, this.rank, "swapAxes")];
    [axes[i], axes[j]] = [axes[j], axes[i]];
    return this.permute(axes);
  }

  /** Moves an axis, or several, to other places; the others keep their order. */
  moveAxis(from: number | readonly number[], to: number | readonly number[]): Tensor<D> {
    const [taken, places] = [axisList(from, this.rank, "moveAxis"), axisList(to, this.rank, "moveAxis")];
    if (taken.length !== places.length) {
      throw new ArgumentError(`moveAxis: ${taken.length} axes to ${places.length} places; give a place for each.`);
    }
    const others = this.node.shape.flatMap((_, axis) => (taken.includes(axis) ? [] : [axis]));
    const axes = this.node.shape.map((_, place) => {
      const moved = places.indexOf(place);
      return moved < 0 ? (others.shift() as number) : taken[moved];
    });
    return this.permute(axes);
  }

  squeeze(axis?: number | readonly number[]): Tensor<D> {
    const all = this.node.shape.flatMap((extent, i) => (extent === 1 ? [i] : []));
    const axes = axis === undefined ? all : normalizeAxes(axis, this.rank, "squeeze");
    for (const i of axes) {
      if (this.node.shape[i] !== 1)
        throw new ShapeError(`squeeze: axis ${i} of ${formatShape(this.node.shape)} is not 1.`);
    }
    return this.reshape(this.node.shape.filter((_, i) => !axes.includes(i)));
  }

  /** Inserts axes of extent 1: where they stand in the result. */
  expandDims(axis: number | readonly number[]): Tensor<D> {
    const count = Array.isArray(axis) ? axis.length : 1;
    const added = axisList(axis, this.rank + count, "expandDims");
    const extents = [...this.node.shape];
    const places = Array.from({ length: this.rank + count }, (_, place) => place);
    return this.reshape(places.map((place) => (added.includes(place) ? 1 : (extents.shift() as number))));
  }

  broadcastTo(shape: Shape): Tensor<D> {
    return new Tensor<D>(broadcastNode(this.node, checkBroadcastTo("broadcastTo", this.node.shape, shape)));
  }

  flip(axis?: number | readonly number[]): Tensor<D> {
    const axes = normalizeAxes(axis, this.rank, "flip");
    const start = this.node.shape.map((extent, i) => (axes.includes(i) ? Math.max(0, extent - 1) : 0));
    return this.movedBy(M.slice, {
      start,
      step: this.node.shape.map((_, i) => (axes.includes(i) ? -1 : 1)),
      shape: [...this.node.shape],
    });
  }

  /** Elements and ranges, as NumPy's x[0, 1:5, ::-1, ...]: `x.at(0, "1:5", "::-1", "...", newAxis)`. */
  at(...indices: IndexArgument[]): Tensor<D> {
    const items = parseIndexing(indices, this.node.shape, "at");
    const ranges = items.filter((item) => item.kind === "slice" || item.kind === "index");
    const start = ranges.map((item) => (item.kind === "slice" ? item.start : item.index));
    const step = ranges.map((item) => (item.kind === "slice" ? item.step : 1));
    const shape = ranges.map((item) => (item.kind === "slice" ? item.count : 1));
    const sliced = this.movedBy(M.slice, { start, step, shape });
    const kept = items.flatMap((item) => (item.kind === "slice" ? [item.count] : item.kind === "newAxis" ? [1] : []));
    return sliced.reshape(kept);
  }

  /** Surrounds the tensor with a value: [before, after] per axis; negative amounts cut off. */
  pad(
    amounts: readonly (readonly [number, number])[],
    options: { readonly value?: Scalar; readonly interior?: readonly number[] } = {},
  ): Tensor<D> {
    const low = amounts.map(([before]) => before);
    const high = amounts.map(([, after]) => after);
    const interior = options.interior ?? this.node.shape.map(() => 0);
    const value = scalarIn(options.value ?? 0, this.dtype, "pad");
    return this.movedBy(M.pad, { low, high, interior: [...interior], value });
  }

  /** The elements along an axis at integer positions; negative ones count from the end, others outside read the end. */
  take(positions: Positions, options: { readonly axis?: number } = {}): Tensor<D> {
    checkOptions("take", options, { axis: "number" });
    const source = options.axis === undefined ? this.flatten() : this;
    const axis = normalizeAxis(options.axis ?? 0, source.rank, "take");
    const inside = source.positionsIn(positions, axis, "take");
    return new Tensor<D>(makeNode(M.take, [source.node, inside], { axis }, backendOf(source.node)));
  }

  /** For each position along an axis, the element there; the other axes go in step. */
  takeAlongAxis(positions: Positions, axis: number): Tensor<D> {
    const along = normalizeAxis(axis, this.rank, "takeAlongAxis");
    const inside = this.positionsIn(positions, along, "takeAlongAxis");
    return new Tensor<D>(makeNode(M.takeAlongAxis, [this.node, inside], { axis: along }, backendOf(this.node)));
  }

  private positionsIn(given: Positions, axis: number, operation: string): Node {
    const positions = positionTensor(operation, given, this);
    if (!isInteger(positions.dtype)) {
      throw new DTypeError(`${operation}: positions are integers, not ${positions.dtype}.`);
    }
    checkOneDevice(operation, [this.node, positions.node]);
    // What does not fit the type that counts is outside in any case, and must not come back in by wrapping.
    const extent = this.node.shape[axis];
    const isLong = extent > 2 ** 31 - 1;
    const { bits, signed } = DTYPES[positions.dtype];
    const mayWrap = isLong ? positions.dtype === "u64" : bits > 32 || positions.dtype === "u32";
    const held = mayWrap ? (signed ? positions.maximum(-extent - 1) : positions).minimum(extent) : positions;
    const wide: Tensor = held.cast(isLong ? "i64" : "i32");
    return where(wide.less(0), wide.add(extent), wide).node;
  }

  // ------------------------------------------------------------------------------------------------ for people

  /** @internal Whether there is nothing left to read. */
  get isDisposed(): boolean {
    return this.current === null;
  }

  toString(): string {
    return `Tensor(${formatShape(this.node.shape)}, ${this.dtype}, ${this.device})`;
  }

  // ------------------------------------------------------------------------------------------------ the common part

  private unary(primitive: ElementwisePrimitive, asFloat = false): Tensor {
    return new Tensor(derive(primitive, asFloat ? this.asFloat().node : this.node, {}));
  }

  /** @internal Another handle on the same values: disposing of a result must not take its source along. */
  again(): Tensor<D> {
    return new Tensor<D>(this.node);
  }

  private rounded(primitive: ElementwisePrimitive): Tensor<D> {
    return isInteger(this.dtype) || this.dtype === "bool" ? this.again() : (this.unary(primitive) as Tensor<D>);
  }

  /** What only floats can be; false for the others. */
  private tested(primitive: ElementwisePrimitive): Tensor<"bool"> {
    const { kind } = DTYPES[this.dtype];
    if (kind === "float" || kind === "complex") return this.unary(primitive) as Tensor<"bool">;
    return new Tensor<"bool">(scalarNode(false, "bool", backendOf(this.node), this.node.shape));
  }

  private isBoolWith(other: Operand): boolean {
    return this.dtype === "bool" && (other instanceof Tensor ? other.dtype === "bool" : typeof other === "boolean");
  }

  private binary(primitive: ElementwisePrimitive, other: Operand, asFloat = false): Tensor {
    const operand = other instanceof Tensor ? other.node : other;
    const met = meet(primitive.called ?? primitive.name, [this.node, operand]);
    return new Tensor(makeNode(primitive, asFloat ? met.map(floatNode) : met, {}, met[0].device));
  }

  /** A whole number that an integer dtype does not hold is above all its numbers or below them, as in NumPy 2. */
  private compared(primitive: ElementwisePrimitive, other: Operand): Tensor<"bool"> {
    if (!isInteger(this.dtype) || !isWholeNumber(other) || fitsDType(other, this.dtype)) {
      return this.binary(primitive, other) as Tensor<"bool">;
    }
    const holds: readonly ElementwisePrimitive[] =
      other > 0 ? [E.less, E.lessEqual, E.notEqual] : [E.greater, E.greaterEqual, E.notEqual];
    const answer = scalarNode(holds.includes(primitive), "bool", backendOf(this.node), this.node.shape);
    return new Tensor<"bool">(answer);
  }

  private logical(primitive: ElementwisePrimitive, operation: string, other: Operand): Tensor<"bool"> {
    if (!(other instanceof Tensor)) checkScalar(other, operation);
    const right = other instanceof Tensor ? other.cast("bool") : castScalar(other, defaultDType(other), "bool");
    const [a, b] = meet(operation, [this.cast("bool").node, right instanceof Tensor ? right.node : right]);
    return new Tensor<"bool">(makeNode(primitive, [a, b], {}, a.device));
  }

  /** As floats, or complex numbers, that can be summed: a sum of f16 overflows at 65504, and bf16 cannot count beyond 256. */
  private asSummable(): Tensor {
    const floats = this.asFloat();
    return floats.dtype === "f16" || floats.dtype === "bf16" ? floats.cast("f32") : floats;
  }

  private asFloat(): Tensor {
    const node = floatNode(this.node);
    return node === this.node ? this : new Tensor(node);
  }

  private axesOf(operation: string, options: ReduceOptions): number[] {
    return normalizeAxes(options.axis, this.rank, operation).sort((a, b) => a - b);
  }

  private reducedCount(operation: string, options: ReduceOptions): number {
    return this.axesOf(operation, options).reduce((count, axis) => count * this.node.shape[axis], 1);
  }

  private reduce(primitive: ReducePrimitive, operation: string, options: ReduceOptions): Tensor {
    checkOptions(operation, options, REDUCE);
    const axes = this.axesOf(operation, options);
    const isOrder = primitive.op === "max" || primitive.op === "min";
    if (isOrder) checkOrdered(this.dtype, operation);
    if (isOrder && axes.some((axis) => this.node.shape[axis] === 0)) {
      throw new ShapeError(
        `${operation}: no elements along an axis of ${formatShape(this.node.shape)}, so there is none to choose.`,
      );
    }
    if (isOrder && this.dtype === "bool") {
      return this.reduce(primitive.op === "max" ? R.any : R.all, operation, options);
    }
    // Sums of booleans count; sums of narrow integers are made in i32 or u32, as NumPy widens them.
    const wide = isOrder || primitive.op === "all" || primitive.op === "any" ? this.dtype : widened(this.dtype);
    const input = castNode(this.node, wide);
    const reduced = axes.length === 0 ? input : derive(primitive, input, { axes });
    return new Tensor(options.keepDims ? reshapeNode(reduced, reducedShape(this.node.shape, axes, true)) : reduced);
  }

  private movedBy(primitive: Parameters<typeof derive>[0], params: Parameters<typeof derive>[2]): Tensor<D> {
    return new Tensor<D>(derive(primitive, this.node, params));
  }
}

/** Tensors made since a scope was entered; null outside scopes. */
let tracked: Tensor[] | null = null;

/** @internal Runs `work` and says which tensors it made. */
export function trackTensors<T>(work: () => T): { result: T; made: Tensor[] } {
  const outer = tracked;
  const made: Tensor[] = [];
  tracked = made;
  try {
    return { result: work(), made };
  } finally {
    tracked = outer;
    outer?.push(...made);
  }
}

/** @internal A tensor over memory that holds its value. */
export function adopt(storage: DeviceStorage, shape: Shape, dtype: DType, device: DeviceHandle): Tensor {
  const node = new GraphNode(buffer, { shape, dtype }, [], shape, dtype, device);
  node.realize(storage);
  return new Tensor(node);
}

/** |x|², which is real. */
export function squaredSize(x: Tensor): Tensor {
  return isComplex(x.dtype) ? x.mul(x.conj()).real() : x.square();
}

/** Throws on what is no tensor: a number or a list stands where only a tensor can. */
export function checkTensor(operation: string, what: string, value: unknown): asserts value is Tensor {
  if (value instanceof Tensor) return;
  throw new ArgumentError(`${operation}: ${what} is a tensor, not ${shown(value)}; tensor() makes one.`);
}

/** A list of tensors, at least one. */
export function checkTensors(operation: string, values: unknown): asserts values is readonly Tensor[] {
  if (!Array.isArray(values) || values.length === 0) {
    throw new ArgumentError(`${operation}: takes a list of one or more tensors, not ${shown(values)}.`);
  }
  values.forEach((value, i) => {
    checkTensor(operation, `number ${i} of the list`, value);
  });
}

/** Positions, or a mask, as a tensor: lists go to the device of `like`. */
export function positionTensor(operation: string, given: Positions | Values<boolean>, like: Tensor): Tensor {
  if (given instanceof Tensor) return given;
  const { values, shape } = flattenNested(given, operation);
  const device = backendOf(like.node);
  if (values.length > 0 && values.every((value) => typeof value === "boolean")) {
    return new Tensor(storedNode(device, encodeValues(values, "bool", operation), shape, "bool"));
  }
  for (const value of values) checkWhole(operation, "a position", value as number);
  const dtype = values.every((value) => Math.abs(value as number) < 2 ** 31) ? "i32" : "i64";
  return new Tensor(storedNode(device, encodeValues(values, dtype, operation), shape, dtype));
}

/** The dtype of a choice between two operands, as far as types can tell. */
export type Choice<A, B> =
  A extends Tensor<infer D> ? Meeting<D, B> : B extends Tensor<infer E> ? Meeting<E, A> : Meeting<Meeting<"f32", A>, B>;

/** a where the condition holds, else b. */
export function where<A extends Operand, B extends Operand>(
  condition: Tensor | boolean,
  a: A,
  b: B,
): Tensor<Choice<A, B>> {
  return new Tensor(chosenNode(condition, a, b));
}

function chosenNode(given: Tensor | boolean, a: Operand, b: Operand): Node {
  const like = [given, a, b].find((operand) => operand instanceof Tensor) as Tensor | undefined;
  if (!like) throw new ArgumentError("where: none of its operands is a tensor; make one with tensor().");
  if (!(given instanceof Tensor)) checkScalar(given, "where");
  const condition = given instanceof Tensor ? given : new Tensor(scalarNode(given, "bool", backendOf(like.node)));
  const node = (operand: Operand) => (operand instanceof Tensor ? operand.node : operand);
  const choices = [node(a), node(b)];
  const test = castNode(condition.node, "bool");
  const hasTensor = choices.some((choice) => choice instanceof GraphNode);
  const typed = meet("where", hasTensor ? choices : [...choices, castNode(condition.node, "f32")]).slice(0, 2);
  const shape = meet("where", [test, castNode(typed[0], "bool"), castNode(typed[1], "bool")])[0].shape;
  const inputs = [test, ...typed].map((input) => broadcastNode(input, shape));
  return makeNode(E.where, inputs, {}, backendOf(test));
}

/** f(x), which is zero at zero, with no slope there: for roots of sums of squares, whose slope would be NaN. */
export function flatAtZero(x: Tensor, f: (x: Tensor) => Tensor): Tensor {
  const isZero = x.equal(0);
  return where(isZero, 0, f(where(isZero, 1, x)));
}

/** Floats and complex numbers as they are, integers and booleans as f32. */
function floatNode(node: Node): Node {
  const { kind } = DTYPES[node.dtype];
  return kind === "float" || kind === "complex" ? node : castNode(node, "f32");
}

/** A tensor in a dtype; itself where it is in it, because a second handle would keep `dispose` from freeing the memory. */
function inDType(x: Tensor, dtype: DType): Tensor {
  return x.dtype === dtype ? x : x.cast(dtype);
}

/** A bound for numbers of a dtype: a whole number outside of it says no more than the end of its range. */
function withinDType(bound: Operand, dtype: DType): Operand {
  if (!isInteger(dtype) || !isWholeNumber(bound) || fitsDType(bound, dtype)) return bound;
  const { min, max } = DTYPES[dtype];
  return bound < min ? min : max;
}

const isWholeNumber = (value: Operand): value is number | bigint =>
  typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));

/** One axis or several, each once, counted from the front. */
function axisList(axis: number | readonly number[], rank: number, operation: string): number[] {
  return normalizeAxes(Array.isArray(axis) ? axis : [axis as number], rank, operation);
}

function widened(dtype: DType): DType {
  if (dtype === "bool" || dtype === "i8" || dtype === "i16") return "i32";
  return dtype === "u8" || dtype === "u16" ? "u32" : dtype;
}

/** Longer lists, or more of them, end the process: V8 has no room for them, and does not throw. */
const MAX_LISTED = 2 ** 26;

/** Throws where lists of that shape do not fit; of a tensor without elements there may still be any number of them. */
function checkNestable(shape: Shape, operation: string): void {
  let lists = 1;
  for (const extent of shape) {
    if (lists > 0 && Math.max(lists, extent) > MAX_LISTED) {
      throw new ShapeError(
        `${operation}: ${formatShape(shape)} as nested lists takes more than JavaScript holds, which is ${MAX_LISTED} ` +
          "lists or elements of one list; read it with data(), or a part of it with at().",
      );
    }
    lists *= extent;
  }
}

/** From the last axis on, which needs no recursion: a tensor may have thousands of axes. */
function nest(data: TypedArrayOf, dtype: DType, shape: Shape): Nested<Scalar> {
  if (shape.length === 0) return elementAt(data, dtype, 0);
  const list = <T>(length: number, at: (i: number) => T): T[] => Array.from({ length }, (_, i) => at(i));
  let part = (i: number): Nested<Scalar> => elementAt(data, dtype, i);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const [inner, extent] = [part, shape[axis]];
    const parts = list(sizeOf(shape.slice(0, axis)), (i) => list(extent, (j) => inner(i * extent + j)));
    part = (i) => parts[i];
  }
  return part(0);
}
