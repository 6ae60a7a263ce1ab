/**
 * Sorting long rows digit by digit with one reading and one writing per digit ("Onesweep", Adinets and Merrill 2022). One
 * kernel counts all digits of all keys. Then each digit has one kernel: a workgroup takes a tile, ranks its keys, finds how
 * many keys of each digit the tiles before it have (look-back.ts), and writes the keys to their places. radix-sort.ts counts
 * the tiles of each digit apart instead, and reads the keys twice; it is for devices whose subgroups are unknown or large.
 *
 * Lanes of a subgroup find those with the same digit by a vote per bit, so a key is ranked by its place among them and the
 * keys its subgroup has seen before. The tile is put in order in shared memory, so that keys of a digit leave side by side.
 *
 * `sort` moves the values themselves and makes their keys anew in every pass; `argsort` moves keys and positions.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { Params } from "../../graph/primitive.js";
import { orderKey } from "../../graph/primitives/order.js";
import { computeType, type ElementSettings, elementOps } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { SortProfile } from "../target/profile.js";
import type { RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";
import { type LaneSums, laneSums, laneSumsWords, LEAST_LANES } from "./lane-sums.js";
import { LOOKS, type LookBackTask, publishSums, SUM_BITS, sumsBefore } from "./look-back.js";
import { DIGIT_BITS, DIGITS, type KeyType, type Pass, type TiledRows, TileKernel, tileOf } from "./radix-tile.js";

/** Workgroups that count digits. */
const COUNTING_GROUPS = 512;

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

/** What is sorted, and what comes out: the values in order, or their positions. */
export interface Sorted {
  readonly shape: readonly number[];
  /** Of the values; of keys where `keyed` is null. */
  readonly dtype: DType;
  /** The params of `orderKey`; null where keys are given. */
  readonly keyed: Params | null;
  readonly result: "values" | "positions";
}

/** The rows to sort, cut into tiles, and the subgroups that rank them. */
export interface SweptRows extends TiledRows {
  readonly subgroupSize: number;
  readonly looks: number;
}

/** The tiles of a sort, or null where the device cannot sort so, or the rows are too short to gain. */
export function sweptRows({ shape, dtype }: Pick<Sorted, "shape" | "dtype">, sort: SortProfile): SweptRows | null {
  const type: KeyType = DTYPES[dtype].bits === 64 ? "u64" : "u32";
  const extent = shape[shape.length - 1];
  const rows = sizeOf(shape.slice(0, -1));
  const { subgroupSize = 0, looks = LOOKS } = sort;
  if (subgroupSize < 4 || subgroupSize > 32 || extent < sort.digitsFrom || extent >= 2 ** SUM_BITS) return null;
  // Small subgroups have more counters, and there may be room for those of fewer lanes only.
  for (let lanes = Math.min(sort.lanes, DIGITS); lanes >= LEAST_LANES; lanes /= 2) {
    for (const perLane of type === "u64" ? [8, 4] : [16, 8, 4]) {
      const tiles = Math.ceil(extent / (lanes * perLane));
      const tiled: SweptRows = { type, rows, extent, lanes, perLane, tiles, subgroupSize, looks };
      if (bytesOf(tiled) <= sort.sharedBytes) return rows * tiles * DIGITS < 2 ** 31 ? tiled : null;
    }
  }
  return null;
}

/** Shared bytes of a workgroup; the emitter's own exchanges included. */
function bytesOf(shape: SweptRows): number {
  const { type, lanes, subgroupSize } = shape;
  const words = (lanes / subgroupSize) * DIGITS + DIGITS + laneSumsWords(lanes) + 2 * lanes;
  return 4 * words + DTYPES[type].bytes * tileOf(shape);
}

/** The kernels of a sort. */
export function sortBySweeps(sorted: Sorted, shape: SweptRows, settings: ElementSettings): RoutinePlan {
  const { type, rows, tiles } = shape;
  const passes = DTYPES[type].bits / DIGIT_BITS;
  const values = sorted.result === "values";
  const axis = sorted.shape.length - 1;
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const [counts, starts, tickets] = [temporary(0), temporary(1), temporary(2)];
  const published = (pass: number) => temporary(3 + (pass % 2));
  // Elements go back and forth between two sets of buffers; the last pass writes the result.
  const moved = (which: number) =>
    values ? [temporary(5 + which)] : [temporary(5 + 2 * which), temporary(6 + 2 * which)];
  const input: RoutineBuffer = { kind: "input", index: 0 };
  const words = elementWords(sorted, type, settings);
  const sweeps = range(passes).map((pass): RoutineStep => {
    const role: Pass = { shift: pass * DIGIT_BITS, isFirst: pass === 0, isLast: pass === passes - 1 };
    const from = role.isFirst ? [input] : moved((pass + 1) % 2);
    const target: RoutineBuffer[] = role.isLast ? [{ kind: "result" }] : moved(pass % 2);
    const next = role.isLast ? [] : [published(pass + 1)];
    return {
      kernel: sweepKernel(shape, role, words, values),
      buffers: [tickets, published(pass), ...next, starts, ...from, ...target],
      formula: (names) => describeSweep(names.slice(-from.length - target.length), role, values, axis),
    };
  });
  const elements = (values ? [type, type] : [type, "i32", type, "i32"]) as (KeyType | "i32")[];
  const sizes = { counts: rows * passes * DIGITS, tickets: passes, published: rows * tiles * DIGITS };
  return {
    temporaries: [
      { dtype: "i32", shape: [sizes.counts] },
      { dtype: "i32", shape: [sizes.counts] },
      { dtype: "u32", shape: [sizes.tickets] },
      { dtype: "u32", shape: [sizes.published] },
      { dtype: "u32", shape: [sizes.published] },
      ...elements.map((dtype) => ({ dtype, shape: sorted.shape })),
    ],
    steps: [
      {
        kernel: clearKernel([sizes.counts, sizes.tickets, sizes.published]),
        buffers: [counts, tickets, published(0)],
        formula: (names) => `${names.join(", ")} = 0`,
      },
      {
        kernel: countKernel(shape, words),
        buffers: [input, counts],
        formula: ([a, out]) => `${out}[i, p, j] = how often byte p of the keys of row i of ${a} is j`,
      },
      {
        kernel: startsKernel(rows * passes),
        buffers: [counts, starts],
        formula: ([a, out]) => `${out}[i, p, j] = sum over k < j of ${a}[i, p, k]`,
      },
      ...sweeps,
    ],
  };
}

function describeSweep(
  names: readonly string[],
  { shift, isFirst, isLast }: Pass,
  values: boolean,
  axis: number,
): string {
  const order = `in the order of bits ${shift} to ${shift + DIGIT_BITS - 1} of their keys along axis ${axis}`;
  const [a, ...rest] = names;
  if (values) return `${rest[0]} = ${a} ${order}${isLast ? ": sorted" : ""}`;
  const positions = isFirst ? "the positions they had" : `${rest.shift()} moved alike`;
  return isLast
    ? `${rest[0]} = ${positions} as ${a} would be ${order}: the argsort`
    : `${rest[0]} = ${a} ${order}; ${rest[1]} = ${positions}`;
}

/** How elements are held while they are sorted: as a word that goes from pass to pass. */
interface ElementWords {
  /** Of the values that are given. */
  readonly dtype: DType;
  /** The word of a value, and back. */
  readonly wordOf: (k: KernelBuilder, value: Value) => Value;
  readonly valueOf: (k: KernelBuilder, word: Value) => Value;
  readonly keyOf: (k: KernelBuilder, word: Value) => Value;
}

function elementWords({ dtype, keyed, result }: Sorted, type: KeyType, settings: ElementSettings): ElementWords {
  const same = (_: KernelBuilder, value: Value) => value;
  if (!keyed) return { dtype, wordOf: same, valueOf: same, keyOf: same };
  const held = computeType(dtype);
  const keyOf = (k: KernelBuilder, value: Value) =>
    orderKey.lower(elementOps(k, settings), [{ dtype, value }], keyed, type).value;
  if (result === "positions") return { dtype, wordOf: keyOf, valueOf: same, keyOf: same };
  const valueOf = (k: KernelBuilder, word: Value) => k.bitcast(held, word);
  return {
    dtype,
    wordOf: (k, value) => k.bitcast(type, value),
    valueOf,
    keyOf: (k, word) => keyOf(k, valueOf(k, word)),
  };
}

/** Fills buffers with zeros. */
function clearKernel(sizes: readonly number[]): Kernel {
  const k = new KernelBuilder(`sort clear[${Math.max(...sizes)}]`, Math.max(...sizes));
  sizes.forEach((size, i) => {
    const to = k.buffer(i === 0 ? "i32" : "u32", true);
    const gate = size < k.rows ? k.compare("lt", k.row, k.constant("i32", size)) : null;
    k.store(to, k.row, k.constant(i === 0 ? "i32" : "u32", 0), true, gate);
  });
  return k.finish();
}

/** Counts all digits of the keys, those of a few tiles per workgroup. */
function countKernel(shape: SweptRows, words: ElementWords): Kernel {
  const { type, rows, extent, lanes, perLane, tiles } = shape;
  const passes = DTYPES[type].bits / DIGIT_BITS;
  const perRow = Math.min(tiles, Math.max(1, Math.floor(COUNTING_GROUPS / rows)));
  const rounds = Math.ceil(tiles / perRow);
  // A tile of this kernel is what a workgroup counts.
  const t = new TileKernel("sort count", { ...shape, perLane: perLane * rounds, tiles: perRow });
  const { k } = t;
  const [source, counts] = [k.buffer(words.dtype, false), k.buffer("i32", true)];
  const found = k.array("i32", passes * DIGITS);
  const own = range((passes * DIGITS) / lanes).map((j) => t.add(k.lane, t.i(j * lanes)));
  for (const place of own) k.set(found, place, t.i(0));
  k.barrier();
  const ragged = perRow * rounds * lanes * perLane > extent;
  k.loop(rounds, [], (round) => {
    const from = k.binary("mul", round, t.i(lanes * perLane));
    // Any order will do: four neighbours at a time, and beside them those of the next lane.
    const first = t.add(from, k.binary("mul", k.lane, t.i(4)));
    const offsets = range(perLane).map((j) => t.add(first, t.i(Math.floor(j / 4) * 4 * lanes + (j % 4))));
    const elements = t.elements(offsets, 4);
    const loaded = elements.map(({ index }) => k.load(source, index, computeType(words.dtype)));
    elements.forEach(({ isInside }, j) => {
      const key = words.keyOf(k, words.wordOf(k, loaded[j]));
      for (const pass of range(passes)) {
        const digit = t.bits(key, pass * DIGIT_BITS, DIGIT_BITS);
        k.count(found, t.add(digit, t.i(pass * DIGITS)), t.i(1), ragged ? isInside : null);
      }
    });
    return [];
  });
  k.barrier();
  for (const place of own) {
    const count = k.get(found, place);
    const to = t.add(k.binary("mul", t.block, t.i(passes * DIGITS)), place);
    k.atomic("add", counts, to, count, k.compare("ne", count, t.i(0)));
  }
  return k.finish();
}

/** Where each digit begins in its sorted row. */
function startsKernel(rows: number): Kernel {
  const k = new KernelBuilder(`sort starts[${rows}]`, rows, DIGITS);
  const [counts, starts] = [k.buffer("i32", false), k.buffer("i32", true)];
  const at = k.binary("add", k.binary("mul", k.row, k.constant("i32", DIGITS)), k.lane);
  k.store(starts, at, laneSums(k, DIGITS)(k.load(counts, at, "i32")).before, false);
  return k.finish();
}

/** A sweep in the making: its memory, and the places of its lanes. */
interface Sweep {
  readonly t: TileKernel;
  readonly shape: SweptRows;
  readonly pass: Pass;
  readonly words: ElementWords;
  readonly buffers: {
    readonly published: number;
    readonly next: number;
    readonly starts: number;
    readonly source: number;
    readonly positions: number;
    readonly keysOut: number;
    readonly out: number;
  };
  /** Counters of each subgroup, by digit. */
  readonly counters: number;
  readonly exchange: number;
  readonly targets: number;
  readonly sumOverLanes: LaneSums;
  /** The digits whose sums this lane has. */
  readonly digits: readonly Value[];
  /** Places in the tile of the lane's elements, and of those that it writes. */
  readonly mine: readonly Value[];
  readonly spread: readonly Value[];
}

/** One pass over the keys. */
export function sweepKernel(shape: SweptRows, pass: Pass, words: ElementWords, values: boolean): Kernel {
  const sweep = startSweep(shape, pass, words, values);
  const { t, buffers } = sweep;
  const { k } = t;
  const items = loadItems(sweep);
  const ranked = rank(
    sweep,
    items.map(({ key }) => key),
  );
  const { totals, starts } = digitStarts(sweep);
  const task = lookBackOf(sweep);
  publishSums(task, totals);
  k.barrier();
  const ranks = ranked.map(({ counter, earlier }) => t.add(k.get(sweep.counters, counter), earlier));
  put(
    sweep,
    ranks,
    items.map(({ word }) => word),
  );
  const before = sumsBefore(task, totals);
  sweep.digits.forEach((digit, i) => {
    const inRow = t.add(
      t.base,
      t.add(k.load(buffers.starts, startPlace(sweep, digit), "i32"), k.bitcast("i32", before[i])),
    );
    k.set(sweep.targets, digit, k.binary("sub", inRow, starts[i]));
  });
  if (!pass.isLast) for (const place of task.places(t.tile)) k.store(buffers.next, place, k.constant("u32", 0), false);
  k.barrier();
  writeItems(sweep, ranks, values ? null : items.map(({ position }) => position));
  return k.finish();
}

function startSweep(shape: SweptRows, pass: Pass, words: ElementWords, values: boolean): Sweep {
  const { type, lanes, perLane, subgroupSize } = shape;
  const t = new TileKernel(`sort sweep ${pass.shift}`, shape, subgroupSize, (k) =>
    k.ticket(k.buffer("u32", true), k.constant("i32", pass.shift / DIGIT_BITS)),
  );
  const { k } = t;
  const { isFirst, isLast } = pass;
  const buffers = {
    published: k.buffer("u32", true),
    next: isLast ? -1 : k.buffer("u32", true),
    starts: k.buffer("i32", false),
    source: k.buffer(isFirst ? words.dtype : type, false),
    positions: isFirst || values ? -1 : k.buffer("i32", false),
    keysOut: isLast && !values ? -1 : k.buffer(isLast ? words.dtype : type, true),
    out: values ? -1 : k.buffer("i32", true),
  };
  const subgroup = k.binary("idiv", k.lane, t.i(subgroupSize));
  const inSubgroup = k.binary("and", k.lane, t.i(subgroupSize - 1));
  const first = t.add(k.binary("mul", subgroup, t.i(subgroupSize * perLane)), inSubgroup);
  const perDigitLane = DIGITS / lanes;
  return {
    t,
    shape,
    pass,
    words,
    buffers,
    counters: k.array("i32", (lanes / subgroupSize) * DIGITS),
    exchange: k.array(type, tileOf(shape)),
    targets: k.array("i32", DIGITS),
    sumOverLanes: laneSums(k, lanes),
    digits: range(perDigitLane).map((i) => t.add(k.binary("mul", k.lane, t.i(perDigitLane)), t.i(i))),
    mine: range(perLane).map((j) => t.add(first, t.i(j * subgroupSize))),
    spread: range(perLane).map((j) => t.add(k.lane, t.i(j * lanes))),
  };
}

interface Item {
  readonly word: Value;
  /** Beyond the row it is the largest, so that such items stay behind all elements. */
  readonly key: Value;
  readonly position: Value;
}

function loadItems({ t, pass, words, buffers, mine }: Sweep): Item[] {
  const { k, shape } = t;
  const { type } = shape;
  const last = k.constant(type, type === "u64" ? 2n ** 64n - 1n : 2 ** 32 - 1);
  const elements = t.elements(mine, 1);
  const loaded = elements.map(({ index }) =>
    pass.isFirst
      ? words.wordOf(k, k.load(buffers.source, index, computeType(words.dtype)))
      : k.load(buffers.source, index, type),
  );
  return elements.map(({ at, isInside, index }, j) => {
    const key = words.keyOf(k, loaded[j]);
    const position = buffers.positions < 0 ? at : k.load(buffers.positions, index, "i32");
    return { word: loaded[j], key: isInside ? k.select(isInside, key, last) : key, position };
  });
}

/** Counts the keys of each subgroup by digit; for each key, how many of its digit the subgroup had before. */
function rank(
  { t, pass, shape, counters }: Sweep,
  keys: readonly Value[],
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
    const digit = t.bits(key, pass.shift, DIGIT_BITS);
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
function digitStarts({ t, shape, counters, digits, sumOverLanes }: Sweep): { totals: Value[]; starts: Value[] } {
  const { k } = t;
  k.barrier();
  const subgroups = range(shape.lanes / shape.subgroupSize);
  const placesOf = (digit: Value) => subgroups.map((w) => t.add(digit, t.i(w * DIGITS)));
  const counted = digits.map((digit) => placesOf(digit).map((place) => k.get(counters, place)));
  const sum = (values: readonly Value[]) => values.reduce((a, b) => t.add(a, b));
  const totals = counted.map(sum);
  let running = sumOverLanes(sum(totals)).before;
  const starts = digits.map((digit, i) => {
    const start = running;
    placesOf(digit).forEach((place, w) => {
      k.set(counters, place, running);
      running = t.add(running, counted[i][w]);
    });
    return start;
  });
  return { totals: totals.map((total) => k.bitcast("u32", total)), starts };
}

function lookBackOf(sweep: Sweep): LookBackTask {
  const { t, shape, buffers, digits } = sweep;
  const { k } = t;
  const { tiles, looks } = shape;
  const firstTile = k.binary("mul", t.block, t.i(tiles));
  return {
    k,
    published: buffers.published,
    tile: t.tile,
    tiles,
    looks,
    isCounting: null,
    places: (tile) => digits.map((digit) => t.add(k.binary("mul", t.add(firstTile, tile), t.i(DIGITS)), digit)),
    recount: (tile) => recountTile(sweep, tile),
  };
}

/** Counts the digits of another tile, which is never the last and so has no places beyond the row. */
function recountTile({ t, shape, pass, words, buffers, counters, digits }: Sweep, tile: Value): Value[] {
  const { k } = t;
  const { type, lanes, perLane } = shape;
  k.barrier();
  for (const digit of digits) k.set(counters, digit, t.i(0));
  k.barrier();
  const start = t.add(t.add(t.base, k.binary("mul", tile, t.i(tileOf(shape)))), k.lane);
  k.loop(perLane, [], (round) => {
    const index = t.add(start, k.binary("mul", round, t.i(lanes)));
    const loaded = k.load(buffers.source, index, pass.isFirst ? computeType(words.dtype) : type);
    const key = words.keyOf(k, pass.isFirst ? words.wordOf(k, loaded) : loaded);
    k.count(counters, t.bits(key, pass.shift, DIGIT_BITS), t.i(1));
    return [];
  });
  k.barrier();
  return digits.map((digit) => k.bitcast("u32", k.get(counters, digit)));
}

/** Where a digit's start in the row is stored. */
function startPlace({ t, pass }: Sweep, digit: Value): Value {
  const { k, shape } = t;
  const passes = DTYPES[shape.type].bits / DIGIT_BITS;
  const row = t.add(k.binary("mul", t.block, t.i(passes)), t.i(pass.shift / DIGIT_BITS));
  return t.add(k.binary("mul", row, t.i(DIGITS)), digit);
}

function put({ t: { k }, exchange }: Sweep, ranks: readonly Value[], values: readonly Value[]): void {
  ranks.forEach((rank, j) => {
    k.set(exchange, rank, values[j]);
  });
  k.barrier();
}

/** Writes the sorted tile to its places; the exchange holds the words. */
function writeItems(sweep: Sweep, ranks: readonly Value[], positions: readonly Value[] | null): void {
  const { t, shape, pass, words, buffers, exchange, targets, spread } = sweep;
  const { k } = t;
  const isRagged = shape.tiles * tileOf(shape) > shape.extent;
  const leaving = spread.map((at) => {
    const word = k.get(exchange, at);
    const digit = t.bits(words.keyOf(k, word), pass.shift, DIGIT_BITS);
    const gate = isRagged ? k.compare("lt", t.add(t.start, at), t.i(shape.extent)) : null;
    return { word, to: t.add(k.get(targets, digit), at), gate };
  });
  for (const { word, to, gate } of leaving) {
    if (buffers.keysOut >= 0) k.store(buffers.keysOut, to, pass.isLast ? words.valueOf(k, word) : word, false, gate);
  }
  if (!positions) return;
  k.barrier();
  const isWide = shape.type === "u64";
  put(
    sweep,
    ranks,
    positions.map((position) => (isWide ? k.convert("u64", position) : k.bitcast("u32", position))),
  );
  leaving.forEach(({ to, gate }, j) => {
    const word = k.get(exchange, spread[j]);
    k.store(buffers.out, to, isWide ? k.convert("i32", word) : k.bitcast("i32", word), false, gate);
  });
}
