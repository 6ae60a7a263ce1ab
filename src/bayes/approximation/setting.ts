/** The shared start of `advi`, `pathfinder` and `smc`: options, and the key, dtype and device that follow from them. */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, type Shape, sameShape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type Key, key as keyOf } from "../../random/key.js";
import { Tensor, tensor } from "../../tensor/index.js";
import type { Posterior } from "../model/posterior.js";
import { type FreeNumbers, freeNumbersOf, UNCONSTRAIN } from "../target/free-numbers.js";

/** A posterior whose variables are known by name only. */
export type AnyPosterior = Posterior<Readonly<Record<string, Tensor>>, string>;

export interface ApproximationOptions<P> {
  /** The same seed gives the same draws on the same device. 0 unless told. */
  readonly seed?: number | bigint;
  /** The dtype of all computations: that of the data unless told. */
  readonly dtype?: "f32" | "f64";
  /** Ends the run early. */
  readonly signal?: AbortSignal;
  /** Called every now and then, with how far it got. */
  readonly onProgress?: (progress: P) => void;
}

/** The device and dtype of a run. */
export interface Setting {
  readonly key: Key;
  readonly dtype: "f32" | "f64";
  readonly device: string;
}

export function settingOf(posterior: AnyPosterior, options: ApproximationOptions<never>): Setting {
  posterior.checkProper();
  const { device } = posterior;
  return { key: keyOf(options.seed ?? 0, { device }), dtype: options.dtype ?? posterior.dtype, device };
}

/**
 * Throws on what is no posterior, on options that a method has not, and on those of the wrong kind; `own` are those that the
 * others have not.
 */
export function checkMethod<O extends ApproximationOptions<never>>(
  method: string,
  posterior: AnyPosterior,
  options: O,
  own: Omit<OptionKinds<O>, keyof ApproximationOptions<never>>,
): void {
  const isModel = typeof (posterior as { given?: unknown } | undefined)?.given === "function";
  if (isModel || typeof posterior?.logDensityAndGrad !== "function") {
    throw new ArgumentError(
      `${method}: takes a posterior, ${isModel ? "not the model: call .given(observed, data) first" : `as model(fn).given(observed, data) makes it, not ${shown(posterior)}`}.`,
    );
  }
  const shared = { seed: "any", dtype: "any", signal: "signal", onProgress: "function" };
  checkOptions(method, options, { ...own, ...shared } as OptionKinds<O>);
  checkChoice(method, "dtype", options.dtype, ["f32", "f64"]);
}

export function checkCount(value: number, least: number, what: string): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new ArgumentError(`${what} is ${value}; it is a whole number of at least ${least}.`);
}

/** Free numbers the user gave, [dim] or points of them, in the dtype and on the device of the run. */
export function givenPoints(
  points: FreeNumbers | readonly FreeNumbers[],
  shape: Shape,
  { dtype, device }: Setting,
  what: string,
): Tensor {
  if (points instanceof Tensor && sameShape(points.shape, shape)) return points.to(device).cast(dtype);
  const many: unknown = shape.length > 1 ? points : [points];
  const rows = Array.isArray(many) ? many.map(freeNumbersOf) : [];
  const isRight = rows.every((row) => row?.length === shape.at(-1) && row?.every(Number.isFinite));
  if (!isRight || rows.flat().length !== sizeOf(shape)) {
    const given = points instanceof Tensor ? formatShape(points.shape) : shown(points);
    throw new ShapeError(
      `${what}: free numbers of shape ${formatShape(shape)}, as a tensor or in lists (${UNCONSTRAIN}), not ${given}.`,
    );
  }
  return tensor((rows as number[][]).flat(), { dtype, device }).reshape(shape);
}
