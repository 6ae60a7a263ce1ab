/**
 * Missing observations: `given({ y: withMissing([1.2, NaN, 0.7]) })` marks them by NaN, and they are sampled along with the rest,
 * under the name y_missing. The variable's value is then made of both, so its density, and whatever depends on it, sees one
 * tensor. Data come from given-data.ts; plans and posteriors put the values in their places.
 */
import { ArgumentError } from "../../core/errors.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import { type Nested, scalarLike, type Tensor, tensor, where } from "../../tensor/index.js";
import { tensorOf } from "../arguments/argument.js";
import type { Bijection } from "../constraints/constraint.js";
import type { RandomVariable } from "../variables/variable.js";
import type { LatentValue } from "./latent-value.js";

const MARK = Symbol("with missing values");

/** Numbers of which NaN are missing: what `withMissing` returns. */
export interface WithMissing {
  readonly [MARK]: true;
  readonly values: Tensor | Nested<number> | ArrayBufferView;
}

/**
 * Observations of which some are missing, marked by NaN. Each missing one is sampled, given all the others, under the name of the
 * variable and `_missing`: `given({ y: withMissing([1.2, NaN, 0.7]) })` has the latent variable y_missing of one element. They
 * stand in the order of the data. Without this mark NaN is an error.
 */
export const withMissing = (values: WithMissing["values"]): WithMissing => ({ [MARK]: true, values });

export const isMarked = (given: unknown): given is WithMissing =>
  typeof given === "object" && given !== null && MARK in given;

/** Which elements are missing, as the host knows it. */
export interface MissingFlags {
  /** For each element in the order of the data. */
  readonly flags: readonly boolean[];
  readonly shape: Shape;
}

/** Which elements are missing, on a device. */
export interface Missing extends MissingFlags {
  /** For each element, its number among the missing ones; -1 where it was observed. */
  readonly numbers: Tensor;
  /** The places of the missing elements. */
  readonly places: Tensor;
}

/** The name that missing values are sampled under. */
export const missingName = (name: string): string => `${name}_missing`;

/** The flags of numbers; null where none is missing. */
export function flagsOf(name: string, values: readonly number[], shape: Shape): MissingFlags | null {
  const flags = values.map((value) => Number.isNaN(value));
  if (!flags.includes(true)) return null;
  if (flags.includes(false)) return { flags, shape };
  throw new ArgumentError(`${name}: all its values are missing; leave the name out to sample it.`);
}

const placesOf = (flags: readonly boolean[], which: boolean): number[] =>
  flags.flatMap((flag, i) => (flag === which ? [i] : []));

export function missingOn({ flags, shape }: MissingFlags, device: string | undefined): Missing {
  let count = 0;
  const numbers = flags.map((flag) => (flag ? count++ : -1));
  const whole = (values: number[], extents: Shape) => tensor(values, { shape: extents, dtype: "i32", device });
  return { flags, shape, numbers: whole(numbers, shape), places: whole(placesOf(flags, true), [count]) };
}

export const countMissing = ({ flags }: MissingFlags): number => flags.filter(Boolean).length;

const isSeen = ({ numbers }: Missing): Tensor => numbers.less(0);

/** The data with values [count] in the places of those that are missing. */
export const completedWith = (data: Tensor, values: Tensor, missing: Missing): Tensor =>
  where(isSeen(missing), data, values.take(missing.numbers.maximum(0)));

/** The missing elements of a value, [count]. */
export const missingOf = (value: Tensor, { places }: Missing): Tensor => value.flatten().take(places);

/** The data with the missing elements of another tensor of their shape. */
export const completedBy = (data: Tensor, other: Tensor, missing: Missing): Tensor =>
  where(isSeen(missing), data, other);

/** The bijection that missing values are reached by: each is a number by itself. */
function bijectionFor({ distribution, constraint }: RandomVariable): Bijection {
  if (constraint.bijection && constraint.eventRank === 0 && distribution.support.bijection) return constraint.bijection;
  throw new ArgumentError(
    `missing values of a ${distribution.name} variable cannot be sampled one by one: it takes ${constraint.description}. ` +
      "Leave these observations out.",
  );
}

/** The value of a variable that is missing in part, at free numbers [count]. */
export function imputedAt(variable: RandomVariable, free: Tensor, data: Tensor, missing: Missing): LatentValue {
  const seen = isSeen(missing);
  const spread = where(seen, 0, free.take(missing.numbers.maximum(0)));
  const { value, logJacobian } = bijectionFor(variable).forward(spread, data.shape);
  const isConstant = logJacobian === 0;
  return {
    value: where(seen, data, value),
    standard: null,
    free: null,
    logJacobian: isConstant ? 0 : where(seen, 0, tensorOf(logJacobian, value)),
  };
}

/** The free numbers [count] behind the missing elements of a value. */
export const freeBehindMissing = (variable: RandomVariable, value: Tensor, missing: Missing): Tensor =>
  missingOf(bijectionFor(variable).inverse(value), missing);

/** Data to hold against a support: in place of missing values stand some that lie inside. */
export function checkableData(variable: RandomVariable, data: Tensor, missing: Missing): Tensor {
  const zeros = scalarLike(data, 0).broadcastTo(data.shape);
  return where(isSeen(missing), data, bijectionFor(variable).forward(zeros, data.shape).value);
}

/** Whether draws of an event shape have missing elements, [..] without that shape. */
export function isPartlyMissing(missing: Missing, eventRank: number): Tensor {
  const absent = missing.numbers.greaterEqual(0);
  const axes = Array.from({ length: eventRank }, (_, i) => i - eventRank);
  return eventRank === 0 ? absent : absent.any({ axis: axes });
}

/** The places of draws that are observed wholly, among all draws in a row. */
function wholeDraws({ flags, shape }: MissingFlags, eventRank: number): number[] {
  const size = sizeOf(shape.slice(shape.length - eventRank));
  const draws = Array.from({ length: flags.length / size }, (_, i) => flags.slice(i * size, (i + 1) * size));
  return placesOf(
    draws.map((draw) => draw.includes(true)),
    false,
  );
}

/** A tensor of log densities, one for each draw, at those that are observed wholly: [count], or null where none is. */
export function observedOnly(logs: Tensor, missing: Missing, eventRank: number): Tensor | null {
  const whole = wholeDraws(missing, eventRank);
  if (whole.length === 0) return null;
  return logs.flatten().take(tensor(whole, { dtype: "i32", device: logs.device }));
}
