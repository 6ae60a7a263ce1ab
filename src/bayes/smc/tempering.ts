/**
 * The bridge that particles walk: from a distribution that can be drawn from to the posterior, by log densities
 * start + temperature·change with temperatures from 0 to 1. Where the prior can be drawn from it is the start, and the change
 * is the likelihood. Improper and constrained priors start from normal free numbers instead. `smc` calls this.
 */
import { UnsupportedError } from "../../core/errors.js";
import { foldIn, type Key } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { arange, type Tensor, where } from "../../tensor/index.js";
import { valueAndGrad } from "../../transforms/grad.js";
import { jit } from "../../transforms/jit.js";
import { vmap } from "../../transforms/vmap.js";
import type { AnyPosterior, Setting } from "../approximation/setting.js";

export interface Bridge {
  readonly from: "prior" | "normal";
  /** Points [particles, dim] of the start. */
  readonly points: Tensor;
  /** log densities at one point: of the start, and what the posterior adds to it. */
  parts(point: Tensor): Parts;
}

interface Parts {
  readonly start: Tensor;
  readonly change: Tensor;
}

/** The standard deviation of the normal start of unconstrained numbers. Stan draws its initial values from [-2, 2]. */
const NORMAL_SCALE = 2;

export function bridgeTo(posterior: AnyPosterior, { key, dtype, device }: Setting, particles: number): Bridge {
  try {
    const numbers = arange(0, particles, 1, { dtype: "i32", device });
    const draw = jit((key: Key, numbers: Tensor) =>
      vmap((i: Tensor) => posterior.priorDraw(foldIn(key, i), { dtype }))(numbers),
    );
    const points = draw(key, numbers);
    const parts = (point: Tensor) => {
      const { prior, likelihood } = posterior.densityParts(point);
      return { start: prior, change: likelihood };
    };
    return { from: "prior", points, parts };
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
  }
  const parts = (point: Tensor) => {
    const constant = posterior.dim * (Math.log(NORMAL_SCALE) + Math.log(2 * Math.PI) / 2);
    const start = point
      .square()
      .sum()
      .mul(-0.5 / NORMAL_SCALE ** 2)
      .sub(constant);
    return { start, change: posterior.logDensity(point).sub(start) };
  };
  return { from: "normal", points: normal(key, [particles, posterior.dim], { dtype }).mul(NORMAL_SCALE), parts };
}

/** Particles: where they are, [n, dim], and the parts of their log densities [n]. */
export interface Particles {
  readonly points: Tensor;
  readonly start: Tensor;
  readonly change: Tensor;
}

/** A log density so low that nothing goes there, but finite: products with a temperature of 0 stay numbers. */
export const NOWHERE = -1e30;

/** Points that are outside of the support, or where the density cannot be computed, count as impossible. */
const possible = (x: Tensor): Tensor => where(x.isFinite(), x, NOWHERE);

export function particlesAt({ parts }: Bridge, points: Tensor): Particles {
  const { start, change } = vmap(parts)(points);
  return { points, start: possible(start), change: possible(change) };
}

/** Particles, and the gradients [n, dim] of their log density at a temperature. */
export function particlesAndGradients(
  { parts }: Bridge,
  points: Tensor,
  temperature: Tensor,
): [particles: Particles, gradients: Tensor] {
  const tempered = valueAndGrad(
    (point: Tensor) => {
      const { start, change } = parts(point);
      return [start.add(change.mul(temperature)), { start, change }] as const;
    },
    { aux: true },
  );
  const each = vmap((point: Tensor) => {
    const [[, { start, change }], gradient] = tempered(point);
    return { start, change, gradient };
  });
  const { start, change, gradient } = each(points);
  return [{ points, start: possible(start), change: possible(change) }, where(gradient.isFinite(), gradient, 0)];
}
