/** The number of threads that share a chain. */
import { ArgumentError, UnsupportedError } from "../../core/errors.js";
import type { ChainDensity } from "../kernels/density.js";

/** Threads that keep a multiprocessor busy, and lanes that a chain has at most and at least, if it has several. */
const BUSY_THREADS = 1024;
const MAX_LANES = 128;
const LEAST_LANES = 32;

/**
 * The threads that share a chain: one where the device has no lanes, where barriers are slow, for models that go step by step,
 * and where there are so many chains that they keep the device busy by themselves. Else as many as still have four observations
 * each, while the device has room; but a subgroup even for the smallest model. Chains that are threads of one subgroup wait for
 * each other in every branch one of them takes; with a subgroup to itself a chain goes its own way.
 */
export function lanesFor({ backend, longest, isForLanes }: ChainDensity, chains: number, isDense: boolean): number {
  const { maxLanes, hasSlowBarriers } = backend.abilities;
  if (maxLanes === 1 || hasSlowBarriers || !isForLanes || isDense) return 1;
  const room = BUSY_THREADS * backend.units;
  let lanes = MAX_LANES;
  while (lanes > LEAST_LANES && (lanes * 4 > longest || lanes * chains > room)) lanes /= 2;
  return lanes * chains > room ? 1 : lanes;
}

/** Throws where a chain cannot have as many lanes as it was told to. */
export function checkLanes(lanes: number | undefined, { backend }: ChainDensity, isDense: boolean): void {
  if (lanes === undefined || lanes === 1) return;
  if (backend.abilities.maxLanes === 1) {
    throw new ArgumentError(
      `sample: lanes is ${lanes}; on the CPU a chain has one thread. Leave lanes out, or give a Vulkan device.`,
    );
  }
  if (isDense) {
    throw new ArgumentError(`sample: lanes is ${lanes}; with a dense metric a chain has one thread. Leave lanes out.`);
  }
}

/** Tries one lane, and more where the loops of one thread would go more rounds than a software driver allows. */
export function withEnoughLanes<T>(make: (lanes: number) => T, lanes = 1): T {
  try {
    return make(lanes);
  } catch (error) {
    if (!(error instanceof UnsupportedError) || lanes === MAX_LANES) throw error;
    return withEnoughLanes(make, lanes === 1 ? LEAST_LANES : MAX_LANES);
  }
}
