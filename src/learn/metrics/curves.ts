/**
 * Curves of decisions by a threshold: ROC, precision and recall, error trade-off. Only thresholds at which something changes are kept, so
 * their number depends on the values and is read; areas (areas.ts) need no reading.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { concat, full, isTensor, type Tensor, tensor, zeros } from "../../tensor/index.js";
import { shareOf } from "../core/share.js";
import { type Labels, type Numbers, numbersLike } from "../core/targets.js";
import { METRIC, type MetricOptions, placeOf } from "./inputs.js";
import { BINARY, type BinaryOptions, binaryScores } from "./probabilities.js";

/** Sums of weights of samples that score at least a threshold, by falling thresholds. */
interface Steps {
  readonly thresholds: Tensor;
  readonly truePositives: Tensor;
  readonly falsePositives: Tensor;
}

/** Positions at which a condition holds. */
function placesOf(condition: Tensor): Tensor {
  const flags = condition.cast("i32").dataSync() as Int32Array;
  return tensor(Int32Array.from(Array.from(flags).flatMap((flag, i) => (flag ? [i] : []))), {
    device: condition.device,
  });
}

function stepsOf(operation: string, scores: Numbers, targets: Labels, options: BinaryOptions): Steps {
  const given = binaryScores(operation, scores, targets, options);
  // Samples that do not count give no threshold.
  const kept = given.weights ? placesOf(given.weights.notEqual(0) as Tensor) : null;
  const [values, isPositive, weights] = [given.scores, given.isPositive, given.weights].map((x) =>
    x && kept ? x.take(kept) : x,
  ) as [Tensor, Tensor, Tensor | null];
  if (values.isNaN().any().itemSync())
    throw new ArgumentError(`${operation}: a score is NaN, which has no place in an order.`);
  const order = values.argsort({ descending: true });
  const falling = values.take(order) as Tensor;
  const last = full([1], true, { device: values.device, dtype: "bool" });
  const ends = placesOf(concat([falling.at(":-1").notEqual(falling.at("1:")), last]) as Tensor);
  const upTo = (isOne: Tensor): Tensor => {
    const amounts = isOne.cast(weights ? values.dtype : "i32");
    return (weights ? amounts.mul(weights) : amounts).take(order).cumsum().take(ends).cast(values.dtype) as Tensor;
  };
  return {
    thresholds: falling.take(ends) as Tensor,
    truePositives: upTo(isPositive),
    falsePositives: upTo(isPositive.logicalNot() as Tensor),
  };
}

/** A ROC curve, from no sample called positive to all. */
export interface RocCurve {
  readonly falsePositiveRate: Tensor;
  readonly truePositiveRate: Tensor;
  /** Falling; the first is ∞, at which nothing is called positive. */
  readonly thresholds: Tensor;
}

/** Options of `rocCurve`. */
export interface RocCurveOptions extends BinaryOptions {
  /** Points on a straight line between others are left out unless false. */
  readonly dropIntermediate?: boolean;
}

/** The share of positives that are found, by the share of negatives that are taken for positive. Rates of no samples are NaN. */
export function rocCurve(scores: Numbers, targets: Labels, options: RocCurveOptions = {}): RocCurve {
  checkOptions("metrics.rocCurve", options, { ...BINARY, dropIntermediate: "flag" });
  const steps = stepsOf("metrics.rocCurve", scores, targets, options);
  const { thresholds, truePositives, falsePositives } =
    options.dropIntermediate === false ? steps : withoutIntermediate(steps);
  const { dtype, device } = thresholds;
  const from = (first: number, rest: Tensor): Tensor => concat([full([1], first, { dtype, device }), rest]) as Tensor;
  const rate = (x: Tensor): Tensor => from(0, x).div(x.at(-1)) as Tensor;
  return {
    falsePositiveRate: rate(falsePositives),
    truePositiveRate: rate(truePositives),
    thresholds: from(Number.POSITIVE_INFINITY, thresholds),
  };
}

function withoutIntermediate({ thresholds, truePositives, falsePositives }: Steps): Steps {
  if ((thresholds.shape[0] as number) < 3) return { thresholds, truePositives, falsePositives };
  const bend = (x: Tensor): Tensor => {
    const step = x.at("1:").sub(x.at(":-1")) as Tensor;
    return step.at("1:").sub(step.at(":-1")).notEqual(0) as Tensor;
  };
  const edge = full([1], true, { device: thresholds.device, dtype: "bool" });
  const bends = bend(truePositives).logicalOr(bend(falsePositives));
  const kept = placesOf(concat([edge, bends, edge]) as Tensor);
  const at = (x: Tensor): Tensor => x.take(kept) as Tensor;
  return { thresholds: at(thresholds), truePositives: at(truePositives), falsePositives: at(falsePositives) };
}

/** Precision and recall by threshold. The last point, without a threshold, is precision 1 at recall 0. */
export interface PrecisionRecallCurve {
  readonly precision: Tensor;
  readonly recall: Tensor;
  /** Rising; one less than there are points. */
  readonly thresholds: Tensor;
}

/** Precision and recall of the samples that score at least each threshold. Without positives, recall is 1. */
export function precisionRecallCurve(
  scores: Numbers,
  targets: Labels,
  options: BinaryOptions = {},
): PrecisionRecallCurve {
  checkOptions("metrics.precisionRecallCurve", options, BINARY);
  const { thresholds, truePositives, falsePositives } = stepsOf(
    "metrics.precisionRecallCurve",
    scores,
    targets,
    options,
  );
  const { dtype, device } = thresholds;
  const ended = (x: Tensor, last: number): Tensor => concat([x.flip(), full([1], last, { dtype, device })]) as Tensor;
  return {
    precision: ended(shareOf(truePositives, truePositives.add(falsePositives) as Tensor), 1),
    recall: ended(shareOf(truePositives, truePositives.at(-1) as Tensor, 1), 0),
    thresholds: thresholds.flip() as Tensor,
  };
}

/** Both kinds of error by threshold. */
export interface DetCurve {
  readonly falsePositiveRate: Tensor;
  readonly falseNegativeRate: Tensor;
  /** Rising. */
  readonly thresholds: Tensor;
}

/** The detection error trade-off: rates of false positives and false negatives by threshold. */
export function detCurve(scores: Numbers, targets: Labels, options: BinaryOptions = {}): DetCurve {
  const operation = "metrics.detCurve";
  checkOptions(operation, options, BINARY);
  const { thresholds, truePositives, falsePositives } = stepsOf(operation, scores, targets, options);
  const [positives, negatives] = [truePositives.at(-1), falsePositives.at(-1)] as [Tensor, Tensor];
  if (positives.equal(0).logicalOr(negatives.equal(0)).itemSync()) {
    throw new ArgumentError(`${operation}: all targets are of one class; a rate of the other is not defined.`);
  }
  // Where no error changes any more, one point is enough at either end.
  const first = Number(falsePositives.searchSorted(falsePositives.at(0) as Tensor, { side: "right" }).itemSync()) - 1;
  const last = Number(truePositives.searchSorted(positives).itemSync()) + 1;
  const cut = (x: Tensor): Tensor => x.at(`${Math.max(0, first)}:${last}`).flip() as Tensor;
  return {
    falsePositiveRate: cut(falsePositives.div(negatives) as Tensor),
    falseNegativeRate: cut(positives.sub(truePositives).div(positives) as Tensor),
    thresholds: cut(thresholds),
  };
}

/** The area under a curve of points (x, y) by the trapezoidal rule; x rises or falls throughout. */
export function auc(x: Numbers, y: Numbers, options: MetricOptions = {}): Tensor {
  const { weights: _, ...known } = METRIC;
  checkOptions("metrics.auc", options as Omit<MetricOptions, "weights">, known);
  const place = placeOf("metrics.auc", [x, y], options);
  const [a, b] = [numbersLike("metrics.auc", x, place, "x"), numbersLike("metrics.auc", y, place, "y")];
  if (a.rank !== 1 || b.rank !== 1 || a.shape[0] !== b.shape[0] || (a.shape[0] as number) < 2) {
    throw new ShapeError(
      `metrics.auc: x and y are vectors of as many points, two or more; there are ${a.size} and ${b.size}.`,
    );
  }
  const steps = a.at("1:").sub(a.at(":-1")) as Tensor;
  const isTraced = [x, y].some((each) => isTensor(each) && each.node.isAbstract);
  if (!isTraced && steps.less(0).any().logicalAnd(steps.greater(0).any()).itemSync()) {
    throw new ArgumentError("metrics.auc: x neither rises nor falls throughout; sort the points by x.");
  }
  return areaUnder(a, b).abs() as Tensor;
}

/** The area under a curve, negative where x falls. */
const areaUnder = (x: Tensor, y: Tensor): Tensor =>
  x
    .at("1:")
    .sub(x.at(":-1"))
    .mul(y.at("1:").add(y.at(":-1")))
    .sum()
    .div(2) as Tensor;

/** Points of the ROC curve for every sample, from (0, 0) on; equal scores share a point. Traces. */
export function rocPoints(scores: Tensor, isPositive: Tensor, weights: Tensor | null): readonly [Tensor, Tensor] {
  const { dtype, device } = scores;
  const rising = scores.sort() as Tensor;
  const order = scores.argsort();
  const first = zeros([1], { dtype, device });
  const below = rising.searchSorted(rising);
  const rate = (isOne: Tensor): Tensor => {
    const amounts = isOne.cast(dtype);
    const all = (weights ? amounts.mul(weights) : amounts).take(order) as Tensor;
    const before = concat([first, all.cumsum()]);
    const upTo = before.at(-1).sub(before.take(below)).flip() as Tensor;
    return concat([first, upTo]).div(before.at(-1)) as Tensor;
  };
  return [rate(isPositive.logicalNot() as Tensor), rate(isPositive)];
}
