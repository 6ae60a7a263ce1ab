/**
 * Tuning parameters of a target: how far the scheduler fuses, how lanes share rows, which tiles products use. Each target
 * starts from one of these two and adds the facts of its device.
 */

import type { TileProfile } from "./tile-profile.js";

export interface TargetProfile {
  /** Lanes that may share a row; 1 on the CPU. */
  readonly maxLanes: number;
  /** Alignment of memory that vector loads require, in bytes; 1 where vectors may lie anywhere. */
  readonly alignment: number;
  /** Neighbouring elements of one load or store, and steps of a lane in one round of a loop. */
  readonly width: number;
  readonly unroll: number;
  /** The same for integers of 64 bits. */
  readonly unrollWide: number;
  /** Most elements of a row that a lane keeps in registers at once. */
  readonly elementsPerLane: number;
  /** Bytes in which a thread keeps values of its row that it would otherwise recompute; 0: none. */
  readonly rowCacheBytes: number;
  /** Rules for reductions along columns, with neighbouring rows side by side in memory; null: none. */
  readonly columnReduction: ColumnReductionProfile | null;
  /** Rows below which a reduction is not worth fusing into the kernel that uses it. */
  readonly minRows: number;
  /** Nodes in one kernel, at most, and statements that they take. */
  readonly maxNodes: number;
  readonly maxStatements: number;
  /** Statements of a thread that computes several neighbouring elements: more of them leave the instruction cache. */
  readonly maxWideStatements: number;
  /** Most tensors that a kernel should load from: with more, drivers take long to compile it. */
  readonly maxLoads: number;
  /** Buffers of a kernel with several results, at most. */
  readonly maxBuffers: number;
  /** Independent kernels run at the same time. */
  readonly isConcurrent: boolean;
  /** Reading back takes long: rounds of a while loop are submitted before its condition is known. */
  readonly runsAhead: boolean;
  /** Barriers cost more than lanes that share a row gain; false where a row has one lane. */
  readonly hasSlowBarriers: boolean;
  /** The device's own quotient is right within an ulp or two, and by zero as IEEE 754 says. */
  readonly hasNativeDivision: boolean;
  /** Rules for reductions in two steps. */
  readonly split: SplitProfile;
  /** Tiles of matrix products. */
  readonly tiles: TileProfile;
  /** Rules for sorting rows. */
  readonly sort: SortProfile;
  /** Bytes of a product that is kept whole although rows are only selected from it (rewrite/row-bands.ts). */
  readonly bandBytes: number;
  /** Rules for Fourier transforms. */
  readonly fft: FftProfile;
}

/** A thread takes `lanes` rows at a time, `turns` times. */
interface ColumnReductionProfile {
  readonly lanes: number;
  readonly turns: number;
  /** Statements after the reductions, of all turns. More are a kernel of their own, which is written once. */
  readonly maxStatements: number;
}

/** Rules for reductions in two steps (rewrite/split-reductions.ts). */
export interface SplitProfile {
  /** Threads that keep the device busy. */
  readonly parallelism: number;
  /** Threads that share a result when the axis lies along memory. */
  readonly lanes: number;
  /** Elements a thread should have at least. */
  readonly leastPerThread: number;
  /** Below this many elements to a result, the second step costs more than the first gains. */
  readonly leastExtent: number;
}

/** The limits of a device that Fourier transforms depend on (routines/fft/). */
interface FftProfile {
  /** The largest butterfly: its complex numbers are in registers. Long columns may have a larger one. */
  readonly largestRadix: number;
  /** The largest of f64, where it takes so many registers that others are better. */
  readonly largestOfDoubles?: number;
  readonly largestOfColumns: number;
  /** The longest row that is one pass of several: of longer ones a workgroup takes too few side by side. */
  readonly longestPass: number;
  /** Lanes of a workgroup that keep a multiprocessor busy, as many as suit transforms side by side, and the most. */
  readonly fewLanes: number;
  readonly lanesAcross: number;
  readonly manyLanes: number;
  /** Transforms side by side that fill lines of the cache, and complex numbers of f32 in a workgroup at most. */
  readonly columns: number;
  readonly mostNumbers: number;
}

export interface SortProfile {
  /** The length from which on rows are sorted digit by digit; shorter ones are merged. */
  readonly digitsFrom: number;
  /** Lanes that share a tile: 1, or as many as there are digits. */
  readonly lanes: number;
  /** Shared memory of a workgroup. */
  readonly sharedBytes: number;
  /**
   * Lanes of a subgroup, all that tell one another of a condition: then a digit takes one kernel (routines/radix-sweep.ts).
   * Left out where they cannot, or their number is not known.
   */
  readonly subgroupSize?: number;
  /** Looks of a workgroup for another's sums before it counts them itself. No target sets it: tests do. */
  readonly looks?: number;
  /** Elements of a lane, a multiple of four, for rows of many tiles. No target sets it: scripts that measure do. */
  readonly perLane?: number;
}

export const gpuProfile: TargetProfile = {
  maxLanes: 256,
  alignment: 16,
  width: 4,
  unroll: 2,
  unrollWide: 2,
  elementsPerLane: 16,
  rowCacheBytes: 0,
  columnReduction: null,
  minRows: 64,
  maxNodes: 400,
  maxLoads: 32,
  // A software driver takes 0.1 ms over each. Few programs come near: 40 divisions do, or 45 sines.
  maxStatements: 8000,
  // tanh(a b + c) sigmoid(d), four times, has 680 and runs at the speed of memory.
  maxWideStatements: 720,
  // As many addresses as fit the push block.
  maxBuffers: 14,
  isConcurrent: true,
  runsAhead: true,
  hasSlowBarriers: false,
  hasNativeDivision: true,
  split: { parallelism: 131072, lanes: 256, leastPerThread: 32, leastExtent: 512 },
  // The limits that Vulkan guarantees; a device that offers more gets its own values.
  tiles: { kind: "shared", sharedBytes: 16384, maxLanes: 128, units: 64 },
  // On an H200 a single row of 4096 takes as long either way; with many rows the radix sort takes a quarter of the time.
  sort: { digitsFrom: 4096, lanes: 256, sharedBytes: 16384 },
  bandBytes: 1 << 28,
  // On an H200. Small workgroups: one reads while another computes. 2^20 in three passes took 0.22 ms, in two 0.24.
  fft: {
    largestRadix: 16,
    largestOfColumns: 32,
    longestPass: 512,
    fewLanes: 32,
    lanesAcross: 128,
    manyLanes: 512,
    columns: 16,
    mostNumbers: 8192,
  },
};
export const cpuProfile: TargetProfile = {
  maxLanes: 1,
  alignment: 1,
  width: 1,
  // The emitter vectorises four rounds, or rows, but not of integers of 64 bits.
  unroll: 1,
  unrollWide: 4,
  elementsPerLane: 4,
  // A part of the second-level cache, four rows at once included.
  rowCacheBytes: 1 << 16,
  // Two cache lines. A tanh is written eight times; with a random number beside it, that took 30 ms to compile.
  columnReduction: { lanes: 4, turns: 8, maxStatements: 800 },
  minRows: 4,
  maxNodes: 400,
  maxLoads: 32,
  maxStatements: 8000,
  maxWideStatements: 8000,
  maxBuffers: 32,
  isConcurrent: false,
  runsAhead: false,
  hasSlowBarriers: false,
  hasNativeDivision: true,
  split: { parallelism: 32, lanes: 1, leastPerThread: 32768, leastExtent: 65536 },
  tiles: { kind: "panels", sharedBytes: 0, maxLanes: 4, units: 1 },
  sort: { digitsFrom: 512, lanes: 1, sharedBytes: 0 },
  bandBytes: 1 << 28,
  // Sixteen vector registers; four transforms are the lanes of a vector, in f64 of two.
  fft: {
    largestRadix: 8,
    largestOfDoubles: 4,
    largestOfColumns: 8,
    longestPass: 4096,
    fewLanes: 1,
    lanesAcross: 4,
    manyLanes: 4,
    columns: 4,
    mostNumbers: 0,
  },
};
