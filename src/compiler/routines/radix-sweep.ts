/**
 * Sorting long rows digit by digit with one reading and one writing per digit ("Onesweep", Adinets and Merrill 2022). One
 * kernel counts all digits of all keys. Then each digit has one kernel: a workgroup takes a tile, ranks its keys, finds how
 * many keys of each digit the tiles before it have (look-back.ts), and writes the keys to their places. radix-sort.ts counts
 * the tiles of each digit apart instead, and reads the keys twice; it is for devices whose subgroups are unknown or large.
 *
 * Lanes of a subgroup find those with the same digit by a vote per bit, so a key is ranked by its place among them and the
 * keys its subgroup has seen before. The tile is put in order in shared memory, so that keys of a digit leave side by side.
 * */
import { DTYPES } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import { computeType } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { SortProfile } from "../target/profile.js";
import type { RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";
import { type ElementWords, keyTypeOf, type Sorted } from "./element-words.js";
import { LEAST_LANES, laneSums } from "./lane-sums.js";
import { LOOKS, type LookBackTask, publishSums, SUM_BITS, sumsBefore } from "./look-back.js";
import { DIGIT_BITS, DIGITS, type DigitPass, type TiledRows, TileKernel, tileOf } from "./radix-tile.js";
import {
  asPosition,
  asWord,
  loadItems,
  putAt,
  type RankedTile,
  range,
  rankedTile,
  rankingBytes,
  ranksOf,
  type VotingRows,
} from "./ranked-tile.js";

/** Workgroups that count digits. */
const COUNTING_GROUPS = 512;

/** The rows to sort, cut into tiles, and the subgroups that rank them. */
interface SweptRows extends VotingRows {
  readonly looks: number;
}

const votes = ({ subgroupSize = 0 }: SortProfile): boolean => subgroupSize >= 4 && subgroupSize <= 32;

/** The tiles of a sort, or null where the device cannot sort so, or the rows are too short to gain. */
export function sweptRows({ shape, dtype }: Pick<Sorted, "shape" | "dtype">, sort: SortProfile): SweptRows | null {
  const type = keyTypeOf(dtype);
  const extent = shape[shape.length - 1];
  const rows = sizeOf(shape.slice(0, -1));
  const { subgroupSize = 0, looks = LOOKS } = sort;
  if (!votes(sort) || extent < sort.digitsFrom || extent >= 2 ** SUM_BITS) return null;
  // Small subgroups have more counters, and there may be room for those of fewer lanes only.
  for (let lanes = Math.min(sort.lanes, DIGITS); lanes >= LEAST_LANES; lanes /= 2) {
    for (const perLane of sort.perLane ? [sort.perLane] : [16, 8, 4]) {
      const tiles = Math.ceil(extent / (lanes * perLane));
      const tiled: SweptRows = { type, rows, extent, lanes, perLane, tiles, subgroupSize, looks };
      const bytes = rankingBytes(tiled) + 4 * DIGITS;
      if (bytes <= sort.sharedBytes) return rows * tiles * DIGITS < 2 ** 31 ? tiled : null;
    }
  }
  return null;
}

/** Rows that are one tile each, with the subgroups that rank them; null where lanes cannot vote or memory is short. */
export function asVotingRows(tiled: TiledRows, sort: SortProfile): VotingRows | null {
  const shape = { ...tiled, subgroupSize: sort.subgroupSize ?? 0 };
  return votes(sort) && rankingBytes(shape) <= sort.sharedBytes ? shape : null;
}

/** The kernels of a sort. */
export function sortBySweeps(given: readonly number[], shape: SweptRows, words: ElementWords): RoutinePlan {
  const { type, rows, tiles } = shape;
  const passes = DTYPES[type].bits / DIGIT_BITS;
  const { isAlone } = words;
  const axis = given.length - 1;
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const [counts, starts, tickets] = [temporary(0), temporary(1), temporary(2)];
  const published = (pass: number) => temporary(3 + (pass % 2));
  // Elements go back and forth between two sets of buffers; the last pass writes the result.
  const moved = (which: number) =>
    isAlone ? [temporary(5 + which)] : [temporary(5 + 2 * which), temporary(6 + 2 * which)];
  const input: RoutineBuffer = { kind: "input", index: 0 };
  const sweeps = range(passes).map((pass): RoutineStep => {
    const role: DigitPass = { shift: pass * DIGIT_BITS, isFirst: pass === 0, isLast: pass === passes - 1 };
    const from = role.isFirst ? [input] : moved((pass + 1) % 2);
    const target: RoutineBuffer[] = role.isLast ? [{ kind: "result" }] : moved(pass % 2);
    const next = role.isLast ? [] : [published(pass + 1)];
    return {
      kernel: sweepKernel(shape, role, words),
      buffers: [tickets, published(pass), ...next, starts, ...from, ...target],
      formula: (names) => describeSweep(names.slice(-from.length - target.length), role, isAlone, axis),
    };
  });
  const elements = (isAlone ? [type, type] : [type, "i32", type, "i32"]) as ("u32" | "u64" | "i32")[];
  const sizes = { counts: rows * passes * DIGITS, tickets: passes, published: rows * tiles * DIGITS };
  return {
    temporaries: [
      { dtype: "i32", shape: [sizes.counts] },
      { dtype: "i32", shape: [sizes.counts] },
      { dtype: "u32", shape: [sizes.tickets] },
      { dtype: "u32", shape: [sizes.published] },
      { dtype: "u32", shape: [sizes.published] },
      ...elements.map((dtype) => ({ dtype, shape: given })),
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
  { shift, isFirst, isLast }: DigitPass,
  isAlone: boolean,
  axis: number,
): string {
  const order = `in the order of bits ${shift} to ${shift + DIGIT_BITS - 1} of their keys along axis ${axis}`;
  const [a, ...rest] = names;
  if (isAlone) return `${rest[0]} = ${a} ${order}${isLast ? ": sorted" : ""}`;
  const positions = isFirst ? "the positions they had" : `${rest.shift()} moved alike`;
  return isLast
    ? `${rest[0]} = ${positions} as ${a} would be ${order}: the argsort`
    : `${rest[0]} = ${a} ${order}; ${rest[1]} = ${positions}`;
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

/** The start of each digit in its sorted row. */
function startsKernel(rows: number): Kernel {
  const k = new KernelBuilder(`sort starts[${rows}]`, rows, DIGITS);
  const [counts, starts] = [k.buffer("i32", false), k.buffer("i32", true)];
  const at = k.binary("add", k.binary("mul", k.row, k.constant("i32", DIGITS)), k.lane);
  k.store(starts, at, laneSums(k, DIGITS)(k.load(counts, at, "i32")).before, false);
  return k.finish();
}

/** A sweep in the making: its memory, and the places of its lanes. */
interface Sweep extends RankedTile {
  readonly pass: DigitPass;
  readonly words: ElementWords;
  readonly targets: number;
  readonly buffers: {
    readonly published: number;
    readonly next: number;
    readonly starts: number;
    readonly source: number;
    readonly positions: number;
    readonly wordsOut: number;
    readonly out: number;
  };
}

/** One pass over the keys. */
function sweepKernel(shape: SweptRows, pass: DigitPass, words: ElementWords): Kernel {
  const sweep = startSweep(shape, pass, words);
  const { t, buffers } = sweep;
  const { k } = t;
  const items = loadItems(sweep, words, buffers.source, !pass.isFirst, buffers.positions);
  const keys = items.map(({ word }) => words.keyOf(k, word));
  const task = lookBackOf(sweep, shape);
  let totals: readonly Value[] = [];
  // The sooner others know the counts, the less they wait.
  const { ranks, starts } = ranksOf(sweep, keys, pass.shift, (counted) => {
    totals = counted.map((total) => k.bitcast("u32", total));
    publishSums(task, totals);
  });
  putAt(
    sweep,
    ranks,
    items.map(({ word }) => word),
  );
  const before = sumsBefore(task, totals);
  sweep.digits.forEach((digit, i) => {
    const start = k.load(buffers.starts, startPlace(sweep, digit), "i32");
    const inRow = t.add(t.base, t.add(start, k.bitcast("i32", before[i])));
    k.set(sweep.targets, digit, k.binary("sub", inRow, starts[i]));
  });
  if (!pass.isLast) for (const place of task.places(t.tile)) k.store(buffers.next, place, k.constant("u32", 0), false);
  k.barrier();
  writeItems(sweep, ranks, words.isAlone ? null : items.map(({ position }) => position));
  return k.finish();
}

function startSweep(shape: SweptRows, pass: DigitPass, words: ElementWords): Sweep {
  const t = new TileKernel(`sort sweep ${pass.shift}`, shape, shape.subgroupSize, (k) =>
    k.ticket(k.buffer("u32", true), k.constant("i32", pass.shift / DIGIT_BITS)),
  );
  const { k } = t;
  const { isFirst, isLast } = pass;
  const { type, isAlone } = words;
  const buffers = {
    published: k.buffer("u32", true),
    next: isLast ? -1 : k.buffer("u32", true),
    starts: k.buffer("i32", false),
    source: k.buffer(isFirst ? words.dtype : type, false),
    positions: isFirst || isAlone ? -1 : k.buffer("i32", false),
    wordsOut: isLast && !isAlone ? -1 : k.buffer(isLast ? words.dtype : type, true),
    out: isAlone ? -1 : k.buffer("i32", true),
  };
  return { ...rankedTile(t, shape), pass, words, buffers, targets: k.array("i32", DIGITS) };
}

function lookBackOf(sweep: Sweep, { tiles, looks }: SweptRows): LookBackTask {
  const { t, buffers, digits } = sweep;
  const { k } = t;
  const firstTile = k.binary("mul", t.block, t.i(tiles));
  return {
    k,
    published: buffers.published,
    tile: t.tile,
    tiles,
    looks,
    places: (tile) => digits.map((digit) => t.add(k.binary("mul", t.add(firstTile, tile), t.i(DIGITS)), digit)),
    recount: (tile) => recountTile(sweep, tile),
  };
}

/** Counts the digits of another tile, which is never the last and so has no places beyond the row. */
function recountTile({ t, shape, pass, words, buffers, counters, digits }: Sweep, tile: Value): Value[] {
  const { k } = t;
  const { lanes, perLane } = shape;
  k.barrier();
  for (const digit of digits) k.set(counters, digit, t.i(0));
  k.barrier();
  const start = t.add(t.add(t.base, k.binary("mul", tile, t.i(tileOf(shape)))), k.lane);
  k.loop(perLane, [], (round) => {
    const index = t.add(start, k.binary("mul", round, t.i(lanes)));
    const loaded = k.load(buffers.source, index, pass.isFirst ? computeType(words.dtype) : words.type);
    const key = words.keyOf(k, pass.isFirst ? words.wordOf(k, loaded) : loaded);
    k.count(counters, t.bits(key, pass.shift, DIGIT_BITS), t.i(1));
    return [];
  });
  k.barrier();
  return digits.map((digit) => k.bitcast("u32", k.get(counters, digit)));
}

/** The place at which a digit's start in the row is stored. */
function startPlace({ t, pass, words }: Sweep, digit: Value): Value {
  const { k } = t;
  const passes = DTYPES[words.type].bits / DIGIT_BITS;
  const row = t.add(k.binary("mul", t.block, t.i(passes)), t.i(pass.shift / DIGIT_BITS));
  return t.add(k.binary("mul", row, t.i(DIGITS)), digit);
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
    if (buffers.wordsOut >= 0) k.store(buffers.wordsOut, to, pass.isLast ? words.valueOf(k, word) : word, false, gate);
  }
  if (!positions) return;
  k.barrier();
  putAt(
    sweep,
    ranks,
    positions.map((position) => asWord(sweep, position)),
  );
  leaving.forEach(({ to, gate }, j) => {
    k.store(buffers.out, to, asPosition(sweep, k.get(exchange, spread[j])), false, gate);
  });
}
