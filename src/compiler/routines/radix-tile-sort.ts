/**
 * The pass of the radix sort (radix-sort.ts) where a workgroup has a tile: it sorts the tile in shared memory, so that
 * elements of a digit leave side by side, and then moves it. A row that is one tile is sorted by all bits at once
 * (`sortRowsKernel`). A tile is sorted by four bits at a time, each lane counting the digits of
 * its own neighbours in a column of its own (Satish, Harris, Garland 2009). Nothing depends on the size of subgroups.
 */
import { DTYPES } from "../../core/dtype.js";
import { computeType } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import type { SortProfile } from "../target/profile.js";
import { type ElementWords, keyWords } from "./element-words.js";
import { type LaneSums, laneSums, laneSumsWords } from "./lane-sums.js";
import { DIGIT_BITS, DIGITS, type DigitPass, type KeyType, type TiledRows, TileKernel, tileOf } from "./radix-tile.js";

/** Bits that a tile is sorted by at a time, and the words of a lane's counters: two counters in each. */
const PART_BITS = 4;
const COUNTERS = 1 << (PART_BITS - 1);

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

/** Four words of room after every 32, so that lanes which read neighbours do not wait for the same banks of memory. */
const padded = (index: number): number => index + 4 * Math.floor(index / 32);

/** As many elements per lane as the shared memory holds beside the counters. */
export function perLaneFor(type: KeyType, { lanes, sharedBytes }: SortProfile): number {
  const besides = 4 * (COUNTERS * lanes + 2 * DIGITS + laneSumsWords(lanes));
  const most = type === "u64" ? 8 : 16;
  for (let perLane = most; perLane >= 4; perLane /= 2) {
    if (besides + DTYPES[type].bytes * padded(lanes * perLane) <= sharedBytes) return perLane;
  }
  return 0;
}

interface Item {
  readonly word: Value;
  /** Null where words are moved alone. */
  readonly position: Value | null;
}

/** A tile in the making: its shared arrays, and the places of its lanes. */
interface Tile {
  readonly t: TileKernel;
  readonly counters: number;
  /** Elements change lanes through it. */
  readonly exchange: number;
  readonly sumOverLanes: LaneSums;
  /** Places of neighbours that a lane has, and of elements that lie a workgroup apart. */
  readonly mine: readonly Value[];
  readonly spread: readonly Value[];
  /** Neighbours that are loaded at once. */
  readonly width: number;
}

/** A tile that is one of many of its row. */
interface TileSort extends Tile {
  readonly pass: DigitPass;
  readonly buffers: {
    readonly keys: number;
    readonly positions: number;
    readonly counts: number;
    readonly offsets: number;
    readonly keysOut: number;
    readonly out: number;
  };
  /** By digit: where it begins in the sorted tile, and how far its elements move from there. */
  readonly starts: number;
  readonly targets: number;
}

export function sortTilesKernel(shape: TiledRows, pass: DigitPass): Kernel {
  const sort = startTile(shape, pass);
  const { t, buffers } = sort;
  const { k } = t;
  const { lanes } = shape;
  // A digit's target, minus its start in the sorted tile, is the distance its elements move; the start is known later.
  const isDigit = k.compare("lt", k.lane, t.i(DIGITS));
  const digit = lanes > DIGITS ? k.select(isDigit, k.lane, t.i(0)) : k.lane;
  const counted = t.total(buffers.counts, buffers.offsets, digit);
  const total = lanes > DIGITS ? k.select(isDigit, counted, t.i(0)) : counted;
  const ownCounters = countersOf(sort);
  clearCounters(sort, ownCounters);
  const before = sort.sumOverLanes(total).before;
  const goesTo = t.add(t.add(t.base, before), k.load(buffers.offsets, t.inTable(digit, t.tile), "i32"));

  const words = keyWords(shape.type);
  const loaded = loadItems(sort, buffers.keys, pass.isFirst ? null : buffers.positions, words);
  const items = sortByPart(sort, ownCounters, loaded, pass.shift, words);
  const keys = items.map(({ word }) => word);
  const ranks = ranksBy(sort, ownCounters, keys, pass.shift + PART_BITS);
  put(sort, ranks, keys);
  const leaving = takeSpread(sort).map((key) => ({ key, digit: t.bits(key, pass.shift, DIGIT_BITS) }));
  findStarts(sort, leaving);
  k.barrier();
  const distance = k.binary("sub", goesTo, k.get(sort.starts, digit));
  k.set(sort.targets, digit, distance, lanes > DIGITS ? isDigit : null);
  put(
    sort,
    ranks,
    items.map(({ position }) => asKey(sort, position as Value)),
  );
  storeSorted(sort, leaving);
  return k.finish();
}

function startTile(shape: TiledRows, pass: DigitPass): TileSort {
  const { isFirst, isLast } = pass;
  const t = new TileKernel(`sort tiles ${pass.shift}`, shape);
  const { k } = t;
  const { type } = shape;
  const buffers = {
    keys: k.buffer(type, false),
    positions: isFirst ? -1 : k.buffer("i32", false),
    counts: k.buffer("i32", false),
    offsets: k.buffer("i32", false),
    keysOut: isLast ? -1 : k.buffer(type, true),
    out: k.buffer("i32", true),
  };
  return { ...tileIn(t), pass, buffers, starts: k.array("i32", DIGITS), targets: k.array("i32", DIGITS) };
}

function tileIn(t: TileKernel): Tile {
  const { k } = t;
  const { type, lanes, perLane } = t.shape;
  return {
    t,
    counters: k.array("i32", COUNTERS * lanes),
    exchange: k.array(type, padded(tileOf(t.shape))),
    sumOverLanes: laneSums(k, lanes),
    mine: range(perLane).map((j) => t.add(k.binary("mul", k.lane, t.i(perLane)), t.i(j))),
    spread: range(perLane).map((j) => t.add(k.lane, t.i(j * lanes))),
    width: type === "u64" ? 2 : 4,
  };
}

/** A whole row that is one tile: sorted part by part in shared memory, so that only the result is written. */
export function sortRowsKernel(shape: TiledRows, words: ElementWords): Kernel {
  const { type, lanes } = shape;
  const t = new TileKernel("sort rows", shape);
  const { k } = t;
  const source = k.buffer(words.dtype, false);
  const out = k.buffer(words.isAlone ? words.dtype : "i32", true);
  const tile = tileIn(t);
  const ownCounters = countersOf(tile);
  clearCounters(tile, ownCounters);
  k.barrier();
  const loaded = loadItems(tile, source, null, words);
  const wordsOf = (items: readonly Item[]) => items.map(({ word }) => word);
  const positionsOf = (items: readonly Item[]) => (words.isAlone ? [] : items.map(({ position }) => position as Value));
  // A loop, so that its code stays in the instruction cache.
  k.loop(DTYPES[type].bits / PART_BITS, [...wordsOf(loaded), ...positionsOf(loaded)], (part, carried) => {
    const items = loaded.map((_, j) => ({ word: carried[j], position: carried[loaded.length + j] ?? null }));
    const from = k.binary("mul", part, t.i(PART_BITS));
    const shift = type === "u64" ? k.convert("u64", from) : k.bitcast("u32", from);
    const sorted = sortByPart(tile, ownCounters, items, shift, words);
    return [...wordsOf(sorted), ...positionsOf(sorted)];
  });
  // The exchange still holds the words, or the positions, in order.
  const isRagged = tileOf(shape) > shape.extent;
  takeSpread(tile).forEach((word, j) => {
    const isInside =
      isRagged && (j + 1) * lanes > shape.extent ? k.compare("lt", tile.spread[j], t.i(shape.extent)) : null;
    const result = words.isAlone ? words.valueOf(k, word) : asPosition(tile, word);
    k.store(out, t.add(t.base, tile.spread[j]), result, false, isInside);
  });
  return k.finish();
}

/** Where a lane's counters begin, four by four. */
const countersOf = ({ t, t: { k } }: Tile): Value[] =>
  range(COUNTERS / 4).map((m) => t.add(k.binary("mul", k.lane, t.i(COUNTERS)), t.i(4 * m)));

function clearCounters({ t: { k }, t, counters }: Tile, ownCounters: readonly Value[]): void {
  for (const word of ownCounters) {
    k.setMany(
      counters,
      word,
      range(4).map(() => t.i(0)),
    );
  }
}

/** A lane's elements. Places beyond the row get the last word, so that they stay behind all elements. */
function loadItems({ t, mine, width }: Tile, source: number, positions: number | null, words: ElementWords): Item[] {
  const { k, shape } = t;
  const elements = t.elements(mine, width);
  const last = k.constant(shape.type, words.last);
  return elements.map(({ at, isInside, index }) => {
    const word = words.wordOf(k, k.load(source, index, computeType(words.dtype)));
    const position = positions === null ? at : k.load(positions, index, "i32");
    return { word: isInside ? k.select(isInside, word, last) : word, position };
  });
}

/** Sorts the tile by PART_BITS bits of the keys. */
function sortByPart(
  sort: Tile,
  ownCounters: readonly Value[],
  items: readonly Item[],
  from: number | Value,
  words: ElementWords,
): Item[] {
  const keys = items.map(({ word }) => words.keyOf(sort.t.k, word));
  const ranks = ranksBy(sort, ownCounters, keys, from);
  put(
    sort,
    ranks,
    items.map(({ word }) => word),
  );
  clearCounters(sort, ownCounters);
  const sorted = takeMine(sort);
  if (words.isAlone) return sorted.map((word) => ({ word, position: null }));
  put(
    sort,
    ranks,
    items.map(({ position }) => asKey(sort, position as Value)),
  );
  const positions = takeMine(sort);
  return sorted.map((word, j) => ({ word, position: asPosition(sort, positions[j]) }));
}

/** The place in the tile of each of the lane's items, by PART_BITS bits of their keys. */
function ranksBy(sort: Tile, ownCounters: readonly Value[], keys: readonly Value[], from: number | Value): Value[] {
  const { t, counters } = sort;
  const { k } = t;
  const part = keys.map((key) => counterOf(t, key, from));
  const lower = (x: Value) => k.binary("and", x, t.i(0xffff));
  const earlier = part.map(({ counter, half }) => {
    const seen = k.get(counters, counter);
    k.set(counters, counter, t.add(seen, k.binary("shl", t.i(1), half)));
    return lower(k.binary("shr", seen, half));
  });
  k.barrier();
  cumulateCounters(sort, ownCounters);
  k.barrier();
  return part.map(({ counter, half }, j) => t.add(lower(k.binary("shr", k.get(counters, counter), half)), earlier[j]));
}

/** The lane's counter for a part of a key: its word, and by how much the half of the word is shifted. */
function counterOf(t: TileKernel, key: Value, from: number | Value): { readonly counter: Value; readonly half: Value } {
  const { k } = t;
  const value = t.bits(key, from, PART_BITS);
  const row = k.binary("and", value, t.i(COUNTERS - 1));
  const upper = k.binary("shr", value, k.constant("u32", PART_BITS - 1));
  const half = k.bitcast("u32", k.binary("shl", upper, k.constant("u32", 4)));
  return { counter: t.add(k.binary("mul", row, t.i(t.shape.lanes)), k.lane), half };
}

/** Replaces every counter by the sum of those before it. The upper halves of all words come after the lower ones. */
function cumulateCounters({ t, counters, sumOverLanes }: Tile, ownCounters: readonly Value[]): void {
  const { k } = t;
  const counted = ownCounters.flatMap((word) => k.getMany(counters, word, 4));
  const sum = counted.reduce((a, b) => t.add(a, b));
  const { before, all } = sumOverLanes(sum);
  let running = t.add(before, k.binary("shl", all, k.constant("u32", 16)));
  const sums = counted.map((count) => {
    const own = running;
    running = t.add(running, count);
    return own;
  });
  ownCounters.forEach((word, m) => {
    k.setMany(counters, word, sums.slice(4 * m, 4 * m + 4));
  });
}

function put(sort: Tile, ranks: readonly Value[], values: readonly Value[]): void {
  const { k } = sort.t;
  ranks.forEach((rank, j) => {
    k.set(sort.exchange, paddedIndex(sort.t, rank), values[j]);
  });
  k.barrier();
}

function takeMine({ t, exchange, mine, width }: Tile): Value[] {
  const { k, shape } = t;
  const found = range(shape.perLane / width).flatMap((m) =>
    k.getMany(exchange, paddedIndex(t, mine[m * width]), width),
  );
  k.barrier();
  return found;
}

const takeSpread = ({ t, exchange, spread }: Tile): Value[] =>
  spread.map((at) => t.k.get(exchange, paddedIndex(t, at)));

function paddedIndex(t: TileKernel, index: Value): Value {
  const { k } = t;
  const room = k.binary("shl", k.binary("shr", index, k.constant("u32", 5)), k.constant("u32", 2));
  return t.add(index, room);
}

/** Positions go through the exchange in the type of the keys. */
const asKey = ({ t: { k, shape } }: Tile, position: Value): Value =>
  shape.type === "u64" ? k.convert("u64", position) : k.bitcast("u32", position);

const asPosition = ({ t: { k, shape } }: Tile, word: Value): Value =>
  shape.type === "u64" ? k.convert("i32", word) : k.bitcast("i32", word);

interface Leaving {
  readonly key: Value;
  readonly digit: Value;
}

/** Stores where each digit begins in the sorted tile: where it differs from the digit before. */
function findStarts({ t, pass, exchange, starts, spread }: TileSort, leaving: readonly Leaving[]): void {
  const { k } = t;
  leaving.forEach(({ digit }, j) => {
    const previous = k.get(exchange, paddedIndex(t, k.binary("max", k.binary("sub", spread[j], t.i(1)), t.i(0))));
    const differs = k.compare("ne", t.bits(previous, pass.shift, DIGIT_BITS), digit);
    const isFirstOfAll = k.compare("eq", spread[j], t.i(0));
    k.set(starts, digit, spread[j], j === 0 ? k.binary("or", differs, isFirstOfAll) : differs);
  });
}

/** Stores the sorted tile; the exchange holds the positions. */
function storeSorted(sort: TileSort, leaving: readonly Leaving[]): void {
  const { t, pass, buffers, targets, spread } = sort;
  const { k, shape } = t;
  const isRagged = shape.tiles * tileOf(shape) > shape.extent;
  takeSpread(sort).forEach((word, j) => {
    const { key, digit } = leaving[j];
    const gate = isRagged ? k.compare("lt", t.add(t.start, spread[j]), t.i(shape.extent)) : null;
    const to = t.add(k.get(targets, digit), spread[j]);
    if (!pass.isLast) k.store(buffers.keysOut, to, key, false, gate);
    k.store(buffers.out, to, asPosition(sort, word), false, gate);
  });
}
