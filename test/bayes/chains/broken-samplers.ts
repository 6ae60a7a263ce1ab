/**
 * Samplers with a mistake in them, to see that the tests notice: trajectories of the real kernel with one part put wrong. Each
 * is a mistake that samplers have been shipped with.
 */
import { settingsOf } from "../../../src/bayes/chains/chain-settings.js";
import { NutsChains } from "../../../src/bayes/chains/nuts-chains.js";
import { filledOptions, type SampleOptions } from "../../../src/bayes/chains/options.js";
import { Sampler } from "../../../src/bayes/chains/sampler.js";
import { densityOf } from "../../../src/bayes/kernels/density.js";
import { NUTS, type Trajectories } from "../../../src/bayes/kernels/nuts/trajectories.js";
import { growSubtree, joinSubtree } from "../../../src/bayes/kernels/nuts/tree.js";
import type { SampledTarget } from "../../../src/bayes/target/target.js";

/** Points are weighed by the log density of the step before. */
export const withStaleDensity = (right: Trajectories): Trajectories => ({
  ...right,
  name: `${right.name} with a stale density`,
  addPoint(chain, { logp, hamiltonian }, ended) {
    const { k, ops, ints, reals } = chain;
    const before = ops.cell(chain.energy);
    const isFirst = k.compare("eq", ints.totalLeapfrogs.get(), ops.i(0));
    const stale = k.select(isFirst, logp, before.get());
    before.set(logp);
    const energy = ops.sub(ops.add(hamiltonian, logp), stale);
    right.addPoint(chain, { logp: stale, hamiltonian: energy, delta: ops.sub(reals.h0.get(), energy) }, ended);
  },
});

/** NUTS whose subtrees join the trajectory though they have turned. */
export const NUTS_WITH_TURNED_SUBTREES: Trajectories = {
  ...NUTS,
  name: "nuts with turned subtrees",
  addPoint(chain, energies, ended) {
    const { ops } = chain;
    const { isValid, hasTurned, isWhole } = growSubtree(chain, energies);
    ops.when(
      ops.not(isValid),
      () => ended.set(ops.i(1)),
      () => ops.when(isWhole, () => joinSubtree(chain, ended)),
    );
    ops.when(hasTurned, () => ended.set(ops.i(1)));
  },
};

/** A sampler with other trajectories than its options ask for, a thread for each chain. */
export function samplerWith(trajectories: Trajectories, posterior: SampledTarget, given: SampleOptions): Sampler {
  const options = filledOptions(given, posterior.dtype);
  const density = densityOf(posterior, options.dtype, options.device ?? posterior.device);
  const chains = new NutsChains(density, { ...settingsOf(options, density), lanes: 1, trajectories });
  return new Sampler({ posterior, options, density, chains });
}
