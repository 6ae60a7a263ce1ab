/**
 * The search of `advi`: steps of Adam up the ELBO, a hundred of them as one program on the device. The host looks at the ELBO
 * between such blocks, and halves the step size where it no longer rises.
 */
import { foldIn, type Key } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { arange, type Tensor, where } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { jit } from "../../transforms/jit.js";
import { map } from "../../transforms/tree.js";
import type { AnyPosterior } from "../approximation/setting.js";
import { densitiesAndGradients } from "../approximation/start.js";
import { meanOf, varianceOf } from "../diagnostics/chains.js";
import { type AdamState, climbed, freshState } from "./adam.js";
import type { AdviProgress } from "./advi.js";
import { logDensityAt, type VariationalFamily, type VariationalParameters } from "./families.js";
import type { Normal } from "./path.js";

/** Steps of a block. */
export const BLOCK = 100;
/** Halvings of the step size after which the ELBO counts as converged: down to 0.4% of the first. */
const HALVINGS = 8;

interface ClimbOptions {
  readonly gradientDraws: number;
  readonly stepSize: number;
  readonly tolerance: number;
  readonly maxIterations: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: AdviProgress) => void;
}

export interface Climb {
  /** The best parameters, and the ELBO there; -Infinity where it was finite nowhere. */
  readonly parameters: VariationalParameters;
  readonly elbo: number;
  readonly trace: readonly AdviProgress[];
  readonly ending: "converged" | "stopped" | "iterations";
}

export async function climbElbo(
  posterior: AnyPosterior,
  family: VariationalFamily,
  guess: Normal,
  key: Key,
  options: ClimbOptions,
): Promise<Climb> {
  const { stepSize, tolerance, maxIterations, signal } = options;
  const run = hundredSteps(posterior, family, guess, options.gradientDraws);
  let state = freshState(family.start(guess));
  let best = { elbo: Number.NEGATIVE_INFINITY, parameters: state.parameters };
  const trace: AdviProgress[] = [];
  let halvings = 0;
  while (halvings <= HALVINGS && (trace.length + 1) * BLOCK <= maxIterations && !signal?.aborted) {
    const rate = stepSize / 2 ** halvings;
    const block = run(foldIn(key, trace.length), state, rate);
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
  const ending = halvings > HALVINGS ? "converged" : signal?.aborted ? "stopped" : "iterations";
  return { ...best, trace, ending };
}

/** A hundred steps as one program: the state after them, the average of their parameters, and an ELBO estimate of each. */
function hundredSteps(posterior: AnyPosterior, family: VariationalFamily, guess: Normal, gradientDraws: number) {
  const evaluate = densitiesAndGradients(posterior);
  return jit((key: Key, start: AdamState, rate: Tensor) => {
    const { dtype, device } = start.parameters.mean;
    const step = (
      state: AdamState,
      i: Tensor,
    ): readonly [AdamState, { elbo: Tensor; parameters: VariationalParameters }] => {
      const { parameters } = state;
      const standard = normal(foldIn(key, i), [gradientDraws, posterior.dim], { dtype });
      const [density, gradients] = evaluate(family.toFree(guess, family.points(parameters, standard)));
      const logDensity = density.add(family.logDeterminant(guess));
      const slopes = family.pulledBack(guess, gradients);
      // Draws where the density is not finite say nothing of the way to go; the ELBO is that of the rest by itself.
      const isUsable = logDensity.isFinite();
      const gaps = where(isUsable, logDensity.sub(logDensityAt(parameters, standard)), 0);
      const finite = where(isUsable.expandDims(1).logicalAnd(slopes.isFinite()), slopes, 0);
      const next = climbed(state, family.gradient(parameters, standard, finite), rate);
      const usable = isUsable.cast(dtype).sum();
      return [next, { elbo: gaps.sum().div(usable).add(usable.div(gradientDraws).log()), parameters }];
    };
    const [state, { elbo, parameters }] = scan(step, start, arange(0, BLOCK, 1, { dtype: "i32", device }));
    return { state, elbo, average: map((x) => x.mean({ axis: 0 }), parameters) as VariationalParameters };
  });
}
