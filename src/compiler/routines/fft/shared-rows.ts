/**
 * The kernel of a pass on a GPU: a workgroup takes some neighbouring transforms. A lane computes butterflies in registers;
 * between stages the numbers change lanes through shared memory (Govindaraju et al. 2008), so that memory is read once and
 * written once. Lanes go along the axis where that lies along memory, else across transforms, on either side.
 */
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import type { ComplexValue } from "./complex-values.js";
import { type Exchange, type Layout, layoutOf } from "./exchange.js";
import { areNeighbours, countOf, type Pass, type Stage, stagesOf } from "./pass.js";
import { PassKernel, type Transform } from "./pass-kernel.js";

/** More shared memory than this, and some drivers refuse the kernel. */
export const MOST_BYTES = 48 * 1024;

/** How a workgroup shares the work of a pass. */
export interface Share {
  /** Transforms of a workgroup. */
  readonly columns: number;
  readonly lanes: number;
  /** The places of numbers in each exchange, in order, and those of all. */
  readonly layouts: readonly Layout[];
  readonly places: number;
  /** Real and imaginary parts change lanes one after the other, through the same memory. */
  readonly isByParts: boolean;
}

export function sharedRowsKernel(pass: Pass, profile: TargetProfile): Kernel {
  const stages = stagesOf(pass);
  const share = shareOf(pass, stages, profile);
  const rows = Math.ceil(countOf(pass) / share.columns);
  const kernel = new SharedRows(new KernelBuilder(pass.name, rows, share.lanes), pass, stages, share);
  return kernel.write();
}

function shareOf(pass: Pass, stages: readonly Stage[], { tiles, fft, hasSlowBarriers }: TargetProfile): Share {
  const { length, type, radices, writing } = pass;
  // One butterfly: a thread computes a transform by itself.
  if (stages.length <= 1 && writing.kind !== "halved") {
    return { columns: 1, lanes: 1, layouts: [], places: 0, isByParts: false };
  }
  const perTransform = length / Math.max(1, ...radices);
  const bytes = type === "f64" ? 8 : 4;
  const room = Math.min(tiles.sharedBytes, MOST_BYTES);
  const mostLanes = Math.min(tiles.maxLanes, fft.manyLanes);
  const isAcross = areNeighbours(pass, "from") || areNeighbours(pass, "to");
  const mostNumbers = (fft.mostNumbers * 4) / bytes;
  let columns = 1;
  const mostColumns = columnsWanted(pass, perTransform, fft);
  const isWorthMore = () => (isAcross ? columns < mostColumns : columns * perTransform < fft.fewLanes);
  while (
    2 * columns * length <= mostNumbers &&
    2 * columns * perTransform <= mostLanes &&
    columns < countOf(pass) &&
    isWorthMore()
  ) {
    columns *= 2;
  }
  if (isAcross) while (columns * perTransform < fft.fewLanes && columns < countOf(pass)) columns *= 2;
  for (; ; columns /= 2) {
    const lanes = Math.max(2, Math.min(mostLanes, Math.ceil(columns * perTransform)));
    const share = shareOfColumns(pass, stages, columns, lanes, room, hasSlowBarriers);
    if (share) return share;
    if (columns === 1) throw new Error(`${pass.name}: ${length} numbers do not fit ${room} bytes of shared memory`);
  }
}

/** So many transforms of a workgroup; null where they do not fit `room` bytes. */
export function shareOfColumns(
  pass: Pass,
  stages: readonly Stage[],
  columns: number,
  lanes: number,
  room: number,
  hasSlowBarriers: boolean,
): Share | null {
  const bytes = pass.type === "f64" ? 8 : 4;
  const layouts = exchangesOf(pass, stages, columns, bytes).map(layoutOf);
  const places = columns * Math.max(...layouts.map(({ pitch }) => pitch));
  const isByParts = !hasSlowBarriers || 2 * places * bytes > room;
  return places * bytes <= room ? { columns, lanes, layouts, places, isByParts } : null;
}

/**
 * Transforms side by side: as many as fill lines of the cache, or half of them where those are aligned and half as many lanes
 * are enough. Half a line that begins anywhere touches nearly as many sectors as a whole one.
 */
function columnsWanted(pass: Pass, perTransform: number, { columns, lanesAcross }: TargetProfile["fft"]): number {
  const isAligned = (["from", "to"] as const).every((side) => {
    const apart = side === "from" ? pass.fromApart * pass.fromStep : pass.toApart * pass.toStep;
    return !areNeighbours(pass, side) || apart % columns === 0;
  });
  return isAligned && columns * perTransform > lanesAcross ? columns / 2 : columns;
}

/** The exchanges of a workgroup with so many transforms. */
function exchangesOf(pass: Pass, stages: readonly Stage[], columns: number, bytes: number): Exchange[] {
  const { length } = pass;
  const lanesAt = (number: number) => ({
    columns,
    isAcross: isAcrossAt(pass, stages.length, number),
    perTransform: number === stages.length ? Math.ceil(length / 2) : length / stages[number].radix,
  });
  const count = pass.writing.kind === "halved" ? stages.length : stages.length - 1;
  return Array.from({ length: count }, (_, number) => ({
    length,
    stage: stages[number],
    next: stages[number + 1] ?? null,
    from: lanesAt(number),
    to: lanesAt(number + 1),
    bytes,
  }));
}

/** Whether lanes go across transforms in a stage: as memory is read, and as it is written from the last stage on. */
const isAcrossAt = (pass: Pass, count: number, number: number): boolean =>
  areNeighbours(pass, number >= count - 1 ? "to" : "from");

/** One butterfly of a lane, or one pair of results. */
interface Item {
  readonly column: Value;
  readonly at: Value;
  /** Null where every lane has one. */
  readonly isInside: Value | null;
}

/** A number on its way to another lane. */
export interface Sent {
  readonly place: Value;
  readonly value: ComplexValue;
  readonly gate: Value | null;
}

/** A kernel in the making. */
export class SharedRows {
  private memory: { readonly re: number; readonly im: number } | null = null;

  constructor(
    protected readonly k: KernelBuilder,
    protected readonly pass: Pass,
    protected readonly stages: readonly Stage[],
    protected readonly share: Share,
    protected readonly p = new PassKernel(k, pass),
  ) {}

  write(): Kernel {
    const { p, pass, stages } = this;
    if (stages.length === 0) {
      for (const { column } of this.items(1, true)) {
        const { transform, gate } = this.transformOf(column);
        p.write(transform, p.i(0), p.read(transform, p.i(0)), gate);
      }
      return this.k.finish();
    }
    const last = stages.length - 1;
    const itemsOf = (number: number) =>
      this.items(pass.length / stages[number].radix, isAcrossAt(pass, stages.length, number));
    let items = itemsOf(0);
    let given = items.map((item) => {
      const { transform } = this.transformOf(item.column);
      return p.places(stages[0], item.at).map((place) => p.read(transform, place));
    });
    stages.forEach((_, number) => {
      const sent = items.flatMap((item, i) => this.computed(number, item, given[i]));
      if (number === last) {
        if (sent.length > 0) this.writeHalved(sent);
        return;
      }
      const next = stages[number + 1];
      items = itemsOf(number + 1);
      const wanted = items.flatMap((item) => this.taken(number, item));
      const received = this.exchange(sent, wanted);
      given = items.map((_, i) => received.slice(i * next.radix, (i + 1) * next.radix));
    });
    return this.k.finish();
  }

  /** The places of a butterfly's operands after an exchange. */
  private taken(number: number, { column, at }: Item): Value[] {
    const { p, pass } = this;
    const { plane, pitch } = this.share.layouts[number];
    const [stage, next] = this.stages.slice(number, number + 2);
    const base = p.mul(column, pitch);
    const whole = stage.done * stage.radix;
    // Back from a product of transforms: the numbers lie at their own places.
    if (next.done !== whole) return p.places(next, at).map((place) => p.add(base, place));
    const [block, within] = p.divided(at, whole);
    const [result, rest] = p.divided(within, stage.done);
    const butterfly = p.add(p.mul(block, stage.done), rest);
    const first = p.add(p.add(base, p.mul(result, plane)), butterfly);
    const apart = pass.length / next.radix / stage.radix;
    return Array.from({ length: next.radix }, (_, j) => p.add(first, p.i(j * apart)));
  }

  /** The results of a butterfly: on their way to other lanes, or written to memory. */
  private computed(number: number, item: Item, given: readonly ComplexValue[]): Sent[] {
    const { p, pass } = this;
    const stage = this.stages[number];
    const [, within] = p.divided(item.at, stage.done);
    const remainder = pass.length === stage.done * stage.radix ? item.at : within;
    const results = p.butterfly(stage, given, p.rootsFor(stage, remainder));
    const first = p.firstResult(stage, item.at, remainder);
    const { transform, gate } = this.transformOf(item.column);
    const placed = results.map((value, m) => p.factored(stage, value, p.add(first, p.i(m * stage.done))));
    if (number === this.stages.length - 1 && pass.writing.kind !== "halved") {
      p.writeAll(stage, transform, first, placed, both(this.k, item.isInside, gate));
      return [];
    }
    const { plane, pitch } = this.share.layouts[number];
    const base = p.add(p.mul(item.column, pitch), item.at);
    return placed.map((value, m) => ({ place: p.add(base, p.i(m * plane)), value, gate: item.isInside }));
  }

  /** Half a spectrum: each lane takes numbers that lie across the middle from each other. */
  protected writeHalved(sent: readonly Sent[]): void {
    const { p, k, pass } = this;
    const { pitch } = this.share.layouts[this.stages.length - 1];
    // The first number has itself across; its lane takes the one in the middle as well, where there is one.
    const middle = pass.length % 2 === 0 ? pass.length / 2 : 0;
    const items = this.items(Math.ceil(pass.length / 2), areNeighbours(pass, "to"));
    const isFirst = ({ at }: Item) => k.compare("eq", at, p.i(0));
    const wanted = items.flatMap((item) => {
      const { column, at } = item;
      const across = k.select(isFirst(item), p.i(middle), k.binary("sub", p.i(pass.length), at));
      return [at, across].map((place) => p.add(p.mul(column, pitch), place));
    });
    const received = this.exchange(sent, wanted);
    items.forEach((item, i) => {
      const { transform, gate } = this.transformOf(item.column);
      const open = both(k, item.isInside, gate);
      const [own, other] = received.slice(2 * i, 2 * i + 2);
      p.writeHalved(transform, item.at, own, p.ops.select(isFirst(item), own, other), open);
      if (middle > 0 && this.hasFirst(i)) {
        p.writeHalved(transform, p.i(middle), other, other, both(k, open, isFirst(item)));
      }
    });
  }

  /** Whether some lane has the first pair of a transform in this turn. */
  private hasFirst(turn: number): boolean {
    const { columns, lanes } = this.share;
    const [start, end] = [turn * lanes, (turn + 1) * lanes];
    if (areNeighbours(this.pass, "to")) return start < columns;
    const perTransform = Math.ceil(this.pass.length / 2);
    const next = Math.ceil(start / perTransform);
    return next < columns && next * perTransform < end;
  }

  /** The lane's part of `perTransform` items of each transform; lanes go across transforms or along one. */
  private items(perTransform: number, isAcross: boolean): Item[] {
    const { p } = this;
    const { columns } = this.share;
    return this.turns(columns * perTransform).map(({ at: safe, isInside }) => {
      if (columns === 1) return { column: p.i(0), at: safe, isInside };
      const [quotient, remainder] = p.divided(safe, isAcross ? columns : perTransform);
      return isAcross ? { column: remainder, at: quotient, isInside } : { column: quotient, at: remainder, isInside };
    });
  }

  /** The lane's numbers below a count. */
  protected turns(count: number): Omit<Item, "column">[] {
    const { p, k } = this;
    const { lanes } = this.share;
    return Array.from({ length: Math.ceil(count / lanes) }, (_, turn) => {
      const own = p.add(k.lane, p.i(turn * lanes));
      const isInside = (turn + 1) * lanes > count ? k.compare("lt", own, p.i(count)) : null;
      return { at: isInside ? k.binary("min", own, p.i(count - 1)) : own, isInside };
    });
  }

  /** A transform of the workgroup. Beyond the last there is nothing to write: `gate`. */
  protected transformOf(column: Value): { readonly transform: Transform; readonly gate: Value | null } {
    const { p, k, pass } = this;
    const { columns } = this.share;
    const count = countOf(pass);
    const number = p.add(p.mul(k.row, columns), column);
    const gate = count % columns === 0 ? null : k.compare("lt", number, p.i(count));
    return { transform: p.numbered(gate ? k.binary("min", number, p.i(count - 1)) : number), gate };
  }

  /**
   * Numbers sent to places, and those found at other places after all have arrived. On an H200 half the memory is worth more
   * than the barriers between the parts cost: 0.079 ms instead of 0.113 for 4096 rows of 4096.
   */
  protected exchange(sent: readonly Sent[], wanted: readonly Value[]): ComplexValue[] {
    const { k } = this;
    const { places, isByParts } = this.share;
    const isFirst = this.memory === null;
    const array = () => k.array(this.pass.type, places);
    const shared = this.memory?.re ?? array();
    this.memory ??= { re: shared, im: isByParts ? shared : array() };
    const { re, im } = this.memory;
    const put = (part: "re" | "im") => {
      for (const { place, value, gate } of sent) k.set(part === "re" ? re : im, place, value[part], gate);
    };
    const take = (from: number) => wanted.map((place) => k.get(from, place));
    // All lanes must have read the old values before they are written over.
    if (!isFirst) k.barrier();
    put("re");
    if (!isByParts) put("im");
    k.barrier();
    const reals = take(re);
    if (isByParts) {
      k.barrier();
      put("im");
      k.barrier();
    }
    const imaginaries = take(im);
    return reals.map((value, at) => ({ re: value, im: imaginaries[at] }));
  }
}

export const both = (k: KernelBuilder, a: Value | null, b: Value | null): Value | null =>
  a && b ? k.binary("and", a, b) : (a ?? b);
