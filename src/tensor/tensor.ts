/**
 * The tensor users hold: a handle on a node of the lazy graph. Operations add nodes and return at once; `data()`, `item()`
 * and `array()` compute. The garbage collector frees what nobody holds; `dispose()` and `using` free it earlier.
 */
import { inOperation } from "../core/arguments.js";
import { calledOperation } from "../core/called.js";
import { castScalar } from "../core/cast.js";
import {
  checkDType,
  DTYPES,
  type DType,
  defaultDType,
  isComplex,
  isInteger,
  type Scalar,
  type ScalarOf,
  type TypedArrayOf,
} from "../core/dtype.js";
import { ArgumentError, DisposedError, DTypeError, ShapeError } from "../core/errors.js";
import { checkScalar, fitsDType } from "../core/promotion.js";
import { checkBroadcastTo, formatShape, reshapeInfer, type Shape, sizeOf } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { type IndexArgument, parseIndexing } from "../core/slice.js";
import { dataOf, elementAt, scalarIn } from "../core/storage.js";
import { type DeviceHandle, Node as GraphNode, type Node } from "../graph/node.js";
import type { ElementwisePrimitive, ReducePrimitive } from "../graph/primitive.js";
import * as E from "../graph/primitives/elementwise.js";
import { buffer } from "../graph/primitives/leaf.js";
import * as M from "../graph/primitives/movement.js";
import * as R from "../graph/primitives/reduce.js";
import type { DeviceStorage } from "../runtime/backend.js";
import { checkHasValue } from "../runtime/value-checks.js";
import {
  backendOf,
  broadcastNode,
  castNode,
  derive,
  floatNode,
  makeNode,
  meet,
  reshapeNode,
  scalarNode,
  storedNode,
} from "./build.js";
import { backendFor } from "./devices.js";
import { type ReduceOptions, reduceNode } from "./reduce-node.js";
import type { Choice, FloatOf, Meeting, PowerOf, RealOf, SumOf } from "./result-dtypes.js";

/** What stands where a tensor may: a tensor, or a JavaScript value that takes the dtype of the tensor it meets. */
export type Operand = Tensor | Scalar;

/** Nested arrays of scalars. */
export type Nested<T> = T | Nested<T>[];

/** One end of a range, which may be open. */
type Bound = Operand | null | undefined;
/** The dtype of what is kept on one side of a bound. */
type Bounded<D extends DType, B> = B extends Operand ? Meeting<D, B> : D;

export class Tensor<D extends DType = DType> {
  private current: Node | null;
  /** The shape as users see it. */
  private extents: Shape | null = null;
  /** The jitted function that it was given away to. */
  private takenBy: string | null = null;

  /** @internal Use `tensor()`, `zeros()` and the other creation functions. A subclass may find its node later: null. */
  constructor(node: Node | null) {
    this.current = node;
    if (node) node.handles++;
    tracked?.push(this as unknown as Tensor);
  }

  /** @internal */
  get node(): Node {
    if (!this.current) throw new DisposedError(whyEnded(this.takenBy));
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
    const { handles, users, storage } = this.node;
    return handles === 1 && users === 0 && (storage as DeviceStorage | null)?.isUnshared !== false;
  }

  /** @internal Ends this handle because it was donated; the memory is freed unless a result has taken it over. */
  surrender(to: string, isMemoryTaken: boolean): void {
    if (isMemoryTaken) {
      this.node.handles--;
      this.current = null;
    } else this.dispose();
    this.takenBy = to;
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
  /**
   * To the power of a number or a tensor. Integers to the power of integers are integers, which wrap around, as in NumPy.
   * A negative number is no exponent for them, since the result would be a fraction; in a tensor of exponents it gives 0.
   */
  pow<O extends Operand>(other: O): Tensor<PowerOf<Meeting<D, O>>> {
    const { kind } = DTYPES[this.dtype];
    if (kind !== "float" && kind !== "complex" && isNegativeWhole(other)) {
      throw new DTypeError(`pow: ${this.dtype} to the power ${other} is a fraction; cast it to a float first.`);
    }
    const [base, exponent] = meet("pow", [this.node, other instanceof Tensor ? other.node : other]);
    if (!isInteger(base.dtype)) {
      return new Tensor(makeNode(E.pow, [floatNode(base), floatNode(exponent)], {}, base.device));
    }
    if (!(other instanceof Tensor)) return wholePower(new Tensor(base), BigInt(other as number));
    return new Tensor(makeNode(E.integerPower, [base, exponent], {}, base.device));
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
    const isSettled = this.node.isWeak && this.node.dtype === (dtype as DType);
    return new Tensor<T>(isSettled ? derive(E.cast, this.node, { dtype }) : castNode(this.node, dtype));
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

  /** Integers narrower than 32 bits are added in i32 or u32; i32 and u32 wrap around, where NumPy widens to 64 bits. */
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

  // ------------------------------------------------------------------------------------------------ movement

  reshape(...shape: number[] | [Shape]): Tensor<D> {
    const wanted = (shape.length === 1 && typeof shape[0] !== "number" ? shape[0] : shape) as Shape;
    return new Tensor<D>(reshapeNode(this.node, reshapeInfer(this.node.shape, wanted)));
  }

  flatten(): Tensor<D> {
    return this.reshape(-1);
  }

  broadcastTo(shape: Shape): Tensor<D> {
    return new Tensor<D>(broadcastNode(this.node, checkBroadcastTo("broadcastTo", this.node.shape, shape)));
  }

  /** Elements and ranges, as NumPy's x[0, 1:5, ::-1, ...]: `x.at(0, "1:5", "::-1", "...", newAxis)`. */
  at(...indices: IndexArgument[]): Tensor<D> {
    const items = parseIndexing(indices, this.node.shape, "at");
    const ranges = items.filter((item) => item.kind === "slice" || item.kind === "index");
    const start = ranges.map((item) => (item.kind === "slice" ? item.start : item.index));
    const step = ranges.map((item) => (item.kind === "slice" ? item.step : 1));
    const shape = ranges.map((item) => (item.kind === "slice" ? item.count : 1));
    const sliced = derive(M.slice, this.node, { start, step, shape });
    const kept = items.flatMap((item) => (item.kind === "slice" ? [item.count] : item.kind === "newAxis" ? [1] : []));
    return new Tensor<D>(reshapeNode(sliced, kept));
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

  private asFloat(): Tensor {
    const node = floatNode(this.node);
    return node === this.node ? this : new Tensor(node);
  }

  private reduce(primitive: ReducePrimitive, operation: string, options: ReduceOptions): Tensor {
    return new Tensor(reduceNode(this.node, primitive, operation, options));
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

/** Of a tensor that is there no more: whoever took it, or what it was used in. */
const whyEnded = (takenBy: string | null): string => {
  const operation = calledOperation() ?? "tensor";
  return takenBy === null
    ? `${operation}: this tensor was disposed.`
    : `${operation}: this tensor was donated to ${takenBy}, which may have written over it: use what that call returned, or ` +
        "leave its position out of { donate }.";
};

const isNegativeWhole = (x: Operand): boolean => isWholeNumber(x) && x < 0;

/** Integers to a power that is known, by repeated squaring. */
function wholePower<D extends DType>(x: Tensor, exponent: bigint): Tensor<D> {
  if (exponent === 0n) return new Tensor<D>(scalarNode(1, x.dtype, backendOf(x.node), x.node.shape));
  if (exponent === 1n) return x as Tensor<D>;
  const root = wholePower(x, exponent / 2n);
  const square = root.mul(root);
  return (exponent % 2n === 1n ? square.mul(x) : square) as Tensor<D>;
}

/** A bound for numbers of a dtype: a whole number outside of it says no more than the end of its range. */
function withinDType(bound: Operand, dtype: DType): Operand {
  if (!isInteger(dtype) || !isWholeNumber(bound) || fitsDType(bound, dtype)) return bound;
  const { min, max } = DTYPES[dtype];
  return bound < min ? min : max;
}

const isWholeNumber = (value: Operand): value is number | bigint =>
  typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));

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
