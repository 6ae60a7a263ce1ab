/**
 * A step of a method, as the loops over steps see it: a new state, an estimate of its error, and increments that weighted by powers
 * of the way through the step give the states between. Explicit and stiff methods are this, with other stages.
 */
import { type Tensor, where } from "../../tensor/index.js";

/** y′ = slope(t, y), of vectors; t is a scalar. */
export type System = (t: Tensor, y: Tensor) => Tensor;

/** A step that was tried. */
export interface Step {
  readonly next: Tensor;
  /** Increments of the stages, in the order of the rows of `dense`. */
  readonly increments: readonly Tensor[];
  /** The slope at the end; a method that does not make it leaves it to the loop. */
  readonly slope: Tensor | null;
}

export interface Method {
  readonly order: number;
  /** Powers of the step's error by which the next step is chosen: of this error, and of the one before (Söderlind 2002). */
  readonly control: readonly [number, number];
  /** Whether steps have an estimate of their error, and states between their ends. */
  readonly isAdaptive: boolean;
  step(system: System, t: Tensor, y: Tensor, h: Tensor, slope: Tensor): Step;
  /** The error of a step in units of what is allowed, a scalar. */
  errorOf(step: Step, allowed: Tensor): Tensor;
  /** For each increment its factors of θ, θ², …: the state at a share θ of the step is y + Σ increment·Σ factor·θᵏ. */
  readonly dense: readonly (readonly number[])[];
}

/** Σ factor·vector, without the zeros; null where all are. */
export function weighted(factors: readonly number[], vectors: readonly Tensor[]): Tensor | null {
  let sum: Tensor | null = null;
  factors.forEach((factor, i) => {
    if (factor === 0) return;
    const term = (factor === 1 ? vectors[i] : vectors[i].mul(factor)) as Tensor;
    sum = (sum === null ? term : sum.add(term)) as Tensor;
  });
  return sum;
}

/** The root of the mean square. */
export const rootMeanSquare = (x: Tensor): Tensor => x.square().mean().sqrt() as Tensor;

/** The states at shares [m] of a step, [m, n]. */
function statesWithin({ dense }: Method, y: Tensor, { increments }: Step, shares: Tensor): Tensor {
  const theta = shares.expandDims(1);
  let states: Tensor = y.expandDims(0) as Tensor;
  dense.forEach((factors, i) => {
    if (factors.length === 0) return;
    const weight = factors.reduceRight<Tensor | null>(
      (sum, factor) => (sum === null ? theta.mul(factor) : theta.mul(sum.add(factor))) as Tensor,
      null,
    );
    states = states.add((weight as Tensor).mul(increments[i].expandDims(0))) as Tensor;
  });
  return states;
}

/**
 * The states at those of the asked times that lie in a step, and 0 in the other rows: [m, n]. The last step has all that is left up to
 * the last time.
 */
export function statesAt(
  method: Method,
  { t, y, h, isLast }: { readonly t: Tensor; readonly y: Tensor; readonly h: Tensor; readonly isLast: Tensor },
  step: Step,
  times: Tensor,
): { readonly states: Tensor; readonly isInside: Tensor } {
  const isLeft = isLast.logicalAnd(times.lessEqual(times.at(-1)));
  const isInside = times.greater(t).logicalAnd(times.lessEqual(t.add(h)).logicalOr(isLeft)) as Tensor;
  const share = where(isInside, times.sub(t).div(h), 0) as Tensor;
  const states = where(isInside.expandDims(1), statesWithin(method, y, step, share), 0) as Tensor;
  return { states, isInside };
}
