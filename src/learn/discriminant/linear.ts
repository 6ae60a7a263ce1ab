/**
 * The linear discriminant (Fisher 1936): classes are normal with one covariance, so that the borders between them are flat. It is learned by
 * two singular value decompositions, as by scikit-learn's `svd` solver: directions in which classes do not vary are masked, not
 * cut off, so that fits trace. With `shrinkage` the covariance of each class is drawn towards the identity first, as by its
 * `eigen` solver.
 */
import { ArgumentError, LinalgError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { eigh } from "../../linalg/eigh.js";
import { svd } from "../../linalg/svd.js";
import { cholesky, triangularSolve } from "../../linalg/triangular.js";
import { isTensor, stack, type Tensor, where, zeros } from "../../tensor/index.js";
import type { Data } from "../core/estimator.js";
import { membersOf, normalizedLogs } from "../core/members.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount, checkPriors, logPriorsOf } from "../core/settings.js";
import { classifier, decisionMethods, probabilityMethods, samplesFor } from "../core/sorts.js";
import { ledoitWolfShrinkage, shrunk } from "../covariance/covariance.js";

/** Options of `linearDiscriminantAnalysis`. */
export interface LinearDiscriminantOptions {
  /** Probabilities of the classes, in their order; their shares among the samples unless told. */
  readonly priors?: readonly number[];
  /** How far covariances are drawn to the identity, 0 to 1, or "auto" for Ledoit and Wolf's rule; not at all unless told. */
  readonly shrinkage?: number | "auto" | Tensor;
  /** The number of columns that `transform` gives: as many as there are, at most one less than classes, unless told. */
  readonly nComponents?: number;
  /** Directions whose spread is below this share count as none: 1e-4 unless told. */
  readonly tol?: number;
}

/** Scores are x · coefficients + intercept, [features, classes] and [classes]; `scalings`, [features, components], are the directions. */
export interface LinearDiscriminantLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  readonly means: Tensor;
  readonly logPriors: Tensor;
  readonly scalings: Tensor;
  /** Taken away before the scalings are applied. */
  readonly center: Tensor;
  readonly explainedVarianceRatio: Tensor;
  readonly [name: string]: Tensor;
}

type Classified = Data & { readonly y: Tensor; readonly classes: number };

const scores = ({ coefficients, intercept }: LinearDiscriminantLearned, x: Tensor): Tensor =>
  x.matmul(coefficients).add(intercept) as Tensor;

const methods = {
  ...probabilityMethods<LinearDiscriminantLearned, LinearDiscriminantOptions>((learned, x) =>
    normalizedLogs(scores(learned, x)),
  ),
  ...decisionMethods<LinearDiscriminantLearned, LinearDiscriminantOptions>(scores),
  /** Samples along the directions that part the classes best, [samples, components]. */
  transform(model: Fitted<LinearDiscriminantLearned, LinearDiscriminantOptions>, samples: Samples): Tensor {
    const { scalings, center } = model.learned;
    return samplesFor(model, "transform", samples).sub(center).matmul(scalings) as Tensor;
  },
};

/** Sums that both ways start from. */
interface Groups {
  readonly means: Tensor;
  readonly logPriors: Tensor;
  /** Probabilities of the classes. */
  readonly shares: Tensor;
  /** The mean of the classes' means. */
  readonly middle: Tensor;
  /** Samples less the mean of their class. */
  readonly within: Tensor;
  /** Weights by class, [classes, samples]. */
  readonly members: Tensor;
  readonly counts: Tensor;
}

function groups({ x, y, classes, weights }: Classified, priors: readonly number[] | undefined): Groups {
  const members = membersOf(x, y, classes, weights);
  const counts = members.sum({ axis: 1 }) as Tensor;
  const means = members.matmul(x).div(counts.expandDims(1)) as Tensor;
  const logPriors = logPriorsOf("linearDiscriminantAnalysis", priors, counts);
  const shares = logPriors.exp() as Tensor;
  const within = x.sub(means.take(y, { axis: 0 })) as Tensor;
  return { means, logPriors, shares, middle: shares.matmul(means) as Tensor, within, members, counts };
}

/** 1 / s where s is above a bound, else 0. */
const inverseAbove = (s: Tensor, bound: Tensor | number): Tensor => {
  const isKept = s.greater(bound);
  return where(isKept, where(isKept, s, 1).reciprocal(), 0) as Tensor;
};

function bySingularValues(data: Classified, options: LinearDiscriminantOptions, components: number) {
  const { x, classes, weights } = data;
  const { tol = 1e-4 } = options;
  const { means, logPriors, shares, middle, within } = groups(data, options.priors);
  const total = (weights ? weights.sum() : undefined) as Tensor | undefined;
  const samples = x.shape[0] as number;
  const rows = (weights ? within.mul(weights.sqrt().expandDims(1)) : within) as Tensor;
  const spread = rows
    .square()
    .sum({ axis: 0 })
    .div(total ?? samples)
    .sqrt();
  const std = where(spread.equal(0), 1, spread) as Tensor;
  // Rows of length 1/√(samples − classes): the squares of the singular values are variances within classes.
  const divisor = total ? total.sub(classes).sqrt() : Math.sqrt(samples - classes);
  const first = svd(rows.div(std).div(divisor) as Tensor);
  const whitening = first.vh.T.mul(inverseAbove(first.s as Tensor, tol)).div(std.expandDims(1)) as Tensor;
  const size = (total ? shares.mul(total) : shares.mul(samples)).div(Math.max(1, classes - 1));
  const between = means.sub(middle).mul(size.sqrt().expandDims(1)).matmul(whitening) as Tensor;
  const second = svd(between);
  const isKept = second.s.greater(second.s.at("0:1").mul(tol)).cast(x.dtype);
  const directions = whitening.matmul(second.vh.T.mul(isKept)) as Tensor;
  const placed = means.sub(middle).matmul(directions) as Tensor;
  const coefficients = directions.matmul(placed.T) as Tensor;
  const squares = second.s.square();
  return {
    coefficients,
    intercept: placed.square().sum({ axis: 1 }).mul(-0.5).add(logPriors).sub(middle.matmul(coefficients)) as Tensor,
    means,
    logPriors,
    scalings: directions.at(":", `:${components}`) as Tensor,
    center: middle,
    explainedVarianceRatio: squares.div(squares.sum()).at(`:${components}`) as Tensor,
  };
}

/** The covariance of samples with these shares, which have the sum 1, drawn to the identity; features of equal size for "auto". */
function shrunkOf(offset: Tensor, share: Tensor, count: Tensor, shrinkage: number | "auto" | Tensor): Tensor {
  const weighted = offset.mul(share.expandDims(1));
  const covariance = weighted.T.matmul(offset) as Tensor;
  if (shrinkage !== "auto") return shrunk(covariance, shrinkage);
  const spread = covariance.diagonal().sqrt();
  const scale = where(spread.equal(0), 1, spread) as Tensor;
  const unscaled = covariance.div(scale).div(scale.expandDims(1)) as Tensor;
  const fourth = offset.div(scale).square().sum({ axis: 1 }).square().mul(share).sum() as Tensor;
  return shrunk(unscaled, ledoitWolfShrinkage(fourth, unscaled, count))
    .mul(scale)
    .mul(scale.expandDims(1)) as Tensor;
}

function byShrunkCovariance(data: Classified, options: LinearDiscriminantOptions, components: number) {
  const { x, classes } = data;
  const shrinkage = options.shrinkage as number | "auto" | Tensor;
  const { means, logPriors, shares, within, members, counts } = groups(data, options.priors);
  const ofClass = (k: number): Tensor => {
    const count = counts.at(k) as Tensor;
    return shrunkOf(within, members.at(k).div(count) as Tensor, count, shrinkage).mul(shares.at(k)) as Tensor;
  };
  const inside = stack(Array.from({ length: classes }, (_, k) => ofClass(k))).sum({ axis: 0 }) as Tensor;
  const weight = members.sum({ axis: 0 });
  const all = weight.sum() as Tensor;
  const share = weight.div(all) as Tensor;
  const offset = x.sub(share.matmul(x)) as Tensor;
  const between = shrunkOf(offset, share, all, shrinkage).sub(inside) as Tensor;
  // The generalised problem between·v = λ inside·v, by the Cholesky factor of `inside`.
  const factor = cholesky(inside) as Tensor;
  // What is left of a feature's variance beside those before it; the rounding where the matrix is singular.
  const left = factor.diagonal().square().div(inside.diagonal()).min();
  const isSingular = left.greater((x.shape[1] as number) * (x.dtype === "f64" ? 2 ** -52 : 2 ** -23)).logicalNot();
  const half = triangularSolve(factor, between) as Tensor;
  const { eigenvalues: values, eigenvectors: vectors } = eigh(triangularSolve(factor, half.T as Tensor) as Tensor);
  const directions = triangularSolve(factor, vectors.flip(1) as Tensor, { transposed: true }) as Tensor;
  const coefficients = where(isSingular, Number.NaN, directions.matmul(means.matmul(directions).T)) as Tensor;
  const falling = values.flip(0);
  return {
    coefficients,
    intercept: means.mul(coefficients.T).sum({ axis: 1 }).mul(-0.5).add(logPriors) as Tensor,
    means,
    logPriors,
    scalings: directions.at(":", `:${components}`) as Tensor,
    center: zeros([x.shape[1] as number], { device: x.device, dtype: x.dtype }) as Tensor,
    explainedVarianceRatio: falling.div(values.sum()).at(`:${components}`) as Tensor,
  };
}

/** Normal classes of one covariance: flat borders, and directions that part the classes best. */
export const linearDiscriminantAnalysis = classifier<
  LinearDiscriminantLearned,
  LinearDiscriminantOptions,
  typeof methods
>({
  kind: "linearDiscriminantAnalysis",
  options: { priors: "list", shrinkage: "any", nComponents: "number", tol: "number" },
  check({ priors, shrinkage, tol = 1e-4 }) {
    checkPriors("linearDiscriminantAnalysis", priors);
    checkAmount("linearDiscriminantAnalysis", "tol", tol);
    if (shrinkage === undefined || shrinkage === "auto" || isTensor(shrinkage)) return;
    if (typeof shrinkage === "number" && shrinkage >= 0 && shrinkage <= 1) return;
    throw new ArgumentError(
      `linearDiscriminantAnalysis: shrinkage is ${shown(shrinkage)}; it is a number from 0 to 1, or "auto".`,
    );
  },
  learn(data, options) {
    const { x, classes } = data;
    const [samples, features] = x.shape as [number, number];
    checkClasses("linearDiscriminantAnalysis", samples, classes);
    const most = Math.min(classes - 1, features);
    const { nComponents = most } = options;
    if (!Number.isSafeInteger(nComponents) || nComponents < 1 || nComponents > most) {
      throw new ArgumentError(
        `linearDiscriminantAnalysis.fit: nComponents is ${nComponents}; with ${classes} classes and ${features} features it is from 1 to ${most}.`,
      );
    }
    return options.shrinkage === undefined
      ? bySingularValues(data, options, nComponents)
      : byShrunkCovariance(data, options, nComponents);
  },
  async checkLearned(operation, { coefficients }) {
    if (await coefficients.isFinite().all().item()) return;
    throw new LinalgError(
      `${operation}: the shrunk covariance of the classes is singular. Classes of few samples get no shrinkage from "auto"; ` +
        "give it as a number, such as 0.1.",
    );
  },
  scores,
  methods,
});

/** Throws where classes cannot be told from one another. */
export function checkClasses(kind: string, samples: number, classes: number): void {
  if (classes < 2) throw new ArgumentError(`${kind}.fit: there is one class alone; two at least can be told apart.`);
  if (samples > classes) return;
  throw new ArgumentError(
    `${kind}.fit: there are ${samples} samples of ${classes} classes; there must be more samples.`,
  );
}
