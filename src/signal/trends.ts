/** Trends of signals: `detrend` removes them. */
import { checkChoice, checkOptions, checkWhole } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { normalizeAxis } from "../core/shape.js";
import { checkTensor, concat, constantsBeside, type FloatOf, range, type Tensor } from "../tensor/index.js";

/** The trends that `detrend` removes. */
export type Trend = "constant" | "linear";

/** Options of `detrend`. */
export interface DetrendOptions {
  /** The axis of time; the last unless told. */
  readonly axis?: number;
  /** The removed trend: a straight line ("linear", unless told) or the mean ("constant"). */
  readonly type?: Trend;
  /** Places where a new line begins: each piece between them loses a line of its own. Means are those of the whole. */
  readonly bp?: number | readonly number[];
}

/** The signal less its mean, or less the line that is nearest to it. */
export function detrend<D extends DType>(x: Tensor<D>, options: DetrendOptions = {}): Tensor<FloatOf<D>> {
  const operation = "signal.detrend";
  checkCount(operation, 2, arguments);
  checkTensor(operation, "the signal", x);
  checkOptions(operation, options, { axis: "number", type: "text", bp: "numbers" });
  checkChoice(operation, "the option type", options.type, ["constant", "linear"]);
  const axis = normalizeAxis(options.axis ?? -1, x.rank, operation);
  const { type = "linear", bp = [] } = options;
  const signal = x.div(1).moveAxis(axis, -1);
  const places = piecesOf(operation, typeof bp === "number" ? [bp] : bp, x.shape[axis]);
  const level = type === "constant" ? detrended(signal, type) : inPieces(signal, places);
  return level.moveAxis(-1, axis) as Tensor<FloatOf<D>>;
}

/** The places where pieces begin, and the end. */
function piecesOf(operation: string, breaks: readonly number[], extent: number): number[] {
  for (const place of breaks) {
    checkWhole(operation, "a break in bp", place, 0);
    if (place <= extent) continue;
    throw new ArgumentError(
      `${operation}: a break at ${place} in a signal of ${extent}; breaks are places of the signal.`,
    );
  }
  return [...new Set([0, ...breaks, extent])].sort((a, b) => a - b);
}

function inPieces(x: Tensor, places: readonly number[]): Tensor {
  if (places.length <= 2) return detrended(x, "linear");
  const pieces = places.slice(1).map((end, i) => detrended(range(x, x.rank - 1, places[i], end), "linear"));
  return concat(pieces, { axis: -1 });
}

/** Along the last axis. */
export function detrended(x: Tensor, trend: Trend): Tensor {
  const level = x.sub(x.mean({ axis: -1, keepDims: true }));
  const n = x.shape.at(-1) as number;
  if (trend === "constant" || n < 2) return level;
  // Places counted from the middle are orthogonal to constants. Their squares add up to n (n² - 1) / 12.
  const dtype = x.dtype === "f64" || x.dtype === "c128" ? "f64" : "f32";
  const places = constantsBeside(x, "places", n, dtype, (i) => i - (n - 1) / 2);
  const slope = level
    .mul(places)
    .sum({ axis: -1, keepDims: true })
    .mul(12 / (n * (n * n - 1)));
  return level.sub(slope.mul(places));
}
