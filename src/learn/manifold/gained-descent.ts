/**
 * Descent with momentum in which each number has a gain: it grows while the gradient keeps its direction, and shrinks when it turns
 * (delta-bar-delta; Jacobs 1988). `tsne` and `triMap` go down by it.
 */
import { full, type Tensor, where, zeros } from "../../tensor/index.js";

/** Samples on their way. All are columns, [components, samples]. */
export interface Descent {
  readonly places: Tensor;
  readonly moves: Tensor;
  readonly gains: Tensor;
}

/** How far a step goes. */
export interface Step {
  readonly momentum: number;
  readonly rate: number;
}

/** The next places, by the gradient there. */
export function stepped({ places, moves, gains }: Descent, gradient: Tensor, { momentum, rate }: Step): Descent {
  const isSteady = moves.mul(gradient).less(0);
  const nextGains = where(isSteady, gains.add(0.2), gains.mul(0.8)).maximum(0.01) as Tensor;
  const nextMoves = moves.mul(momentum).sub(gradient.mul(nextGains).mul(rate)) as Tensor;
  return { places: places.add(nextMoves) as Tensor, moves: nextMoves, gains: nextGains };
}

/** Samples that do not move yet. */
export const atRest = (places: Tensor): Descent => ({
  places,
  moves: zeros(places.shape, { device: places.device, dtype: places.dtype }) as Tensor,
  gains: full(places.shape, 1, { device: places.device, dtype: places.dtype }) as Tensor,
});
