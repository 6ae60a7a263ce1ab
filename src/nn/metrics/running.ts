/**
 * Means over batches, as pure functions: the state goes in and comes out, so that it can live inside a jitted step and in a
 * checkpoint. Training reports metrics by these.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { type CreationOptions, checkTensor, isTensor, type Tensor, where, zeros } from "../../tensor/index.js";

/** A mean so far, and the weight of all that went into it. */
export interface RunningMean {
  readonly mean: Tensor;
  readonly weight: Tensor;
}

/** A mean of nothing yet: `runningMean` goes on from it. */
export function startMean(options: CreationOptions<"f32" | "f64"> = {}): RunningMean {
  return { mean: zeros([], options), weight: zeros([], options) };
}

/**
 * The mean with one more value in it, which counts by its weight (the examples of its batch): 1 unless told. Corrections are
 * small against the mean, so that long runs lose no digits. A value of weight 0 does not count, whatever it is: the mean of a batch
 * without weight is NaN.
 */
export function runningMean(before: RunningMean, value: Tensor, weight: number | Tensor = 1): RunningMean {
  if (typeof before !== "object" || before === null || !isTensor(before.mean) || !isTensor(before.weight)) {
    throw new ArgumentError("runningMean: takes the state so far first; startMean() makes the one to begin with.");
  }
  checkTensor("runningMean", "the value", value);
  const { mean } = before;
  if (!sameShape(mean.shape, value.shape)) {
    throw new ShapeError(
      `runningMean: a value of shape ${formatShape(value.shape)} for a mean of shape ${formatShape(mean.shape)}.`,
    );
  }
  const added = isTensor(weight) ? weight.cast(mean.dtype) : weight;
  const total = before.weight.add(added);
  const step = value.cast(mean.dtype).sub(mean).mul(added);
  const next = mean.add(step.div(where(total.equal(0), 1, total)));
  const moved = isTensor(added) ? where(added.equal(0), mean, next) : added === 0 ? mean : next;
  return { mean: moved as Tensor, weight: total as Tensor };
}
