/**
 * Sorting long rows digit by digit, the last first, eight bits at a time: as many passes as a key has bytes, whatever the
 * length of the row. A row is cut into tiles. A pass counts how often each digit occurs in each tile, sums the counts (all
 * tiles of digit 0, all of digit 1, …) to find the place of each element, and moves the elements there. Equal digits keep
 * their order, so that later passes keep the order of earlier ones and the sort is stable.
 *
 * A tile is one thread's work where a row has few threads, as on a CPU. Otherwise a workgroup sorts it in shared memory
 * first (radix-tile-sort.ts).
 */
import { DTYPES } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { ElementSettings } from "../elements/elements.js";
import { type Kernel, MAX_I32, type Value } from "../ir/ir.js";
import type { SortProfile, TargetProfile } from "../target/profile.js";
import type { RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";
import { planCumulate } from "./cumulate.js";
import { keyTypeOf } from "./element-words.js";
import { LEAST_LANES } from "./lane-sums.js";
import {
  DIGIT_BITS,
  DIGITS,
  type DigitPass,
  type KeyType,
  type TiledRows,
  type TileElement,
  TileKernel,
  tileOf,
} from "./radix-tile.js";
import { perLaneFor, sortTilesKernel } from "./radix-tile-sort.js";

/** Tiles of a row, and elements of a tile, where each is one thread's work. */
const MAX_CHUNKS = 64;
const MIN_CHUNK = 4096;

/** Shorter rows are merged: a workgroup would have little to do. */
const LEAST_TILE = 64;

export function canSortByDigits(extent: number, { sort }: TargetProfile): boolean {
  // Positions beyond the end of the row, up to a tile of them, are counted in 32 bits, too.
  return extent >= sort.digitsFrom && extent <= MAX_I32 / 2 && (sort.lanes === 1 || perLaneFor("u64", sort) > 0);
}

function cutInto(type: KeyType, rows: number, extent: number, sort: SortProfile): TiledRows {
  const { lanes } = sort;
  if (lanes > 1) {
    const perLane = perLaneFor(type, sort);
    return { type, rows, extent, lanes, perLane, tiles: Math.ceil(extent / (lanes * perLane)) };
  }
  const most = Math.min(Math.max(1, Math.floor(MAX_CHUNKS / rows)), Math.ceil(extent / MIN_CHUNK));
  const perLane = Math.ceil(extent / most);
  return { type, rows, extent, lanes, perLane, tiles: Math.ceil(extent / perLane) };
}

/** Rows that are one tile each, or null where a row does not fit into the shared memory of a workgroup. */
export function rowsAsTiles({ shape, dtype }: Pick<Node, "shape" | "dtype">, sort: SortProfile): TiledRows | null {
  const type = keyTypeOf(dtype);
  const extent = shape[shape.length - 1];
  const rows = sizeOf(shape.slice(0, -1));
  if (sort.lanes === 1 || extent < LEAST_TILE) return null;
  for (let lanes = LEAST_LANES; lanes <= sort.lanes; lanes *= 2) {
    const most = perLaneFor(type, { ...sort, lanes });
    // More lanes before more elements per lane, so that few rows take no longer than they must.
    for (let perLane = 4; perLane <= (lanes < sort.lanes ? Math.min(4, most) : most); perLane *= 2) {
      if (lanes * perLane >= extent) return { type, rows, extent, lanes, perLane, tiles: 1 };
    }
  }
  return null;
}

export function sortByDigits(
  keys: Pick<Node, "shape" | "dtype">,
  profile: TargetProfile,
  settings: ElementSettings,
): RoutinePlan {
  const type = keys.dtype as KeyType;
  const axis = keys.shape.length - 1;
  const extent = keys.shape[axis];
  const rows = sizeOf(keys.shape.slice(0, -1));
  const shape = cutInto(type, rows, extent, profile.sort);
  const table = { dtype: "i32", shape: [rows, DIGITS, shape.tiles] } as const;
  const exclusive = { op: "sum", axis: 2, isReverse: false, isExclusive: true, hasSegments: false } as const;
  const sums = planCumulate({ ...table, ...exclusive }, profile, settings);
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  // Keys and positions go back and forth between two pairs of buffers; the last pass writes the result.
  const pair = (which: number) => [temporary(2 * which), temporary(2 * which + 1)];
  const [counts, offsets] = [temporary(4), temporary(5)];
  const ofSums = (buffer: RoutineBuffer): RoutineBuffer => {
    if (buffer.kind === "temporary") return temporary(6 + buffer.index);
    return buffer.kind === "input" ? counts : offsets;
  };
  const adding = sums.steps.map((step) => ({ ...step, buffers: step.buffers.map(ofSums) }));
  const passes = DTYPES[type].bits / DIGIT_BITS;
  const steps = Array.from({ length: passes }, (_, pass): RoutineStep[] => {
    const role: DigitPass = { shift: pass * DIGIT_BITS, isFirst: pass === 0, isLast: pass === passes - 1 };
    const from = role.isFirst ? [{ kind: "input", index: 0 } as const] : pair((pass + 1) % 2);
    const target: RoutineBuffer[] = role.isLast ? [{ kind: "result" }] : pair(pass % 2);
    return [
      {
        kernel: countKernel(shape, role),
        buffers: [from[0], counts],
        formula: ([a, out]) =>
          `${out}[i, j, k] = how often ${digitOf(role)} of ${a} are j in tile k of row i, of ${tileOf(shape)} elements`,
      },
      ...adding,
      {
        kernel: shape.lanes > 1 ? sortTilesKernel(shape, role) : moveKernel(shape, role),
        buffers: [...from, counts, offsets, ...target],
        formula: (names) => describeMove(names, names.slice(-target.length), role, axis),
      },
    ];
  }).flat();
  const elements = [type, "i32", type, "i32"].map((dtype) => ({ dtype: dtype as KeyType | "i32", shape: keys.shape }));
  return { temporaries: [...elements, table, table, ...sums.temporaries], steps };
}

/** The move of keys and positions to their places by one digit. */
function describeMove([a, positions]: readonly string[], to: readonly string[], role: DigitPass, axis: number): string {
  const order = `in the order of ${digitOf(role)} along axis ${axis}`;
  if (role.isLast) return `${to[0]} = ${positions} as ${a} would be ${order}: the argsort`;
  return `${to[0]} = ${a} ${order}; ${to[1]} = ${role.isFirst ? "the positions they had" : `${positions} moved alike`}`;
}

const digitOf = ({ shift }: DigitPass): string => `bits ${shift} to ${shift + DIGIT_BITS - 1}`;

function countKernel(shape: TiledRows, { shift }: DigitPass): Kernel {
  const t = new TileKernel(`sort count ${shift}`, shape);
  const { k } = t;
  const { type, lanes, perLane } = shape;
  const keys = k.buffer(type, false);
  const counts = k.buffer("i32", true);
  const found = k.array("i32", DIGITS);
  t.eachDigit((digit, gate) => k.set(found, digit, t.i(0), gate));
  k.barrier();
  const count = ({ isInside }: TileElement, key: Value) =>
    k.count(found, t.bits(key, shift, DIGIT_BITS), t.i(1), isInside);
  if (lanes > 1) {
    // Any order will do: four neighbours at a time, and beside them those of the next lane.
    const first = k.binary("mul", k.lane, t.i(4));
    const offsets = Array.from({ length: perLane }, (_, j) =>
      t.add(first, t.i(Math.floor(j / 4) * 4 * lanes + (j % 4))),
    );
    const elements = t.elements(offsets, 4);
    const loaded = elements.map(({ index }) => k.load(keys, index, type));
    elements.forEach((element, j) => {
      count(element, loaded[j]);
    });
  } else {
    k.loop(perLane, [], (round) => {
      const [element] = t.elements([round], 1);
      count(element, k.load(keys, element.index, type));
      return [];
    });
  }
  k.barrier();
  t.eachDigit((digit, gate) => k.store(counts, t.inTable(digit, t.tile), k.get(found, digit), false, gate));
  return k.finish();
}

/** One thread moves the elements of its tile, one after another. */
function moveKernel(shape: TiledRows, { shift, isFirst, isLast }: DigitPass): Kernel {
  const t = new TileKernel(`sort move ${shift}`, shape);
  const { k } = t;
  const { type, perLane } = shape;
  const keys = k.buffer(type, false);
  const positions = isFirst ? -1 : k.buffer("i32", false);
  const counts = k.buffer("i32", false);
  const offsets = k.buffer("i32", false);
  const keysOut = isLast ? -1 : k.buffer(type, true);
  const out = k.buffer("i32", true);
  const next = k.array("i32", DIGITS);
  k.loop(DIGITS, [t.base], (digit, [before]) => {
    k.set(next, digit, t.add(before, k.load(offsets, t.inTable(digit, t.tile), "i32")));
    return [t.add(before, t.total(counts, offsets, digit))];
  });
  k.loop(perLane, [], (round) => {
    const [{ at, isInside, index }] = t.elements([round], 1);
    const key = k.load(keys, index, type);
    const digit = t.bits(key, shift, DIGIT_BITS);
    const to = k.get(next, digit);
    k.set(next, digit, t.add(to, t.i(1)), isInside);
    if (!isLast) k.store(keysOut, to, key, false, isInside);
    k.store(out, to, isFirst ? at : k.load(positions, index, "i32"), false, isInside);
    return [];
  });
  return k.finish();
}
