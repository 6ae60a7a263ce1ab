/**
 * The kernels of order statistics: a workgroup to a row, whose keys it reads once. `ranksKernel` finds the positions of a few
 * ranks, for medians and quantiles. `firstsKernel` finds the first k and sorts those alone, for `topK`; of rows too long for
 * the registers it goes over chunks, and keeps those before the last of the first k so far (select.ts plans both).
 */
import type { DType } from "../../core/dtype.js";
import { computeType } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { type LaneSums, laneSums } from "./lane-sums.js";
import { type Keyed, LAST_KEY, NOWHERE, SelectionOps } from "./selection.js";

/** Rows of keys, and how a workgroup holds them. */
export interface SelectedRows {
  readonly rows: number;
  readonly extent: number;
  readonly lanes: number;
  /** Keys of a lane at a time. */
  readonly perLane: number;
}

/** The memory that keys are read from: their own, or values that keys are made of. */
export interface KeySource {
  readonly dtype: DType;
  keyOf(k: KernelBuilder, loaded: Value): Value;
}

/** Memory of keys. */
export const KEYS: KeySource = { dtype: "u32", keyOf: (_, key) => key };

/** Neighbours that are loaded at once. */
const WIDTH = 4;

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

const chunkOf = ({ lanes, perLane }: SelectedRows): number => lanes * perLane;

/** Bits of the positions in a row. */
const positionBits = ({ extent }: SelectedRows): number => Math.max(1, Math.ceil(Math.log2(extent)));

/** The lane's elements of the chunk that begins at a position of the row. */
function load(
  s: SelectionOps,
  [buffer, source]: readonly [number, KeySource],
  shape: SelectedRows,
  start: Value,
  isRagged: boolean,
): Keyed[] {
  const { k } = s;
  const { extent, lanes, perLane } = shape;
  const width = Math.min(WIDTH, perLane);
  const base = k.binary("mul", k.row, s.i(extent));
  const asked = extent % width === 0 ? width : 1;
  let isInside: Value | null = null;
  return range(perLane).map((j) => {
    const offset = s.add(k.binary("mul", k.lane, s.i(width)), s.i(Math.floor(j / width) * width * lanes + (j % width)));
    const at = s.add(start, offset);
    if (isRagged && j % asked === 0) isInside = k.compare("lt", at, s.i(extent));
    const index = s.add(base, at);
    const safe = isInside ? k.select(isInside, index, s.i(0)) : index;
    const key = source.keyOf(k, k.load(buffer, safe, computeType(source.dtype)));
    if (!isInside) return { key, at };
    return { key: k.select(isInside, key, s.u(LAST_KEY)), at: k.select(isInside, at, s.i(NOWHERE)) };
  });
}

/** Ranks that are known, or those around one that a buffer gives: see `argsortAt`. */
export type Ranks = readonly number[] | "around";

export function ranksKernel(shape: SelectedRows, ranks: Ranks, source = KEYS): Kernel {
  const { rows, extent, lanes } = shape;
  const k = new KernelBuilder(`select ranks[${rows}×${extent}]`, rows, lanes);
  const s = new SelectionOps(k);
  const memory = [k.buffer(source.dtype, false), source] as const;
  const given = ranks === "around" ? k.buffer("i32", false) : null;
  const out = k.buffer("i32", true);
  const items = load(s, memory, shape, s.i(0), chunkOf(shape) > extent);
  const found =
    given === null ? ofRanks(s, items, shape, ranks as readonly number[]) : aroundRank(s, items, shape, given);
  const first = k.binary("mul", k.row, s.i(found.length));
  found.forEach(({ at }, j) => {
    k.store(out, s.add(first, s.i(j)), at, true);
  });
  return k.finish();
}

/** The element of a rank that a buffer gives, the one after it, which is the same at the end, and the last. */
function aroundRank(s: SelectionOps, items: readonly Keyed[], shape: SelectedRows, given: number): Keyed[] {
  const { k } = s;
  const rank = k.load(given, s.i(0), "i32");
  const isElement = ({ at }: Keyed) => k.compare("lt", at, s.i(NOWHERE));
  const low = s.ofRank(items, rank, positionBits(shape));
  const next = s.extreme("min", items, (item) => s.isBefore(low, item));
  const isLast = k.compare("ge", rank, s.i(shape.extent - 1));
  return [low, { ...next, at: k.select(isLast, low.at, next.at) }, s.extreme("max", items, isElement)];
}

function ofRanks(
  s: SelectionOps,
  items: readonly Keyed[],
  shape: SelectedRows,
  ranks: readonly number[],
): readonly Keyed[] {
  const { k } = s;
  const { extent } = shape;
  const isElement = ({ at }: Keyed) => k.compare("lt", at, s.i(NOWHERE));
  const found: Keyed[] = [];
  ranks.forEach((rank, j) => {
    const before = found[j - 1];
    const isNext = j > 0 && ranks[j - 1] === rank - 1;
    if (rank === 0) found.push(s.extreme("min", items, isElement));
    else if (isNext) found.push(s.extreme("min", items, (item) => s.isBefore(before, item)));
    else if (rank === extent - 1) found.push(s.extreme("max", items, isElement));
    else found.push(s.ofRank(items, s.i(rank), positionBits(shape)));
  });
  return found;
}

/** Elements of a lane in the list of those that may be among the first. */
const LISTED_PER_LANE = 4;

/** Shared words that the list of so many lanes takes. */
export const listWords = (lanes: number): number => 2 * LISTED_PER_LANE * lanes;

/** The most elements that `firstsKernel` finds. */
export const mostFirsts = (lanes: number): number => Math.floor((LISTED_PER_LANE * lanes) / 2);

/** A kernel of the first elements in the making: its list of elements in shared memory, and the sums that place them. */
interface Listing {
  readonly s: SelectionOps;
  readonly shape: SelectedRows;
  readonly count: number;
  readonly keys: number;
  readonly positions: number;
  readonly room: number;
  readonly sums: LaneSums;
}

export function firstsKernel(shape: SelectedRows, count: number, source = KEYS): Kernel {
  const { rows, extent, lanes } = shape;
  const k = new KernelBuilder(`select first ${count}[${rows}×${extent}]`, rows, lanes);
  const s = new SelectionOps(k);
  const memory = [k.buffer(source.dtype, false), source] as const;
  const out = k.buffer("i32", true);
  const room = LISTED_PER_LANE * lanes;
  const listing: Listing = {
    s,
    shape,
    count,
    keys: k.array("u32", room),
    positions: k.array("i32", room),
    room,
    sums: laneSums(k, lanes),
  };
  const chunk = chunkOf(shape);
  const chunks = Math.ceil(extent / chunk);
  const last = keepFirsts(listing, load(s, memory, shape, s.i(0), chunk > extent));
  if (chunks > 1) {
    const [listed] = k.loop(chunks - 1, [s.i(count), last.key], (round, [listed, limit]) => {
      const start = k.binary("mul", s.add(round, s.i(1)), s.i(chunk));
      return addChunk(listing, load(s, memory, shape, start, extent % chunk !== 0), listed, limit);
    });
    k.when(k.compare("gt", listed, s.i(count)), () => {
      keepFirsts(listing, listedItems(listing, listed));
      return [];
    });
  }
  storeSorted(listing, out);
  return k.finish();
}

/** Makes the list those of the elements that are the first; their last one is the result. */
function keepFirsts(listing: Listing, items: readonly Keyed[]): Keyed {
  const { s, shape, count } = listing;
  const last = s.ofRank(items, s.i(count - 1), positionBits(shape));
  append(listing, items, (item) => s.isBefore(item, last, true), s.i(0));
  return last;
}

/** Appends the elements with a property to the list, which has so many. */
function append(
  { s, keys, positions, sums }: Listing,
  items: readonly Keyed[],
  has: (item: Keyed) => Value,
  listed: Value,
) {
  const { k } = s;
  const own = s.ownCount(items, has);
  // The first barrier of the sums stands between reading the list and writing it; the last one ends the writing.
  let to = s.add(listed, sums(own).before);
  for (const item of items) {
    const isListed = has(item);
    k.set(keys, to, item.key, isListed);
    k.set(positions, to, item.at, isListed);
    to = s.add(to, k.select(isListed, s.i(1), s.i(0)));
  }
  k.barrier();
}

/** The lane's share of the list. */
function listedItems({ s, shape, keys, positions }: Listing, listed: Value): Keyed[] {
  const { k } = s;
  return range(LISTED_PER_LANE).map((j) => {
    const place = s.add(k.lane, s.i(j * shape.lanes));
    const isListed = k.compare("lt", place, listed);
    return {
      key: k.select(isListed, k.get(keys, place), s.u(LAST_KEY)),
      at: k.select(isListed, k.get(positions, place), s.i(NOWHERE)),
    };
  });
}

/**
 * Lists the elements of a chunk whose keys are below the limit, the last of the first keys so far: equal ones come later in
 * the row. If the list has no room for them it is cut to the first ones, which lowers the limit.
 */
function addChunk(listing: Listing, items: readonly Keyed[], listed: Value, limit: Value): Value[] {
  const { s, count, room } = listing;
  const { k } = s;
  const isCandidate = ({ key }: Keyed) => k.compare("lt", key, limit);
  const candidates = s.count(items, isCandidate);
  return k.when(
    k.compare("eq", candidates, s.i(0)),
    () => [listed, limit],
    () =>
      k.when(
        k.compare("le", s.add(listed, candidates), s.i(room)),
        () => {
          append(listing, items, isCandidate, listed);
          return [s.add(listed, candidates), limit];
        },
        () => [s.i(count), keepFirsts(listing, [...items, ...listedItems(listing, listed)]).key],
      ),
  );
}

/** Writes the positions of the list in the order of their elements: the place of each is the number of those before it. */
function storeSorted({ s, shape, count, keys, positions }: Listing, out: number): void {
  const { k } = s;
  const base = k.binary("mul", k.row, s.i(count));
  for (const j of range(Math.ceil(count / shape.lanes))) {
    const place = s.add(k.lane, s.i(j * shape.lanes));
    const isListed = (j + 1) * shape.lanes > count ? k.compare("lt", place, s.i(count)) : null;
    const own: Keyed = { key: k.get(keys, place), at: k.get(positions, place) };
    const [rank] = k.loop(count, [s.i(0)], (other, [before]) => {
      const item: Keyed = { key: k.get(keys, other), at: k.get(positions, other) };
      return [s.add(before, k.select(s.isBefore(item, own), s.i(1), s.i(0)))];
    });
    k.store(out, s.add(base, rank), own.at, false, isListed);
  }
}
