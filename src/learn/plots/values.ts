/** Values of pictures, on the host: pictures are made there, so their functions wait for tensors. */
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { type Numbers, numbersLike } from "../core/targets.js";

const HOST = { dtype: "f64", device: "cpu" } as const;

/** Numbers as a tensor of rank 1 or 2, read. */
function readNow(operation: string, given: Numbers, what: string) {
  const read = numbersLike(operation, given, "dtype" in Object(given) ? { dtype: "f64" } : HOST, what);
  return { shape: read.shape, values: Float64Array.from(read.dataSync() as ArrayLike<number>) };
}

/** A vector. `length` is how long it must be, where it stands beside others. */
export function vectorNow(operation: string, given: Numbers, what: string, length?: number): Float64Array {
  const { shape, values } = readNow(operation, given, what);
  if (shape.length === 1 && (length === undefined || values.length === length)) return values;
  const wanted = length === undefined ? "a vector" : `a vector of ${length}`;
  throw new ShapeError(`${operation}: ${what} are ${wanted}, not of shape ${formatShape(shape)}.`);
}

/** The rows of a matrix; a vector is one column. */
export function rowsNow(operation: string, given: Numbers, what: string): Float64Array[] {
  const { shape, values } = readNow(operation, given, what);
  const width = shape[1] ?? 1;
  return Array.from({ length: shape[0] }, (_, i) => values.subarray(i * width, (i + 1) * width));
}

/** The smallest and the largest of the finite values. */
export function rangeOf(values: Iterable<number>): readonly [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}
