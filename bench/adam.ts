/** Adam (Kingma & Ba 2015) written by hand, beside which that of `pumice/nn` is measured: parameters, gradients and moments in, new parameters and moments out. */
import { type Tensor, tree, zerosLike } from "../src/index.js";

/** Moving averages of the gradients and of their squares: trees like the parameters. */
export interface Moments<P> {
  readonly mean: P;
  readonly square: P;
}

const [MEAN_DECAY, SQUARE_DECAY, EPSILON] = [0.9, 0.999, 1e-8];

export function noMoments<P>(parameters: P): Moments<P> {
  const zeros = () => tree.map((x: Tensor) => zerosLike(x).realize(), parameters) as P;
  return { mean: zeros(), square: zeros() };
}

/** One step. `count` is the number of the step, from 1 on: early averages lean towards zero and are corrected. */
export function adam<P>(
  parameters: P,
  gradients: P,
  { mean, square }: Moments<P>,
  rate: Tensor,
  count: Tensor,
): [P, Moments<P>] {
  // 1 - decay^count, without the cancellation. Divisions by it are done here, once, and not for every parameter.
  const reached = (decay: number) => count.mul(Math.log(decay)).expm1().neg();
  const pace = rate.div(reached(MEAN_DECAY));
  const unbiased = reached(SQUARE_DECAY).reciprocal();
  const map = tree.map as (f: (...leaves: Tensor[]) => Tensor, ...trees: P[]) => P;
  const newMean = map((m, g) => m.mul(MEAN_DECAY).add(g.mul(1 - MEAN_DECAY)), mean, gradients);
  const newSquare = map((v, g) => v.mul(SQUARE_DECAY).add(g.square().mul(1 - SQUARE_DECAY)), square, gradients);
  const moved = map(
    (p, m, v) => p.sub(m.mul(pace).div(v.mul(unbiased).sqrt().add(EPSILON))),
    parameters,
    newMean,
    newSquare,
  );
  return [moved, { mean: newMean, square: newSquare }];
}
