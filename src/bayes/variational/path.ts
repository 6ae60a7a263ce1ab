/**
 * One path of Pathfinder (Zhang, Carpenter, Gelman and Vehtari 2022): L-BFGS climbs the log density from a starting point, and
 * at every place it comes to, the curvature seen so far makes a normal approximation. The one with the highest ELBO is
 * kept. Written for one path of one posterior; `pathfinder` maps it over many and compiles some iterations at a time.
 */
import type { Key } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { concat, type Tensor, tensor, where, zerosLike } from "../../tensor/index.js";
import { map } from "../../transforms/tree.js";
import { vmap } from "../../transforms/vmap.js";
import type { AnyPosterior } from "../approximation/setting.js";
import {
  type Factor,
  factorOf,
  forward,
  inverse,
  newtonStep,
  noSteps,
  rootOf,
  type Steps,
  updatedDiagonal,
} from "./inverse-hessian.js";

/** A normal approximation: its mean [dim], and the factor of its covariance. */
export interface Normal {
  readonly mean: Tensor;
  readonly factor: Factor;
  /**
   * The ELBO as its draws estimate it, and what it is at least but for luck: two standard errors less. Of the part inside the
   * support, where the density is 0 in places: the rest weighs nothing when draws are drawn again.
   */
  readonly elbo: Tensor;
  readonly atLeast: Tensor;
}

type MeanAndFactor = Pick<Normal, "mean" | "factor">;

/** The present point of a path. */
export interface Path {
  readonly point: Tensor;
  readonly value: Tensor;
  readonly gradient: Tensor;
  readonly history: Steps;
  readonly best: Normal;
  /** Steps in a row that led no higher; after three the path is at the top. */
  readonly idle: Tensor;
  /** Steps taken. */
  readonly length: Tensor;
}

export interface PathOptions {
  /** The number of steps that the curvature is estimated from. */
  readonly memory: number;
  /** Draws for each estimate of the ELBO. */
  readonly elboDraws: number;
}

/** Candidates of the line search, in whole quasi-Newton steps. The first steps know no scale and want small ones. */
const LENGTHS = Array.from({ length: 16 }, (_, i) => 4 ** (1 - i));

const IDLE = 3;

/** Of an approximation, the part that is inside the support, at least. With less, its draws would say little. */
const LEAST_INSIDE = 0.2;

/** Points of an approximation [n, dim] from standard numbers, and their log densities under it [n]. */
export function pointsOf(approximation: MeanAndFactor, standard: Tensor): [points: Tensor, logDensity: Tensor] {
  const { mean, factor } = approximation;
  const points = vmap((z: Tensor) => forward(factor, z))(standard).add(mean);
  return [points, standardLogDensity(approximation, standard)];
}

/** Log densities under an approximation [n] of any points [n, dim]. */
export function logDensitiesAt(approximation: MeanAndFactor, points: Tensor): Tensor {
  const { mean, factor } = approximation;
  return standardLogDensity(approximation, vmap((d: Tensor) => inverse(factor, d))(points.sub(mean)));
}

function standardLogDensity({ mean, factor }: MeanAndFactor, standard: Tensor): Tensor {
  const constant = (mean.size / 2) * Math.log(2 * Math.PI);
  return standard.square().sum({ axis: 1 }).mul(-0.5).sub(factor.logDeterminant).sub(constant);
}

/** Whether a path has come to the top. */
export const isDone = ({ idle }: Pick<Path, "idle">): Tensor<"bool"> => idle.greaterEqual(IDLE);

/** Starts at a point [dim]. */
export function beginPath(posterior: AnyPosterior, point: Tensor, { memory }: PathOptions): Path {
  const [value, gradient] = posterior.logDensityAndGrad(point);
  // The first step knows no scale: however steep the slope, it goes some way about as long as 1.
  const history = noSteps(point, memory, gradient.square().sum().sqrt().maximum(1).reciprocal());
  const none = zerosLike(value);
  const worst = none.add(Number.NEGATIVE_INFINITY);
  const best = { mean: point, factor: rootOf(history), elbo: worst, atLeast: worst };
  return {
    point,
    value,
    gradient,
    history,
    best,
    idle: where(value.isFinite(), 0, IDLE).cast(value.dtype),
    length: none,
  };
}

/** Looks at the approximation here, and takes a step. */
export function walk(posterior: AnyPosterior, path: Path, key: Key, { elboDraws }: PathOptions): Path {
  const { point, gradient, history } = path;
  const factor = factorOf(history);
  const line = lookedAlong(posterior, point, newtonStep(factor, gradient));
  const here = withElbo(posterior, { mean: highestInside(line, point), factor }, key, elboDraws);
  const next = {
    ...stepped(posterior, path, line),
    best: chosen(here.atLeast.greater(path.best.atLeast), here, path.best),
  };
  return chosen(isDone(path), path, next);
}

/** A quasi-Newton step, and the log density at some lengths of it; -Infinity where it is not finite. */
interface Line {
  readonly direction: Tensor;
  readonly lengths: Tensor;
  readonly values: Tensor;
}

/** Many lengths at once, since a device computes them as fast as one. */
function lookedAlong(posterior: AnyPosterior, point: Tensor, direction: Tensor): Line {
  const lengths = tensor(LENGTHS, { dtype: point.dtype, device: point.device });
  const values = vmap((length: Tensor) => posterior.logDensity(point.add(direction.mul(length))))(lengths);
  return { direction, lengths, values: known(values) };
}

const known = (value: Tensor): Tensor => where(value.isFinite(), value, Number.NEGATIVE_INFINITY);

/** The Newton point: the maximum of the normal approximation, or the farthest possible point on the way there. */
function highestInside({ direction, lengths, values }: Line, point: Tensor): Tensor {
  const inside = where(values.isFinite().logicalAnd(lengths.lessEqual(1)), lengths, 0);
  return point.add(direction.mul(inside.max()));
}

function withElbo(posterior: AnyPosterior, approximation: MeanAndFactor, key: Key, draws: number): Normal {
  const { mean } = approximation;
  const [points, own] = pointsOf(approximation, normal(key, [draws, mean.size], { dtype: mean.dtype }));
  const gaps = vmap((point: Tensor) => posterior.logDensity(point))(points).sub(own);
  const isInside = gaps.isFinite();
  const inside = isInside.cast(mean.dtype).sum();
  const share = inside.div(draws);
  const meanGap = where(isInside, gaps, 0).sum().div(inside);
  const variance = where(isInside, gaps.sub(meanGap), 0).square().sum().div(inside);
  // Cut off at the support, a normal density is higher inside by as much as it has outside.
  const elbo = meanGap.add(share.log());
  const error = variance.div(inside).add(share.neg().add(1).div(inside)).sqrt();
  const enough = (x: Tensor) => where(share.greaterEqual(LEAST_INSIDE), x, Number.NEGATIVE_INFINITY);
  return { ...approximation, elbo: enough(elbo), atLeast: enough(elbo.sub(error.mul(2))) };
}

/** The path one step on. */
function stepped(posterior: AnyPosterior, path: Path, line: Line): Omit<Path, "best"> {
  const { point, value, gradient, history, length, idle } = path;
  const rounding = EPSILON[point.dtype as keyof typeof EPSILON];
  const noise = value.abs().mul(4 * rounding);
  const reached = searched(posterior, path, line, noise);
  const s = reached.point.sub(point);
  const y = gradient.sub(reached.gradient);
  const isConcave = s.mul(y).sum().greater(y.square().sum().mul(rounding));
  const longer: Steps = {
    steps: pushed(history.steps, s),
    changes: pushed(history.changes, y),
    diagonal: updatedDiagonal(history.diagonal, s, y),
  };
  const rise = reached.value.sub(value);
  const next = {
    ...reached,
    history: chosen(isConcave, longer, history),
    length: length.add(1),
    idle: where(rise.greater(noise), 0, idle.add(1)),
  };
  // A step that falls by no more than rounding is taken: its slope is right where the values are not. One that falls further is
  // not.
  return chosen(rise.greaterEqual(noise.neg()), next, {
    point,
    value,
    gradient,
    history,
    length,
    idle: idle.add(IDLE),
  });
}

/** The rounding of a dtype. */
const EPSILON = { f32: 2 ** -23, f64: 2 ** -52 } as const;

/** Rows moved up by one, with another at the end. */
const pushed = (rows: Tensor, row: Tensor): Tensor => concat([rows.at("1:"), row.expandDims(0)]);

/** A point, with the log density and its gradient there. */
type PathPoint = Pick<Path, "point" | "value" | "gradient">;

/**
 * The line search: the best of the lengths, and then the place where the slope along the line vanishes, as it would if the
 * density were normal. That makes the curvature of a normal density exact after as many steps as it has dimensions. Neither
 * leaves the support, where the density is -Infinity.
 */
function searched(posterior: AnyPosterior, { point, gradient }: Path, line: Line, noise: Tensor): PathPoint {
  const { direction, lengths, values } = line;
  const at = (length: Tensor): PathPoint => {
    const there = point.add(direction.mul(length));
    const [value, slopes] = posterior.logDensityAndGrad(there);
    return { point: there, value: known(value), gradient: slopes };
  };
  // The longest of those that are as good as the best.
  const best = values.greaterEqual(values.max().sub(noise)).argmax();
  const length = lengths.take(best.reshape([1])).reshape([]);
  const coarse = at(length);

  const before = gradient.mul(direction).sum();
  const after = coarse.gradient.mul(direction).sum();
  const level = before.div(before.sub(after)).clip(1 / 8, 8);
  const fine = at(length.mul(where(before.greater(after), level, 1)));
  return chosen(fine.value.greaterEqual(coarse.value.sub(noise)), fine, coarse);
}

/** One of two trees, by a scalar. */
const chosen = <T>(condition: Tensor, whenTrue: T, whenFalse: T): T =>
  map((a: Tensor, b) => where(condition, a, b as Tensor), whenTrue, whenFalse) as T;
