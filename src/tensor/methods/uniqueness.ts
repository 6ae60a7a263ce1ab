/**
 * Distinct elements, and distinct slices along an axis: the method `unique` and the array API's `uniqueAll` and its kin.
 * The rows to compare are sorted by their columns, the last one first, each time stably; equal rows are then neighbours.
 * The number of distinct elements is read back from the device.
 */
import { checkOptions, inOperation, type OptionKinds } from "../../core/arguments.js";
import { type DType, isComplex, isFloat } from "../../core/dtype.js";
import { normalizeAxis, sizeOf } from "../../core/shape.js";
import { backendOf } from "../build.js";
import type { Tensor } from "../tensor.js";
import { concat } from "./joining.js";
import { countingLike, scalarLike } from "./operands.js";
import { orderKey } from "./ordering.js";
import { where } from "./where.js";

export interface UniqueOptions {
  /** Compares slices along this axis; elements when left out. */
  readonly axis?: number;
  /** In rising order unless false, which gives the order in which they first occur. */
  readonly sorted?: boolean;
  /** false leaves `counts` out of the result. */
  readonly counts?: boolean;
  /** false leaves `inverse` out of the result. */
  readonly inverse?: boolean;
  /** Whether all NaN are one element; true unless told. */
  readonly equalNaN?: boolean;
}

export interface Unique<D extends DType = DType> {
  /** The distinct elements or slices, rising; NaN, if any, is one and the last. */
  readonly values: Tensor<D>;
  /** The position of the first occurrence of each: in row-major order, or along the axis. */
  readonly indices: Tensor<"i32">;
  /** For each element of the tensor, or slice along the axis, which of the values it is. */
  readonly inverse: Tensor<"i32">;
  /** The number of occurrences of each. */
  readonly counts: Tensor<"i32">;
}

/** The result of `unique` for its options. */
export type UniqueOf<D extends DType, O> = Omit<
  Unique<D>,
  | (O extends { readonly counts: false } ? "counts" : never)
  | (O extends { readonly inverse: false } ? "inverse" : never)
>;

const UNIQUE: OptionKinds<UniqueOptions> = {
  axis: "number",
  sorted: "flag",
  counts: "flag",
  inverse: "flag",
  equalNaN: "flag",
};

export function uniqueOf<D extends DType>(
  operation: string,
  x: Tensor<D>,
  options: UniqueOptions,
): Partial<Unique<D>> & Pick<Unique<D>, "values"> {
  checkOptions(operation, options, UNIQUE);
  return inOperation(operation, () => {
    const axis = options.axis === undefined ? undefined : normalizeAxis(options.axis, x.rank, operation);
    const { values, indices, inverse, counts } = distinct(operation, x, axis, options);
    return {
      values,
      indices,
      ...(options.inverse === false ? {} : { inverse }),
      ...(options.counts === false ? {} : { counts }),
    };
  });
}

function distinct<D extends DType>(
  operation: string,
  x: Tensor<D>,
  axis: number | undefined,
  { sorted = true, equalNaN = true }: UniqueOptions,
): Unique<D> {
  const source = axis === undefined ? x.flatten() : x;
  const along = axis ?? 0;
  const count = source.shape[along];
  const inverseShape = axis === undefined ? x.shape : [count];
  if (count === 0) {
    const none = () => countingLike(x, 0);
    return { values: source.again(), indices: none(), inverse: none().reshape(inverseShape), counts: none() };
  }
  const { keys, hasNaN } = keysOf(operation, source.moveAxis(along, 0));
  const order = sortedRows(keys);
  const rows = keys.take(order, { axis: 0 });
  const differs = rows.at("1:").notEqual(rows.at("0:-1")).any({ axis: 1 });
  const isNew = equalNaN || !hasNaN ? differs : differs.logicalOr(hasNaN.take(order, { axis: 0 }).at("1:"));
  const numbers = concat([scalarLike(x, true, "bool").reshape([1]), isNew]).cumsum();
  backendOf(x.node).realize([order.node, numbers.node]);
  const found = Number(numbers.at(-1).itemSync());
  const starts = numbers.searchSorted(countingLike(x, found).add(1));
  starts.realize();
  const ends = concat([starts.at("1:"), scalarLike(starts, count).reshape([1])]);
  const inverse = numbers.scatter(order, numbers.sub(1), { axis: 0 }) as Tensor<"i32">;
  const parts = { indices: order.take(starts, { axis: 0 }), inverse, counts: ends.sub(starts) as Tensor<"i32"> };
  const { indices, ...others } = sorted ? parts : byOccurrence(parts);
  return {
    values: source.take(indices, { axis: along }),
    indices,
    inverse: others.inverse.reshape(inverseShape),
    counts: others.counts,
  };
}

/** Unsigned keys with the order of the values, a column for each element of a row; and which rows hold a NaN. */
function keysOf(operation: string, rows: Tensor): { keys: Tensor; hasNaN: Tensor | null } {
  const flat = rows.reshape([rows.shape[0], sizeOf(rows.shape.slice(1))]);
  if (isComplex(flat.dtype)) {
    // A complex number with a NaN part equals every other such number.
    const parts = [flat.real(), flat.imag()].map((part) => where(flat.isNaN(), Number.NaN, part).expandDims(-1));
    return keysOf(operation, concat(parts, { axis: -1 }));
  }
  const hasNaN = isFloat(flat.dtype) ? flat.isNaN().any({ axis: 1 }) : null;
  return { keys: orderKey(operation, flat, false), hasNaN };
}

/** Positions that bring rows of keys into rising order, by their first column, then by their second … */
function sortedRows(keys: Tensor): Tensor<"i32"> {
  const [count, columns] = keys.shape;
  let order: Tensor<"i32"> | null = null;
  for (let column = columns - 1; column >= 0; column--) {
    const own = keys.at(":", column);
    const next: Tensor<"i32"> = (order ? own.take(order, { axis: 0 }) : own).argsort();
    order = order ? order.take(next, { axis: 0 }) : next;
  }
  return order ?? countingLike(keys, count);
}

/** The same parts in the order in which the values first occur. */
function byOccurrence(parts: Omit<Unique, "values">): Omit<Unique, "values"> {
  const order = parts.indices.argsort();
  const ranks = order.argsort();
  const moved = (part: Tensor<"i32">) => part.take(order, { axis: 0 });
  return {
    indices: moved(parts.indices),
    counts: moved(parts.counts),
    inverse: ranks.take(parts.inverse, { axis: 0 }),
  };
}
