/**
 * A part of the graph that becomes one kernel. The scheduler makes groups; the lowering, the tiles and the printers of
 * programs read them.
 */
import type { Node } from "../../graph/node.js";
import type { Kernel } from "../ir/ir.js";

/** The division of a row's work among its lanes (lower/lane-walk.ts). */
export interface RowTiling {
  readonly lanes: number;
  /** Neighbours that a lane takes at a time, where the extent is a multiple of them. */
  readonly width: number;
  /** Steps in a round of a loop. */
  readonly unroll: number;
  /** Elements a lane may hold at once: a stretch of no more per lane needs no loop. */
  readonly elementsPerLane: number;
}

export interface GroupResult {
  readonly node: Node;
  /** Axes that run in parallel; the rest are columns. */
  readonly rowAxes: readonly number[];
}

export interface Group {
  /** They have as many rows, in the same order. */
  readonly results: readonly GroupResult[];
  /** The division of a row's work among its lanes. */
  readonly tiling: RowTiling;
  /** Neighbouring rows that a thread computes, where a row is one element of each result. Each lane then has its own. */
  readonly rowsPerThread: number;
  /** Nodes other kernels compute: loaded, not lowered. Nodes with storage are always loaded. */
  readonly isLoaded: (node: Node) => boolean;
  /** The product of matrices that its only result follows from, element by element. */
  readonly product?: FusedProduct;
  /** Its only result is a transposed copy, made square by square. */
  readonly transposed?: TransposedAxes;
  /** Short reductions that every lane writes out and does by itself. */
  readonly isWrittenOut?: (reduction: Node) => boolean;
  /** A second loop over a row reads it from memory again: no cache holds it. */
  readonly isReadAgain?: boolean;
  /** Reductions over several axes are loops inside loops, which one lane goes through. */
  readonly isNesting?: boolean;
}

export interface TransposedAxes {
  /** The node that has these axes: the result, or the node it is a reshape of. */
  readonly node: Node;
  /** The axis along which the source is contiguous, and the one along which the result is. */
  readonly from: number;
  readonly to: number;
  /** Bytes of shared memory, if squares go through it; null: they go through the cache. */
  readonly sharedBytes: number | null;
}

export interface FusedProduct {
  readonly dot: Node;
  /** From its first user to the result: each has as many elements, perhaps at other places. */
  readonly path: readonly Node[];
  /** The result is reduced from the rows of the product, by these reductions (row-products.ts). */
  readonly reductions?: ReadonlySet<Node>;
}

export interface LoweredKernel {
  readonly kernel: Kernel;
  /** The nodes whose memory the kernel takes, in the order of its buffers. */
  readonly buffers: readonly Node[];
}
