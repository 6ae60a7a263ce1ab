/** Methods of `Tensor` that compute and give values to JavaScript, and those that move or start the work. */

import { checkOptions } from "../../core/arguments.js";
import { DTYPES, type DType, isPacked, type Scalar, type ScalarOf, type TypedArrayOf } from "../../core/dtype.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape, type Shape, sizeOf } from "../../core/shape.js";
import { dataOf, elementAt } from "../../core/storage.js";
import type { DeviceStorage } from "../../runtime/backend.js";
import { backendOf, storedNode } from "../build.js";
import { backendFor } from "../devices.js";
import type { Tensor } from "../tensor.js";

/** Nested arrays of scalars. */
export type Nested<T> = T | Nested<T>[];

/** Arrays as deep as a rank, where types know it. */
type NestedOf<T, R extends number> = R extends 0
  ? T
  : R extends 1
    ? T[]
    : R extends 2
      ? T[][]
      : R extends 3
        ? T[][][]
        : R extends 4
          ? T[][][][]
          : Nested<T>;

/** Options of `array`: with a rank, which is checked, the result can be indexed as deep as that. */
export interface ArrayOptions<R extends number = number> {
  readonly rank?: R;
}

export class ValueMethods<D extends DType> {
  /** The elements in row-major order, as the typed array of the dtype. */
  data(this: Tensor): Promise<TypedArrayOf<D>> {
    return reading(this, async () => {
      // The tensor may be disposed while it is being read.
      const { dtype, size } = this;
      return dataOf(await bytesOf(this), dtype, size) as TypedArrayOf<D>;
    });
  }

  /** The same, blocking. */
  dataSync(this: Tensor): TypedArrayOf<D> {
    const backend = backendOf(this.node);
    backend.realize([this.node], true);
    return dataOf(backend.readComputedSync(this.node), this.dtype, this.size) as TypedArrayOf<D>;
  }

  /** The bytes of the elements as they lie on the device: little-endian, row-major. */
  bytes(this: Tensor): Promise<Uint8Array> {
    return reading(this, async () => bytesOf(this));
  }

  /** The only element. */
  item(this: Tensor): Promise<ScalarOf<D>> {
    return reading(this, async () => {
      checkSingle(this, "item");
      const { node, dtype } = this;
      const computing = backendOf(node).realizeGivingWay(node);
      const scratch = computing ? undefined : scratchOf(dtype);
      if (scratch && backendOf(node).readNow(node, scratch.bytes))
        return elementAt(scratch.data, dtype, 0) as ScalarOf<D>;
      return elementAt(dataOf(await bytesOnce(computing, node), dtype), dtype, 0) as ScalarOf<D>;
    });
  }

  /** The same, blocking. */
  itemSync(this: Tensor): ScalarOf<D> {
    checkSingle(this, "itemSync");
    return elementAt(this.dataSync(), this.dtype, 0) as ScalarOf<D>;
  }

  /** Nested arrays. With `rank`, which is checked, their type is that deep: `(await x.array({ rank: 2 }))[0][1]`. */
  array<R extends number = number>(
    this: Tensor,
    options: ArrayOptions<R> = {},
  ): Promise<number extends R ? Nested<ScalarOf<D>> : NestedOf<ScalarOf<D>, R>> {
    checkOptions<ArrayOptions>("array", options, { rank: "number" });
    return reading(this, async () => {
      const { dtype, shape } = this;
      checkRank(shape, "array", options);
      checkNestable(shape, "array");
      return nest(await this.data(), dtype, shape) as never;
    });
  }

  /** The same, blocking. */
  arraySync<R extends number = number>(
    this: Tensor,
    options: ArrayOptions<R> = {},
  ): number extends R ? Nested<ScalarOf<D>> : NestedOf<ScalarOf<D>, R> {
    checkOptions<ArrayOptions>("arraySync", options, { rank: "number" });
    checkRank(this.node.shape, "arraySync", options);
    checkNestable(this.node.shape, "arraySync");
    return nest(this.dataSync(), this.dtype, this.node.shape) as never;
  }

  /** The same values on another device; another handle on the same memory when they are there already. */
  to(this: Tensor, device: string): Tensor<D> {
    const target = backendFor(device, "to");
    const from = backendOf(this.node);
    if (target === from) return this.tensorOf(this.node);
    from.realize([this.node]);
    const bytes = from.readSync(this.node.storage as DeviceStorage);
    return this.tensorOf(storedNode(target, bytes, this.node.shape, this.dtype));
  }

  /** Starts computing this tensor without waiting for it. */
  realize(this: Tensor): this {
    backendOf(this.node).realize([this.node]);
    return this as unknown as this;
  }
}

/** In a trace this throws at once: a promise that nobody awaits would end the process. */
function reading<T>(x: Tensor, read: () => Promise<T>): Promise<T> {
  x.checkReadable();
  return read();
}

/** Computes a tensor and reads its bytes. The promise is the engine's own where there is nothing else to wait for. */
const bytesOf = ({ node }: Tensor): Promise<Uint8Array> => bytesOnce(backendOf(node).realizeGivingWay(node), node);

const bytesOnce = (computing: Promise<void> | null, node: Tensor["node"]): Promise<Uint8Array> =>
  computing ? bytesAfter(computing, node) : backendOf(node).readComputed(node);

/** Others run meanwhile; disposing of the tensor must leave its memory until it has been read. */
async function bytesAfter(computing: Promise<void>, node: Tensor["node"]): Promise<Uint8Array> {
  node.users++;
  try {
    await computing;
    return await backendOf(node).readComputed(node);
  } finally {
    node.users--;
    if (node.handles === 0 && node.users === 0) (node.storage as DeviceStorage | null)?.dispose();
  }
}

/** Memory for one element that is read at once, as bytes and as data. */
interface ElementScratch {
  readonly bytes: Uint8Array;
  readonly data: TypedArrayOf;
}

const scratches = new Map<DType, ElementScratch>();

/** The same memory every time; undefined for dtypes whose data are not their bytes. */
function scratchOf(dtype: DType): ElementScratch | undefined {
  const known = scratches.get(dtype);
  if (known) return known;
  const { storageArray, dataArray, bytes: size } = DTYPES[dtype];
  if (storageArray !== dataArray || isPacked(dtype)) return undefined;
  const bytes = new Uint8Array(new ArrayBuffer(size));
  const scratch = { bytes, data: dataOf(bytes, dtype) };
  scratches.set(dtype, scratch);
  return scratch;
}

function checkSingle(x: Tensor, operation: string): void {
  if (x.size === 1) return;
  throw new ShapeError(
    `${operation}: a tensor of shape ${formatShape(x.node.shape)} has ${x.size} elements; use data() or at().`,
  );
}

/** Longer lists, or more of them, end the process: V8 has no room for them, and does not throw. */
const MAX_LISTED = 2 ** 26;

/** Throws where a rank was asked for that the shape does not have. */
function checkRank(shape: Shape, operation: string, { rank }: ArrayOptions): void {
  if (rank !== undefined && rank !== shape.length) {
    throw new ShapeError(
      `${operation}: ${formatShape(shape)} has rank ${shape.length}, and { rank: ${rank} } was asked for.`,
    );
  }
}

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
