/** Integrals of samples along an axis, as SciPy's: by lines and by parabolas through the samples. Sums with weights, of any tensors. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, normalizeAxis } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { arange, checkOneDevice, concat, isTensor, type Tensor, tensor, where, zerosLike } from "../../tensor/index.js";

/** Options of integrals of samples. */
export interface SampleOptions {
  /** The places of the samples, rising or falling: a tensor [n], or a list. */
  readonly x?: Tensor | readonly number[];
  /** The distance of neighbours, where there is no `x`: 1 unless told. */
  readonly dx?: number;
  /** The last unless told. */
  readonly axis?: number;
}

const OPTIONS: OptionKinds<SampleOptions> = { x: "any", dx: "number", axis: "number" };

/** The integral along lines between samples: `trapezoid(y, { dx: 0.1 })`. */
export function trapezoid(y: Tensor, options: SampleOptions = {}): Tensor {
  const { samples, widths } = given("integrate.trapezoid", y, options);
  return lineAreas(samples, widths).sum({ axis: -1 }) as Tensor;
}

/** The integrals up to each sample along lines; the first is 0. */
export function cumulativeTrapezoid(y: Tensor, options: SampleOptions = {}): Tensor {
  const { samples, widths, axis } = given("integrate.cumulativeTrapezoid", y, options);
  return running(lineAreas(samples, widths), samples, axis);
}

/** The integral along parabolas, each through three samples (Simpson's rule); a last odd one uses the parabola before it. */
export function simpson(y: Tensor, options: SampleOptions = {}): Tensor {
  const { samples, widths } = given("integrate.simpson", y, options);
  return parabolaAreas(samples, widths).sum({ axis: -1 }) as Tensor;
}

/** The integrals up to each sample along the parabolas of `simpson`; the first is 0. */
export function cumulativeSimpson(y: Tensor, options: SampleOptions = {}): Tensor {
  const { samples, widths, axis } = given("integrate.cumulativeSimpson", y, options);
  return running(parabolaAreas(samples, widths), samples, axis);
}

/** Samples along the last axis, with the distances of neighbours, [n - 1]. */
function given(operation: string, y: Tensor, options: SampleOptions) {
  checkOptions(operation, options, OPTIONS);
  if (!isTensor(y) || y.rank === 0) {
    throw new ArgumentError(`${operation}: the samples are a tensor with an axis, not ${shown(y)}.`);
  }
  const axis = normalizeAxis(options.axis ?? -1, y.rank, operation);
  const samples = y.moveAxis(axis, -1) as Tensor;
  const count = samples.shape.at(-1) as number;
  const { x, dx = 1 } = options;
  if (count === 0) throw new ShapeError(`${operation}: there are no samples along axis ${axis}.`);
  if (x === undefined) {
    const widths = arange(0, count - 1, 1, { device: y.device, dtype: "f32" })
      .mul(0)
      .add(1)
      .cast(samples.mul(1.5).dtype);
    return { samples, widths: widths.mul(dx) as Tensor, axis };
  }
  if (isTensor(x)) checkOneDevice(operation, [y.node, x.node]);
  const at = isTensor(x) ? x : (tensor(x as number[], { device: y.device, dtype: samples.mul(1.5).dtype }) as Tensor);
  if (at.rank !== 1 || at.size !== count) {
    throw new ShapeError(
      `${operation}: ${count} samples and places of shape ${formatShape(at.shape)}; each sample has one.`,
    );
  }
  return { samples, widths: at.at("1:").sub(at.at(":-1")) as Tensor, axis };
}

const lineAreas = (y: Tensor, widths: Tensor): Tensor =>
  y.at("...", "1:").add(y.at("...", ":-1")).mul(widths).mul(0.5) as Tensor;

/** The area between a sample and the next under the parabola through both and a third, which lies `other` beyond the next. */
function firstArea(width: Tensor, other: Tensor, near: Tensor, next: Tensor, third: Tensor): Tensor {
  const share = width.div(width.add(other));
  const bend = share.mul(width).div(other);
  return near
    .mul(share.neg().add(3))
    .add(next.mul(share.add(bend).add(3)))
    .sub(third.mul(bend))
    .mul(width)
    .div(6) as Tensor;
}

function parabolaAreas(y: Tensor, widths: Tensor): Tensor {
  const count = y.shape.at(-1) as number;
  if (count < 3) return lineAreas(y, widths);
  const [a, b, c] = [y.at("...", ":-2"), y.at("...", "1:-1"), y.at("...", "2:")] as [Tensor, Tensor, Tensor];
  const [before, after] = [widths.at(":-1"), widths.at("1:")] as [Tensor, Tensor];
  const left = firstArea(before, after, a, b, c);
  const right = firstArea(after, before, c, b, a);
  // Even intervals begin a parabola, odd ones end it, and so does a last one that is left over.
  const begins = concat([left, right.at("...", "-1:")], { axis: -1 });
  const ends = concat([left.at("...", ":1"), right], { axis: -1 });
  const place = arange(0, count - 1, 1, { dtype: "i32", device: y.device });
  return where(place.remainder(2).equal(0), begins, ends) as Tensor;
}

const running = (areas: Tensor, y: Tensor, axis: number): Tensor =>
  concat([zerosLike(y.at("...", ":1")).cast(areas.dtype), areas.cumsum({ axis: -1 })], { axis: -1 }).moveAxis(
    -1,
    axis,
  ) as Tensor;
