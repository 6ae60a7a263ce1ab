/**
 * Scores of features one by one, with p values: how much of a feature the classes explain (F of an analysis of variance), how much of the
 * targets a feature explains (F of a correlation), and how far counts are from independence of the classes (χ²).
 */

import { ArgumentError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { membersOf } from "../core/members.js";
import { numberSamples, type Samples } from "../core/samples.js";
import { codesBeside, type Labels, type Numbers, numbersBeside } from "../core/targets.js";
import { chiSquareSf, fSf } from "../stats/tails.js";

/** A score for each feature, and how likely one as large is by chance. */
export interface FeatureScores {
  readonly scores: Float64Array;
  readonly pValues: Float64Array;
}

/** Labels as positions of classes, with their number. */
interface Classes {
  readonly codes: Tensor;
  readonly count: number;
}

const read = async (of: Tensor): Promise<Float64Array> => Float64Array.from((await of.data()) as ArrayLike<number>);

/** Scores with their p values, in doubles whatever the samples are. */
async function withValues(scores: Float64Array, values: (scores: Tensor) => Tensor): Promise<FeatureScores> {
  return { scores, pValues: await read(values(tensor(scores, { dtype: "f64", device: "cpu" }))) };
}

/** F of the variance between classes to that within them. A feature that is the same for all has the score NaN. */
export async function varianceScores(x: Tensor, { codes, count }: Classes): Promise<FeatureScores> {
  const samples = x.shape[0] as number;
  const centred = x.sub(x.mean({ axis: 0 })) as Tensor;
  const members = membersOf(x, codes, count, null);
  const means = members.matmul(centred).div(members.sum({ axis: 1 }).expandDims(1)) as Tensor;
  const within = await read(
    centred
      .sub(means.take(codes, { axis: 0 }))
      .square()
      .sum({ axis: 0 }) as Tensor,
  );
  const between = await read(
    means
      .square()
      .mul(members.sum({ axis: 1 }).expandDims(1))
      .sum({ axis: 0 }) as Tensor,
  );
  const [above, below] = [count - 1, samples - count];
  const scores = between.map((each, j) => each / above / ((within[j] as number) / below));
  return withValues(scores, (f) => fSf(f, above, below));
}

/** F of the correlation of each feature with the targets; 0 where one of them does not vary. */
export async function correlationScores(x: Tensor, y: Tensor): Promise<FeatureScores> {
  const samples = x.shape[0] as number;
  const [a, b] = [x.sub(x.mean({ axis: 0 })), y.sub(y.mean())] as [Tensor, Tensor];
  const size = a.square().sum({ axis: 0 }).sqrt().mul(b.square().sum().sqrt());
  const correlations = await read(b.matmul(a).div(size) as Tensor);
  const below = samples - 2;
  // A perfect correlation has the largest number for a score, as in scikit-learn.
  const scores = correlations.map((r) =>
    Number.isNaN(r) ? 0 : Math.min(Number.MAX_VALUE, (r * r * below) / Math.max(0, 1 - r * r)),
  );
  return withValues(scores, (f) => fSf(f, 1, below));
}

/** χ² of the sums of each feature by class to those that independence expects. Features are counts, zero or more. */
export async function countScores(operation: string, x: Tensor, { codes, count }: Classes): Promise<FeatureScores> {
  const least = Number(await x.min().item());
  if (least < 0) throw new ArgumentError(`${operation}: a sample is ${least}; χ² is of counts, zero or more.`);
  const members = membersOf(x, codes, count, null);
  const found = members.matmul(x) as Tensor;
  const expected = members
    .mean({ axis: 1 })
    .expandDims(1)
    .mul(x.sum({ axis: 0 }));
  const scores = await read(found.sub(expected).square().div(expected).sum({ axis: 0 }) as Tensor);
  return withValues(scores, (statistic) => chiSquareSf(statistic, count - 1));
}

/** The F value of the analysis of variance of each feature by class, with its p value. */
export async function fClassif(samples: Samples, labels: Labels): Promise<FeatureScores> {
  const { matrix } = numberSamples.read("fClassif", samples, {}, {});
  return varianceScores(matrix, await classesOf("fClassif", labels, matrix));
}

/** The F value of the correlation of each feature with the targets, with its p value. */
export async function fRegression(samples: Samples, targets: Numbers): Promise<FeatureScores> {
  const { matrix } = numberSamples.read("fRegression", samples, {}, {});
  return correlationScores(matrix, numbersBeside("fRegression", targets, matrix));
}

/** The χ² of each feature's counts by class, with its p value. */
export async function chi2(samples: Samples, labels: Labels): Promise<FeatureScores> {
  const { matrix } = numberSamples.read("chi2", samples, {}, {});
  return countScores("chi2", matrix, await classesOf("chi2", labels, matrix));
}

/** Labels by their classes; whole numbers are labels, too. */
export async function classesOf(operation: string, labels: Labels, x: Tensor): Promise<Classes> {
  const { codes, classes } = await codesBeside(operation, labels, x, undefined);
  if (classes.length > 1) return { codes, count: classes.length };
  throw new ArgumentError(
    `${operation}: all labels are ${String(classes[0])}; features tell two classes or more apart.`,
  );
}
