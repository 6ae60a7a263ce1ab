/** Samples as tests and moments take them: floats of one place, with the axis of the observations last; and what is made of them there. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { countingLike, isTensor, type Tensor, where } from "../../tensor/index.js";
import { PLACE, type PlaceOptions, type Quantity, quantitiesOf } from "./operands.js";

/** Observations: numbers, rows of them, or a tensor of any rank. */
export type Sample = Tensor | ArrayLike<number> | readonly (readonly number[])[];

/** Options of functions of samples. */
export interface SampleOptions extends PlaceOptions {
  /** The axis of the observations: the first unless told. The others are a batch. */
  readonly axis?: number;
}

export const SAMPLE: OptionKinds<SampleOptions> = { ...PLACE, axis: "number" };

/** Samples with the axis of the observations last. */
export function samplesOf<O extends SampleOptions>(
  operation: string,
  given: readonly Sample[],
  options: O,
  known: OptionKinds<O>,
): readonly Tensor[] {
  checkOptions(operation, options, known);
  const { axis = 0, device, dtype } = options;
  const values = given.map((each) => (isTensor(each) ? each : listOf(operation, each)));
  return (quantitiesOf(operation, values, { device, dtype }) as readonly Tensor[]).map((each) => {
    if (each.rank === 0)
      throw new ShapeError(`${operation}: a sample is a number of observations, not a single number.`);
    return each.moveAxis(axis, -1) as Tensor;
  });
}

function listOf(operation: string, given: Exclude<Sample, Tensor>): Quantity {
  if (Array.isArray(given)) return given;
  if (ArrayBuffer.isView(given)) return Array.from(given as ArrayLike<number>);
  throw new ShapeError(`${operation}: a sample is a tensor or an array, not ${shown(given)}.`);
}

/** How many observations there are. */
export const countOf = (x: Tensor): number => x.shape[x.rank - 1] as number;

/** Throws unless samples that belong together have equal counts. */
export function checkPaired(operation: string, x: Tensor, y: Tensor): void {
  if (countOf(x) === countOf(y)) return;
  throw new ShapeError(
    `${operation}: the samples are paired, and their shapes are ${formatShape(x.shape)} and ${formatShape(y.shape)}.`,
  );
}

/** The mean and the deviations from it. Of equal observations the deviations are zero, not what rounding leaves. */
export function centred(x: Tensor): { readonly mean: Tensor; readonly deviations: Tensor } {
  const first = x.min({ axis: -1, keepDims: true }) as Tensor;
  const isConstant = first.equal(x.max({ axis: -1, keepDims: true }));
  const mean = where(isConstant, first, x.mean({ axis: -1, keepDims: true })) as Tensor;
  return { mean: mean.squeeze(-1) as Tensor, deviations: where(isConstant, 0, x.sub(mean)) as Tensor };
}

/** The sum along the observations. */
export const total = (x: Tensor): Tensor => x.sum({ axis: -1 }) as Tensor;

/** Ranks of observations from 1 on, and what ties take from the variance of their sums. */
interface Ranks {
  /** Equal observations share the mean of their ranks. NaN where one is NaN. */
  readonly ranks: Tensor;
  /** Σ (t³ - t) over groups of t equal observations. */
  readonly ties: Tensor;
}

/** Ranks along the last axis. */
export function ranksOf(x: Tensor): Ranks {
  const count = countOf(x);
  const order = x.argsort();
  const sorted = x.takeAlongAxis(order, { axis: -1 });
  const places = countingLike(x, count).cast(x.dtype) as Tensor;
  const beside = (step: number): Tensor =>
    sorted.take(
      countingLike(x, count)
        .add(step)
        .clip(0, count - 1),
      { axis: -1 },
    ) as Tensor;
  const isStart = places.equal(0).logicalOr(sorted.notEqual(beside(-1)));
  const isEnd = places.equal(count - 1).logicalOr(sorted.notEqual(beside(1)));
  const start = where(isStart, places, 0).cummax({ axis: -1 });
  const end = where(isEnd, places, count).cummin({ axis: -1, reverse: true });
  const shared = start.add(end).mul(0.5).add(1).takeAlongAxis(order.argsort(), { axis: -1 });
  const length = end.sub(start).add(1);
  const isNone = x.isNaN().any({ axis: -1, keepDims: true });
  return {
    ranks: where(isNone, Number.NaN, shared) as Tensor,
    ties: total(length.square().sub(1) as Tensor),
  };
}
