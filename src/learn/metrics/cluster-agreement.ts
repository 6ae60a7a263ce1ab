/**
 * How well two groupings of the same samples agree, whatever their groups are called. All is made of the contingency matrix. Sums of
 * pairs are squares of counts, in the dtype of the result: f32 counts them one by one up to 4096 samples, and f64 up to 9 · 10⁷.
 */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { countsByClass } from "../../nn/metrics/confusion.js";
import { stack, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Labels } from "../core/targets.js";
import { expectedInformation } from "./expected-information.js";
import { checkCounts, checkNotEmpty, METRIC, type MetricOptions, placeOf } from "./inputs.js";
import { classesAmong, codesOf } from "./labels.js";

/** Options of comparisons of groupings. */
export type GroupingOptions = Omit<MetricOptions, "weights">;

const { weights: _, ...GROUPING } = METRIC;

/** Counts of samples by target class (rows) and found group (columns). */
export function contingencyMatrix(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  checkOptions("metrics.contingencyMatrix", options, GROUPING);
  return contingency("metrics.contingencyMatrix", found, targets, options);
}

function contingency(operation: string, found: Labels, targets: Labels, options: GroupingOptions): Tensor {
  checkOptions(operation, options, GROUPING);
  const place = placeOf(operation, [found, targets], options);
  const [groups, classes] = [classesAmong(operation, [found]), classesAmong(operation, [targets])];
  const [columns, rows] = [codesOf(operation, found, groups, place), codesOf(operation, targets, classes, place)];
  checkCounts(operation, "found groups", columns.shape[0] as number, rows.shape[0] as number);
  checkNotEmpty(operation, rows.shape[0] as number);
  const most = Math.max(groups.length, classes.length);
  const counts = countsByClass(rows, columns, most).at(`:${classes.length}`, `:${groups.length}`);
  return counts.cast(place.dtype) as Tensor;
}

/**
 * Counts of ordered pairs of samples: [[apart in both, together in `found` alone], [together in `targets` alone, together in both]].
 */
export function pairConfusionMatrix(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  const counts = contingency("metrics.pairConfusionMatrix", found, targets, options);
  const { foundAlone, targetsAlone, both, apart } = pairsOf(counts);
  return stack([apart, foundAlone, targetsAlone, both]).reshape(2, 2).cast(counts.dtype) as Tensor;
}

/** Numbers of ordered pairs, as scalars. */
function pairsOf(counts: Tensor) {
  const squares = (x: Tensor): Tensor => x.square().sum() as Tensor;
  const all = counts.sum() as Tensor;
  const both = squares(counts).sub(all) as Tensor;
  const together = squares(counts.sum({ axis: 0 }) as Tensor).sub(all) as Tensor;
  const targetsTogether = squares(counts.sum({ axis: 1 }) as Tensor).sub(all) as Tensor;
  const foundAlone = together.sub(both) as Tensor;
  const targetsAlone = targetsTogether.sub(both) as Tensor;
  const apart = all.square().sub(all).sub(both).sub(foundAlone).sub(targetsAlone) as Tensor;
  return { both, foundAlone, targetsAlone, apart };
}

/** part / whole, and 1 where there is nothing to tell groupings apart by. */
const orPerfect = (part: Tensor, whole: Tensor): Tensor =>
  where(whole.equal(0), 1, part.div(where(whole.equal(0), 1, whole))) as Tensor;

/** The share of pairs of samples on which the groupings agree: together in both, or apart in both. */
export function randScore(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  const { both, foundAlone, targetsAlone, apart } = pairsOf(contingency("metrics.randScore", found, targets, options));
  const agreed = both.add(apart) as Tensor;
  return orPerfect(agreed, agreed.add(foundAlone).add(targetsAlone) as Tensor);
}

/** The Rand index beyond chance: 0 for groups by chance, 1 for equal groupings. */
export function adjustedRand(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  const { both, foundAlone, targetsAlone, apart } = pairsOf(
    contingency("metrics.adjustedRand", found, targets, options),
  );
  const isSame = foundAlone.equal(0).logicalAnd(targetsAlone.equal(0));
  const part = both.mul(apart).sub(targetsAlone.mul(foundAlone)).mul(2);
  const whole = both
    .add(targetsAlone)
    .mul(targetsAlone.add(apart))
    .add(both.add(foundAlone).mul(foundAlone.add(apart)));
  return where(isSame, 1, part.div(where(isSame, 1, whole))) as Tensor;
}

/** The geometric mean of the precision and the recall of pairs; 0 where no pair is together in both. */
export function fowlkesMallows(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  const { both, foundAlone, targetsAlone } = pairsOf(contingency("metrics.fowlkesMallows", found, targets, options));
  const isNone = both.equal(0);
  const share = (alone: Tensor): Tensor => both.div(where(isNone, 1, both.add(alone))) as Tensor;
  return where(isNone, 0, share(foundAlone).sqrt().mul(share(targetsAlone).sqrt())) as Tensor;
}

/** The entropy of the shares of counts, in nats. */
function entropyOf(counts: Tensor): Tensor {
  const shares = counts.div(counts.sum());
  return shares
    .mul(where(shares.equal(0), 1, shares).log())
    .sum()
    .neg() as Tensor;
}

function informationOf(counts: Tensor): Tensor {
  const all = counts.sum();
  const expected = counts
    .sum({ axis: 1, keepDims: true })
    .mul(counts.sum({ axis: 0, keepDims: true }))
    .div(all);
  const isNone = counts.equal(0);
  const ratio = where(isNone, 1, counts).div(where(isNone, 1, expected));
  return counts.div(all).mul(ratio.log()).sum().maximum(0) as Tensor;
}

/** The mutual information of the groupings, in nats. */
export function mutualInfo(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  return informationOf(contingency("metrics.mutualInfo", found, targets, options));
}

/** Options of `normalizedMutualInfo` and `adjustedMutualInfo`. */
export interface MutualInfoOptions extends GroupingOptions {
  /** Which mean of the two entropies is the most there can be: "arithmetic" unless told. */
  readonly average?: "arithmetic" | "geometric" | "min" | "max";
}

function mostInformation(operation: string, counts: Tensor, average: MutualInfoOptions["average"]): Tensor {
  checkChoice(operation, "the option average", average, ["arithmetic", "geometric", "min", "max"]);
  const [a, b] = [entropyOf(counts.sum({ axis: 1 }) as Tensor), entropyOf(counts.sum({ axis: 0 }) as Tensor)];
  switch (average) {
    case "geometric":
      return a.mul(b).maximum(0).sqrt() as Tensor;
    case "min":
      return a.minimum(b) as Tensor;
    case "max":
      return a.maximum(b) as Tensor;
    default:
      return a.add(b).div(2) as Tensor;
  }
}

/** Whether both groupings have one group; then they are equal. */
const isOneGroup = (counts: Tensor): boolean => counts.shape[0] === 1 && counts.shape[1] === 1;

const one = (counts: Tensor): Tensor => counts.sum().mul(0).add(1) as Tensor;

/** The mutual information as a share of the mean entropy: 0 for independent groupings, 1 for equal ones. */
export function normalizedMutualInfo(found: Labels, targets: Labels, options: MutualInfoOptions = {}): Tensor {
  const operation = "metrics.normalizedMutualInfo";
  checkOptions(operation, options, { ...GROUPING, average: "text" });
  const { average, ...rest } = options;
  const counts = contingency(operation, found, targets, rest);
  if (isOneGroup(counts)) return one(counts);
  const information = informationOf(counts);
  // Between one group and several there is no information, and the least entropy is zero, too.
  const most = mostInformation(operation, counts, average).maximum(smallest(counts)) as Tensor;
  return information.div(most) as Tensor;
}

const smallest = ({ dtype }: Tensor): number => (dtype === "f64" ? 2 ** -52 : 2 ** -23);

/** The mutual information beyond chance, as a share of the mean entropy: 0 for groups by chance, 1 for equal groupings. */
export function adjustedMutualInfo(found: Labels, targets: Labels, options: MutualInfoOptions = {}): Tensor {
  const operation = "metrics.adjustedMutualInfo";
  checkOptions(operation, options, { ...GROUPING, average: "text" });
  const { average, ...rest } = options;
  const counts = contingency(operation, found, targets, rest);
  const [classes, groups] = counts.shape as [number, number];
  const samples = (x: Tensor): Float64Array => Float64Array.from(x.dataSync() as ArrayLike<number>);
  const rows = samples(counts.sum({ axis: 1 }) as Tensor);
  const columns = samples(counts.sum({ axis: 0 }) as Tensor);
  const all = rows.reduce((sum, each) => sum + each, 0);
  // One group on both sides, or a group for each sample on both: equal, and chance would be, too.
  if ((classes === 1 && groups === 1) || (classes === all && groups === all)) return one(counts);
  const expected = tensor(expectedInformation(rows, columns), { dtype: "f64", device: counts.device })
    .cast(counts.dtype)
    .reshape([]);
  const beyond = mostInformation(operation, counts, average).sub(expected) as Tensor;
  const least = smallest(counts);
  const divisor = where(beyond.less(0), beyond.minimum(-least), beyond.maximum(least));
  return informationOf(counts).sub(expected).div(divisor) as Tensor;
}

/** Homogeneity, completeness, and their harmonic mean. */
export interface HomogeneityCompletenessVMeasure {
  /** 1 where groups have samples of one class only. */
  readonly homogeneity: Tensor;
  /** 1 where the samples of a class are in one group. */
  readonly completeness: Tensor;
  readonly vMeasure: Tensor;
}

/** Options of `vMeasure` and `homogeneityCompletenessVMeasure`. */
export interface VMeasureOptions extends GroupingOptions {
  /** How much more completeness counts than homogeneity: 1 unless told. */
  readonly beta?: number;
}

/** All three at once. */
export function homogeneityCompletenessVMeasure(
  found: Labels,
  targets: Labels,
  options: VMeasureOptions = {},
): HomogeneityCompletenessVMeasure {
  return measures("metrics.homogeneityCompletenessVMeasure", found, targets, options);
}

/** The share of the entropy of the classes that the groups explain; 1 where groups have samples of one class only. */
export function homogeneity(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  checkOptions("metrics.homogeneity", options, GROUPING);
  return measures("metrics.homogeneity", found, targets, options).homogeneity;
}

/** The share of the entropy of the groups that the classes explain; 1 where the samples of a class are in one group. */
export function completeness(found: Labels, targets: Labels, options: GroupingOptions = {}): Tensor {
  checkOptions("metrics.completeness", options, GROUPING);
  return measures("metrics.completeness", found, targets, options).completeness;
}

/** The harmonic mean of homogeneity and completeness. */
export function vMeasure(found: Labels, targets: Labels, options: VMeasureOptions = {}): Tensor {
  return measures("metrics.vMeasure", found, targets, options).vMeasure;
}

function measures(
  operation: string,
  found: Labels,
  targets: Labels,
  options: VMeasureOptions,
): HomogeneityCompletenessVMeasure {
  checkOptions(operation, options, { ...GROUPING, beta: "number" });
  const { beta = 1, ...rest } = options;
  if (!(beta >= 0 && Number.isFinite(beta))) {
    throw new ArgumentError(`${operation}: beta is ${beta}; it is a number, zero or more.`);
  }
  const counts = contingency(operation, found, targets, rest);
  const information = informationOf(counts);
  const homogeneity = orPerfect(information, entropyOf(counts.sum({ axis: 1 }) as Tensor));
  const completeness = orPerfect(information, entropyOf(counts.sum({ axis: 0 }) as Tensor));
  const sum = homogeneity.mul(beta).add(completeness) as Tensor;
  const isNone = sum.equal(0);
  const mean = homogeneity
    .mul(completeness)
    .mul(1 + beta)
    .div(where(isNone, 1, sum));
  return { homogeneity, completeness, vMeasure: where(isNone, 0, mean) as Tensor };
}
