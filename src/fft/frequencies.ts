/** Frequencies of the numbers of a transform, and their order. */
import { checkNumber, checkOptions, checkWhole, inOperation, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { normalizeAxes } from "../core/shape.js";
import { arange, type CreationOptions, checkTensor, type Tensor, where } from "../tensor/index.js";

/** Options of `fftfreq` and `rfftfreq`. */
export interface FrequencyOptions<D extends DType = DType> extends CreationOptions<D> {
  /** The distance between samples; 1 unless told. */
  readonly d?: number;
}

const FREQUENCY: OptionKinds<FrequencyOptions> = { d: "number", dtype: "dtype", device: "text" };

function frequencies(
  operation: string,
  n: number,
  options: FrequencyOptions,
  count: (n: number) => number,
  at: (k: Tensor, n: number) => Tensor,
): Tensor {
  checkOptions(operation, options, FREQUENCY);
  checkWhole(operation, "n", n, 1);
  const { d = 1, dtype = "f32", ...rest } = options;
  if (checkNumber(operation, "the option d", d) === 0) {
    throw new ArgumentError(`${operation}: the distance d between samples is 0; give another number.`);
  }
  return inOperation(operation, () =>
    at(arange(count(n), { dtype, ...rest }), n)
      .div(n * d)
      .cast(dtype),
  );
}

/** The frequencies of `fft` of n samples: 0, 1 … -2, -1, over n·d: `fft.fftfreq(4)` is 0, 0.25, -0.5, -0.25. */
export function fftfreq<D extends DType = "f32">(n: number, options: FrequencyOptions<D> = {}): Tensor<D> {
  checkCount("fft.fftfreq", 2, arguments);
  const at = (k: Tensor, all: number) => where(k.less(Math.ceil(all / 2)), k, k.sub(all));
  return frequencies("fft.fftfreq", n, options, (all) => all, at) as Tensor<D>;
}

/** The frequencies of `rfft` of n samples: 0, 1 … n/2, over n·d. */
export function rfftfreq<D extends DType = "f32">(n: number, options: FrequencyOptions<D> = {}): Tensor<D> {
  checkCount("fft.rfftfreq", 2, arguments);
  const half = (all: number) => Math.floor(all / 2) + 1;
  return frequencies("fft.rfftfreq", n, options, half, (k) => k) as Tensor<D>;
}

/** Options of `fftshift` and `ifftshift`. */
export interface ShiftOptions {
  /** The axes; all unless told. */
  readonly axes?: number | readonly number[];
}

function shifted(operation: string, x: Tensor, options: ShiftOptions, by: (extent: number) => number): Tensor {
  checkTensor(operation, "the operand", x);
  checkOptions(operation, options, { axes: "numbers" });
  const axes = normalizeAxes(options.axes, x.rank, operation);
  if (axes.length === 0) return x.again();
  return x.roll(
    axes.map((axis) => by(x.shape[axis])),
    { axis: axes },
  );
}

/** Moves frequency 0 to the middle of each axis. */
export function fftshift<D extends DType>(x: Tensor<D>, options: ShiftOptions = {}): Tensor<D> {
  checkCount("fft.fftshift", 2, arguments);
  return shifted("fft.fftshift", x, options, (extent) => Math.floor(extent / 2)) as Tensor<D>;
}

/** The inverse of `fftshift`: frequency 0 comes first again. */
export function ifftshift<D extends DType>(x: Tensor<D>, options: ShiftOptions = {}): Tensor<D> {
  checkCount("fft.ifftshift", 2, arguments);
  return shifted("fft.ifftshift", x, options, (extent) => -Math.floor(extent / 2)) as Tensor<D>;
}
