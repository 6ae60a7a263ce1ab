/**
 * Numbers at equal ratios: `logspace` and `geomspace`. They are computed here, in f64, and then stored in their dtype: f32
 * would lose half of its digits in the exponents.
 */
import { checkNumber, checkOptions, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isInteger } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { checkShape } from "../core/shape.js";
import { type CreationOptions, tensor } from "./creation.js";
import type { Tensor } from "./tensor.js";

/** Options of `geomspace`. */
export interface GeomspaceOptions<D extends DType = DType> extends CreationOptions<D> {
  /** Whether the last number is the stop; true unless told. */
  readonly endpoint?: boolean;
}

/** Options of `logspace`. */
export interface LogspaceOptions<D extends DType = DType> extends GeomspaceOptions<D> {
  /** The base of the powers; 10 unless told. */
  readonly base?: number;
}

const KINDS = { dtype: "dtype", device: "text", endpoint: "flag" } as const;

/** `count` powers of a base, from base^start to base^stop, at equal ratios: `logspace(0, 3, 4)` is 1, 10, 100, 1000. */
export function logspace<D extends DType = "f32">(
  start: number,
  stop: number,
  count: number,
  options: LogspaceOptions<D> = {},
): Tensor<D> {
  checkCount("logspace", 4, arguments);
  checkOptions<LogspaceOptions>("logspace", options, { ...KINDS, base: "number" });
  const { base = 10, ...rest } = options;
  return spacedBy("logspace", start, stop, count, rest, (share) => base ** (start + share * (stop - start)));
}

/** `count` numbers from start to stop at equal ratios; both have one sign: `geomspace(1, 1000, 4)` is 1, 10, 100, 1000. */
export function geomspace<D extends DType = "f32">(
  start: number,
  stop: number,
  count: number,
  options: GeomspaceOptions<D> = {},
): Tensor<D> {
  checkCount("geomspace", 4, arguments);
  checkOptions<GeomspaceOptions>("geomspace", options, KINDS);
  for (const end of [start, stop]) checkNumber("geomspace", "an end", end);
  if (!(Math.sign(start) * Math.sign(stop) > 0)) {
    throw new ArgumentError(`geomspace: from ${start} to ${stop}; both are more than 0, or both less.`);
  }
  const [from, to] = [Math.log10(Math.abs(start)), Math.log10(Math.abs(stop))];
  return spacedBy("geomspace", start, stop, count, options, (share) => {
    if (share === 0 || share === 1) return share === 0 ? start : stop;
    return Math.sign(start) * 10 ** (from + share * (to - from));
  });
}

function spacedBy<D extends DType>(
  operation: string,
  start: number,
  stop: number,
  count: number,
  { endpoint = true, dtype = "f32" as D, device }: GeomspaceOptions<D>,
  valueAt: (share: number) => number,
): Tensor<D> {
  checkNumber(operation, "the start", start);
  checkNumber(operation, "the stop", stop);
  checkShape([count], operation);
  const gaps = endpoint ? count - 1 : count;
  const values = Array.from({ length: count }, (_, i) => valueAt(gaps > 0 ? i / gaps : 0));
  const stored = isInteger(dtype) ? values.map(nearlyWhole) : values;
  return inOperation(operation, () => tensor(stored, { dtype, ...(device === undefined ? {} : { device }) }));
}

/** Whole numbers that rounding has missed by a few digits; fractions are dropped when they are stored. */
function nearlyWhole(value: number): number {
  const whole = Math.round(value);
  return Math.abs(value - whole) <= 1e-12 * Math.abs(value) ? whole : value;
}
