/**
 * The kernel of a pass on a GPU: a workgroup takes some neighbouring transforms. A lane computes butterflies in registers;
 * between stages the numbers change lanes through shared memory (Govindaraju et al. 2008), so that memory is read once and
 * written once. Lanes go along the axis where that lies along memory, else across transforms, on either side.
 */
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import type { ComplexValue } from "./complex-values.js";
import { areNeighbours, countOf, type Pass, type Stage, stagesOf } from "./pass.js";
import { PassKernel, type Transform } from "./pass-kernel.js";
import { radicesFor } from "./radices.js";

/** More shared memory than this, and some drivers refuse the kernel. */
const MOST_BYTES = 48 * 1024;
const BANKS = 32;

/** How a workgroup shares the work of a pass. */
interface Share {
  /** Transforms of a workgroup. */
  readonly columns: number;
  readonly lanes: number;
  /** Numbers from one transform to the next in shared memory. */
  readonly pitch: number;
  readonly isPadded: boolean;
  /** Real and imaginary parts change lanes one after the other, through the same memory. */
  readonly isByParts: boolean;
}

export function sharedRowsKernel(pass: Pass, profile: TargetProfile): Kernel {
  const radices = radicesFor(pass.length, profile.fft.largestRadix);
  const share = shareOf(pass, radices, profile);
  const rows = Math.ceil(countOf(pass) / share.columns);
  const kernel = new SharedRows(new KernelBuilder(pass.name, rows, share.lanes), pass, share);
  return kernel.write(stagesOf(pass, radices));
}

function shareOf(pass: Pass, radices: readonly number[], { tiles, fft }: TargetProfile): Share {
  const { length, type, writing } = pass;
  // One butterfly: a thread computes a transform by itself.
  if (radices.length <= 1 && writing.kind !== "halved" && !pass.convolved) {
    return { columns: 1, lanes: 1, pitch: length, isPadded: false, isByParts: false };
  }
  const perTransform = length / Math.max(1, ...radices);
  const bytes = type === "f64" ? 8 : 4;
  const room = Math.min(tiles.sharedBytes, MOST_BYTES);
  const mostLanes = Math.min(tiles.maxLanes, fft.manyLanes);
  const isAcross = areNeighbours(pass, "from") || areNeighbours(pass, "to");
  const mostNumbers = (fft.mostNumbers * 4) / bytes;
  let columns = 1;
  const isWorthMore = () => (isAcross ? columns < fft.columns : columns * perTransform < fft.fewLanes);
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
    for (const isPadded of [true, false]) {
      const pitch = isPadded ? paddedPitch(length, columns) : length;
      for (const isByParts of [false, true]) {
        const needed = columns * pitch * bytes * (isByParts ? 1 : 2);
        if (needed <= room) return { columns, lanes, pitch, isPadded, isByParts };
      }
    }
    if (columns === 1) throw new Error(`${pass.name}: ${length} numbers do not fit ${room} bytes of shared memory`);
  }
}

/** A place with room for one number after every 32, so that strided accesses meet different banks. */
const padded = (at: number): number => at + Math.floor(at / BANKS);

/** Lanes that go across transforms meet different banks too: transforms begin a share of the banks apart. */
function paddedPitch(length: number, columns: number): number {
  const least = padded(length - 1) + 1;
  if (columns === 1) return least;
  const apart = Math.max(1, BANKS / Math.min(columns, BANKS));
  return least + ((((apart - least) % BANKS) + BANKS) % BANKS);
}

/** One butterfly of a lane, or one pair of results. */
interface Item {
  readonly column: Value;
  readonly at: Value;
  /** Null where every lane has one. */
  readonly isInside: Value | null;
}

/** A number on its way to another lane. */
interface Sent {
  readonly place: Value;
  readonly value: ComplexValue;
  readonly gate: Value | null;
}

/** A kernel in the making. */
class SharedRows {
  private memory: { readonly re: number; readonly im: number } | null = null;
  private readonly p: PassKernel;

  constructor(
    private readonly k: KernelBuilder,
    private readonly pass: Pass,
    private readonly share: Share,
  ) {
    this.p = new PassKernel(k, pass);
  }

  write(stages: readonly Stage[]): Kernel {
    const { p, pass } = this;
    if (stages.length === 0) {
      for (const { column } of this.items(1, true)) {
        const { transform, gate } = this.transformOf(column);
        p.write(transform, p.i(0), p.read(transform, p.i(0)), gate);
      }
      return this.k.finish();
    }
    const last = stages.length - 1;
    let items = this.items(pass.length / stages[0].radix, areNeighbours(pass, last === 0 ? "to" : "from"));
    let given = items.map((item) => {
      const { transform } = this.transformOf(item.column);
      return p.places(stages[0], item.at).map((place) => p.read(transform, place));
    });
    stages.forEach((stage, number) => {
      const sent = items.flatMap((item, i) => this.computed(stage, item, given[i], number === last));
      if (number === last) {
        if (sent.length > 0) this.writeHalved(sent);
        return;
      }
      const next = stages[number + 1];
      items = this.items(pass.length / next.radix, areNeighbours(pass, number + 1 === last ? "to" : "from"));
      const wanted = items.flatMap((item) => p.places(next, item.at).map((place) => this.inShared(item.column, place)));
      const received = this.exchange(sent, wanted);
      given = items.map((_, i) => received.slice(i * next.radix, (i + 1) * next.radix));
    });
    return this.k.finish();
  }

  /** The results of a butterfly: on their way to other lanes, or written to memory. */
  private computed(stage: Stage, item: Item, given: readonly ComplexValue[], isLast: boolean): Sent[] {
    const { p } = this;
    const [, within] = p.divided(item.at, stage.done);
    const remainder = this.pass.length === stage.done * stage.radix ? item.at : within;
    const results = p.butterfly(stage, given, p.rootsFor(stage, remainder));
    const first = p.firstResult(stage, item.at, remainder);
    const { transform, gate } = this.transformOf(item.column);
    const open = both(this.k, item.isInside, gate);
    const sent = results.map((value, m) => {
      const place = p.add(first, p.i(m * stage.done));
      return { at: place, value: p.factored(stage, value, place) };
    });
    if (isLast && this.pass.writing.kind !== "halved") {
      for (const { at, value } of sent) p.write(transform, at, value, open);
      return [];
    }
    return sent.map(({ at, value }) => ({ place: this.inShared(item.column, at), value, gate: item.isInside }));
  }

  /** Half a spectrum: each lane takes numbers that lie across the middle from each other. */
  private writeHalved(sent: readonly Sent[]): void {
    const { p, k, pass } = this;
    const items = this.items(Math.floor(pass.length / 2) + 1, areNeighbours(pass, "to"));
    const wanted = items.flatMap(({ column, at }) => {
      const isFirst = k.compare("eq", at, p.i(0));
      const across = k.select(isFirst, at, k.binary("sub", p.i(pass.length), at));
      return [this.inShared(column, at), this.inShared(column, across)];
    });
    const received = this.exchange(sent, wanted);
    items.forEach(({ column, at, isInside }, i) => {
      const { transform, gate } = this.transformOf(column);
      p.writeHalved(transform, at, received[2 * i], received[2 * i + 1], both(k, isInside, gate));
    });
  }

  /** The lane's part of `perTransform` items of each transform; lanes go across transforms or along one. */
  private items(perTransform: number, isAcross: boolean): Item[] {
    const { p, k } = this;
    const { columns, lanes } = this.share;
    const count = columns * perTransform;
    return Array.from({ length: Math.ceil(count / lanes) }, (_, turn) => {
      const own = p.add(k.lane, p.i(turn * lanes));
      const isInside = (turn + 1) * lanes > count ? k.compare("lt", own, p.i(count)) : null;
      const safe = isInside ? k.binary("min", own, p.i(count - 1)) : own;
      if (columns === 1) return { column: p.i(0), at: safe, isInside };
      const [quotient, remainder] = p.divided(safe, isAcross ? columns : perTransform);
      return isAcross ? { column: remainder, at: quotient, isInside } : { column: quotient, at: remainder, isInside };
    });
  }

  /** A transform of the workgroup. Beyond the last there is nothing to write: `gate`. */
  private transformOf(column: Value): { readonly transform: Transform; readonly gate: Value | null } {
    const { p, k, pass } = this;
    const { columns } = this.share;
    const count = countOf(pass);
    const number = p.add(p.mul(k.row, columns), column);
    const gate = count % columns === 0 ? null : k.compare("lt", number, p.i(count));
    let rest = gate ? k.binary("min", number, p.i(count - 1)) : number;
    const digits = pass.digits.map(({ extent }, at) => {
      const [quotient, remainder] = at === pass.digits.length - 1 ? [rest, rest] : p.divided(rest, extent);
      rest = quotient;
      return remainder;
    });
    return { transform: p.transform(digits), gate };
  }

  private inShared(column: Value, at: Value): Value {
    const { p, k } = this;
    const { pitch, isPadded } = this.share;
    const place = isPadded ? p.add(at, k.binary("shr", at, k.constant("u32", Math.log2(BANKS)))) : at;
    return p.add(p.mul(column, pitch), place);
  }

  /** Numbers sent to places, and those found at other places after all have arrived. */
  private exchange(sent: readonly Sent[], wanted: readonly Value[]): ComplexValue[] {
    const { k } = this;
    const { columns, pitch, isByParts } = this.share;
    const isFirst = this.memory === null;
    const array = () => k.array(this.pass.type, columns * pitch);
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

const both = (k: KernelBuilder, a: Value | null, b: Value | null): Value | null =>
  a && b ? k.binary("and", a, b) : (a ?? b);
