/**
 * The first half of a stage: the next temperature, the one at which the weights of the particles are worth a given share of
 * them (their effective sample size); particles drawn again by those weights; and the shape of the cloud they make.
 */
import { cholesky } from "../../linalg/triangular.js";
import type { Key } from "../../random/key.js";
import { type Tensor, where } from "../../tensor/index.js";
import { forLoop } from "../../transforms/control.js";
import { map } from "../../transforms/tree.js";
import { systematicPositions } from "../approximation/importance.js";
import { NOWHERE, type Particles } from "./tempering.js";

interface Reweighed {
  readonly particles: Particles;
  /** For each particle, which of the first ones it comes from. */
  readonly ancestors: Tensor;
  readonly temperature: Tensor;
  /** Of the cloud's covariance: scales [dim], or a lower triangular factor [dim, dim]. */
  readonly factor: Tensor;
  /** The logarithm of the mean weight: a ratio of evidences. */
  readonly logRatio: Tensor;
  /** The effective number of particles by the weights. */
  readonly effective: Tensor;
}

/** Halvings of the range of temperatures. */
const HALVINGS = 60;

export function reweighed(
  key: Key,
  particles: Particles,
  ancestors: Tensor,
  temperature: Tensor,
  options: { readonly share: number; readonly isDense: boolean },
): Reweighed {
  const { change } = particles;
  const highest = change.max();
  const below = change.sub(highest);
  const weightsAt = (rise: Tensor) => below.mul(rise).exp();
  const worth = (weights: Tensor) => weights.sum().square().div(weights.square().sum());
  // Impossible particles are lost at any temperature.
  const wanted = change.greater(NOWHERE).cast(change.dtype).sum().mul(options.share);

  const rest = temperature.neg().add(1);
  const { high } = forLoop(
    0,
    HALVINGS,
    (_, { low, high }) => {
      const middle = low.add(high).mul(0.5);
      const isEnough = worth(weightsAt(middle)).greaterEqual(wanted);
      return { low: where(isEnough, middle, low), high: where(isEnough, high, middle) };
    },
    { low: temperature.mul(0), high: rest },
  );
  const isLast = worth(weightsAt(rest)).greaterEqual(wanted);
  const rise = where(isLast, rest, high);
  const weights = weightsAt(rise);
  const mean = weights.mean();
  const shares = weights.div(weights.sum());
  const positions = systematicPositions(key, shares, shares.size);
  return {
    particles: map((x) => x.take(positions, { axis: 0 }), particles) as Particles,
    ancestors: ancestors.take(positions),
    temperature: where(isLast, 1, temperature.add(rise)),
    factor: cloudFactor(particles.points, shares, options.isDense),
    logRatio: highest.mul(rise).add(mean.log()),
    effective: worth(weights),
  };
}

/** A factor of the covariance of weighted points. */
function cloudFactor(points: Tensor, shares: Tensor, isDense: boolean): Tensor {
  const weights = shares.expandDims(1);
  const centred = points.sub(points.mul(weights).sum({ axis: 0 }));
  const scales = centred.square().mul(weights).sum({ axis: 0 }).sqrt().maximum(1e-12);
  if (!isDense) return scales;
  // Scales apart, so that it is as well conditioned as it can be; a little more on the diagonal keeps rounding from harm.
  const standard = centred.div(scales);
  const correlation = standard.mul(weights).T.matmul(standard);
  const ridge = points.dtype === "f64" ? 1e-8 : 1e-5;
  const factor = cholesky(correlation.add(correlation.diagonal().mul(ridge).diagonalMatrix()));
  const usable = where(factor.isFinite().all(), factor, correlation.diagonal().sqrt().diagonalMatrix());
  return usable.mul(scales.expandDims(1));
}
