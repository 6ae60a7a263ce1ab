/**
 * The tensor users hold: a handle on a node of the lazy graph. Operations add nodes and return at once; `data()`, `item()`
 * and `array()` compute. The garbage collector frees what nobody holds; `dispose()` and `using` free it earlier.
 */
import { inOperation } from "../core/arguments.js";
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
import { checkScalar } from "../core/promotion.js";
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
import { checkHasValue, type DeviceStorage } from "./backend.js";
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
import type { Choice, FloatOf, Meeting, RealOf, SumOf } from "./result-dtypes.js";

/** What stands where a tensor may: a tensor, or a JavaScript value that takes the dtype of the tensor it meets. */
export type Operand = Tensor | Scalar;

/** Nested arrays of scalars. */
export type Nested<T> = T | Nested<T>[];

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
      return nest(await this.data(), dtype, shape) as Nested<ScalarOf<D>>;
    });
  }

  /** In a trace this throws at once: a promise that nobody awaits would end the process. */
  private reading<T>(read: () => Promise<T>): Promise<T> {
    if (this.current) checkHasValue(this.current);
    return read();
  }

  arraySync(): Nested<ScalarOf<D>> {
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
  clip<L extends Operand, H extends Operand>(low: L, high: H): Tensor<Meeting<Meeting<D, L>, H>> {
    const bounded = inOperation("clip", () => this.maximum<Operand>(low).minimum<Operand>(high));
    return bounded as Tensor<Meeting<Meeting<D, L>, H>>;
  }

  // ------------------------------------------------------------------------------------------------ comparison, bits

  equal(other: Operand): Tensor<"bool"> {
    return this.binary(E.equal, other) as Tensor<"bool">;
  }
  notEqual(other: Operand): Tensor<"bool"> {
    return this.binary(E.notEqual, other) as Tensor<"bool">;
  }
  less(other: Operand): Tensor<"bool"> {
    return this.binary(E.less, other) as Tensor<"bool">;
  }
  lessEqual(other: Operand): Tensor<"bool"> {
    return this.binary(E.lessEqual, other) as Tensor<"bool">;
  }
  greater(other: Operand): Tensor<"bool"> {
    return this.binary(E.greater, other) as Tensor<"bool">;
  }
  greaterEqual(other: Operand): Tensor<"bool"> {
    return this.binary(E.greaterEqual, other) as Tensor<"bool">;
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

  /** The same bits as another dtype of the same width. */
  bitcast<T extends DType>(dtype: T): Tensor<T> {
    checkDType(dtype, "bitcast");
    const [from, to] = [DTYPES[this.dtype], DTYPES[dtype]];
    if (from.bits !== to.bits || [from, to].some(({ kind }) => kind === "bool" || kind === "complex")) {
      throw new DTypeError(`bitcast: ${this.dtype} as ${dtype}; both are numbers of one width, and not complex.`);
    }
    // Between whole numbers of one width a cast keeps the bits.
    if (this.dtype === (dtype as DType) || (isInteger(this.dtype) && isInteger(dtype))) return this.cast(dtype);
    if (to.bits === 16)
      throw new DTypeError(`bitcast: ${this.dtype} as ${dtype}; floats of 16 bits cannot be taken apart.`);
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

  /** Another handle on the same values: disposing of a result must not take its source along. */
  private again(): Tensor<D> {
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

const whyEnded = (takenBy: string | null): string =>
  takenBy === null
    ? "This tensor was disposed."
    : `This tensor was donated to ${takenBy}, which may have written over it: use what that call returned, or leave its ` +
      "position out of { donate }.";

function nest(data: TypedArrayOf, dtype: DType, shape: Shape): Nested<Scalar> {
  let position = 0;
  const level = (axis: number): Nested<Scalar> =>
    axis === shape.length
      ? elementAt(data, dtype, position++)
      : Array.from({ length: shape[axis] }, () => level(axis + 1));
  return level(0);
}
