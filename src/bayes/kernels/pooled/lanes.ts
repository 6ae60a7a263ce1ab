/** The number of lanes of the kernels of a pooled warmup. */
import type { Backend } from "../../../runtime/backend.js";

/** Lanes of the kernels that sum over chains, and of the one that factors a dense metric. Powers of two. */
export interface PooledLanes {
  readonly overChains: number;
  readonly root: number;
}

/** Lanes that every Vulkan device has in a workgroup. */
const MAX_LANES = 128;

/**
 * Lanes for loops that they share: as many as there is work for; where barriers are slow, as few as loops allow.
 * @internal for tests: lanes by device, without one
 */
export function pooledLanes(backend: Backend, items: number, roundsOfItem = 4): number {
  const { maxLanes, hasSlowBarriers } = backend.abilities;
  if (maxLanes === 1) return 1;
  const isEnough = (lanes: number) =>
    hasSlowBarriers ? (items / lanes) * roundsOfItem < backend.maxLoopRounds / 2 : lanes >= items;
  let lanes = 1;
  while (lanes < MAX_LANES && !isEnough(lanes)) lanes *= 2;
  return lanes;
}

export const lanesOfPooled = (
  backend: Backend,
  { chains, dim }: { readonly chains: number; readonly dim: number },
): PooledLanes => ({ overChains: pooledLanes(backend, chains), root: pooledLanes(backend, dim, dim * dim) });
