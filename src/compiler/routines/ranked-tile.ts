/**
 * A tile that a workgroup puts in the order of a digit of eight bits at once, where lanes of a subgroup can vote: they find
 * those with the same digit by a vote per bit, so an element's rank is its place among them after all that its subgroup has
 * seen before. Nothing is counted per lane, as in radix-tile-sort.ts, which needs two rounds for eight bits but no votes.
 *
 * radix-sweep.ts moves tiles of long rows so; a row that is one tile is sorted by all its digits here.
 */
import { DTYPES } from "../../core/dtype.js";
import { computeType } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import type { ElementWords } from "./element-words.js";
import { type LaneSums, laneSums, laneSumsWords } from "./lane-sums.js";
import { DIGIT_BITS, DIGITS, type TiledRows, TileKernel, tileOf } from "./radix-tile.js";

export const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

/** Rows cut into tiles, and the subgroups that rank them. */
export interface VotingRows extends TiledRows {
  readonly subgroupSize: number;
}

/** Shared bytes that ranking takes; the emitter's own exchanges included. */
export function rankingBytes(shape: VotingRows): number {
  const { type, lanes, subgroupSize } = shape;
  const words = (lanes / subgroupSize) * DIGITS + laneSumsWords(lanes) + 2 * lanes;
  return 4 * words + DTYPES[type].bytes * tileOf(shape);
}

/** A tile in the making: its memory, and the places of its lanes. */
export interface RankedTile {
  readonly t: TileKernel;
  readonly shape: VotingRows;
  /** Counters of each subgroup, by digit. */
  readonly counters: number;
  /** Elements change lanes through it. */
  readonly exchange: number;
  readonly sumOverLanes: LaneSums;
  /** The digits whose sums this lane has. */
  readonly digits: readonly Value[];
  /** Places in the tile of the lane's elements, and of those that it writes. */
  readonly mine: readonly Value[];
  readonly spread: readonly Value[];
}

export function rankedTile(t: TileKernel, shape: VotingRows): RankedTile {
  const { k } = t;
  const { type, lanes, perLane, subgroupSize } = shape;
  const subgroup = k.binary("idiv", k.lane, t.i(subgroupSize));
  const inSubgroup = k.binary("and", k.lane, t.i(subgroupSize - 1));
  const first = t.add(k.binary("mul", subgroup, t.i(subgroupSize * perLane)), inSubgroup);
  const ownDigits = DIGITS / lanes;
  return {
    t,
    shape,
    counters: k.array("i32", (lanes / subgroupSize) * DIGITS),
    exchange: k.array(type, tileOf(shape)),
    sumOverLanes: laneSums(k, lanes),
    digits: range(ownDigits).map((i) => t.add(k.binary("mul", k.lane, t.i(ownDigits)), t.i(i))),
    mine: range(perLane).map((j) => t.add(first, t.i(j * subgroupSize))),
    spread: range(perLane).map((j) => t.add(k.lane, t.i(j * lanes))),
  };
}

/** Elements of a lane. Beyond the row they are the last word, so that they stay behind all others. */
interface RankedItem {
  readonly word: Value;
  readonly position: Value;
}

/** `source`: of elements, or of words where `isOfWords`. `positions`: -1 where they are those of the elements themselves. */
export function loadItems(
  { t, mine }: RankedTile,
  words: ElementWords,
  source: number,
  isOfWords: boolean,
  positions: number,
): RankedItem[] {
  const { k } = t;
  const last = k.constant(words.type, words.last);
  const elements = t.elements(mine, 1);
  const loaded = elements.map(({ index }) =>
    isOfWords ? k.load(source, index, words.type) : words.wordOf(k, k.load(source, index, computeType(words.dtype))),
  );
  return elements.map(({ at, isInside, index }, j) => ({
    word: isInside ? k.select(isInside, loaded[j], last) : loaded[j],
    position: positions < 0 ? at : k.load(positions, index, "i32"),
  }));
}

/**
 * The ranks of keys in the tile, by the digit from bit `shift` on; and where each of the lane's digits begins. `count` is told
 * how often each of these digits occurs as soon as that is known.
 */
export function ranksOf(
  tile: RankedTile,
  keys: readonly Value[],
  shift: number | Value,
  count: (totals: readonly Value[]) => void = () => {},
): { readonly ranks: Value[]; readonly starts: Value[] } {
  const { t, counters } = tile;
  const { k } = t;
  const ranked = rankInSubgroup(tile, keys, shift);
  k.barrier();
  const starts = beginDigits(tile, count);
  k.barrier();
  return { ranks: ranked.map(({ counter, earlier }) => t.add(k.get(counters, counter), earlier)), starts };
}

/** Counts the keys of each subgroup by digit; for each key, how many of its digit the subgroup had before. */
function rankInSubgroup(
  { t, shape, counters }: RankedTile,
  keys: readonly Value[],
  shift: number | Value,
): { readonly counter: Value; readonly earlier: Value }[] {
  const { k } = t;
  const { lanes, subgroupSize } = shape;
  for (const j of range(DIGITS / subgroupSize)) k.set(counters, t.add(k.lane, t.i(j * lanes)), t.i(0));
  k.barrier();
  const subgroup = k.binary("idiv", k.lane, t.i(subgroupSize));
  const inSubgroup = k.bitcast("u32", k.binary("and", k.lane, t.i(subgroupSize - 1)));
  const one = k.constant("u32", 1);
  const lower = k.binary("sub", k.binary("shl", one, inSubgroup), one);
  const own = k.binary("mul", subgroup, t.i(DIGITS));
  return keys.map((key) => {
    const digit = t.bits(key, shift, DIGIT_BITS);
    const fellows = k.matchLanes(digit, DIGIT_BITS);
    const before = k.bitcast("i32", k.unary("popCount", k.binary("and", fellows, lower)));
    const counter = t.add(own, digit);
    const seen = k.get(counters, counter);
    k.barrier("subgroup");
    const all = k.bitcast("i32", k.unary("popCount", fellows));
    k.set(counters, counter, t.add(seen, all), k.compare("eq", before, t.i(0)));
    k.barrier("subgroup");
    return { counter, earlier: t.add(seen, before) };
  });
}

/** Replaces the counters by where the keys of each digit and subgroup begin in the sorted tile. */
function beginDigits(
  { t, shape, counters, digits, sumOverLanes }: RankedTile,
  count: (totals: readonly Value[]) => void,
): Value[] {
  const { k } = t;
  const subgroups = range(shape.lanes / shape.subgroupSize);
  const placesOf = (digit: Value) => subgroups.map((w) => t.add(digit, t.i(w * DIGITS)));
  const counted = digits.map((digit) => placesOf(digit).map((place) => k.get(counters, place)));
  const sum = (values: readonly Value[]) => values.reduce((a, b) => t.add(a, b));
  const totals = counted.map(sum);
  count(totals);
  let running = sumOverLanes(sum(totals)).before;
  return digits.map((digit, i) => {
    const start = running;
    placesOf(digit).forEach((place, w) => {
      k.set(counters, place, running);
      running = t.add(running, counted[i][w]);
    });
    return start;
  });
}

/** Puts values of the lane's elements at their ranks. A barrier must stand between the last reading and this. */
export function putAt({ t: { k }, exchange }: RankedTile, ranks: readonly Value[], values: readonly Value[]): void {
  ranks.forEach((rank, j) => {
    k.set(exchange, rank, values[j]);
  });
  k.barrier();
}

/** Positions go through the exchange in the type of the words. */
export const asWord = ({ t: { k, shape } }: RankedTile, position: Value): Value =>
  shape.type === "u64" ? k.convert("u64", position) : k.bitcast("u32", position);

export const asPosition = ({ t: { k, shape } }: RankedTile, word: Value): Value =>
  shape.type === "u64" ? k.convert("i32", word) : k.bitcast("i32", word);

/** Rows that are one tile each: sorted by all digits in shared memory, so that only the result is written. */
export function sortVotingRowsKernel(shape: VotingRows, words: ElementWords): Kernel {
  const { type, extent } = shape;
  const t = new TileKernel("sort rows", shape, shape.subgroupSize);
  const { k } = t;
  const source = k.buffer(words.dtype, false);
  const out = k.buffer(words.isAlone ? words.dtype : "i32", true);
  const tile = rankedTile(t, shape);
  const taken = () => tile.mine.map((at) => k.get(tile.exchange, at));
  const items = loadItems(tile, words, source, false, -1);
  const positions = words.isAlone ? [] : items.map(({ position }) => position);
  // A loop, so that its code stays in the instruction cache.
  k.loop(DTYPES[type].bits / DIGIT_BITS, [...items.map(({ word }) => word), ...positions], (pass, carried) => {
    const held = carried.slice(0, items.length);
    const from = k.binary("mul", pass, t.i(DIGIT_BITS));
    const shift = type === "u64" ? k.convert("u64", from) : k.bitcast("u32", from);
    const keys = held.map((word) => words.keyOf(k, word));
    const { ranks } = ranksOf(tile, keys, shift);
    putAt(tile, ranks, held);
    const sorted = taken();
    if (words.isAlone) return sorted;
    k.barrier();
    const moved = carried.slice(items.length).map((position) => asWord(tile, position));
    putAt(tile, ranks, moved);
    return [...sorted, ...taken().map((word) => asPosition(tile, word))];
  });
  // The exchange still holds the words, or the positions, in order.
  const isRagged = tileOf(shape) > extent;
  for (const at of tile.spread) {
    const word = k.get(tile.exchange, at);
    const result = words.isAlone ? words.valueOf(k, word) : asPosition(tile, word);
    k.store(out, t.add(t.base, at), result, false, isRagged ? k.compare("lt", at, t.i(extent)) : null);
  }
  return k.finish();
}
