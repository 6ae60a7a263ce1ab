/**
 * Connectionist temporal classification (Graves et al. 2006): the probability that a sequence of frames spells a shorter
 * sequence of labels, summed over all ways of spreading the labels over the frames, with blanks between them. The sum runs
 * over time as one loop, in logarithms; its gradient is that of the loop.
 */
import { isInteger } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { arange, checkTensor, concat, full, type Tensor, tensor, where } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { logSoftmax } from "../activations/rows.js";
import {
  checkLossOptions,
  checkWithin,
  type LossOptions,
  MAKE_INTEGERS,
  reduceLosses,
  slopedWhereCounted,
  widePredictions,
} from "./loss.js";

/** Options of `connectionistTemporalClassification`. */
export interface CtcOptions extends LossOptions {
  /** The class that stands for no label: 0 unless told. */
  readonly blank?: number;
  /** Frames of each example that count: all unless told. */
  readonly inputLengths?: Tensor | readonly number[];
  /** Labels of each example that count: all unless told. */
  readonly labelLengths?: Tensor | readonly number[];
  /** Gives 0, not infinity, where there are too few frames for the labels. False unless told. */
  readonly zeroInfinity?: boolean;
}

/** Logarithm of an impossible way: far below any real one, and finite, so that slopes are numbers. */
const IMPOSSIBLE = -1e30;

/**
 * -log of the probability of the labels [batch, labels] given the predictions [batch, frames, classes], for each example.
 * Predictions are logits, or log-probabilities, which are logits as well. A label that is no class gives NaN. The blank is no label: it is
 * refused, and inside of a trace, where labels are not known, the example is impossible, like one with too few frames: the loss is infinity.
 */
export function connectionistTemporalClassification(
  predictions: Tensor,
  targets: Tensor,
  options: CtcOptions = {},
): Tensor {
  const operation = "connectionistTemporalClassification";
  const own = { blank: "number", inputLengths: "any", labelLengths: "any", zeroInfinity: "flag" } as const;
  checkLossOptions(operation, options, own);
  const p = slopedWhereCounted(widePredictions(operation, predictions), options.weights);
  const [batch, frames, classes] = checkShapes(operation, p, targets);
  const { blank = 0, zeroInfinity = false } = options;
  checkWithin(
    operation,
    "blank",
    blank,
    Number.isInteger(blank) && blank >= 0 && blank < classes,
    `one of ${classes} classes`,
  );
  const most = targets.shape[1] as number;
  const inputLengths = lengthsOf(operation, "inputLengths", options.inputLengths, batch, frames, p);
  const labelLengths = lengthsOf(operation, "labelLengths", options.labelLengths, batch, most, p);
  const labels = targets.cast("i32");
  const isUsed = arange(most, { dtype: "i32", device: p.device }).less(labelLengths);
  const isValid = labels.greaterEqual(0).logicalAnd(labels.less(classes)).logicalOr(isUsed.logicalNot());
  const hasBlank = labels.equal(blank).logicalAnd(isUsed).any({ axis: 1, keepDims: true });
  checkNoBlank(operation, hasBlank, blank);
  const states = statesOf(where(isUsed, labels.clip(0, classes - 1), blank), blank);
  // [frames, batch, states]: the log-probability of each state's class in each frame.
  const emissions = logSoftmax(p)
    .takeAlongAxis(states.expandDims(1).broadcastTo([batch, frames, 2 * most + 1]), { axis: 2 })
    .maximum(IMPOSSIBLE)
    .permute(1, 0, 2);
  const last = forward(emissions, states, blank, inputLengths);
  // No way spells a blank.
  const score = where(hasBlank.squeeze(1), IMPOSSIBLE, finalScore(last, labelLengths));
  const isImpossible = score.less(IMPOSSIBLE / 10);
  const losses = where(isImpossible, zeroInfinity ? 0 : Infinity, score.neg());
  return reduceLosses(operation, where(isValid.all({ axis: 1 }), losses, Number.NaN), options);
}

function checkShapes(operation: string, p: Tensor, targets: Tensor): [batch: number, frames: number, classes: number] {
  checkTensor(operation, "the target", targets);
  if (p.rank !== 3 || targets.rank !== 2 || p.shape[0] !== targets.shape[0]) {
    throw new ShapeError(
      `${operation}: takes predictions [batch, frames, classes] and labels [batch, labels], not ` +
        `${formatShape(p.shape)} and ${formatShape(targets.shape)}.`,
    );
  }
  if (p.shape[1] === 0) throw new ShapeError(`${operation}: predictions ${formatShape(p.shape)} have no frames.`);
  if (!isInteger(targets.dtype)) {
    throw new DTypeError(`${operation}: labels are integers, not ${targets.dtype}; ${MAKE_INTEGERS}`);
  }
  return p.shape as readonly number[] as [number, number, number];
}

/** Labels that are known are looked at; those of a trace are not known. */
function checkNoBlank(operation: string, hasBlank: Tensor, blank: number): void {
  const { isAbstract, trace } = hasBlank.node;
  if (isAbstract || trace !== null) return;
  const row = Array.from(hasBlank.dataSync() as ArrayLike<boolean | number>, Boolean).indexOf(true);
  if (row === -1) return;
  throw new ArgumentError(
    `${operation}: example ${row} has the label ${blank}, which is the blank; number the labels without it, or give another blank. ` +
      "Labels that fill up a row are left out by labelLengths.",
  );
}

/** Lengths as a column, [batch, 1]. */
function lengthsOf(
  operation: string,
  what: string,
  given: Tensor | readonly number[] | undefined,
  batch: number,
  all: number,
  like: Tensor,
): Tensor {
  if (given === undefined) return full([batch, 1], all, { dtype: "i32", device: like.device });
  const lengths = Array.isArray(given)
    ? tensor([...given], { dtype: "i32", device: like.device, shape: [given.length] })
    : (given as Tensor);
  checkTensor(operation, `the option ${what}`, lengths);
  if (lengths.rank !== 1 || lengths.shape[0] !== batch) {
    throw new ShapeError(`${operation}: ${what} ${formatShape(lengths.shape)} for a batch of ${batch}; one for each.`);
  }
  return lengths.cast("i32").reshape([batch, 1]);
}

/** Labels with a blank before, between and behind them: [batch, 2·labels + 1]. */
function statesOf(labels: Tensor, blank: number): Tensor {
  const [batch, count] = labels.shape as readonly number[] as [number, number];
  const blanks = full([batch, count, 1], blank, { dtype: "i32", device: labels.device });
  const pairs = concat([blanks, labels.expandDims(2)], { axis: 2 }).reshape([batch, 2 * count]);
  return concat([pairs, full([batch, 1], blank, { dtype: "i32", device: labels.device })], { axis: 1 });
}

/** Log-probabilities of the states after the last frame of each example, [batch, states]. */
function forward(emissions: Tensor, states: Tensor, blank: number, inputLengths: Tensor): Tensor {
  const [frames, batch, count] = emissions.shape as readonly number[] as [number, number, number];
  const options = { dtype: emissions.dtype, device: emissions.device };
  const edge = full([batch, 2], IMPOSSIBLE, options);
  const places = arange(count, { dtype: "i32", device: emissions.device });
  // A way may leave out the blank between two labels that differ.
  const earlier = concat([full([batch, 2], blank, { dtype: "i32", device: states.device }), states], { axis: 1 });
  const maySkip = states.notEqual(blank).logicalAnd(states.notEqual(earlier.at(":", `0:${count}`)));
  const behind = (x: Tensor, by: 1 | 2) => concat([edge, x], { axis: 1 }).at(":", `${2 - by}:${2 - by + count}`);
  // Without frames the only way is that of no labels.
  const none = where(places.equal(0), 0, IMPOSSIBLE).cast(emissions.dtype);
  const start = where(inputLengths.greater(0), where(places.less(2), emissions.at(0), IMPOSSIBLE), none);
  const step = (before: Tensor, [emission, time]: readonly [Tensor, Tensor]) => {
    const skipping = where(maySkip, behind(before, 2), IMPOSSIBLE);
    const after = before.logaddexp(behind(before, 1)).logaddexp(skipping).add(emission).maximum(IMPOSSIBLE);
    return [where(time.less(inputLengths), after, before), null] as const;
  };
  const times = arange(1, frames, 1, { dtype: "i32", device: emissions.device });
  const inputs = [emissions.at("1:"), times] as const;
  return frames === 1 ? start : scan(step as never, start, inputs as never)[0];
}

/** A way ends in the last label or in the blank behind it. */
function finalScore(last: Tensor, labelLengths: Tensor): Tensor {
  const places = arange(last.shape[1] as number, { dtype: "i32", device: last.device });
  const end = labelLengths.mul(2);
  const at = (place: Tensor) => where(places.equal(place), last, IMPOSSIBLE).max({ axis: 1 });
  return at(end).logaddexp(at(end.sub(1)));
}
