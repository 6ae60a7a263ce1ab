/**
 * Pathfinder: normal approximations found along the paths of an optimiser, several paths at once, and the draws of all of
 * them drawn again by importance so that paths that led to poor places do not count. `path.ts` has the mathematics of
 * one path; here paths are mapped, compiled and joined.
 */
import { ArgumentError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { permutation } from "../../random/permutation.js";
import { arange, eye, type Tensor, tensor, where } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { jit } from "../../transforms/jit.js";
import { map } from "../../transforms/tree.js";
import { vmap } from "../../transforms/vmap.js";
import { Approximation } from "../approximation/approximation.js";
import {
  effectiveCount,
  logRatios,
  shownWeighing,
  systematicPositions,
  tailProblem,
  type Weighing,
  weighingOf,
} from "../approximation/importance.js";
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
import { densitiesAndGradients, startingPoints } from "../approximation/start.js";
import type { Problem } from "../diagnostics/check.js";
import { smoothWeights } from "../diagnostics/pareto.js";
import type { Chains, Draws } from "../draws.js";
import type { FreeNumbers } from "../free-numbers.js";
import { beginPath, isDone, logDensitiesAt, type Normal, type Path, type PathOptions, pointsOf, walk } from "./path.js";

export interface PathfinderProgress {
  readonly iteration: number;
  /** Paths still on their way. */
  readonly active: number;
  /** The highest ELBO so far. */
  readonly elbo: number;
}

export interface PathfinderOptions extends ApproximationOptions<PathfinderProgress> {
  /** How many paths: 4. */
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

/** What became of one path. */
export interface FoundPath {
  /** Of its best approximation. */
  readonly elbo: number;
  /** Steps to the top, or until it was stopped. */
  readonly iterations: number;
  readonly hasArrived: boolean;
}

const BLOCK = 10;
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
  const kept = map((x) => x.take(isUsable, { axis: 0 }), best) as Normal;
  const drawn = await drawnFrom(posterior, kept, count, drawKey);
  const ratios = logRatios(drawn.target, drawn.own);
  const { logWeights, k } = smoothWeights(ratios);
  const { dtype, device } = setting;
  const inside = insideOf(drawn.target);
  let positions: Tensor<"i32">;
  if (resample || inside.length < count) {
    // What is impossible weighs nothing.
    const weights = resample ? logWeights.map(Math.exp) : drawn.target.map((lp) => (Number.isFinite(lp) ? 1 : 0));
    const shuffled = permutation(choiceKey, count);
    positions = systematicPositions(foldIn(choiceKey, 1), tensor(weights, { dtype, device }), count).take(shuffled);
  } else {
    const shuffled = permutation(choiceKey, inside.length).at(`:${count}`);
    positions = tensor(inside, { dtype: "i32", device }).take(shuffled);
  }
  const lp = Float64Array.from(await positions.data(), (position) => drawn.target[position]);
  const highest = usable.reduce((a, b) => (found[b].elbo > found[a].elbo ? b : a));
  return new PathfinderFit(await namedDraws(posterior, drawn.points.take(positions, { axis: 0 }), lp), {
    paths: found,
    mean: best.mean.at(highest),
    weighing: weighingOf(ratios, k),
    effective: Math.min(resample ? effectiveCount(logWeights) : inside.length, count),
    wasStopped: signal?.aborted === true,
  });
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

/** The best approximation of every path, and what became of it. `advi` starts at one, too. */
export async function followedPaths(
  posterior: AnyPosterior,
  setting: Setting,
  options: PathfinderOptions,
): Promise<{ readonly best: Normal; readonly found: readonly FoundPath[] }> {
  const { signal, onProgress } = options;
  const paths = checkCount(options.paths ?? 4, 1, "pathfinder: paths");
  const maxIterations = checkCount(options.maxIterations ?? 1000, BLOCK, "pathfinder: maxIterations");
  const pathOptions: PathOptions = {
    memory: checkCount(options.memory ?? 6, 1, "pathfinder: memory"),
    elboDraws: checkCount(options.elboDraws ?? 25, 1, "pathfinder: elboDraws"),
  };
  const [startKey, walkKey] = split(setting.key);
  const starts = options.starts
    ? givenPoints(options.starts, [paths, posterior.dim], setting, "pathfinder: starts")
    : await startingPoints(posterior, setting, startKey, paths);
  let state = jit(vmap((point: Tensor) => beginPath(posterior, point, pathOptions)))(starts);
  let found = await summarised(state);
  const run = someSteps(posterior, paths, pathOptions);
  // The first steps are taken in any case: without them there is nothing to return.
  for (let i = 0; i * BLOCK < maxIterations && !(signal?.aborted && i > 0); i++) {
    state = run(foldIn(walkKey, i), state);
    found = await summarised(state);
    const active = found.filter(({ hasArrived }) => !hasArrived).length;
    onProgress?.({ iteration: (i + 1) * BLOCK, active, elbo: Math.max(...found.map(({ elbo }) => elbo)) });
    if (active === 0) break;
  }
  return { best: state.best, found };
}

/** Some steps of every path as one program. */
function someSteps(posterior: AnyPosterior, paths: number, options: PathOptions) {
  return jit((key: Key, start: Path): Path => {
    const numbers = arange(0, paths, 1, { dtype: "i32", device: key.device });
    const step = (state: Path, i: Tensor): readonly [Path, null] => {
      const keys = foldIn(key, i);
      const each = vmap((path: Path, n: Tensor) => walk(posterior, path, foldIn(keys, n), options));
      return [each(state, numbers), null];
    };
    return scan(step, start, arange(0, BLOCK, 1, { dtype: "i32", device: key.device }))[0];
  });
}

async function summarised(path: Path): Promise<FoundPath[]> {
  const [elbos, lengths, done] = await Promise.all([path.best.elbo, path.length, isDone(path)].map((x) => x.data()));
  return Array.from(elbos as ArrayLike<number>, (elbo, i) => ({
    elbo,
    iterations: Number(lengths[i]),
    hasArrived: Boolean(done[i]),
  }));
}

interface Drawn {
  /** [paths × count, dim]. */
  readonly points: Tensor;
  /** Log densities under the posterior, and under the mixture of all approximations. */
  readonly target: Float64Array;
  readonly own: Float64Array;
}

/**
 * Draws of every path. They are weighed against the mixture of all paths: the paper weighs each against its own, which
 * counts a mode as often as paths end there.
 */
async function drawnFrom(posterior: AnyPosterior, best: Normal, count: number, key: Key): Promise<Drawn> {
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
  const { points, target, own } = draw(key, best);
  return {
    points,
    target: Float64Array.from((await target.data()) as ArrayLike<number>),
    own: Float64Array.from((await own.data()) as ArrayLike<number>),
  };
}

/** The result of `pathfinder`. */
export class PathfinderFit extends Approximation {
  readonly paths: readonly FoundPath[];
  /** The mean [dim], in free numbers, of the approximation with the highest ELBO: a good place to start. */
  readonly mean: Tensor;
  private readonly weighing: Weighing;
  private readonly effective: number;
  private readonly wasStopped: boolean;

  /** @internal */
  constructor(
    draws: Draws,
    found: {
      readonly paths: readonly FoundPath[];
      readonly mean: Tensor;
      readonly weighing: Weighing;
      readonly effective: number;
      readonly wasStopped: boolean;
    },
  ) {
    super(draws);
    this.paths = found.paths;
    this.mean = found.mean;
    this.weighing = found.weighing;
    this.effective = found.effective;
    this.wasStopped = found.wasStopped;
  }

  /**
   * The shape of the tail of the weights of all draws: above 0.7 the approximations are far from the posterior, if the weights
   * are not nearly equal.
   */
  get paretoK(): number {
    return this.weighing.paretoK;
  }

  /** The highest ELBO of a path: a lower bound of the log evidence. */
  get elbo(): number {
    return Math.max(...this.paths.map(({ elbo }) => elbo));
  }

  protected effectiveDraws(_: Chains): number {
    return this.effective;
  }

  protected doubts(): readonly Problem[] {
    const tail = tailProblem(
      this.weighing,
      "Run more paths; write hierarchical variables non-centred; or take a few of the draws as starting points and sample.",
    );
    return [...this.unfinished(), ...this.failures(), ...(tail ? [tail] : [])];
  }

  private unfinished(): Problem[] {
    const active = this.paths.filter(({ hasArrived }) => !hasArrived).length;
    if (active === 0) return [];
    return [
      {
        kind: this.wasStopped ? "stopped" : "paths",
        severity: "warning",
        message: `${active} of ${this.paths.length} paths had not come to a maximum when ${this.wasStopped ? "the run was stopped" : "their steps were used up"}.`,
        remedy: this.wasStopped ? "Let it run to the end." : "Raise maxIterations, or standardise the data.",
        variables: [],
      },
    ];
  }

  private failures(): Problem[] {
    const failed = this.paths.filter(({ elbo }) => !Number.isFinite(elbo)).length;
    if (failed === 0) return [];
    return [
      {
        kind: "paths",
        severity: "warning",
        message: `${failed} of ${this.paths.length} paths found no approximation with a finite ELBO.`,
        remedy: "Run more paths, or start them where the density is high.",
        variables: [],
      },
    ];
  }

  protected praise(): string {
    const count = this.paths.length;
    return `${count === 1 ? "the path" : `all ${count} paths`} came to a maximum, ${shownWeighing(this.weighing)}`;
  }
}
