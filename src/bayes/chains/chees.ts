/**
 * How the expected change in squared distance, the criterion of ChEES-HMC (Hoffman, Radul, Sountsov 2021), grows with the
 * length of trajectories. It is computed where the chains are: of the vectors of thousands of them, the host reads one number
 * for each draw of the warmup. `NutsChains` asks for it.
 */
import { type Tensor, where } from "../../tensor/tensor.js";
import { jit } from "../../transforms/jit.js";
import { INTS, REALS, VECTORS } from "./nuts-layout.js";

/** The last transition of every chain; vectors are [dim, chains]. */
export interface Transitions {
  readonly start: Tensor;
  readonly end: Tensor;
  /** At the end. */
  readonly velocity: Tensor;
  /** The chance of each end to be accepted, [chains]. */
  readonly acceptances: Tensor;
}

/** Less than any sum of chances that is not 0, but not 0 in f32. */
const LEAST = 1e-30;

/** The gradient of the criterion by the trajectories' time. */
export function cheesGradient({ start, end, velocity, acceptances }: Transitions): Tensor {
  const weights = acceptances.div(acceptances.sum().maximum(LEAST));
  // A divergent end may be anything, and weighs nothing.
  const known = (x: Tensor) => where(acceptances.greater(0), x, 0);
  const centre = known(end).mul(weights).sum({ axis: 1, keepDims: true });
  const after = known(end.sub(centre));
  const before = start.sub(start.mean({ axis: 1, keepDims: true }));
  const change = after.square().sub(before.square()).sum({ axis: 0 });
  const along = after.mul(known(velocity)).sum({ axis: 0 });
  return change.mul(along).mul(weights).sum();
}

/** The same from the chains' memory, which is [element, chain]. */
export const cheesGradientOf = jit((vectors: Tensor, metric: Tensor, reals: Tensor, ints: Tensor): Tensor => {
  const dim = vectors.shape[0] / VECTORS.length;
  const { dtype } = reals;
  const vector = (name: (typeof VECTORS)[number]) => {
    const first = VECTORS.indexOf(name) * dim;
    return vectors.at(`${first}:${first + dim}`).cast(dtype);
  };
  const sums = reals.at(REALS.indexOf("acceptance"));
  const leapfrogs = ints.at(INTS.indexOf("leapfrogs")).cast(dtype);
  return cheesGradient({
    start: vector("qLeft"),
    end: vector("q"),
    velocity: velocityOf(metric.cast(dtype), vector("p")),
    acceptances: sums.div(leapfrogs),
  });
});

/** Inverse masses, [dim, chains] or, with room behind them, [dim × dim + …, chains], times momenta. */
function velocityOf(metric: Tensor, momenta: Tensor): Tensor {
  const [dim, chains] = momenta.shape;
  if (metric.shape[0] === dim) return metric.mul(momenta);
  const matrices = metric.at(`:${dim * dim}`).reshape([dim, dim, chains]);
  return matrices.mul(momenta.expandDims(0)).sum({ axis: 1 });
}
