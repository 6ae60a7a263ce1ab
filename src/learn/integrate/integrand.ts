/**
 * What is integrated, as a function on [0, 1]: ranges that are infinite are mapped there, as in QUADPACK's QAGI (Piessens and others 1983).
 * Ends are numbers or tensors; a tensor counts as finite.
 */
import { checkFunction, type OptionKinds } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, DTypeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { checkOneDevice, full, isTensor, type Tensor } from "../../tensor/index.js";
import { vmap } from "../../transforms/vmap.js";

/** Where numbers as ends go. Tensors say it themselves. */
export interface RangeOptions {
  /** f32 unless told. */
  readonly dtype?: "f32" | "f64";
  /** The default device unless told. */
  readonly device?: string;
}

export const RANGE: OptionKinds<RangeOptions> = { dtype: "dtype", device: "text" };

/** A range, and the integrand times the change of its variable there. */
interface Mapped {
  /** Scalars; 0 in place of an infinite end. */
  readonly ends: readonly [Tensor, Tensor];
  /** f at t of [0, 1]. */
  at(t: Tensor, lower: Tensor, upper: Tensor): Tensor;
}

/** f over a range as a function on [0, 1]. */
export function mapped(
  operation: string,
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: RangeOptions,
): Mapped {
  checkFunction(operation, f);
  const [low, high] = [lower, upper].map((end) => (isTensor(end) ? 0 : end)) as [number, number];
  const ends = endsOf(operation, lower, upper, options);
  const value = (x: Tensor): Tensor => valueAt(operation, f, x);
  if (Number.isFinite(low) && Number.isFinite(high)) {
    return { ends, at: (t, a, b) => value(a.add(b.sub(a).mul(t)) as Tensor).mul(b.sub(a)) as Tensor };
  }
  if (low === high) throw new ArgumentError(`${operation}: both ends are ${low}; they span nothing.`);
  const sign = low < high ? 1 : -1;
  const distance = (t: Tensor): Tensor => t.reciprocal().sub(1) as Tensor;
  const scaled = (y: Tensor, t: Tensor): Tensor => y.div(t.square()).mul(sign) as Tensor;
  if (!Number.isFinite(low) && !Number.isFinite(high)) {
    return { ends, at: (t) => scaled(value(distance(t)).add(value(distance(t).neg() as Tensor)) as Tensor, t) };
  }
  const climbs = Math.max(low, high) === Number.POSITIVE_INFINITY;
  const isFromLower = Number.isFinite(low);
  return {
    ends,
    at(t, a, b) {
      const from = isFromLower ? a : b;
      return scaled(value((climbs ? from.add(distance(t)) : from.sub(distance(t))) as Tensor), t);
    },
  };
}

function valueAt(operation: string, f: (x: Tensor) => Tensor, x: Tensor): Tensor {
  const y = f(x);
  if (isTensor(y)) return y.cast(x.dtype) as Tensor;
  throw new ArgumentError(`${operation}: the function gives a tensor, not ${shown(y)}.`);
}

function endsOf(
  operation: string,
  lower: number | Tensor,
  upper: number | Tensor,
  { dtype, device }: RangeOptions,
): [Tensor, Tensor] {
  const given = [lower, upper].filter((end) => isTensor(end)) as Tensor[];
  if (dtype !== undefined && dtype !== "f32" && dtype !== "f64") {
    throw new DTypeError(`${operation}: the option dtype is "${dtype as DType}"; it is "f32" or "f64".`);
  }
  checkOneDevice(
    operation,
    given.map(({ node }) => node),
  );
  const wide = dtype ?? (given.some((end) => end.dtype === "f64") ? "f64" : "f32");
  const place = device ?? given[0]?.device;
  return [lower, upper].map((end) => {
    if (isTensor(end) && end.rank === 0) return end.cast(wide) as Tensor;
    if (typeof end === "number" && !Number.isNaN(end)) {
      return full([], Number.isFinite(end) ? end : 0, { dtype: wide, ...(place && { device: place }) }) as Tensor;
    }
    throw new ArgumentError(`${operation}: an end is ${shown(end)}; it is a number, or a tensor of one.`);
  }) as [Tensor, Tensor];
}

/** Values of a function of a scalar at many places, [n, …]. */
export const valuesAt = (f: (t: Tensor) => Tensor, places: Tensor): Tensor => vmap(f)(places) as Tensor;
