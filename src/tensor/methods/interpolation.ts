/** Methods of `Tensor` along one axis of samples: linear interpolation between points, and the convolution of two signals. */
import { checkChoice, checkOptions, inOperation, type OptionKinds, type Values } from "../../core/arguments.js";
import { DTYPES, type DType, isComplex, realDType } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { resultType } from "../../core/promotion.js";
import { formatShape } from "../../core/shape.js";
import { backendOf, checkOneDevice } from "../build.js";
import { valuesNode } from "../given-values.js";
import type { FloatOf, MeetingOf } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { checkTensor, isTensor } from "../tensor-checks.js";
import { conv } from "./conv.js";
import { concat } from "./joining.js";
import { asFloat, valuesFor } from "./operands.js";
import { where } from "./where.js";

/** Options of `interp`. */
export interface InterpOptions {
  /** For what lies before the first point; the value there unless told. */
  readonly left?: Operand;
  /** For what lies after the last point; the value there unless told. */
  readonly right?: Operand;
  /** Points repeat after this distance, without end; they need not be in order then. */
  readonly period?: number;
}

/** Points or values: a tensor, or a list. */
export type Samples = Tensor | Values<number>;
/** The dtype of interpolated values. */
export type Interpolated<S> = S extends Tensor<infer E> ? FloatOf<E> : DType;

const INTERP: OptionKinds<InterpOptions> = { left: "any", right: "any", period: "number" };

export class InterpolationMethods<D extends DType> {
  /**
   * Values between points, as NumPy's interp: `x.interp(points, values)`. The points are rising numbers of one axis, with a
   * value for each; between two points the values change along a straight line. NaN gives NaN.
   */
  interp<S extends Samples>(
    this: Tensor,
    points: Samples,
    values: S,
    options: InterpOptions = {},
  ): Tensor<Interpolated<S>> {
    checkOptions("interp", options, INTERP);
    const [at, known] = [pointTensor(this, "the points", points), pointTensor(this, "the values", values)];
    if (at.rank !== 1 || known.rank !== 1 || at.size !== known.size || at.size === 0) {
      throw new ShapeError(
        `interp: points of ${formatShape(at.shape)} and values of ${formatShape(known.shape)}; both have one axis, of one length.`,
      );
    }
    return inOperation("interp", () => interpolated(this, at, known, options)) as Tensor<Interpolated<S>>;
  }

  /**
   * The convolution of two signals of one axis, with the other reversed, as in NumPy: `x.convolve(kernel, { mode: "same" })`.
   * "full" (unless told) has every overlap, "same" as many elements as the longer, "valid" whole overlaps only. `conv` is
   * the operation of networks.
   */
  convolve<E extends DType>(
    this: Tensor,
    other: Tensor<E>,
    options: { readonly mode?: ConvolveMode } = {},
  ): Tensor<MeetingOf<D, E>> {
    checkOptions("convolve", options, { mode: "text" });
    checkTensor("convolve", "the other signal", other);
    checkChoice("convolve", "the option mode", options.mode, ["full", "same", "valid"]);
    return convolved(this, other, options.mode ?? "full") as Tensor<MeetingOf<D, E>>;
  }
}

/** The part of a convolution that `convolve` returns. */
export type ConvolveMode = "full" | "same" | "valid";

/** A tensor beside x. */
function pointTensor(x: Tensor, what: string, given: Samples): Tensor {
  if (isTensor(given)) {
    checkOneDevice("interp", [x.node, given.node]);
    return given;
  }
  if (!Array.isArray(given) && !ArrayBuffer.isView(given)) {
    throw new ArgumentError(`interp: ${what} are a tensor or a list of numbers, not ${String(given)}.`);
  }
  const dtype = ArrayBuffer.isView(given) ? undefined : DTYPES[x.dtype as DType].kind === "float" ? x.dtype : "f32";
  return inOperation("interp", () => x.tensorOf(valuesNode(backendOf(x.node), given, dtype ? { dtype } : {})));
}

function interpolated(given: Tensor, at: Tensor, known: Tensor, options: InterpOptions): Tensor {
  const fine = asPart(resultType([given.dtype, at.dtype, known.dtype], "interp"));
  const real = [given, at].map((x) => asFloat("interp", x).cast(fine));
  const values = known.cast(isComplex(known.dtype) ? (fine === "f64" ? "c128" : "c64") : fine);
  const result = (x: Tensor) => x.cast(isComplex(known.dtype) ? x.dtype : asFloat("interp", known).dtype);
  if (options.period !== undefined) return result(periodic(real[0], real[1], values, options));
  const [x, points] = real;
  const edge = (side: Operand | undefined, place: number) =>
    side === undefined ? values.at(place) : valuesFor(values, side, "interp");
  const inner = points.size === 1 ? values.at(0) : onLines(x, points, values);
  const before = where(x.less(points.at(0)), edge(options.left, 0), inner);
  const after = where(x.greater(points.at(-1)), edge(options.right, -1), before);
  return result(where(x.isNaN(), Number.NaN, after));
}

/** f32 for narrow floats: their distances need more digits. */
const asPart = (dtype: DType): "f32" | "f64" => (realDType(dtype) === "f64" ? "f64" : "f32");

/** On the line between the neighbours of x. At a point it is the value there, also beside an infinite one. */
function onLines(x: Tensor, points: Tensor, values: Tensor): Tensor {
  const last = points.size - 1;
  const before = points
    .searchSorted(x, { side: "right" })
    .sub(1)
    .maximum(0)
    .minimum(last - 1);
  const [x0, x1] = [points.take(before), points.take(before.add(1))];
  const [y0, y1] = [values.take(before), values.take(before.add(1))];
  const way = x1.sub(x0);
  const share = x
    .sub(x0)
    .div(where(way.equal(0), 1, way))
    .cast(values.dtype);
  const onLine = y0.add(y1.sub(y0).mul(share));
  // Between equal values nothing changes, also where both are infinite.
  return where(x.equal(x1), y1, where(x.equal(x0).logicalOr(y0.equal(y1)), y0, onLine));
}

/** Points within one period, in order, and one more at either end. */
function periodic(given: Tensor, at: Tensor, known: Tensor, { period = 1, left, right }: InterpOptions): Tensor {
  if (!(Math.abs(period) > 0) || !Number.isFinite(period)) {
    throw new ArgumentError(`interp: the period is a number other than 0, not ${period}.`);
  }
  if (left !== undefined || right !== undefined) {
    throw new ArgumentError("interp: with a period nothing lies outside, so that left and right have no meaning.");
  }
  const length = Math.abs(period);
  const x = given.remainder(length);
  const points = at.remainder(length);
  const order = points.argsort();
  const [p, v] = [points.take(order), known.take(order)];
  const longer = concat([p.at("-1:").sub(length), p, p.at(":1").add(length)]);
  return where(x.isNaN(), Number.NaN, onLines(x, longer, concat([v.at("-1:"), v, v.at(":1")])));
}

function convolved(x: Tensor, y: Tensor, mode: ConvolveMode): Tensor {
  if (x.rank !== 1 || y.rank !== 1 || x.size === 0 || y.size === 0) {
    throw new ShapeError(
      `convolve: ${formatShape(x.shape)} and ${formatShape(y.shape)}; both have one axis, and at least one element. ` +
        "vmap maps it over more axes, and conv has channels.",
    );
  }
  if (x.dtype === "bool" && y.dtype === "bool")
    throw new DTypeError("convolve: takes numbers, not bool; cast one first.");
  const [long, short] = x.size >= y.size ? [x, y] : [y, x];
  const most = short.size - 1;
  const [before, after] = mode === "full" ? [most, most] : mode === "valid" ? [0, 0] : [most - (most >> 1), most >> 1];
  return inOperation("convolve", () => {
    const found = conv(long.reshape([1, 1, -1]), short.flip().reshape([1, 1, -1]), { padding: [[before, after]] });
    return found.reshape([-1]);
  });
}
