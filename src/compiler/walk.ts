/**
 * How the lanes of a row go over a stretch of its elements, for a reduction or for the columns of a result.
 *
 * Lanes take neighbours in turn, `width` of them at a time, so that a step of all lanes together is one stretch of memory
 * and each lane moves vectors. Several steps make a round of a loop: their loads are under way together. A short stretch
 * needs no loop; then everything that goes over it sees each element at the same index, and what was loaded and computed
 * for one reduction serves the next, and the columns: a softmax reads its input once.
 */
import { addConstant, constantExpr, type IndexExpr, type IndexSpace, scale, add as sumOf } from "../core/index-expr.js";

export interface Tiling {
  readonly lanes: number;
  /** Neighbours that a lane takes at a time, where the extent is a multiple of them. */
  readonly width: number;
  /** Steps in a round of a loop. */
  readonly unroll: number;
  /** Elements a lane may hold at once: a stretch of no more per lane needs no loop. */
  readonly held: number;
}

export interface Walk {
  readonly extent: number;
  /** The loop: its rounds, the variable that counts them, and what a lane takes in a round. */
  readonly rounds: number;
  readonly round: IndexExpr;
  readonly inRound: readonly IndexExpr[];
  /** What a lane takes after the loop. */
  readonly after: readonly IndexExpr[];
  /** And at the end, if `first` is below the extent: some lanes find nothing left. Neighbours have the same first. */
  readonly bounded: readonly { readonly index: IndexExpr; readonly first: IndexExpr }[];
}

/** `lane` is the index of a lane as an expression. */
export function planWalk(space: IndexSpace, lane: IndexExpr, extent: number, tiling: Tiling): Walk {
  const { lanes } = tiling;
  const width = extent % tiling.width === 0 ? tiling.width : 1;
  const step = lanes * width;
  const steps = Math.floor(extent / step);
  const needsLoop = Math.ceil(extent / step) * width > tiling.held;
  const rounds = needsLoop ? Math.floor(steps / tiling.unroll) : 0;
  const round = space.variable("round", rounds);
  const first = scale(lane, width);
  /** What a lane takes in the steps from one to another, counted from an index on. */
  const taken = (from: IndexExpr, count: number): IndexExpr[] =>
    Array.from({ length: count * width }, (_, i) => {
      const offset = Math.floor(i / width) * step + (i % width);
      return addConstant(sumOf(from, first), offset);
    });
  const done = rounds * tiling.unroll;
  const last = steps * step < extent ? taken(constantExpr(steps * step), 1) : [];
  return {
    extent,
    rounds,
    round,
    inRound: rounds > 0 ? taken(scale(round, tiling.unroll * step), tiling.unroll) : [],
    after: taken(constantExpr(done * step), steps - done),
    bounded: last.map((index) => ({ index, first: last[0] })),
  };
}
