/**
 * The tensor users hold: a handle on a node of the lazy graph. Operations add nodes and return at once; `data()`, `item()`
 * and `array()` compute. The garbage collector frees what nobody holds; `dispose()` and `using` free it earlier.
 *
 * The class itself is the handle and its lifetime. The other methods stand in methods/, a class for each kind. This file
 * assembles them, and nothing else does: every tensor has all methods, whichever file was imported first. The files of
 * methods/ cannot import this one; see tensor-checks.ts. No class is extended: that would make each new tensor slower.
 */
import { refusingSurplus } from "../core/arity.js";
import { calledOperation } from "../core/called.js";
import type { AnyDType, DType, Scalar } from "../core/dtype.js";
import { ArgumentError, DisposedError } from "../core/errors.js";
import { formatShape, type Shape, sizeOf } from "../core/shape.js";
import { KEPT_NUMBERS } from "../core/shown.js";
import { type DeviceHandle, freeDropped, Node } from "../graph/node.js";
import { buffer } from "../graph/primitives/leaf.js";
import type { DeviceStorage } from "../runtime/backend.js";
import { checkHasValue } from "../runtime/value-checks.js";
import { ArithmeticMethods } from "./methods/arithmetic.js";
import { ArrangementMethods } from "./methods/arrangement.js";
import { AverageMethods } from "./methods/averages.js";
import { AxisMethods } from "./methods/axes.js";
import { BitMethods } from "./methods/bits.js";
import { ComparisonMethods } from "./methods/comparison.js";
import { ContractionMethods } from "./methods/contraction.js";
import { ConvMethods } from "./methods/conv.js";
import { CumulativeMethods } from "./methods/cumulative.js";
import { DiagonalMethods } from "./methods/diagonals.js";
import { DivisionMethods } from "./methods/division.js";
import { DTypeMethods } from "./methods/dtypes.js";
import { FloatBitMethods } from "./methods/float-bits.js";
import { FunctionMethods } from "./methods/functions.js";
import { HistogramMethods } from "./methods/histogram.js";
import { IndexingMethods } from "./methods/indexing.js";
import { InterpolationMethods } from "./methods/interpolation.js";
import { MovementMethods } from "./methods/movement.js";
import { NanReductionMethods } from "./methods/nan-reductions.js";
import { NoValueMethods } from "./methods/no-values.js";
import { OrderingMethods } from "./methods/ordering.js";
import { PaddingMethods } from "./methods/padding.js";
import { PrintingMethods } from "./methods/printing.js";
import { QuantileMethods } from "./methods/quantiles.js";
import { QuantizationMethods } from "./methods/quantization.js";
import { ReductionMethods } from "./methods/reductions.js";
import { ScatterMethods } from "./methods/scatter.js";
import { SelectionMethods } from "./methods/selection.js";
import { SetMethods } from "./methods/sets.js";
import { StandardNameMethods } from "./methods/standard-names.js";
import { TakingMethods } from "./methods/taking.js";
import { ValueMethods } from "./methods/values.js";
import { WindowMethods } from "./methods/window.js";
import { noteMade } from "./scope.js";
import { TENSOR } from "./tensor-checks.js";

/** An operand of an operation: a tensor, or a JavaScript value that takes the dtype of the tensor it meets. */
export type Operand = Tensor | Scalar;

/** The methods that users see. */
export interface Tensor<D extends DType = AnyDType>
  extends ValueMethods<D>,
    ArithmeticMethods<D>,
    DivisionMethods<D>,
    FunctionMethods<D>,
    ComparisonMethods,
    BitMethods<D>,
    DTypeMethods<D>,
    ReductionMethods<D>,
    AverageMethods<D>,
    CumulativeMethods<D>,
    AxisMethods<D>,
    MovementMethods<D>,
    PaddingMethods<D>,
    DiagonalMethods<D>,
    IndexingMethods<D>,
    TakingMethods<D>,
    ScatterMethods<D>,
    SelectionMethods<D>,
    HistogramMethods<D>,
    OrderingMethods<D>,
    ContractionMethods<D>,
    ConvMethods<D>,
    WindowMethods<D>,
    ArrangementMethods<D>,
    FloatBitMethods<D>,
    InterpolationMethods<D>,
    NanReductionMethods<D>,
    QuantileMethods<D>,
    QuantizationMethods,
    SetMethods<D>,
    StandardNameMethods<D> {}

/** The same classes. */
const METHODS = [
  ValueMethods,
  ArithmeticMethods,
  DivisionMethods,
  FunctionMethods,
  ComparisonMethods,
  BitMethods,
  DTypeMethods,
  ReductionMethods,
  AverageMethods,
  CumulativeMethods,
  AxisMethods,
  MovementMethods,
  PaddingMethods,
  DiagonalMethods,
  IndexingMethods,
  TakingMethods,
  ScatterMethods,
  SelectionMethods,
  HistogramMethods,
  OrderingMethods,
  ContractionMethods,
  ConvMethods,
  WindowMethods,
  ArrangementMethods,
  FloatBitMethods,
  InterpolationMethods,
  NanReductionMethods,
  QuantileMethods,
  QuantizationMethods,
  SetMethods,
  StandardNameMethods,
];

/** JavaScript calls these methods by itself, with arguments of its own. */
const CALLED_BY_JAVASCRIPT = [PrintingMethods, NoValueMethods];

/**
 * Marks a tensor that was not donated. `structuredClone` and `postMessage` read every property; they fail at this one with a
 * clear message, before they reach a function deep in the graph and fail with an unclear one.
 */
const HELD = Object.defineProperty({}, "values", {
  enumerable: true,
  get(): never {
    throw new ArgumentError(
      "A tensor cannot be cloned or sent to another thread: its values are in the memory of a device. " +
        "Send await x.data() with x.shape, and make a tensor of them there.",
    );
  },
});

/**
 * An array of numbers of one dtype with any number of axes, on a device. `tensor()`, `zeros()` and the other creation
 * functions make it; operations on it are lazy, and `data()`, `item()` and `array()` compute.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods of the interface are defined by the static block
export class Tensor<D extends DType = AnyDType> {
  static {
    Object.defineProperty(Tensor.prototype, TENSOR, { value: true });
    const add = (prototype: object, wrap: typeof refusingSurplus) => {
      const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(prototype) as PropertyDescriptorMap;
      for (const [name, method] of Object.entries(methods)) if (method.value) method.value = wrap(name, method.value);
      Object.defineProperties(Tensor.prototype, methods);
    };
    for (const { prototype } of METHODS) add(prototype, refusingSurplus);
    for (const { prototype } of CALLED_BY_JAVASCRIPT) add(prototype, (_, method) => method);
  }

  /** The jitted function that it was donated to. The first property, so that copying a tensor meets HELD before the node. */
  private takenBy: string | object = HELD;
  private current: Node | null;
  /** The shape as users see it. */
  private extents: Shape | null = null;

  /** @internal Use `tensor()`, `zeros()` and the other creation functions. A subclass may find its node later: null. */
  constructor(node: Node | null) {
    this.current = node;
    if (node) node.handles++;
    noteMade(this as unknown as Tensor);
  }

  /** @internal A new tensor over a node: the way in which methods, which cannot import this class, make their results. */
  tensorOf<T extends DType>(node: Node): Tensor<T> {
    return new Tensor<T>(node);
  }

  /** @internal */
  get node(): Node {
    if (!this.current) throw new DisposedError(whyEnded(this.takenBy));
    return this.current;
  }

  /** The extents of the axes, as in [2, 3]; [] for a scalar. */
  get shape(): Shape {
    const { shape } = this.node;
    // A frozen copy, so that nobody changes the node's: frozen arrays are slower to compute with.
    this.extents ??= Object.freeze([...shape]);
    return this.extents;
  }

  /** "f32", "i32", "bool" … */
  get dtype(): D {
    return this.node.dtype as D;
  }

  /** "cpu", "vulkan:0" … */
  get device(): string {
    return this.node.device.id;
  }

  /** The number of axes. */
  get rank(): number {
    return this.node.shape.length;
  }

  /** The number of elements. */
  get size(): number {
    return sizeOf(this.node.shape);
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
    freeDropped([node]);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal Whether the handle was disposed of or given away. */
  get isDisposed(): boolean {
    return this.current === null;
  }

  /** @internal Another handle on the same values: disposing of a result must not take its source along. */
  again(): Tensor<D> {
    return new Tensor<D>(this.node);
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

  /** @internal Throws in a trace, before a promise is made: a rejected one that nobody awaits would end the process. */
  checkReadable(): void {
    if (this.current) checkHasValue(this.current);
  }

  /** The tensor's type as text, with the way to read its values. Values are not shown: reading them may wait for the device. */
  toString(): string {
    const how = this.node.isAbstract
      ? "traced"
      : this.size === 1
        ? "read its value with item()"
        : "read it with data()";
    return `Tensor(shape ${formatShape(this.node.shape)}, ${this.dtype}, ${this.device}; ${how})`;
  }

  /** Arithmetic operators do not work on tensors, and must not give NaN in silence. */
  [Symbol.toPrimitive](hint: "string" | "number" | "default"): string {
    if (hint === "string") return this.toString();
    const value = this.node.isAbstract
      ? `Its value is not known while the function is traced.${KEPT_NUMBERS}`
      : "itemSync() gives the value of a scalar.";
    throw new ArgumentError(
      "A tensor is no JavaScript number: write a.add(b) for a + b and a.greater(b) for a > b; in place of if, choose with " +
        `where(a.greater(b), x, y) between values, with cond() between computations. ${value}`,
    );
  }
}

/** @internal A tensor over memory that holds its value. */
export function adopt(storage: DeviceStorage, shape: Shape, dtype: DType, device: DeviceHandle): Tensor {
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
  node.realize(storage);
  return new Tensor(node);
}

/** The message for a tensor that is there no more; names the operation that it was used in. */
const whyEnded = (takenBy: string | object): string => {
  const operation = calledOperation() ?? "tensor";
  return takenBy === HELD
    ? `${operation}: this tensor was disposed.`
    : `${operation}: this tensor was donated to ${takenBy}, which may have written over it: use what that call returned, or ` +
        "leave its position out of { donate }.";
};
