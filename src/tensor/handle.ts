/**
 * The part of a tensor that is not an operation: a handle on a node of the lazy graph, and its lifetime. The garbage
 * collector frees what nobody holds; `dispose()` and `using` free it earlier.
 *
 * `Tensor` is assembled from this class and the classes of methods/, which therefore cannot import it. They make their
 * results with `x.tensorOf(node)` and recognise tensors with `isTensor`.
 */
import { calledOperation } from "../core/called.js";
import type { DType, Scalar } from "../core/dtype.js";
import { ArgumentError, DisposedError } from "../core/errors.js";
import { formatShape, type Shape, sizeOf } from "../core/shape.js";
import { shown } from "../core/shown.js";
import type { Node } from "../graph/node.js";
import type { DeviceStorage } from "../runtime/backend.js";
import { checkHasValue } from "../runtime/value-checks.js";
import type { Operand, Tensor } from "./tensor.js";

export abstract class TensorHandle<D extends DType = DType> {
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

  /** @internal A new tensor over a node. */
  abstract tensorOf<T extends DType>(node: Node): Tensor<T>;

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
    if (node.handles === 0 && node.users === 0) (node.storage as DeviceStorage | null)?.dispose();
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
    return this.tensorOf(this.node);
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

  /** The shape, the dtype and the device, as in "Tensor([2, 3], f32, cpu)". */
  toString(): string {
    return `Tensor(${formatShape(this.node.shape)}, ${this.dtype}, ${this.device})`;
  }

  /** Arithmetic operators do not work on tensors, and must not give NaN in silence. */
  [Symbol.toPrimitive](hint: "string" | "number" | "default"): string {
    if (hint === "string") return this.toString();
    throw new ArgumentError(
      "A tensor is no JavaScript number: write a.add(b) for a + b, and itemSync() for the value of a scalar. " +
        "Numbers passed to a jitted function are tensors inside it; list their positions in { static } to keep them numbers.",
    );
  }
}

/** The message for a tensor that is there no more; names the operation that it was used in. */
const whyEnded = (takenBy: string | null): string => {
  const operation = calledOperation() ?? "tensor";
  return takenBy === null
    ? `${operation}: this tensor was disposed.`
    : `${operation}: this tensor was donated to ${takenBy}, which may have written over it: use what that call returned, or ` +
        "leave its position out of { donate }.";
};

export const isTensor = (value: unknown): value is Tensor => value instanceof TensorHandle;

/** The node of a tensor; a JavaScript value as it is. */
export const nodeOrScalar = (operand: Operand): Node | Scalar => (isTensor(operand) ? operand.node : operand);

/** Throws on what is no tensor: a number or a list stands where only a tensor can. */
export function checkTensor(operation: string, what: string, value: unknown): asserts value is Tensor {
  if (isTensor(value)) return;
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

/** Tensors made since a scope was entered; null outside scopes. */
let tracked: Tensor[] | null = null;

/** @internal Runs `work` and returns which tensors it made. */
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
