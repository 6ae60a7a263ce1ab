/** Window functions, under SciPy's names: `signal.hann(512, { sym: false })`; and windows as options of other functions. */
import { checkNumber, checkOptions, checkWhole, inOperation, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { checkShape, formatShape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { type CreationOptions, constantsBeside, isTensor, type Tensor, tensor } from "../tensor/index.js";
import { WINDOWS, type WindowName, windowEntry, windowValue } from "./window-values.js";

export type { WindowName } from "./window-values.js";

/** Options of window functions. */
export interface SignalWindowOptions<D extends DType = DType> extends CreationOptions<D> {
  /** Symmetric, for filters (true unless told), or periodic, for spectra: as if the next period followed. */
  readonly sym?: boolean;
}

const OPTIONS: OptionKinds<SignalWindowOptions> = { sym: "flag", dtype: "dtype", device: "text" };

function windowOf<D extends DType>(
  name: WindowName,
  n: number,
  given: number,
  options: SignalWindowOptions<D>,
  operation = `signal.${name}`,
): Tensor<D> {
  checkOptions<SignalWindowOptions>(operation, options, OPTIONS);
  checkWhole(operation, "the number of points", n, 0);
  const { sym = true, dtype = "f32", ...rest } = options;
  return inOperation(operation, () => {
    checkShape([n], operation);
    const values = Float64Array.from({ length: n }, (_, i) => windowValue(name, i, n, sym, given));
    return tensor(values, { dtype, ...rest }) as Tensor<D>;
  });
}

/** A window without a parameter, of n points. */
type PlainWindow = <D extends DType = "f32">(n: number, options?: SignalWindowOptions<D>) => Tensor<D>;

function plainWindow(name: WindowName): PlainWindow {
  const window = <D extends DType>(...given: [n: number, options?: SignalWindowOptions<D>]): Tensor<D> => {
    checkCount(`signal.${name}`, 2, given);
    const [n, options = {}] = given;
    return windowOf(name, n, 0, options);
  };
  // Errors look for the name of the operation on the stack.
  return Object.defineProperty(window, "name", { value: name }) as PlainWindow;
}

/** n ones: no window at all. */
export const boxcar: PlainWindow = plainWindow("boxcar");

/** A triangle that is 0 at both ends. */
export const bartlett: PlainWindow = plainWindow("bartlett");

/** A triangle that is not 0 at its ends. */
export const triang: PlainWindow = plainWindow("triang");

/** Half a period of a sine. */
export const cosine: PlainWindow = plainWindow("cosine");

/** The Hann window, ½ - ½ cos. */
export const hann: PlainWindow = plainWindow("hann");

/** The Hamming window, 0.54 - 0.46 cos. */
export const hamming: PlainWindow = plainWindow("hamming");

/** Blackman's window: three cosines, side lobes of -58 dB. */
export const blackman: PlainWindow = plainWindow("blackman");

/** The window of Blackman and Harris: four cosines, side lobes of -92 dB. */
export const blackmanharris: PlainWindow = plainWindow("blackmanharris");

/** Nuttall's window: four cosines, side lobes of -98 dB. */
export const nuttall: PlainWindow = plainWindow("nuttall");

/** A window with a flat top, for the heights of peaks. */
export const flattop: PlainWindow = plainWindow("flattop");

/** Kaiser's window: beta trades the width of the main lobe for the height of the others. */
export function kaiser<D extends DType = "f32">(
  n: number,
  beta: number,
  options: SignalWindowOptions<D> = {},
): Tensor<D> {
  checkCount("signal.kaiser", 3, arguments);
  return windowOf("kaiser", n, checkNumber("signal.kaiser", "beta", beta), options);
}

/** A normal density of standard deviation `std`, in points, that is 1 in the middle. */
export function gaussian<D extends DType = "f32">(
  n: number,
  std: number,
  options: SignalWindowOptions<D> = {},
): Tensor<D> {
  checkCount("signal.gaussian", 3, arguments);
  return windowOf("gaussian", n, checkNumber("signal.gaussian", "std", std), options);
}

/** Options of the Tukey window. */
export interface TukeyOptions<D extends DType = DType> extends SignalWindowOptions<D> {
  /** The part of the window that is not flat; ½ unless told. */
  readonly alpha?: number;
}

/** Tukey's window: flat, with the halves of a Hann window at its ends. */
export function tukey<D extends DType = "f32">(n: number, options: TukeyOptions<D> = {}): Tensor<D> {
  checkCount("signal.tukey", 2, arguments);
  checkOptions<TukeyOptions>("signal.tukey", options, { ...OPTIONS, alpha: "number" });
  const { alpha = 0.5, ...rest } = options;
  return windowOf("tukey", n, alpha, rest as SignalWindowOptions<D>);
}

/** A window as an option: its name, its name and parameter, or its values. */
export type WindowChoice = WindowName | readonly [name: WindowName, parameter: number] | Tensor;

/** A window by name; its parameter beside it where it has one: `signal.getWindow(["kaiser", 8], 256)`. Periodic unless told. */
export function getWindow<D extends DType = "f32">(
  window: WindowName | readonly [name: WindowName, parameter: number],
  n: number,
  options: SignalWindowOptions<D> = {},
): Tensor<D> {
  checkCount("signal.getWindow", 3, arguments);
  checkOptions<SignalWindowOptions>("signal.getWindow", options, OPTIONS);
  const { name, parameter } = named("signal.getWindow", window);
  return windowOf(name, n, parameter, { sym: false, ...options }, "signal.getWindow");
}

function named(operation: string, window: unknown): { readonly name: WindowName; readonly parameter: number } {
  const [name, given] = Array.isArray(window) ? window : [window, undefined];
  if (typeof name !== "string" || !Object.hasOwn(WINDOWS, name)) {
    const names = Object.keys(WINDOWS).join(", ");
    throw new ArgumentError(`${operation}: there is no window ${shown(name)}; there are ${names}, and tensors.`);
  }
  const { parameter } = windowEntry(name as WindowName);
  const value = given ?? parameter?.value ?? (parameter ? null : 0);
  if (typeof value !== "number") {
    throw new ArgumentError(
      `${operation}: the window ${name} takes ${parameter?.name}; write ["${name}", ${parameter?.name}].`,
    );
  }
  return { name: name as WindowName, parameter: value };
}

/** The divisor of a window: its sum, or the root of its squares' sum times the sampling rate, or nothing. */
export type WindowScale =
  | { readonly by: "sum" }
  | { readonly by: "squares"; readonly fs: number }
  | { readonly by: "nothing" };

/** The periodic window of an operation on x, scaled, beside x. */
export function scaledWindow(
  operation: string,
  x: Tensor,
  choice: WindowChoice,
  n: number,
  scale: WindowScale,
): Tensor {
  const dtype = x.dtype === "f64" || x.dtype === "c128" ? "f64" : "f32";
  if (isTensor(choice)) return scaledTensor(operation, choice, n, scale).cast(dtype);
  const { name, parameter } = named(operation, choice);
  const value = (i: number) => windowValue(name, i, n, false, parameter);
  let divisor = 1;
  if (scale.by !== "nothing") {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += scale.by === "sum" ? value(i) : value(i) ** 2;
    divisor = scale.by === "sum" ? sum : Math.sqrt(scale.fs * sum);
  }
  const key = `window ${name} ${parameter} ${divisor}`;
  return constantsBeside(x, key, n, dtype, (i) => value(i) / divisor);
}

function scaledTensor(operation: string, window: Tensor, n: number, scale: WindowScale): Tensor {
  if (window.rank !== 1 || window.size !== n) {
    throw new ShapeError(`${operation}: a window of ${formatShape(window.shape)} for segments of ${n}.`);
  }
  if (scale.by === "nothing") return window;
  return scale.by === "sum" ? window.div(window.sum()) : window.div(window.square().sum().mul(scale.fs).sqrt());
}
