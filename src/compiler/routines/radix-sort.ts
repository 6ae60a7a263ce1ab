/**
 * Sorting long rows digit by digit, the last first, eight bits at a time: as many passes as a key has bytes, whatever the
 * length of the row. A row is cut into tiles. A pass counts how often each digit occurs in each tile, adds the counts up
 * (all tiles of digit 0, all of digit 1, …), which says where the elements of each tile go, and moves them there. Equal
 * digits keep their order, so that the passes before are not undone and the sort is stable.
 *
 * A tile is one thread's work where a row has few threads, as on a CPU. Otherwise a workgroup sorts it in shared memory
 * first, so that elements of a digit leave side by side: by two times four bits, each lane counting the digits of its own
 * neighbours in a column of its own (Satish, Harris, Garland 2009). Nothing depends on the size of subgroups.
 */
import { DTYPES } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { ElementSettings } from "../elements/elements.js";
import { type Kernel, MAX_I32, type Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { SortProfile, TargetProfile } from "../target/profile.js";
import type { RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";
import { planCumulate } from "./cumulate.js";

type KeyType = "u32" | "u64";

const DIGIT_BITS = 8;
const DIGITS = 1 << DIGIT_BITS;
/** Bits that a tile is sorted by at a time, and the words of a lane's counters: two counters in each. */
const PART_BITS = 4;
const COUNTERS = 1 << (PART_BITS - 1);
/** Tiles of a row, and elements of a tile, where each is one thread's work. */
const MAX_CHUNKS = 64;
const MIN_CHUNK = 4096;

interface Shape {
  readonly type: KeyType;
  readonly rows: number;
  readonly extent: number;
  readonly lanes: number;
  /** Elements of a tile that each lane takes. */
  readonly perLane: number;
  readonly tiles: number;
}

const tileOf = ({ lanes, perLane }: Shape): number => lanes * perLane;

export function canSortByDigits(extent: number, { sort }: TargetProfile): boolean {
  // Positions beyond the end of the row, up to a tile of them, are counted in 32 bits, too.
  return extent >= sort.digitsFrom && extent <= MAX_I32 / 2 && (sort.lanes === 1 || perLaneFor("u64", sort) > 0);
}

/** As many elements per lane as the shared memory holds beside the counters. */
function perLaneFor(type: KeyType, { lanes, sharedBytes }: SortProfile): number {
  const besides = 4 * (COUNTERS * lanes + 2 * DIGITS + lanes + lanes / GROUP);
  const most = type === "u64" ? 8 : 16;
  for (let perLane = most; perLane >= 4; perLane /= 2) {
    if (besides + DTYPES[type].bytes * padded(lanes * perLane) <= sharedBytes) return perLane;
  }
  return 0;
}

function cutInto(type: KeyType, rows: number, extent: number, sort: SortProfile): Shape {
  const { lanes } = sort;
  if (lanes > 1) {
    const perLane = perLaneFor(type, sort);
    return { type, rows, extent, lanes, perLane, tiles: Math.ceil(extent / (lanes * perLane)) };
  }
  const most = Math.min(Math.max(1, Math.floor(MAX_CHUNKS / rows)), Math.ceil(extent / MIN_CHUNK));
  const perLane = Math.ceil(extent / most);
  return { type, rows, extent, lanes, perLane, tiles: Math.ceil(extent / perLane) };
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
  const sums = planCumulate(
    {
      op: "sum",
      dtype: "i32",
      shape: table.shape,
      axis: 2,
      isReverse: false,
      isExclusive: true,
      hasSegments: false,
    },
    profile,
    settings,
  );
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
    const role: Pass = { shift: pass * DIGIT_BITS, isFirst: pass === 0, isLast: pass === passes - 1 };
    const [from, positions] = role.isFirst ? [{ kind: "input", index: 0 } as const] : pair((pass + 1) % 2);
    const target: RoutineBuffer[] = role.isLast ? [{ kind: "result" }] : pair(pass % 2);
    return [
      {
        kernel: countKernel(shape, role),
        buffers: [from, counts],
        formula: ([a, out]) =>
          `${out}[i, j, k] = how often ${digitOf(role)} of ${a} are j in tile k of row i, of ${tileOf(shape)} elements`,
      },
      ...adding,
      {
        kernel: shape.lanes > 1 ? sortTilesKernel(shape, role) : moveKernel(shape, role),
        buffers: [from, ...(positions ? [positions] : []), counts, offsets, ...target],
        formula: (names) => {
          const [a, to] = [names[0], names.slice(-target.length)];
          const order = `in the order of ${digitOf(role)} along axis ${axis}`;
          if (role.isLast) return `${to[0]} = ${names[1]} as ${a} would be ${order}: the argsort`;
          return `${to[0]} = ${a} ${order}; ${to[1]} = ${role.isFirst ? "the positions they had" : `${names[1]} moved alike`}`;
        },
      },
    ];
  }).flat();
  const elements = [type, "i32", type, "i32"].map((dtype) => ({ dtype: dtype as KeyType | "i32", shape: keys.shape }));
  return { temporaries: [...elements, table, table, ...sums.temporaries], steps };
}

interface Pass {
  readonly shift: number;
  /** The positions are those of the elements themselves. */
  readonly isFirst: boolean;
  /** The keys are needed no more. */
  readonly isLast: boolean;
}

const digitOf = ({ shift }: Pass): string => `bits ${shift} to ${shift + DIGIT_BITS - 1}`;

/** A kernel over tiles, and the places in it. */
class TileKernel {
  readonly k: KernelBuilder;
  readonly block: Value;
  readonly tile: Value;
  /** Where the tile begins in its row, and the row in memory. */
  readonly start: Value;
  readonly base: Value;

  constructor(
    name: string,
    readonly shape: Shape,
  ) {
    const { rows, extent, lanes, tiles } = shape;
    this.k = new KernelBuilder(`${name}[${rows}×${extent}]`, rows * tiles, lanes);
    const { k } = this;
    this.block = rows === 1 ? this.i(0) : k.binary("idiv", k.row, this.i(tiles));
    this.tile = rows === 1 ? k.row : k.binary("irem", k.row, this.i(tiles));
    this.start = k.binary("mul", this.tile, this.i(tileOf(shape)));
    this.base = k.binary("mul", this.block, this.i(extent));
  }

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  add(a: Value, b: Value): Value {
    return this.k.binary("add", a, b);
  }

  /** Some bits of a key, as a number. */
  bits(key: Value, shift: number, count: number): Value {
    const { k } = this;
    const { type } = this.shape;
    const shifted = shift === 0 ? key : k.binary("shr", key, k.constant(type, shift));
    return k.convert("i32", k.binary("and", shifted, k.constant(type, 2 ** count - 1)));
  }

  /**
   * Places in the row, counted from the start of the tile, and whether they are inside the row: null where all are. Of
   * neighbours whose number divides the row it is enough to ask for the first.
   */
  places(offsets: readonly Value[], neighbours: number): Place[] {
    const { k } = this;
    const { extent, tiles } = this.shape;
    const isRagged = tiles * tileOf(this.shape) > extent;
    const asked = extent % neighbours === 0 ? neighbours : 1;
    let isInside: Value | null = null;
    return offsets.map((offset, j) => {
      const at = this.add(this.start, offset);
      if (isRagged && j % asked === 0) isInside = k.compare("lt", at, this.i(extent));
      const index = this.add(this.base, at);
      return { at, isInside, index: isInside ? k.select(isInside, index, this.i(0)) : index };
    });
  }

  /** Does something for every digit. */
  eachDigit(body: (digit: Value, gate: Value | null) => void): void {
    const { k } = this;
    const { lanes } = this.shape;
    if (lanes > 1) body(k.lane, lanes > DIGITS ? k.compare("lt", k.lane, this.i(DIGITS)) : null);
    else {
      k.loop(DIGITS, [], (digit) => {
        body(digit, null);
        return [];
      });
    }
  }

  /** Where the counts of a digit stand, by tile. */
  inTable(digit: Value, tile: Value): Value {
    const { k } = this;
    const row = this.add(k.binary("mul", this.block, this.i(DIGITS)), digit);
    return this.add(k.binary("mul", row, this.i(this.shape.tiles)), tile);
  }

  /** How often a digit occurs in the row. */
  total(counts: number, offsets: number, digit: Value): Value {
    const { k } = this;
    const last = this.inTable(digit, this.i(this.shape.tiles - 1));
    return this.add(k.load(counts, last, "i32"), k.load(offsets, last, "i32"));
  }
}

interface Place {
  readonly at: Value;
  readonly isInside: Value | null;
  /** In memory; that of the first element where it is outside. */
  readonly index: Value;
}

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

function countKernel(shape: Shape, { shift }: Pass): Kernel {
  const t = new TileKernel(`sort count ${shift}`, shape);
  const { k } = t;
  const { type, lanes, perLane } = shape;
  const keys = k.buffer(type, false);
  const counts = k.buffer("i32", true);
  const found = k.array("i32", DIGITS);
  t.eachDigit((digit, gate) => k.set(found, digit, t.i(0), gate));
  k.barrier();
  const count = ({ isInside }: Place, key: Value) => k.count(found, t.bits(key, shift, DIGIT_BITS), t.i(1), isInside);
  if (lanes > 1) {
    // Any order will do: four neighbours at a time, and beside them those of the next lane.
    const first = k.binary("mul", k.lane, t.i(4));
    const places = t.places(
      range(perLane).map((j) => t.add(first, t.i(Math.floor(j / 4) * 4 * lanes + (j % 4)))),
      4,
    );
    const loaded = places.map(({ index }) => k.load(keys, index, type));
    places.forEach((place, j) => {
      count(place, loaded[j]);
    });
  } else {
    k.loop(perLane, [], (round) => {
      const [place] = t.places([round], 1);
      count(place, k.load(keys, place.index, type));
      return [];
    });
  }
  k.barrier();
  t.eachDigit((digit, gate) => k.store(counts, t.inTable(digit, t.tile), k.get(found, digit), false, gate));
  return k.finish();
}

/** One thread moves the elements of its tile, one after another. */
function moveKernel(shape: Shape, { shift, isFirst, isLast }: Pass): Kernel {
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
    const [{ at, isInside, index }] = t.places([round], 1);
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

/** Four words of room after every 32, so that lanes which read neighbours do not wait for the same banks of memory. */
const padded = (index: number): number => index + 4 * Math.floor(index / 32);

/** Lanes whose values are added up first, and then their sums. */
const GROUP = 16;

/**
 * Sums over lanes: of a value up to this one, and of all. A few lanes add up groups of lanes; then each adds the groups
 * before its own and its fellows, which takes two barriers. Another must stand between two of these.
 */
function laneSums(t: TileKernel): (value: Value) => { readonly upTo: Value; readonly all: Value } {
  const { k } = t;
  const groups = t.shape.lanes / GROUP;
  const values = k.array("i32", t.shape.lanes);
  const sums = k.array("i32", groups);
  const group = k.binary("shr", k.lane, t.i(Math.log2(GROUP)));
  const within = k.binary("and", k.lane, t.i(GROUP - 1));
  const add = (a: Value, b: Value) => t.add(a, b);
  const many = (array: number, first: Value, count: number) =>
    range(count / 4).flatMap((m) => k.getMany(array, t.add(first, t.i(4 * m)), 4));
  const ofGroup = (which: Value) => many(values, k.binary("mul", which, t.i(GROUP)), GROUP);
  return (value) => {
    k.set(values, k.lane, value);
    k.barrier();
    k.when(k.compare("lt", k.lane, t.i(groups)), () => {
      k.set(sums, k.lane, ofGroup(k.lane).reduce(add));
      return [];
    });
    k.barrier();
    const found = many(sums, t.i(0), groups);
    const before = found.map((sum, g) => k.select(k.compare("gt", group, t.i(g)), sum, t.i(0)));
    const fellows = ofGroup(group).map((x, j) => k.select(k.compare("ge", within, t.i(j)), x, t.i(0)));
    return { upTo: [...before, ...fellows].reduce(add), all: found.reduce(add) };
  };
}

/** A workgroup sorts its tile in shared memory and then moves it. */
function sortTilesKernel(shape: Shape, { shift, isFirst, isLast }: Pass): Kernel {
  const t = new TileKernel(`sort tiles ${shift}`, shape);
  const { k } = t;
  const { type, extent, lanes, perLane, tiles } = shape;
  const keys = k.buffer(type, false);
  const positions = isFirst ? -1 : k.buffer("i32", false);
  const counts = k.buffer("i32", false);
  const offsets = k.buffer("i32", false);
  const keysOut = isLast ? -1 : k.buffer(type, true);
  const out = k.buffer("i32", true);
  const counters = k.array("i32", COUNTERS * lanes);
  const exchange = k.array(type, padded(tileOf(shape)));
  const starts = k.array("i32", DIGITS);
  const targets = k.array("i32", DIGITS);
  const sumOverLanes = laneSums(t);
  const width = type === "u64" ? 2 : 4;

  const paddedIndex = (index: Value) => {
    const room = k.binary("shl", k.binary("shr", index, k.constant("u32", 5)), k.constant("u32", 2));
    return t.add(index, room);
  };
  const mine = range(perLane).map((j) => t.add(k.binary("mul", k.lane, t.i(perLane)), t.i(j)));
  const spread = range(perLane).map((j) => t.add(k.lane, t.i(j * lanes)));

  // Where the elements of a digit go, less those that stand before them in the tile, is known once it is sorted.
  const isDigit = k.compare("lt", k.lane, t.i(DIGITS));
  const digit = lanes > DIGITS ? k.select(isDigit, k.lane, t.i(0)) : k.lane;
  const total =
    lanes > DIGITS ? k.select(isDigit, t.total(counts, offsets, digit), t.i(0)) : t.total(counts, offsets, digit);
  const ownCounters = range(COUNTERS / 4).map((m) => t.add(k.binary("mul", k.lane, t.i(COUNTERS)), t.i(4 * m)));
  const clearCounters = () => {
    for (const word of ownCounters)
      k.setMany(
        counters,
        word,
        range(4).map(() => t.i(0)),
      );
  };
  clearCounters();
  const before = k.binary("sub", sumOverLanes(total).upTo, total);
  const goesTo = t.add(t.add(t.base, before), k.load(offsets, t.inTable(digit, t.tile), "i32"));

  const places = t.places(mine, width);
  const last = k.constant(type, type === "u64" ? 2n ** 64n - 1n : 2 ** 32 - 1);
  let items = places.map(({ at, isInside, index }) => {
    const key = k.load(keys, index, type);
    const position = isFirst ? at : k.load(positions, index, "i32");
    // What is not there stays behind what is.
    return { key: isInside ? k.select(isInside, key, last) : key, position };
  });

  const asKey = (position: Value) => (type === "u64" ? k.convert("u64", position) : k.bitcast("u32", position));
  const asPosition = (word: Value) => (type === "u64" ? k.convert("i32", word) : k.bitcast("i32", word));
  const put = (ranks: readonly Value[], values: readonly Value[]) => {
    ranks.forEach((rank, j) => {
      k.set(exchange, paddedIndex(rank), values[j]);
    });
    k.barrier();
  };
  const takeMine = () => {
    const found = range(perLane / width).flatMap((m) => k.getMany(exchange, paddedIndex(mine[m * width]), width));
    k.barrier();
    return found;
  };
  const takeSpread = () => spread.map((at) => k.get(exchange, paddedIndex(at)));

  const ranksBy = (from: number): Value[] => {
    const part = items.map(({ key }) => {
      const value = t.bits(key, from, PART_BITS);
      const row = k.binary("and", value, t.i(COUNTERS - 1));
      const half = k.bitcast(
        "u32",
        k.binary("shl", k.binary("shr", value, k.constant("u32", PART_BITS - 1)), k.constant("u32", 4)),
      );
      return { counter: t.add(k.binary("mul", row, t.i(lanes)), k.lane), half };
    });
    const lower = (x: Value) => k.binary("and", x, t.i(0xffff));
    const earlier = part.map(({ counter, half }) => {
      const seen = k.get(counters, counter);
      k.set(counters, counter, t.add(seen, k.binary("shl", t.i(1), half)));
      return lower(k.binary("shr", seen, half));
    });
    k.barrier();
    const counted = ownCounters.flatMap((word) => k.getMany(counters, word, 4));
    const sum = counted.reduce((a, b) => t.add(a, b));
    const { upTo, all } = sumOverLanes(sum);
    // The upper counters of all words come after the lower ones.
    let running = t.add(k.binary("sub", upTo, sum), k.binary("shl", all, k.constant("u32", 16)));
    const sums = counted.map((count) => {
      const own = running;
      running = t.add(running, count);
      return own;
    });
    ownCounters.forEach((word, m) => {
      k.setMany(counters, word, sums.slice(4 * m, 4 * m + 4));
    });
    k.barrier();
    return part.map(({ counter, half }, j) =>
      t.add(lower(k.binary("shr", k.get(counters, counter), half)), earlier[j]),
    );
  };

  const first = ranksBy(shift);
  put(
    first,
    items.map(({ key }) => key),
  );
  clearCounters();
  const sortedKeys = takeMine();
  put(
    first,
    items.map(({ position }) => asKey(position)),
  );
  const sortedPositions = takeMine();
  items = sortedKeys.map((key, j) => ({ key, position: asPosition(sortedPositions[j]) }));

  const second = ranksBy(shift + PART_BITS);
  put(
    second,
    items.map(({ key }) => key),
  );
  const leaving = takeSpread().map((key) => ({ key, digit: t.bits(key, shift, DIGIT_BITS) }));
  leaving.forEach(({ digit }, j) => {
    const previous = k.get(exchange, paddedIndex(k.binary("max", k.binary("sub", spread[j], t.i(1)), t.i(0))));
    const differs = k.compare("ne", t.bits(previous, shift, DIGIT_BITS), digit);
    const isFirstOfAll = k.compare("eq", spread[j], t.i(0));
    k.set(starts, digit, spread[j], j === 0 ? k.binary("or", differs, isFirstOfAll) : differs);
  });
  k.barrier();
  k.set(targets, digit, k.binary("sub", goesTo, k.get(starts, digit)), lanes > DIGITS ? isDigit : null);
  put(
    second,
    items.map(({ position }) => asKey(position)),
  );
  const isRagged = tiles * tileOf(shape) > extent;
  takeSpread().forEach((word, j) => {
    const { key, digit } = leaving[j];
    const gate = isRagged ? k.compare("lt", t.add(t.start, spread[j]), t.i(extent)) : null;
    const to = t.add(k.get(targets, digit), spread[j]);
    if (!isLast) k.store(keysOut, to, key, false, gate);
    k.store(out, to, asPosition(word), false, gate);
  });
  return k.finish();
}
