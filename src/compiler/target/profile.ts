/**
 * What is good on a target: how far the scheduler fuses, how rows are shared out, which tiles products take. The backends
 * start from one of these two and put in what they know of their device.
 */

import type { TileProfile } from "./tile-profile.js";

export interface TargetProfile {
  /** Lanes that may share a row; 1 on the CPU. */
  readonly maxLanes: number;
  /** What kernels that read vectors expect memory to be aligned to, in bytes; 1 where vectors may lie anywhere. */
  readonly alignment: number;
  /** Neighbours that are moved at once, and steps of the lanes of a row that are under way together. */
  readonly width: number;
  readonly unroll: number;
  /** The same for numbers of 64 bits. */
  readonly unrollWide: number;
  /** Elements a thread may hold at once. */
  readonly held: number;
  /** Bytes of values that a thread with a row to itself keeps rather than compute them again; 0: none. */
  readonly kept: number;
  /** How rows are shared out where each is reduced by one thread, across memory: lanes that have a row each, and turns. */
  readonly across: { readonly lanes: number; readonly turns: number } | null;
  /** Rows below which a reduction is not worth fusing into the kernel that uses it. */
  readonly minRows: number;
  /** Nodes in one kernel, at most, and statements that they take. */
  readonly maxNodes: number;
  readonly maxStatements: number;
  /** Tensors that a kernel loads from, at most, where it can be helped: beyond that drivers take long to compile it. */
  readonly maxLoads: number;
  /** Buffers of a kernel with several results, at most. */
  readonly maxBuffers: number;
  /** Kernels that need nothing of each other run at the same time. */
  readonly isConcurrent: boolean;
  /** The host waits long for what it reads: rounds of a loop that may end are sent off before that is known. */
  readonly runsAhead: boolean;
  /** When to do a reduction in two steps. */
  readonly split: SplitProfile;
  /** How products of matrices are computed. */
  readonly tiles: TileProfile;
  /** How rows are sorted. */
  readonly sort: SortProfile;
}

/** When a reduction is done in two steps (rewrite/split-reductions.ts). */
export interface SplitProfile {
  /** Threads that are wanted at work. */
  readonly parallelism: number;
  /** Threads that share a result when the axis lies along memory. */
  readonly lanes: number;
  /** Elements a thread should have at least. */
  readonly leastPerThread: number;
  /** Below this many elements to a result, the second step costs more than the first gains. */
  readonly leastExtent: number;
}

export interface SortProfile {
  /** The length from which on rows are sorted digit by digit; shorter ones are merged. */
  readonly digitsFrom: number;
  /** Lanes that share a tile: 1, or as many as there are digits. */
  readonly lanes: number;
  /** Shared memory of a workgroup. */
  readonly sharedBytes: number;
}

export const gpuProfile: TargetProfile = {
  maxLanes: 256,
  alignment: 16,
  width: 4,
  unroll: 2,
  unrollWide: 2,
  held: 16,
  kept: 0,
  across: null,
  minRows: 64,
  maxNodes: 400,
  maxLoads: 32,
  // A software driver takes 0.1 ms over each. Few programs come near: 40 divisions do, or 45 sines.
  maxStatements: 8000,
  // As many addresses as fit the push block.
  maxBuffers: 14,
  isConcurrent: true,
  runsAhead: true,
  split: { parallelism: 131072, lanes: 256, leastPerThread: 32, leastExtent: 512 },
  // What Vulkan guarantees; a device that offers more has a profile of its own.
  tiles: { kind: "shared", sharedBytes: 16384, maxLanes: 128, units: 64 },
  // On an H200 a single row of 4096 takes as long either way, many of them a quarter of the time.
  sort: { digitsFrom: 4096, lanes: 256, sharedBytes: 16384 },
};
export const cpuProfile: TargetProfile = {
  maxLanes: 1,
  alignment: 1,
  width: 1,
  // Four rounds, or rows, are done at once by the emitter, but only of 32 bits.
  unroll: 1,
  unrollWide: 4,
  held: 4,
  // A part of the second-level cache, four rows at once included.
  kept: 1 << 16,
  // Two cache lines.
  across: { lanes: 4, turns: 8 },
  minRows: 4,
  maxNodes: 400,
  maxLoads: 32,
  maxStatements: 8000,
  maxBuffers: 32,
  isConcurrent: false,
  runsAhead: false,
  split: { parallelism: 32, lanes: 1, leastPerThread: 32768, leastExtent: 65536 },
  tiles: { kind: "panels", sharedBytes: 0, maxLanes: 4, units: 1 },
  sort: { digitsFrom: 512, lanes: 1, sharedBytes: 0 },
};
