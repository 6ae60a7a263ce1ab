/**
 * Running totals along memory in one kernel: the elements are read once and written once, where the plan of cumulate.ts reads
 * them twice. cumulate.ts chooses it where the profile says so.
 *
 * A workgroup takes a tile by a ticket, publishes the tile's total, and needs the total of all tiles before. Tiles form blocks
 * of as many as a workgroup has lanes: each lane waits for one tile of its own block. The total before the block is handed on
 * from block to block: the last tile of a block adds that of the block and publishes the sum. Totals are so added in one order,
 * whichever workgroup is first, and a result is the same in every run; a look-back that takes what it finds (look-back.ts)
 * would round differently from run to run.
 *
 * As there, a workgroup that has waited too long computes the missing totals itself, in the same order and so with the same
 * bits: it ends whatever the others do.
 */
import { runningTotal } from "../../graph/primitives/cumulate.js";
import { computeType, type Element, type ElementSettings, elementOps, wrap } from "../elements/elements.js";
import type { CombineOp, IRType, Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { RunningProfile } from "../target/profile.js";
import type { RoutineBuffer, RoutinePlan } from "../target/routine.js";
import { clearKernel } from "./clear.js";
import { type Cumulation, sizesOf } from "./cumulate-kernel.js";

/** How often a workgroup looks before it computes a total itself. */
const LOOKS = 4096;
/** A published total is two words, each with half of the bits and this one, so that a word of zeros is none. */
const PUBLISHED = 2 ** 31;

/** The shape of the work: rows of elements, cut into tiles, in blocks. */
interface Sweep {
  readonly outer: number;
  readonly extent: number;
  readonly lanes: number;
  readonly perLane: number;
  readonly tiles: number;
  readonly blocks: number;
  readonly looks: number;
}

/** Whether totals can be computed so: along memory, without segments, of numbers that 32 bits hold, over several tiles. */
export function canSweep(task: Cumulation, running: RunningProfile): boolean {
  const { extent, inner } = sizesOf(task);
  const type = computeType(task.dtype);
  const isWord = type === "f32" || type === "i32" || type === "u32";
  const isOne = inner === 1 && !task.hasSegments && runningTotal(task.op).combineOp !== null;
  return isWord && isOne && extent > 4 * running.lanes * running.perLane;
}

export function planSweep(
  task: Cumulation,
  running: RunningProfile,
  settings: ElementSettings,
  formula: (names: readonly string[]) => string,
): RoutinePlan {
  const { outer, extent } = sizesOf(task);
  const { lanes, perLane, looks = LOOKS } = running;
  const tiles = Math.ceil(extent / (lanes * perLane));
  const sweep: Sweep = { outer, extent, lanes, perLane, tiles, blocks: Math.ceil(tiles / lanes), looks };
  const words = 2 * outer * (sweep.tiles + sweep.blocks);
  const [tickets, published]: RoutineBuffer[] = [0, 1].map((index) => ({ kind: "temporary", index }));
  return {
    temporaries: [
      { dtype: "u32", shape: [1] },
      { dtype: "u32", shape: [words] },
    ],
    steps: [
      {
        kernel: clearKernel("cumulate clear", [1, words]),
        buffers: [tickets, published],
        formula: (names) => `${names.join(", ")} = 0`,
      },
      {
        kernel: sweepKernel(task, sweep, settings),
        buffers: [tickets, published, { kind: "input", index: 0 }, { kind: "result" }],
        formula: (names) => formula(names.slice(2)),
      },
    ],
  };
}

/** A kernel in the making. Totals are values of the computing type. */
class SweepKernel {
  readonly k: KernelBuilder;
  readonly type: IRType;
  readonly op: CombineOp;
  readonly neutral: Value;
  readonly published: number;
  readonly source: number;
  readonly target: number;
  /** The row, the tile in it, the block of that and the place in the block. */
  readonly row: Value;
  readonly tile: Value;
  readonly block: Value;
  readonly place: Value;
  private readonly ops: ReturnType<typeof elementOps>;

  constructor(
    readonly task: Cumulation,
    readonly sweep: Sweep,
    settings: ElementSettings,
  ) {
    const { outer, extent, lanes, tiles } = sweep;
    this.k = new KernelBuilder(`cumulate ${task.op} in one pass[${outer}×${extent}]`, outer * tiles, lanes);
    const { k } = this;
    const total = runningTotal(task.op);
    this.type = computeType(task.dtype);
    this.op = total.combineOp as CombineOp;
    this.ops = elementOps(k, settings);
    const tickets = k.buffer("u32", true);
    this.published = k.buffer("u32", true);
    this.source = k.buffer(task.dtype, false);
    this.target = k.buffer(task.dtype, true);
    const taken = k.ticket(tickets, this.i(0));
    this.row = outer === 1 ? this.i(0) : k.binary("idiv", taken, this.i(tiles));
    this.tile = outer === 1 ? taken : k.binary("irem", taken, this.i(tiles));
    this.block = k.binary("idiv", this.tile, this.i(lanes));
    this.place = k.binary("irem", this.tile, this.i(lanes));
    this.neutral = this.constant(total.neutral(task.dtype));
  }

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  add(a: Value, b: Value): Value {
    return this.k.binary("add", a, b);
  }

  constant(value: number | bigint | boolean): Value {
    return this.ops.constant(this.task.dtype, value).value;
  }

  /** The later total added to the earlier. */
  combine(earlier: Value, later: Value): Value {
    const { dtype, op } = this.task;
    const element = (value: Value): Element => ({ dtype, value });
    return runningTotal(op).combine(this.ops, element(earlier), element(later)).value;
  }

  /** A value of each lane, combined in the order of the lanes. */
  overLanes(value: Value): Value {
    return wrap(this.k, this.task.dtype, this.k.combineLanes(this.op, value));
  }

  beforeLane(value: Value): Value {
    return wrap(this.k, this.task.dtype, this.k.beforeLane(this.op, value, this.neutral));
  }

  /** Whether a condition holds in any lane of the workgroup. */
  isAnywhere(condition: Value): Value {
    const { k } = this;
    return k.compare("gt", k.combineLanes("max", k.select(condition, this.i(1), this.i(0))), this.i(0));
  }

  /** The place in memory of the p-th element of the row, in the direction of the totals, and whether the row has it. */
  elementAt(p: Value): { readonly index: Value; readonly isInside: Value | null } {
    const { k, task, sweep } = this;
    const { extent, tiles, lanes, perLane } = sweep;
    const isInside = tiles * lanes * perLane > extent ? k.compare("lt", p, this.i(extent)) : null;
    const at = task.isReverse ? k.binary("sub", this.i(extent - 1), p) : p;
    const index = this.add(k.binary("mul", this.row, this.i(extent)), at);
    return { index: isInside ? k.select(isInside, index, this.i(0)) : index, isInside };
  }

  /** An element, or the total of none beyond the row. */
  load(p: Value): Value {
    const { index, isInside } = this.elementAt(p);
    const loaded = this.k.load(this.source, index, this.type);
    return isInside ? this.k.select(isInside, loaded, this.neutral) : loaded;
  }

  /** Where the total of a tile is published, and that before a block. */
  placeOfTile(tile: Value): Value {
    return this.k.binary("mul", this.add(this.k.binary("mul", this.row, this.i(this.sweep.tiles)), tile), this.i(2));
  }

  placeOfBlock(block: Value): Value {
    const { outer, tiles, blocks } = this.sweep;
    const own = this.add(this.k.binary("mul", this.row, this.i(blocks)), block);
    return this.add(this.k.binary("mul", own, this.i(2)), this.i(2 * outer * tiles));
  }

  publish(place: Value, total: Value, gate: Value | null = null): void {
    const { k } = this;
    const bits = k.bitcast("u32", total);
    const isFirst = k.compare("eq", k.lane, this.i(0));
    const isOpen = gate ? k.binary("and", gate, isFirst) : isFirst;
    const half = [k.binary("shr", bits, k.constant("u32", 16)), k.binary("and", bits, k.constant("u32", 0xffff))];
    half.forEach((part, i) => {
      const word = k.binary("or", part, k.constant("u32", PUBLISHED));
      k.atomic("max", this.published, this.add(place, this.i(i)), word, isOpen);
    });
  }

  /** Both words of a total, and the total they make; whether it is published. */
  observed(place: Value): { readonly words: readonly Value[]; readonly total: Value; readonly isThere: Value } {
    const words = [0, 1].map((i) => this.k.observe(this.published, this.add(place, this.i(i))));
    return { words, ...this.asTotal(words) };
  }

  asTotal([high, low]: readonly Value[]): { readonly total: Value; readonly isThere: Value } {
    const { k } = this;
    const zero = k.constant("u32", 0);
    const half = (word: Value) => k.binary("and", word, k.constant("u32", 0xffff));
    const bits = k.binary("or", k.binary("shl", half(high), k.constant("u32", 16)), half(low));
    const isThere = k.binary("and", k.compare("ne", high, zero), k.compare("ne", low, zero));
    return { total: k.bitcast(this.type, bits), isThere };
  }

  /** Looks for a total until it is there, or for so long. */
  awaited(place: Value, isWanted: Value): { readonly total: Value; readonly isThere: Value } {
    const { k } = this;
    const none = k.constant("u32", 0);
    const safe = k.select(isWanted, place, this.i(0));
    const words = k.loop(this.sweep.looks, [none, none], () => [...this.observed(safe).words], {
      exitWhen: (seen) => k.binary("or", k.unary("not", isWanted), this.asTotal(seen).isThere),
    });
    return this.asTotal(words);
  }
}

function sweepKernel(task: Cumulation, sweep: Sweep, settings: ElementSettings): Kernel {
  const s = new SweepKernel(task, sweep, settings);
  const { k } = s;
  const { lanes, perLane } = sweep;
  const first = k.binary("mul", s.tile, s.i(lanes * perLane));
  const exchange = k.array(s.type, padded(lanes * perLane));
  const items = taken(s, exchange, first);
  const sums: Value[] = [];
  for (const item of items) sums.push(sums.length === 0 ? item : s.combine(sums[sums.length - 1], item));
  const last = sums[perLane - 1];
  const total = s.overLanes(last);
  s.publish(s.placeOfTile(s.tile), total);
  const before = s.beforeLane(last);
  const inBlock = gathered(s, s.block, s.place);
  // The total of the block, for who comes last in it: known before the total of the blocks before is.
  const ofBlock = s.overLanes(k.select(k.compare("eq", k.lane, s.place), total, inBlock));
  const { identity, neutral } = runningTotal(task.op);
  // Without the element itself, the first total is shown as it is.
  const nothing = s.constant(task.isExclusive ? identity(task.dtype) : neutral(task.dtype));
  const beforeBlock = totalBefore(s, nothing);
  const isLast = k.compare("eq", s.place, s.i(lanes - 1));
  const isFollowed = k.binary("and", isLast, k.compare("lt", s.tile, s.i(sweep.tiles - 1)));
  s.publish(s.placeOfBlock(s.add(s.block, s.i(1))), s.combine(beforeBlock, ofBlock), isFollowed);
  const base = s.combine(s.combine(beforeBlock, s.overLanes(inBlock)), before);
  const shown = sums.map((sum, j) => {
    if (!task.isExclusive) return s.combine(base, sum);
    return j === 0 ? base : s.combine(base, sums[j - 1]);
  });
  stored(s, exchange, first, shown);
  return k.finish();
}

/** Four words of room after every 32, so that lanes which read neighbours do not wait for the same banks of memory. */
const padded = (index: number): number => index + 4 * Math.floor(index / 32);

function paddedIndex({ k }: SweepKernel, index: Value): Value {
  const room = k.binary("shl", k.binary("shr", index, k.constant("u32", 5)), k.constant("u32", 2));
  return k.binary("add", index, room);
}

/** Places of four neighbours in the tile: those of the lane, side by side, or those that lanes take side by side. */
function quads(s: SweepKernel, isOwn: boolean): Value[] {
  const { k } = s;
  const { lanes, perLane } = s.sweep;
  return Array.from({ length: perLane / 4 }, (_, m) =>
    isOwn
      ? s.add(k.binary("mul", k.lane, s.i(perLane)), s.i(4 * m))
      : s.add(k.binary("mul", k.lane, s.i(4)), s.i(4 * m * lanes)),
  );
}

const fours = (s: SweepKernel, at: Value): Value[] => [0, 1, 2, 3].map((j) => s.add(at, s.i(j)));

/** The lane's elements, loaded so that lanes read side by side. */
function taken(s: SweepKernel, exchange: number, first: Value): Value[] {
  const { k } = s;
  for (const at of quads(s, false)) {
    const values = fours(s, s.add(first, at)).map((p) => s.load(p));
    k.setMany(exchange, paddedIndex(s, at), values);
  }
  k.barrier();
  return quads(s, true).flatMap((at) => k.getMany(exchange, paddedIndex(s, at), 4));
}

function stored(s: SweepKernel, exchange: number, first: Value, totals: readonly Value[]): void {
  const { k } = s;
  quads(s, true).forEach((at, m) => {
    k.setMany(exchange, paddedIndex(s, at), totals.slice(4 * m, 4 * m + 4));
  });
  k.barrier();
  for (const at of quads(s, false)) {
    const values = k.getMany(exchange, paddedIndex(s, at), 4);
    fours(s, s.add(first, at)).forEach((p, j) => {
      const { index, isInside } = s.elementAt(p);
      k.store(s.target, index, values[j], false, isInside);
    });
  }
}

/** The totals of the first tiles of a block, each in its lane; the total of nothing in the others. */
function gathered(s: SweepKernel, block: Value, count: Value): Value {
  const { k } = s;
  const { lanes } = s.sweep;
  const isWanted = k.compare("lt", k.lane, count);
  const firstTile = k.binary("mul", block, s.i(lanes));
  const seen = s.awaited(s.placeOfTile(s.add(firstTile, k.lane)), isWanted);
  const isMissing = k.binary("and", isWanted, k.unary("not", seen.isThere));
  const [value] = k.when(
    s.isAnywhere(isMissing),
    () =>
      k.loop(lanes, [seen.total], (which, [found]) => {
        const isOwn = k.binary("and", isMissing, k.compare("eq", k.lane, which));
        return k.when(
          s.isAnywhere(isOwn),
          () => {
            const total = recounted(s, s.add(firstTile, which));
            s.publish(s.placeOfTile(s.add(firstTile, which)), total);
            return [k.select(isOwn, total, found)];
          },
          () => [found],
        );
      }),
    () => [seen.total],
  );
  return k.select(isWanted, value, s.neutral);
}

/** The total of another tile, with the bits that its own workgroup finds. */
function recounted(s: SweepKernel, tile: Value): Value {
  const { k } = s;
  const { lanes, perLane } = s.sweep;
  const own = s.add(k.binary("mul", tile, s.i(lanes * perLane)), k.binary("mul", k.lane, s.i(perLane)));
  const [sum] = k.loop(perLane, [s.neutral], (j, [before]) => [s.combine(before, s.load(s.add(own, j)))]);
  return s.overLanes(sum);
}

/** The total of all blocks before that of the tile. */
function totalBefore(s: SweepKernel, nothing: Value): Value {
  const { k } = s;
  const hasBefore = k.compare("gt", s.block, s.i(0));
  const seen = s.awaited(s.placeOfBlock(s.block), hasBefore);
  const isMissing = k.binary("and", hasBefore, k.unary("not", seen.isThere));
  const [found] = k.when(
    s.isAnywhere(isMissing),
    () => fromTheStart(s, nothing),
    () => [k.select(hasBefore, seen.total, nothing)],
  );
  return found;
}

/** Goes from block to block, taking the totals that are there and computing the others. */
function fromTheStart(s: SweepKernel, nothing: Value): Value[] {
  const { k } = s;
  return k.loop(s.sweep.blocks, [nothing], (block, [before]) => {
    const next = s.placeOfBlock(s.add(block, s.i(1)));
    return k.when(
      k.compare("lt", block, s.block),
      () => {
        // All lanes go by what the first has seen.
        const seen = s.asTotal(s.observed(next).words.map((word) => k.fromLane(word, s.i(0))));
        return k.when(
          seen.isThere,
          () => [seen.total],
          () => {
            const total = s.combine(before, s.overLanes(gathered(s, block, s.i(s.sweep.lanes))));
            s.publish(next, total);
            return [total];
          },
        );
      },
      () => [before],
    );
  });
}
