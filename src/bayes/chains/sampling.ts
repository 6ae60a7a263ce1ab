/**
 * A posterior with its chains on a device: what all parts of sampling work on. `Sampler` runs the chains; saving, predictions
 * and messages about failures are functions of this.
 */
import { type ChainDensity, densityOf } from "../kernels/density.js";
import type { SampledTarget } from "../target/target.js";
import { settingsOf } from "./chain-settings.js";
import { checkLanes, lanesFor, withEnoughLanes } from "./lanes.js";
import { NutsChains } from "./nuts-chains.js";
import { type FilledOptions, filledOptions, type SampleOptions } from "./options.js";

export interface Sampling {
  readonly posterior: SampledTarget;
  readonly options: FilledOptions;
  readonly density: ChainDensity;
  readonly chains: NutsChains;
}

export function samplingOf(posterior: SampledTarget, given: SampleOptions): Sampling {
  const options = filledOptions(given, posterior.dtype);
  const density = densityOf(posterior, options.dtype, options.device ?? posterior.device);
  const isDense = options.metric === "dense";
  checkLanes(options.lanes, density, isDense);
  const settings = settingsOf(options, density);
  const make = (lanes: number) => new NutsChains(density, { ...settings, lanes });
  const { hasSlowBarriers } = density.backend.abilities;
  // On devices with slow barriers a chain has one thread unless its loops are too long for one.
  const isFree = options.lanes === undefined && hasSlowBarriers && density.isForLanes && !isDense;
  const chains = isFree ? withEnoughLanes(make) : make(options.lanes ?? lanesFor(density, options.chains, isDense));
  return { posterior, options, density, chains };
}
