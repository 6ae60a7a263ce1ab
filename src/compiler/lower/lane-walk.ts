/**
 * The order in which the lanes of a row visit a stretch of its elements, for a reduction or for the columns of a result.
 *
 * Lanes take neighbours in turn, `width` of them at a time, so that a step of all lanes together is one stretch of memory
 * and each lane moves vectors. Several steps make a round of a loop: their loads are under way together. A short stretch
 * needs no loop; then everything that goes over it sees each element at the same index, and what was loaded and computed
 * for one reduction serves the next, and the columns: a softmax reads its input once.
 *
 * A long loop is a loop over blocks of rounds: what a block adds up to is added to the rest, so that rounding errors grow
 * with the length of a block and the number of blocks, not with their product.
 */
import {
  addConstant,
  constantExpr,
  type IndexExpr,
  type IndexSpace,
  scale,
  add as sumOf,
} from "../../core/index-expr.js";
import type { RowTiling } from "../schedule/group.js";

/** Elements that a lane takes one after another: how many, and where the i-th is. */
export interface Batch {
  readonly count: number;
  at(i: IndexExpr): IndexExpr;
}

/** The positions of a batch. */
export const placesOf = ({ count, at }: Batch): IndexExpr[] =>
  Array.from({ length: count }, (_, i) => at(constantExpr(i)));

/** A loop over rounds, or over blocks of them: the variables that count, and what a lane takes in a round. */
interface RoundLoop {
  readonly blocks: number;
  readonly block: IndexExpr;
  readonly rounds: number;
  readonly round: IndexExpr;
  readonly inRound: Batch;
}

export interface Walk {
  readonly extent: number;
  readonly loops: readonly RoundLoop[];
  /** The elements a lane takes after the loops. */
  readonly after: Batch;
  /** The last elements, taken only by lanes whose first one is below the extent. */
  readonly bounded: Batch;
}

/** Elements that a lane adds up one by one. */
const BLOCK = 2048;
/** Most steps after the rounds that are written out; more are a loop of their own. */
const MAX_AFTER = 3;

/** `lane` is the index of a lane as an expression. */
export function planWalk(space: IndexSpace, lane: IndexExpr, extent: number, tiling: RowTiling): Walk {
  const { lanes } = tiling;
  const width = extent % tiling.width === 0 ? tiling.width : 1;
  // Elements in place of vectors, where vectors do not fit: as many bytes are under way.
  const unroll = tiling.unroll * (tiling.width / width);
  const step = lanes * width;
  const steps = Math.floor(extent / step);
  const needsLoop = Math.ceil(extent / step) * width > tiling.elementsPerLane;
  const rounds = needsLoop ? Math.floor(steps / unroll) : 0;
  const first = scale(lane, width);
  /** The elements a lane takes in so many steps, from an index on. */
  const taken = (from: IndexExpr, count: number): Batch => ({
    count: count * width,
    at: (i) => {
      const offset = sumOf(scale(space.quotient(i, width), step), space.remainder(i, width));
      return sumOf(sumOf(from, first), offset);
    },
  });
  /** Rounds of so many steps each, from a step on. */
  const inRounds = (from: number, blocks: number, each: number, ofSteps: number): RoundLoop => {
    const [block, round] = [space.variable("block", blocks), space.variable("round", each)];
    const taking = ofSteps * step;
    const start = sumOf(scale(block, each * taking), scale(round, taking));
    return { blocks, block, rounds: each, round, inRound: taken(addConstant(start, from * step), ofSteps) };
  };
  const perBlock = Math.ceil(BLOCK / (width * unroll));
  const blocks = rounds >= 2 * perBlock ? Math.floor(rounds / perBlock) : 0;
  const single = rounds - blocks * perBlock;
  const left = steps - rounds * unroll;
  const looped = needsLoop && left > MAX_AFTER ? left : 0;
  const loops = [
    ...(blocks > 0 ? [inRounds(0, blocks, perBlock, unroll)] : []),
    ...(single > 0 ? [inRounds(blocks * perBlock * unroll, 1, single, unroll)] : []),
    ...(looped > 0 ? [inRounds(rounds * unroll, 1, looped, 1)] : []),
  ];
  const done = rounds * unroll + looped;
  return {
    extent,
    loops,
    after: taken(constantExpr(done * step), steps - done),
    bounded: taken(constantExpr(steps * step), steps * step < extent ? 1 : 0),
  };
}
