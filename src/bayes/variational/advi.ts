/**
 * Automatic differentiation variational inference (Kucukelbir, Tran, Ranganath, Gelman and Blei 2017): the normal
 * distribution of free numbers that is closest to the posterior, found by maximising a lower bound of the evidence, the
 * ELBO. A path of Pathfinder leads to a first guess; from there, a hundred steps of the optimiser are one program on the
 * device, and the host looks at the ELBO between them.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { foldIn, type Key, split } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { arange, concat, type Tensor, tensor, where, zeros, zerosLike } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { jit } from "../../transforms/jit.js";
import { map } from "../../transforms/tree.js";
import { Approximation } from "../approximation/approximation.js";
import { logRatios, shownWeighing, tailProblem, type Weighing, weighingOf } from "../approximation/importance.js";
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
import { meanOf, varianceOf } from "../diagnostics/chains.js";
import type { Problem } from "../diagnostics/check.js";
import { smoothWeights } from "../diagnostics/pareto.js";
import type { Chains, Draws } from "../draws.js";
import type { FreeNumbers } from "../free-numbers.js";
import { impossibleAt } from "../model/impossible.js";
import { type Family, families, logDensityOf, type Parameters } from "./families.js";
import type { Normal } from "./path.js";
import { followedPaths } from "./pathfinder.js";

export interface AdviProgress {
  readonly iteration: number;
  /** The mean of the last hundred estimates. */
  readonly elbo: number;
  readonly stepSize: number;
}

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

const BLOCK = 100;
/** How often the step size is halved before the ELBO counts as converged: down to 0.4% of the first. */
const HALVINGS = 8;
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
  const { tolerance = 1e-5, stepSize = 0.1, signal } = options;
  if (!(tolerance >= 0)) throw new ArgumentError(`advi: tolerance is ${tolerance}; it is a number from 0 on.`);
  if (!(stepSize > 0)) throw new ArgumentError(`advi: stepSize is ${stepSize}; it is a positive number.`);
  const count = checkCount(options.draws ?? 1000, 1, "advi: draws");
  const maxIterations = checkCount(options.maxIterations ?? 20_000, BLOCK, "advi: maxIterations");
  const gradientDraws = checkCount(options.gradientDraws ?? 16, 1, "advi: gradientDraws");
  const family = families[options.family ?? "mean-field"];
  const setting = settingOf(posterior, options);
  const [startKey, stepKey, drawKey] = split(setting.key, 3);

  const guess = await firstGuess(posterior, { ...setting, key: startKey }, options);
  const run = hundredSteps(posterior, family, guess, gradientDraws);
  let state = freshState(family.start(guess));
  let best = { elbo: Number.NEGATIVE_INFINITY, parameters: state.parameters };
  const trace: AdviProgress[] = [];
  let halvings = 0;
  while (halvings <= HALVINGS && (trace.length + 1) * BLOCK <= maxIterations && !signal?.aborted) {
    const rate = stepSize / 2 ** halvings;
    const block = run(foldIn(stepKey, trace.length), state, rate);
    const estimates = Float64Array.from((await block.elbo.data()) as ArrayLike<number>);
    const elbo = meanOf(estimates);
    trace.push({ iteration: (trace.length + 1) * BLOCK, elbo, stepSize: rate });
    options.onProgress?.(trace[trace.length - 1]);

    const noise = 2 * Math.sqrt(varianceOf(estimates) / BLOCK);
    const rise = elbo - best.elbo;
    // Later places, of smaller steps, are the better ones unless the ELBO tells.
    if (rise > -noise) best = { elbo: Math.max(elbo, best.elbo), parameters: block.average };
    if (rise > Math.max(tolerance * Math.abs(elbo), noise)) {
      state = block.state;
    } else {
      // Steps this large only jump around the best place, or away from it: go on from there with smaller ones.
      state = freshState(best.parameters);
      halvings++;
    }
  }
  if (trace.length > 0 && best.elbo === Number.NEGATIVE_INFINITY) {
    const culprits = (await impossibleAt(posterior, guess.mean)).join(", ");
    throw new ArgumentError(
      `advi: the log density is not finite around the starting point, whatever the step size${culprits && `: ${culprits}`}; ` +
        "say where to start.",
    );
  }

  const drawn = await drawnInside(posterior, family, guess, best.parameters, { count, key: drawKey, setting });
  const gaps = logRatios(drawn.target, drawn.own);
  const { logWeights, k } = smoothWeights(gaps);
  return new AdviFit(await namedDraws(posterior, drawn.points, drawn.target), {
    family: options.family ?? "mean-field",
    mean: drawn.mean,
    scale: drawn.scale,
    // Cut off at the support, a normal density is higher inside by as much as it has outside.
    elbo: meanOf(gaps) + Math.log(drawn.inside),
    elboError: Math.sqrt((varianceOf(gaps) + (1 - drawn.inside) / drawn.inside) / count),
    inside: drawn.inside,
    trace,
    logWeights,
    weighing: weighingOf(gaps, k),
    ending: halvings > HALVINGS ? "converged" : signal?.aborted ? "stopped" : "iterations",
  });
}

interface Drawn {
  /** [count, dim], all of them possible. */
  readonly points: Tensor;
  /** Log densities under the posterior and the normal distribution. */
  readonly target: Float64Array;
  readonly own: Float64Array;
  readonly mean: Tensor;
  readonly scale: Tensor;
  /** The share of draws that were possible. */
  readonly inside: number;
}

/** Draws of the approximation. The few that are impossible are drawn again; where they are not few, there is none to speak of. */
async function drawnInside(
  posterior: AnyPosterior,
  family: Family,
  guess: Normal,
  parameters: Parameters,
  { count, key, setting }: { readonly count: number; readonly key: Key; readonly setting: Setting },
): Promise<Drawn> {
  const draw = jit((key: Key, parameters: Parameters) => {
    const standard = normal(key, [count, posterior.dim], { dtype: setting.dtype });
    const points = family.placed(guess, family.points(parameters, standard));
    const [logDensity] = densitiesAndGradients(posterior)(points);
    const logApproximation = logDensityOf(parameters, standard).sub(family.logDeterminant(guess));
    const mean = family.placed(guess, parameters.mean.expandDims(0)).at(0);
    return { points, logDensity, logApproximation, mean, scale: family.scale(guess, parameters) };
  });
  const first = draw(key, parameters);
  const { mean, scale } = first;
  const numbers = async (x: Tensor) => Float64Array.from((await x.data()) as ArrayLike<number>);
  const [target, own] = [await numbers(first.logDensity), await numbers(first.logApproximation)];
  const inside = insideOf(target);
  if (inside.length === count) return { points: first.points, target, own, mean, scale, inside: 1 };
  if (inside.length < (1 - MOST_OUTSIDE) * count) {
    const culprits = await blamed(posterior, first.points, target);
    throw new ArgumentError(
      `advi: ${(100 * (1 - inside.length / count)).toFixed(0)}% of the normal distribution that was found is impossible` +
        `${culprits && `: ${culprits}`}. It cannot end where the support does. ${BOUNDED_REMEDY}`,
    );
  }
  const more = draw(foldIn(key, 1), parameters);
  const [moreTarget, moreOwn] = [await numbers(more.logDensity), await numbers(more.logApproximation)];
  const kept = [...inside, ...insideOf(moreTarget).map((i) => count + i)].slice(0, count);
  return {
    points: concat([first.points, more.points]).take(tensor(kept, { dtype: "i32", device: setting.device }), {
      axis: 0,
    }),
    target: Float64Array.from(kept, (i) => (i < count ? target[i] : moreTarget[i - count])),
    own: Float64Array.from(kept, (i) => (i < count ? own[i] : moreOwn[i - count])),
    mean,
    scale,
    inside: inside.length / count,
  };
}

/** The best normal distribution along one path of Pathfinder. */
async function firstGuess(posterior: AnyPosterior, setting: Setting, options: AdviOptions): Promise<Normal> {
  const starts = options.start && givenPoints(options.start, [posterior.dim], setting, "advi: start").expandDims(0);
  const { best } = await followedPaths(posterior, setting, { paths: 1, starts, signal: options.signal });
  return map((x) => x.at(0), best) as Normal;
}

/** What the optimiser (Adam) carries from step to step. */
interface State {
  readonly parameters: Parameters;
  /** Running means of the gradient and of its square. */
  readonly first: Parameters;
  readonly second: Parameters;
  readonly count: Tensor;
}

const MEMORY = { first: 0.9, second: 0.99 } as const;

function freshState(parameters: Parameters): State {
  const zero = map(zerosLike, parameters) as Parameters;
  const { dtype, device } = parameters.mean;
  return { parameters, first: zero, second: zero, count: zeros([], { dtype, device }) };
}

/** A step of Adam uphill. */
function climbed({ parameters, first, second, count }: State, gradient: Parameters, rate: Tensor): State {
  const step = count.add(1);
  const mixed = (old: Parameters, fresh: Parameters, memory: number) =>
    map((a, b) => a.mul(memory).add(b.mul(1 - memory)), old, fresh) as Parameters;
  const mean = mixed(first, gradient, MEMORY.first);
  const square = mixed(second, map((x) => x.square(), gradient) as Parameters, MEMORY.second);
  // The means began at zero, which is made up for by what they have yet to forget of it.
  const seen = (memory: number) => step.mul(Math.log(memory)).exp().neg().add(1);
  const change = (m: Tensor, v: Tensor) =>
    m
      .div(seen(MEMORY.first))
      .div(v.div(seen(MEMORY.second)).sqrt().add(1e-8))
      .mul(rate);
  return {
    parameters: map((x, m, v) => x.add(change(m, v)), parameters, mean, square) as Parameters,
    first: mean,
    second: square,
    count: step,
  };
}

/** A hundred steps as one program: the state after them, the average of their parameters, and an ELBO estimate of each. */
function hundredSteps(posterior: AnyPosterior, family: Family, guess: Normal, gradientDraws: number) {
  const evaluate = densitiesAndGradients(posterior);
  return jit((key: Key, start: State, rate: Tensor) => {
    const { dtype, device } = start.parameters.mean;
    const step = (state: State, i: Tensor): readonly [State, { elbo: Tensor; parameters: Parameters }] => {
      const { parameters } = state;
      const standard = normal(foldIn(key, i), [gradientDraws, posterior.dim], { dtype });
      const [density, gradients] = evaluate(family.placed(guess, family.points(parameters, standard)));
      const logDensity = density.add(family.logDeterminant(guess));
      const slopes = family.pulledBack(guess, gradients);
      // Draws where the density is not finite say nothing of the way to go; the ELBO is that of the rest by itself.
      const isUsable = logDensity.isFinite();
      const gaps = where(isUsable, logDensity.sub(logDensityOf(parameters, standard)), 0);
      const kept = where(isUsable.expandDims(1).logicalAnd(slopes.isFinite()), slopes, 0);
      const next = climbed(state, family.gradient(parameters, standard, kept), rate);
      const usable = isUsable.cast(dtype).sum();
      return [next, { elbo: gaps.sum().div(usable).add(usable.div(gradientDraws).log()), parameters }];
    };
    const [state, { elbo, parameters }] = scan(step, start, arange(0, BLOCK, 1, { dtype: "i32", device }));
    return { state, elbo, average: map((x) => x.mean({ axis: 0 }), parameters) as Parameters };
  });
}

/** The result of `advi`. */
export class AdviFit extends Approximation {
  readonly family: keyof typeof families;
  /** The approximation in free numbers: u = mean + scale·ε, with ε standard normal. */
  readonly mean: Tensor;
  /** Scales [dim] of a mean-field fit, a factor of the covariance [dim, dim] of a full-rank one. */
  readonly scale: Tensor;
  /** The share of the normal distribution inside the support of the posterior, from which the draws are: at least 0.99. */
  readonly inside: number;
  /** The lower bound of the log evidence that was reached, estimated from the draws. */
  readonly elbo: number;
  /** The standard error of `elbo`. */
  readonly elboError: number;
  /** How the ELBO rose, hundred steps by hundred. */
  readonly trace: readonly AdviProgress[];
  /** Smoothed logarithms of the weights that correct the draws, which sum to 1. */
  readonly logWeights: Float64Array;
  private readonly weighing: Weighing;
  private readonly ending: "converged" | "stopped" | "iterations";

  /** @internal */
  constructor(
    draws: Draws,
    found: Omit<AdviFit, keyof Approximation | "hasConverged" | "paretoK"> & {
      readonly ending: AdviFit["ending"];
      readonly weighing: Weighing;
    },
  ) {
    super(draws);
    this.family = found.family;
    this.mean = found.mean;
    this.scale = found.scale;
    this.inside = found.inside;
    this.elbo = found.elbo;
    this.elboError = found.elboError;
    this.trace = found.trace;
    this.logWeights = found.logWeights;
    this.weighing = found.weighing;
    this.ending = found.ending;
  }

  /** The shape of the tail of the weights: above 0.7 the approximation is far from the posterior, if they are not nearly equal. */
  get paretoK(): number {
    return this.weighing.paretoK;
  }

  get hasConverged(): boolean {
    return this.ending === "converged";
  }

  protected effectiveDraws({ draws }: Chains): number {
    return draws;
  }

  protected doubts(): readonly Problem[] {
    const mayCorrelate = this.family === "mean-field" && this.mean.size > 1;
    const tail = tailProblem(
      this.weighing,
      (mayCorrelate ? 'Correlations are not in it: try { family: "full-rank" }, a' : "A") +
        " model with variables non-centred or on other scales, Pathfinder, or sample.",
    );
    return [...this.unfinished(), ...(tail ? [tail] : [])];
  }

  private unfinished(): Problem[] {
    if (this.hasConverged) return [];
    const iterations = this.trace.length * BLOCK;
    const wasStopped = this.ending === "stopped";
    return [
      {
        kind: wasStopped ? "stopped" : "elbo",
        severity: "warning",
        message: `The ELBO was still rising after ${iterations} steps${wasStopped ? ", when the run was stopped" : ""}.`,
        remedy: wasStopped ? "Let it run to the end." : "Raise maxIterations, or standardise the data.",
        variables: [],
      },
    ];
  }

  protected praise(): string {
    return `the ELBO converged to ${this.elbo.toFixed(2)}, ${shownWeighing(this.weighing)}`;
  }
}
