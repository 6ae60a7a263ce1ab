/**
 * Pathfinder: normal approximations found along the paths of an optimiser, several paths at once, and the draws of all of
 * them drawn again by importance so that paths that led to poor places do not count. `path.ts` has the mathematics of
 * one path, `followed-paths.ts` follows them; here their draws are joined.
 */
import { ArgumentError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { permutation } from "../../random/permutation.js";
import { eye, type Tensor, tensor, where } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import { map } from "../../transforms/tree.js";
import { vmap } from "../../transforms/vmap.js";
import { effectiveCount, systematicPositions } from "../approximation/importance.js";
import { namedDraws } from "../approximation/named-draws.js";
import { BOUNDED_REMEDY, blamed, insideOf } from "../approximation/outside.js";
import {
  type AnyPosterior,
  type ApproximationOptions,
  checkCount,
  checkMethod,
  type Setting,
  settingOf,
} from "../approximation/setting.js";
import { densitiesAndGradients } from "../approximation/start.js";
import { type ApproximateDraws, readDraws, weightsOf } from "../approximation/weighed-draws.js";
import type { FreeNumbers } from "../target/free-numbers.js";
import { followedPaths } from "./followed-paths.js";
import { logDensitiesAt, type Normal, pointsOf } from "./path.js";
import { PathfinderFit } from "./pathfinder-fit.js";

export interface PathfinderProgress {
  readonly iteration: number;
  /** Paths still on their way. */
  readonly active: number;
  /** The highest ELBO so far. */
  readonly elbo: number;
}

export interface PathfinderOptions extends ApproximationOptions<PathfinderProgress> {
  /** The number of paths: 4 unless told. */
  readonly paths?: number;
  /** Draws to return: 1000. As many are drawn from every path. */
  readonly draws?: number;
  /** Whether draws of all paths are drawn again by importance (true), or come from the paths in equal parts. */
  readonly resample?: boolean;
  /** Draws for each estimate of an ELBO: 25. */
  readonly elboDraws?: number;
  /** Steps that the curvature is made of: 6. */
  readonly memory?: number;
  /** Steps of a path at most: 1000. */
  readonly maxIterations?: number;
  /** Free numbers [paths, dim] to start at; random ones between -2 and 2 unless told. */
  readonly starts?: Tensor | readonly FreeNumbers[];
}

/** The outcome of one path. */
export interface FoundPath {
  /** Of its best approximation. */
  readonly elbo: number;
  /** Steps to the top, or until it was stopped. */
  readonly iterations: number;
  readonly hasArrived: boolean;
}

/** Draws of every path to find out why none is any good. */
const TRIED = 100;

/** Approximates a posterior by normal distributions along the paths of an optimiser. */
export async function pathfinder(posterior: AnyPosterior, options: PathfinderOptions = {}): Promise<PathfinderFit> {
  checkMethod("pathfinder", posterior, options, {
    paths: "number",
    draws: "number",
    resample: "flag",
    elboDraws: "number",
    memory: "number",
    maxIterations: "number",
    starts: "any",
  });
  const { signal, resample = true } = options;
  const count = checkCount(options.draws ?? 1000, 1, "pathfinder: draws");
  const setting = settingOf(posterior, options);
  const [pathKey, drawKey, choiceKey] = split(setting.key, 3);
  const { best, found } = await followedPaths(posterior, { ...setting, key: pathKey }, options);
  const usable = found.flatMap(({ elbo }, i) => (Number.isFinite(elbo) ? [i] : []));
  if (usable.length === 0) throw await nothingFound(posterior, best, drawKey, signal);

  const isUsable = tensor(usable, { dtype: "i32", device: setting.device });
  const normals = map((x) => x.take(isUsable, { axis: 0 }), best) as Normal;
  const drawn = await drawnFrom(posterior, normals, count, drawKey);
  const { logWeights, weighing } = weightsOf(drawn);
  const inside = insideOf(drawn.target);
  const positions = chosenPositions({ ...setting, key: choiceKey }, drawn.target, inside, logWeights, count, resample);
  const lp = Float64Array.from(await positions.data(), (position) => drawn.target[position]);
  const highest = usable.reduce((a, b) => (found[b].elbo > found[a].elbo ? b : a));
  return new PathfinderFit(await namedDraws(posterior, drawn.points.take(positions, { axis: 0 }), lp), {
    paths: found,
    mean: best.mean.at(highest),
    weighing,
    effective: Math.min(resample ? effectiveCount(logWeights) : inside.length, count),
    wasStopped: signal?.aborted === true,
  });
}

/** Positions of the draws to return: by weight, or, without importance, any of the possible ones. */
function chosenPositions(
  { key, dtype, device }: Setting,
  target: Float64Array,
  inside: readonly number[],
  logWeights: Float64Array,
  count: number,
  resample: boolean,
): Tensor<"i32"> {
  if (!resample && inside.length >= count) {
    const shuffled = permutation(key, inside.length).at(`:${count}`);
    return tensor(inside, { dtype: "i32", device }).take(shuffled);
  }
  // Impossible points weigh nothing.
  const weights = resample ? logWeights.map(Math.exp) : target.map((lp) => (Number.isFinite(lp) ? 1 : 0));
  const shuffled = permutation(key, count);
  return systematicPositions(foldIn(key, 1), tensor(weights, { dtype, device }), count).take(shuffled);
}

async function nothingFound(
  posterior: AnyPosterior,
  best: Normal,
  key: Key,
  signal: AbortSignal | undefined,
): Promise<ArgumentError> {
  const [paths] = best.mean.shape;
  const { points, target } = await drawnFrom(posterior, best, TRIED, key);
  const culprits = await blamed(posterior, points, target);
  return new ArgumentError(
    `pathfinder: no approximation was found on ${paths} path${paths === 1 ? "" : "s"}${signal?.aborted ? " before it was stopped" : ""}; ` +
      (culprits
        ? `near where they began, ${culprits}. ${BOUNDED_REMEDY} Or start further inside, with { starts }.`
        : signal?.aborted
          ? "let it run longer."
          : "the log density may have no maximum, or none near where they started."),
  );
}

/**
 * Draws of every path, [paths × count, dim]. They are weighed against the mixture of all paths: the paper weighs each against
 * its own, which counts a mode as often as paths end there.
 */
function drawnFrom(posterior: AnyPosterior, best: Normal, count: number, key: Key): Promise<ApproximateDraws> {
  const draw = jit((key: Key, best: Normal) => {
    const { shape, dtype, device } = best.mean;
    const [paths, dim] = shape;
    const standard = normal(key, [paths, count, dim], { dtype });
    const [points, own] = vmap(pointsOf)(best, standard);
    const flat = points.reshape([-1, dim]);
    const everywhere = vmap(logDensitiesAt, { in: [0, null] })(best, flat).reshape([paths, paths, count]);
    // Of its own draws each path knows the density exactly; of others it has to invert its factor.
    const isOwn = eye(paths, paths, { dtype: "bool", device }).expandDims(2);
    const all = where(isOwn, own.expandDims(0), everywhere);
    const mixture = all.logsumexp({ axis: 0 }).sub(Math.log(paths));
    const [target] = densitiesAndGradients(posterior)(flat);
    return { points: flat, target, own: mixture.flatten() };
  });
  return readDraws(draw(key, best));
}
