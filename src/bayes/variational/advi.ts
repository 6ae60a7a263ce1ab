/**
 * Automatic differentiation variational inference (Kucukelbir, Tran, Ranganath, Gelman and Blei 2017): the normal
 * distribution of free numbers that is closest to the posterior, found by maximising a lower bound of the evidence, the
 * ELBO. A path of Pathfinder leads to a first guess, and the climb of elbo-climb.ts from there to the best.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { concat, type Tensor, tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { map } from "../../transforms/tree.js";
import { namedDraws } from "../approximation/named-draws.js";
import { BOUNDED_REMEDY, blamed, insideOf } from "../approximation/outside.js";
import {
  type AnyPosterior,
  type ApproximationOptions,
  checkCount,
  checkMethod,
  givenPoints,
  type Setting,
  settingOf,
} from "../approximation/setting.js";
import { densitiesAndGradients } from "../approximation/start.js";
import { type ApproximateDraws, readDraws, weightsOf } from "../approximation/weighed-draws.js";
import { meanOf, varianceOf } from "../diagnostics/chains.js";
import type { FreeNumbers } from "../target/free-numbers.js";
import { impossibleAt } from "../target/impossible.js";
import { AdviFit } from "./advi-fit.js";
import { BLOCK, climbElbo } from "./elbo-climb.js";
import { families, logDensityAt, type VariationalFamily, type VariationalParameters } from "./families.js";
import { followedPaths } from "./followed-paths.js";
import type { Normal } from "./path.js";

/** The progress of `advi`. */
export interface AdviProgress {
  readonly iteration: number;
  /** The mean of the last hundred estimates. */
  readonly elbo: number;
  readonly stepSize: number;
}

/** Options of `advi`. */
export interface AdviOptions extends ApproximationOptions<AdviProgress> {
  /** Draws of the approximation to return: 1000. */
  readonly draws?: number;
  /** Independent normal distributions ("mean-field", the default), or one with all correlations ("full-rank"). */
  readonly family?: keyof typeof families;
  /** Draws for each estimate of the gradient: 16. */
  readonly gradientDraws?: number;
  /** The optimiser's first step size: 0.1. It is halved whenever the ELBO no longer rises. */
  readonly stepSize?: number;
  /**
   * The ELBO rises as long as its mean over a hundred steps exceeds the best so far by more than this share of it, and by
   * more than two standard errors: 1e-5.
   */
  readonly tolerance?: number;
  /** Steps after which it stops in any case: 20,000. */
  readonly maxIterations?: number;
  /** Free numbers [dim] where the path to a first guess begins; random unless told. */
  readonly start?: FreeNumbers;
}

/** The part of the approximation that may be where the density is 0: so much is cut off, with more it is refused. */
const MOST_OUTSIDE = 0.01;

/** The normal approximation of a posterior that maximises the ELBO. */
export async function advi(posterior: AnyPosterior, options: AdviOptions = {}): Promise<AdviFit> {
  checkMethod("advi", posterior, options, {
    draws: "number",
    family: "any",
    gradientDraws: "number",
    stepSize: "number",
    tolerance: "number",
    maxIterations: "number",
    start: "any",
  });
  checkChoice("advi", "family", options.family, Object.keys(families));
  const { tolerance = 1e-5, stepSize = 0.1, family: name = "mean-field", signal, onProgress } = options;
  if (!(tolerance >= 0)) throw new ArgumentError(`advi: tolerance is ${tolerance}; it is a number from 0 on.`);
  if (!(stepSize > 0)) throw new ArgumentError(`advi: stepSize is ${stepSize}; it is a positive number.`);
  const count = checkCount(options.draws ?? 1000, 1, "advi: draws");
  const maxIterations = checkCount(options.maxIterations ?? 20_000, BLOCK, "advi: maxIterations");
  const gradientDraws = checkCount(options.gradientDraws ?? 16, 1, "advi: gradientDraws");
  const family = families[name];
  const setting = settingOf(posterior, options);
  const [startKey, stepKey, drawKey] = split(setting.key, 3);

  const guess = await firstGuess(posterior, { ...setting, key: startKey }, options);
  const climbing = { gradientDraws, stepSize, tolerance, maxIterations, signal, onProgress };
  const { parameters, elbo, trace, ending } = await climbElbo(posterior, family, guess, stepKey, climbing);
  if (trace.length > 0 && elbo === Number.NEGATIVE_INFINITY) throw await nowhereFinite(posterior, guess);

  const found = { family, guess, parameters };
  const { inside, mean, scale, ...drawn } = await drawnInside(posterior, found, { ...setting, key: drawKey }, count);
  const { ratios, logWeights, weighing } = weightsOf(drawn);
  return new AdviFit(await namedDraws(posterior, drawn.points, drawn.target), {
    family: name,
    mean,
    scale,
    inside,
    // Cut off at the support, a normal density is higher inside by as much as it has outside.
    elbo: meanOf(ratios) + Math.log(inside),
    elboError: Math.sqrt((varianceOf(ratios) + (1 - inside) / inside) / count),
    trace,
    logWeights,
    weighing,
    ending,
  });
}

async function nowhereFinite(posterior: AnyPosterior, guess: Normal): Promise<ArgumentError> {
  const culprits = (await impossibleAt(posterior, guess.mean)).join(", ");
  return new ArgumentError(
    `advi: the log density is not finite around the starting point, whatever the step size${culprits && `: ${culprits}`}; ` +
      "say where to start.",
  );
}

/** The best normal distribution along one path of Pathfinder. */
async function firstGuess(posterior: AnyPosterior, setting: Setting, options: AdviOptions): Promise<Normal> {
  const starts = options.start && givenPoints(options.start, [posterior.dim], setting, "advi: start").expandDims(0);
  const { best } = await followedPaths(posterior, setting, { paths: 1, starts, signal: options.signal });
  return map((x) => x.at(0), best) as Normal;
}

/** The normal distribution that was found, in the coordinates of a first guess. */
interface Found {
  readonly family: VariationalFamily;
  readonly guess: Normal;
  readonly parameters: VariationalParameters;
}

/** Draws of the approximation, all of them possible. */
interface DrawnInside extends ApproximateDraws {
  readonly mean: Tensor;
  readonly scale: Tensor;
  /** The share of draws that were possible. */
  readonly inside: number;
}

/** Draws of the approximation. The few that are impossible are drawn again; where they are not few, there is none to speak of. */
async function drawnInside(
  posterior: AnyPosterior,
  { family, guess, parameters }: Found,
  { key, dtype, device }: Setting,
  count: number,
): Promise<DrawnInside> {
  const draw = jit((key: Key, parameters: VariationalParameters) => {
    const standard = normal(key, [count, posterior.dim], { dtype });
    const points = family.toFree(guess, family.points(parameters, standard));
    const [target] = densitiesAndGradients(posterior)(points);
    const own = logDensityAt(parameters, standard).sub(family.logDeterminant(guess));
    const mean = family.toFree(guess, parameters.mean.expandDims(0)).at(0);
    return { points, target, own, mean, scale: family.scale(guess, parameters) };
  });
  const { mean, scale, ...drawn } = draw(key, parameters);
  const first = await readDraws(drawn);
  const inside = insideOf(first.target);
  if (inside.length === count) return { ...first, mean, scale, inside: 1 };
  if (inside.length < (1 - MOST_OUTSIDE) * count) {
    const culprits = await blamed(posterior, first.points, first.target);
    throw new ArgumentError(
      `advi: ${(100 * (1 - inside.length / count)).toFixed(0)}% of the normal distribution that was found is impossible` +
        `${culprits && `: ${culprits}`}. It cannot end where the support does. ${BOUNDED_REMEDY}`,
    );
  }
  const more = await readDraws(draw(foldIn(key, 1), parameters));
  const accepted = [...inside, ...insideOf(more.target).map((i) => count + i)].slice(0, count);
  const acceptedOf = (a: Float64Array, b: Float64Array) =>
    Float64Array.from(accepted, (i) => (i < count ? a[i] : b[i - count]));
  return {
    points: concat([first.points, more.points]).take(tensor(accepted, { dtype: "i32", device }), { axis: 0 }),
    target: acceptedOf(first.target, more.target),
    own: acceptedOf(first.own, more.own),
    mean,
    scale,
    inside: inside.length / count,
  };
}
