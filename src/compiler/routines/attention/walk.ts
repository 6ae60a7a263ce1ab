/** The place of a kernel's tile among all, and the walk over the tiles of columns that it has anything to do with. */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { AttentionProblem, Range } from "./problem.js";

interface TilePosition {
  readonly member: Value;
  readonly head: Value;
  /** The first row of the tile. */
  readonly first: Value;
}

/**
 * The kernel's tile: rows of the kernel go through tiles first, then heads. `isReversed`: the last tile comes first. With a
 * causal mask it has the most keys, and work that takes longest should begin first.
 */
export function placeOf(
  k: KernelBuilder,
  tiles: number,
  rows: number,
  heads: number,
  isReversed: boolean,
): TilePosition {
  const i = (value: number) => k.constant("i32", value);
  const inHead = k.binary("irem", k.row, i(tiles));
  const which = isReversed ? k.binary("sub", i(tiles - 1), inHead) : inHead;
  const all = k.binary("idiv", k.row, i(tiles));
  return {
    member: k.binary("idiv", all, i(heads)),
    head: k.binary("irem", all, i(heads)),
    first: k.binary("mul", which, i(rows)),
  };
}

/** The number of a head's first row, in a tensor [B, heads, count, …]. */
export function firstRowOf(k: KernelBuilder, member: Value, head: Value, heads: number, count: number): Value {
  const which = k.binary("add", k.binary("mul", member, k.constant("i32", heads)), head);
  return k.binary("mul", which, k.constant("i32", count));
}

/** The key head of a query head. */
export function keyHeadOf(k: KernelBuilder, head: Value, { heads, keyHeads }: AttentionProblem): Value {
  return k.binary("idiv", head, k.constant("i32", heads / keyHeads));
}

/** Visits the query heads that share a key head. */
export function overHeads(
  k: KernelBuilder,
  keyHead: Value,
  { heads, keyHeads }: AttentionProblem,
  initial: readonly Value[],
  body: (head: Value, state: readonly Value[]) => readonly Value[],
): readonly Value[] {
  const shared = heads / keyHeads;
  const first = k.binary("mul", keyHead, k.constant("i32", shared));
  if (shared === 1) return body(first, initial);
  return k.loop(shared, initial, (at, state) => body(k.binary("add", first, at), state));
}

/**
 * Walks over the tiles of `columns` that meet a range, of at most `most` columns. An empty range is one round, in which
 * nothing is seen.
 */
export function walkOver(
  k: KernelBuilder,
  { from, to }: Range,
  columns: number,
  most: number,
  initial: readonly Value[],
  body: (first: Value, state: readonly Value[]) => readonly Value[],
): readonly Value[] {
  const i = (value: number) => k.constant("i32", value);
  const start = k.binary("idiv", from, i(columns));
  const rounds = Math.ceil((most + columns - 1) / columns);
  let end: Value | null = null;
  return k.loop(
    rounds,
    initial,
    (round, state) => {
      const first = k.binary("mul", k.binary("add", start, round), i(columns));
      end = k.binary("add", first, i(columns));
      return body(first, state);
    },
    { exitWhen: () => k.compare("ge", end as Value, to) },
  );
}

/** The most columns that a tile of rows may meet. */
export function mostColumns(rows: number, before: number, behind: number, extent: number): number {
  return Math.min(extent, rows + before + behind);
}
