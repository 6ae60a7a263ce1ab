/**
 * The tensor users hold: a handle on a node of the lazy graph. Operations add nodes and return at once; `data()`, `item()`
 * and `array()` compute.
 *
 * The methods stand in methods/, a class for each kind. This file assembles them, and nothing else does: every tensor has
 * all methods, whichever file was imported first. The files of methods/ cannot import this one; see handle.ts.
 */
import type { DType, Scalar } from "../core/dtype.js";
import type { Shape } from "../core/shape.js";
import { type DeviceHandle, Node } from "../graph/node.js";
import { buffer } from "../graph/primitives/leaf.js";
import type { DeviceStorage } from "../runtime/backend.js";
import { TensorHandle } from "./handle.js";
import { ArithmeticMethods } from "./methods/arithmetic.js";
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
import { FunctionMethods } from "./methods/functions.js";
import { HistogramMethods } from "./methods/histogram.js";
import { IndexingMethods } from "./methods/indexing.js";
import { MovementMethods } from "./methods/movement.js";
import { NoValueMethods } from "./methods/no-values.js";
import { OrderingMethods } from "./methods/ordering.js";
import { PaddingMethods } from "./methods/padding.js";
import { PrintingMethods } from "./methods/printing.js";
import { ReductionMethods } from "./methods/reductions.js";
import { ScatterMethods } from "./methods/scatter.js";
import { SelectionMethods } from "./methods/selection.js";
import { TakingMethods } from "./methods/taking.js";
import { ValueMethods } from "./methods/values.js";
import { WindowMethods } from "./methods/window.js";

/** An operand of an operation: a tensor, or a JavaScript value that takes the dtype of the tensor it meets. */
export type Operand = Tensor | Scalar;

/** The methods that users see. */
export interface Tensor<D extends DType = DType>
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
    WindowMethods<D> {}

/** The same classes, and two whose methods JavaScript calls by itself. */
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
  PrintingMethods,
  NoValueMethods,
];

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods of the interface are defined by the static block
export class Tensor<D extends DType = DType> extends TensorHandle<D> {
  static {
    for (const { prototype } of METHODS) {
      const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(prototype);
      Object.defineProperties(Tensor.prototype, methods);
    }
  }

  /** @internal */
  tensorOf<T extends DType>(node: Node): Tensor<T> {
    return new Tensor<T>(node);
  }
}

/** @internal A tensor over memory that holds its value. */
export function adopt(storage: DeviceStorage, shape: Shape, dtype: DType, device: DeviceHandle): Tensor {
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
  node.realize(storage);
  return new Tensor(node);
}
