/**
 * Sequential minimal optimisation, as LIBSVM does it (Fan, Chen & Lin 2005): ½ αᵀQα + pᵀα is minimised under 0 ≤ α ≤ c and a fixed yᵀα, two
 * variables at a time. The first violates optimality most, the second promises the largest gain by second-order terms. Q_tu is
 * y_t · y_u · K_tu; several variables may belong to one sample, as the two sides of a tube do. Machines with ν fix Σα of both signs, too: pairs
 * are of one sign then (Chang & Lin 2001).
 *
 * A round costs a few passes over the samples and waits for the round before, so it runs on the host, in doubles; the device
 * computes the kernel's rows.
 */
import { UnsupportedError } from "../../core/errors.js";
import type { KernelRows } from "./kernel-rows.js";

interface DualProblem {
  /** 1 or -1 for each variable. A variable t belongs to sample t modulo the number of samples. */
  readonly signs: Int8Array;
  readonly linear: Float64Array;
  /** The largest value of each variable. */
  readonly limits: Float64Array;
  /** Where the search starts; zero unless told. */
  readonly start?: Float64Array;
  /** Whether the sum of the variables of each sign stays what it is at the start. */
  readonly keepsSums?: boolean;
}

export interface DualSolution {
  /** Σ y α of each sample: its weight in decisions. */
  readonly weights: Float64Array;
  /** Σ weight · similarity at each sample. */
  readonly pull: Float64Array;
  /** Decisions are Σ weight · similarity less this. */
  readonly rho: number;
  /** Half of what thresholds of both signs differ by, where each has its own: ρ of machines with ν; else 0. */
  readonly margin: number;
  readonly iterations: number;
  readonly objective: number;
}

/** What stands for a curvature of zero, as for samples that stand twice. */
const LEAST_CURVATURE = 1e-12;

/** The minimum to a violation of `tol`. */
export async function dualMinimum(
  operation: string,
  rows: KernelRows,
  problem: DualProblem,
  { tol, maxIter }: { readonly tol: number; readonly maxIter: number },
): Promise<DualSolution> {
  const state = await startOf(rows, problem);
  const { alpha, pull } = state;
  const { count } = rows;
  const diagonal = await rows.diagonal();
  const signs = signsOf(problem);
  let iterations = 0;
  for (; ; iterations++) {
    const [violating, firstRows]: [number[], ArrayLike<number>[]] = [[], []];
    for (const sign of signs) {
      const first = mostViolating(problem, state, sign);
      if (first < 0) continue;
      violating.push(first);
      firstRows.push(rows.known(first % count) ?? (await rows.fetch(first % count)));
    }
    const pair = bestPair(problem, state, violating, firstRows, diagonal, tol);
    if (!pair) break;
    const { first, second, row } = pair;
    if (iterations >= maxIter) {
      throw new UnsupportedError(
        `${operation}: no solution within ${maxIter} rounds; scale the samples, lower c, or raise tol or maxIter.`,
      );
    }
    const [a, b] = [first % count, second % count];
    const other = rows.known(b) ?? (await rows.fetch(b));
    const curvature = Math.max(
      LEAST_CURVATURE,
      (diagonal[a] as number) + (diagonal[b] as number) - 2 * (row[b] as number),
    );
    const step = stepOf(problem, state, first, second, curvature);
    for (let i = 0; i < count; i++) {
      pull[i] = (pull[i] as number) + step * ((row[i] as number) - (other[i] as number));
    }
  }
  const weights = weightsOf(problem, alpha, count);
  const [upper, lower] = signs.map((sign) => thresholdOf(problem, state, sign)) as [number, number?];
  const [rho, margin] = lower === undefined ? [upper, 0] : [(upper + lower) / 2, (upper - lower) / 2];
  return { weights, pull, rho, margin, iterations, objective: objectiveOf(problem, state, weights) };
}

/** The signs of variables that pairs are looked for among; 0 stands for all of them. */
const signsOf = ({ keepsSums = false }: DualProblem): readonly Sign[] => (keepsSums ? [1, -1] : [0]);

type Sign = 1 | -1 | 0;

/** The pair to be moved, with the row of its first variable; null where no pair violates optimality by `tol`. */
function bestPair(
  problem: DualProblem,
  state: State,
  violating: readonly number[],
  rows: readonly ArrayLike<number>[],
  diagonal: Float64Array,
  tol: number,
) {
  let [best, second, most, violation] = [-1, -1, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [place, first] of violating.entries()) {
    const partner = bestPartner(problem, state, first, rows[place] as ArrayLike<number>, diagonal);
    violation = Math.max(violation, partner.violation);
    if (partner.second >= 0 && partner.gain >= most) [best, second, most] = [place, partner.second, partner.gain];
  }
  if (best < 0 || violation < tol) return null;
  return { first: violating[best] as number, second, row: rows[best] as ArrayLike<number> };
}

interface State {
  readonly alpha: Float64Array;
  /** Σ weight · similarity at each sample. */
  readonly pull: Float64Array;
}

const weightsOf = ({ signs }: DualProblem, alpha: Float64Array, count: number): Float64Array => {
  const weights = new Float64Array(count);
  for (let t = 0; t < alpha.length; t++) {
    weights[t % count] = (weights[t % count] as number) + (signs[t] as number) * (alpha[t] as number);
  }
  return weights;
};

async function startOf(rows: KernelRows, problem: DualProblem): Promise<State> {
  const { count } = rows;
  const pull = new Float64Array(count);
  const alpha = problem.start ?? new Float64Array(problem.signs.length);
  const weights = weightsOf(problem, alpha, count);
  for (let u = 0; u < count; u++) {
    const weight = weights[u] as number;
    if (weight === 0) continue;
    const row = rows.known(u) ?? (await rows.fetch(u));
    for (let i = 0; i < count; i++) pull[i] = (pull[i] as number) + weight * (row[i] as number);
  }
  return { alpha, pull };
}

/** y times the slope of the objective by variable t. */
const slopeAt = ({ signs, linear }: DualProblem, { pull }: State, t: number): number =>
  (pull[t % pull.length] as number) + (signs[t] as number) * (linear[t] as number);

/** Whether the weight of a variable's sample may grow (1) or shrink (-1). */
const mayMove = ({ signs, limits }: DualProblem, { alpha }: State, t: number, way: 1 | -1): boolean =>
  signs[t] === way ? (alpha[t] as number) < (limits[t] as number) : (alpha[t] as number) > 0;

const isOfSign = ({ signs }: DualProblem, t: number, sign: Sign): boolean => sign === 0 || signs[t] === sign;

/** The variable whose weight gains most by growing; -1 where none may. */
function mostViolating(problem: DualProblem, state: State, sign: Sign): number {
  let [best, least] = [-1, Number.POSITIVE_INFINITY];
  for (let t = 0; t < state.alpha.length; t++) {
    if (!isOfSign(problem, t, sign) || !mayMove(problem, state, t, 1)) continue;
    const slope = slopeAt(problem, state, t);
    if (slope <= least) [best, least] = [t, slope];
  }
  return best;
}

/** The variable whose weight shrinks as that of `first` grows, with the largest gain; and by how much a pair violates optimality, at most. */
function bestPartner(
  problem: DualProblem,
  state: State,
  first: number,
  row: ArrayLike<number>,
  diagonal: Float64Array,
) {
  const count = diagonal.length;
  const sign = problem.keepsSums ? (problem.signs[first] as Sign) : 0;
  const low = slopeAt(problem, state, first);
  const own = diagonal[first % count] as number;
  let [best, gain, worst] = [-1, 0, Number.NEGATIVE_INFINITY];
  for (let t = 0; t < state.alpha.length; t++) {
    if (!isOfSign(problem, t, sign) || !mayMove(problem, state, t, -1)) continue;
    const slope = slopeAt(problem, state, t);
    worst = Math.max(worst, slope);
    const difference = slope - low;
    if (difference <= 0) continue;
    const i = t % count;
    const curvature = Math.max(LEAST_CURVATURE, own + (diagonal[i] as number) - 2 * (row[i] as number));
    const found = (difference * difference) / curvature;
    if (found >= gain) [best, gain] = [t, found];
  }
  return { second: best, gain, violation: worst - low };
}

/** Moves both variables to the minimum between them, or to the first limit on the way; gives the change of the first weight. */
function stepOf(problem: DualProblem, state: State, first: number, second: number, curvature: number): number {
  const { signs, limits } = problem;
  const { alpha } = state;
  const wanted = (slopeAt(problem, state, second) - slopeAt(problem, state, first)) / curvature;
  const room = (t: number, isUp: boolean): number =>
    isUp ? (limits[t] as number) - (alpha[t] as number) : (alpha[t] as number);
  const [isUp, isOtherUp] = [signs[first] === 1, signs[second] === -1];
  const [ownRoom, otherRoom] = [room(first, isUp), room(second, isOtherUp)];
  const step = Math.min(wanted, ownRoom, otherRoom);
  // A limit that is met is met exactly: variables there are told from free ones by equality.
  const move = (t: number, up: boolean, isLimit: boolean): void => {
    alpha[t] = isLimit ? (up ? (limits[t] as number) : 0) : (alpha[t] as number) + (up ? step : -step);
  };
  move(first, isUp, step === ownRoom);
  move(second, isOtherUp, step === otherRoom);
  return step;
}

/** The mean slope of the free variables, else the middle of what the others allow. */
function thresholdOf(problem: DualProblem, state: State, sign: Sign): number {
  let [sum, free, least, most] = [0, 0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let t = 0; t < state.alpha.length; t++) {
    if (problem.limits[t] === 0 || !isOfSign(problem, t, sign)) continue;
    const slope = slopeAt(problem, state, t);
    const [grows, shrinks] = [mayMove(problem, state, t, 1), mayMove(problem, state, t, -1)];
    if (grows && shrinks) {
      sum += slope;
      free++;
    } else if (grows) most = Math.min(most, slope);
    else least = Math.max(least, slope);
  }
  if (free > 0) return sum / free;
  if (!Number.isFinite(most)) return Number.isFinite(least) ? least : 0;
  return Number.isFinite(least) ? (least + most) / 2 : most;
}

function objectiveOf({ linear }: DualProblem, { alpha, pull }: State, weights: Float64Array): number {
  let value = 0;
  for (let i = 0; i < pull.length; i++) value += 0.5 * (weights[i] as number) * (pull[i] as number);
  for (let t = 0; t < alpha.length; t++) value += (linear[t] as number) * (alpha[t] as number);
  return value;
}
