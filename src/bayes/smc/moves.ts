/**
 * Moves of particles at a temperature: a few leapfrog steps of Hamiltonian dynamics, or a random walk. Both leave the
 * tempered density as it is, and both step in the shape of the cloud, whose covariance is factor·factorᵀ. All particles move
 * at once, each by itself; `smc` chooses a move and its step size.
 */
import { foldIn, type Key, split } from "../../random/key.js";
import { normal } from "../../random/normal.js";
import { uniform } from "../../random/uniform.js";
import { arange, type Tensor, where, zeros } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { map } from "../../transforms/tree.js";
import { type Bridge, type Particles, particlesAndGradients, particlesAt } from "./tempering.js";

/** The settings of a move. */
export interface Circumstances {
  readonly temperature: Tensor;
  /** Scales [dim], or a lower triangular matrix [dim, dim]. */
  readonly factor: Tensor;
  readonly stepSize: Tensor;
}

export interface Move {
  /** The acceptance that the step size is steered to. */
  readonly target: number;
  readonly firstStep: number;
  readonly longestStep: number;
  /** The particles after a move, and how many accepted it on average. */
  apply(
    bridge: Bridge,
    key: Key,
    particles: Particles,
    circumstances: Circumstances,
  ): readonly [particles: Particles, acceptance: Tensor];
}

/** factor·v and factorᵀ·v for every row of v. */
const shaped = (factor: Tensor, v: Tensor): Tensor => (factor.rank === 1 ? v.mul(factor) : v.matmul(factor.T));
const pulledBack = (factor: Tensor, v: Tensor): Tensor => (factor.rank === 1 ? v.mul(factor) : v.matmul(factor));

const logDensity = ({ start, change }: Particles, temperature: Tensor): Tensor => start.add(change.mul(temperature));

/** Each particle's proposal where it is accepted, else the particle; and the mean probability of that. */
function decided(key: Key, before: Particles, after: Particles, logRatio: Tensor): readonly [Particles, Tensor] {
  const possible = where(logRatio.isNaN(), Number.NEGATIVE_INFINITY, logRatio);
  const isAccepted = uniform(key, possible.shape, { dtype: possible.dtype }).log().less(possible);
  const chosen = map(
    (a: Tensor, b) => {
      return where(isAccepted.reshape([-1, ...a.shape.slice(1).map(() => 1)]), a, b as Tensor);
    },
    after,
    before,
  );
  return [chosen as Particles, possible.minimum(0).exp().mean()];
}

/**
 * Hamiltonian dynamics with fresh momenta. In the shape of the cloud a quarter of a turn is π/2 long: trajectories no
 * longer than that do not turn back. Steps differ by up to 20% between particles, so that none resonates. Nearly all must
 * be accepted: those that are not are the particles in narrow places, which would stay there unmoved.
 */
export function hamiltonian(leapfrogs: number): Move {
  const longestStep = Math.PI / 2 / leapfrogs;
  return {
    target: 0.95,
    firstStep: longestStep,
    longestStep,
    apply(bridge, key, particles, { temperature, factor, stepSize }) {
      const [momentumKey, stepKey, decisionKey] = split(key, 3);
      const { shape, dtype, device } = particles.points;
      const momenta = normal(momentumKey, shape, { dtype });
      const step = uniform(stepKey, [shape[0], 1], { dtype, low: 0.8, high: 1.2 }).mul(stepSize);
      const push = (gradients: Tensor) => pulledBack(factor, gradients).mul(step);
      const leap = (state: { particles: Particles; momenta: Tensor; gradients: Tensor }) => {
        const points = state.particles.points.add(shaped(factor, state.momenta).mul(step));
        const [there, gradients] = particlesAndGradients(bridge, points, temperature);
        return [{ particles: there, gradients, momenta: state.momenta.add(push(gradients)) }, null] as const;
      };
      const [, gradients] = particlesAndGradients(bridge, particles.points, temperature);
      // Momenta are half a step ahead along the way, and step back at the end.
      const ahead = { particles, gradients, momenta: momenta.add(push(gradients).mul(0.5)) };
      const [end] = scan(leap, ahead, arange(0, leapfrogs, 1, { dtype: "i32", device }));
      const last = end.momenta.sub(push(end.gradients).mul(0.5));
      const kinetic = (p: Tensor) => p.square().sum({ axis: 1 }).mul(0.5);
      const logRatio = logDensity(end.particles, temperature)
        .sub(kinetic(last))
        .sub(logDensity(particles, temperature).sub(kinetic(momenta)));
      return decided(decisionKey, particles, end.particles, logRatio);
    },
  };
}

/** Steps of a random walk, as many as it takes to get about. The first size is the best one for a normal density. */
export function randomWalk(dim: number): Move {
  const steps = Math.max(4, dim);
  return {
    target: 0.234,
    firstStep: 2.38 / Math.sqrt(dim),
    longestStep: 10 / Math.sqrt(dim),
    apply(bridge, key, particles, { temperature, factor, stepSize }) {
      const { shape, dtype, device } = particles.points;
      const step = ([now, sum]: readonly [Particles, Tensor], i: Tensor) => {
        const [jumpKey, decisionKey] = split(foldIn(key, i));
        const jumps = shaped(factor, normal(jumpKey, shape, { dtype })).mul(stepSize);
        const there = particlesAt(bridge, now.points.add(jumps));
        const logRatio = logDensity(there, temperature).sub(logDensity(now, temperature));
        const [next, acceptance] = decided(decisionKey, now, there, logRatio);
        return [[next, sum.add(acceptance)] as const, null] as const;
      };
      const begin = [particles, zeros([], { dtype, device })] as const;
      const [[end, sum]] = scan(step, begin, arange(0, steps, 1, { dtype: "i32", device }));
      return [end, sum.div(steps)];
    },
  };
}
