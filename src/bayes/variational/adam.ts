/** Adam (Kingma and Ba 2015), uphill: the optimiser of `advi`. */
import { type Tensor, zeros, zerosLike } from "../../tensor/index.js";
import { map } from "../../transforms/tree.js";
import type { VariationalParameters } from "./families.js";

/** The state that the optimiser carries from step to step. */
export interface AdamState {
  readonly parameters: VariationalParameters;
  /** Running means of the gradient and of its square. */
  readonly first: VariationalParameters;
  readonly second: VariationalParameters;
  readonly count: Tensor;
}

const MEMORY = { first: 0.9, second: 0.99 } as const;

export function freshState(parameters: VariationalParameters): AdamState {
  const zero = map(zerosLike, parameters) as VariationalParameters;
  const { dtype, device } = parameters.mean;
  return { parameters, first: zero, second: zero, count: zeros([], { dtype, device }) };
}

/** The state after a step along the gradient. */
export function climbed(
  { parameters, first, second, count }: AdamState,
  gradient: VariationalParameters,
  rate: Tensor,
): AdamState {
  const step = count.add(1);
  const mixed = (old: VariationalParameters, fresh: VariationalParameters, memory: number) =>
    map((a, b) => a.mul(memory).add(b.mul(1 - memory)), old, fresh) as VariationalParameters;
  const mean = mixed(first, gradient, MEMORY.first);
  const square = mixed(second, map((x) => x.square(), gradient) as VariationalParameters, MEMORY.second);
  // Bias correction: the running means began at zero.
  const seen = (memory: number) => step.mul(Math.log(memory)).exp().neg().add(1);
  const change = (m: Tensor, v: Tensor) =>
    m
      .div(seen(MEMORY.first))
      .div(v.div(seen(MEMORY.second)).sqrt().add(1e-8))
      .mul(rate);
  return {
    parameters: map((x, m, v) => x.add(change(m, v)), parameters, mean, square) as VariationalParameters,
    first: mean,
    second: square,
    count: step,
  };
}
