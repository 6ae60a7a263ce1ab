/** Steps of explicit Runge–Kutta methods from their tableaus. */
import type { Tensor } from "../../tensor/index.js";
import { type Method, rootMeanSquare, type Step, weighted } from "./method.js";

/** An explicit method as numbers. Zeros at the ends of rows are left out. */
export interface Tableau {
  readonly order: number;
  /** Factors of the slopes before each stage but the first. The row of all weights, where there is one, gives the slope at the end. */
  readonly stages: readonly (readonly number[])[];
  /** The shares of the step at which those stages lie. */
  readonly times: readonly number[];
  readonly weights: readonly number[];
  /** Factors of the slopes in the errors: none, one, or DOP853's two, which are combined. */
  readonly errors: readonly (readonly number[])[];
  /** For each slope its factors of θ, θ², … in the continuous solution. */
  readonly dense: readonly (readonly number[])[];
}

export function explicitMethod({ order, stages, times, weights, errors, dense }: Tableau): Method {
  const count = weights.length;
  return {
    order,
    isAdaptive: errors.length > 0,
    // Gustafsson's factors; Hairer's for DOP853, which takes the error of one step alone.
    control: errors.length > 1 ? [1 / order, 0] : [0.7 / order, 0.4 / order],
    dense,
    step(system, t, y, h, slope): Step {
      const slopes = [slope];
      const from = (factors: readonly number[]): Tensor =>
        y.add((weighted(factors, slopes) as Tensor).mul(h)) as Tensor;
      const reach = (until: number) => {
        for (let i = slopes.length; i < until; i++) {
          slopes.push(system(t.add(h.mul(times[i - 1])) as Tensor, from(stages[i - 1])));
        }
      };
      reach(count);
      const next = from(weights);
      if (stages.length < count) return { next, increments: slopes, slope: null };
      const end = system(t.add(h) as Tensor, next);
      slopes.push(end);
      reach(stages.length + 1);
      return { next, increments: slopes.map((each) => each.mul(h) as Tensor), slope: end };
    },
    errorOf({ increments }, allowed) {
      const [fine, coarse] = errors.map((factors) =>
        rootMeanSquare((weighted(factors, increments) as Tensor).div(allowed) as Tensor),
      );
      if (coarse === undefined) return fine;
      const size = fine.square().add(coarse.square().mul(0.01)).sqrt();
      return fine.square().div(size.maximum(1e-30)) as Tensor;
    },
  };
}
