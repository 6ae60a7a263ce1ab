/**
 * The first step of diag(d) + ρ z zᵀ (rank-one.ts): d in rising order, and without what needs no solving. An element whose z is
 * lost in rounding is an eigenvalue already; of two that are nearly equal a rotation makes one so (LAPACK's laed2). Everything
 * but the scan for those is shared among the lanes.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { Field } from "../field.js";
import { arrayBytes, eachByLane, epsilonOf, powerOfTwo } from "../workspace.js";
import type { RankOne } from "./rank-one-problem.js";

/**
 * Buffers: d, z and ρ; then what it writes: for each position of the sorted order where it was before; d and z of what is live, and
 * d of what is deflated behind them; their positions in the sorted order; the rotations, as two positions, cosine and sine; the
 * numbers of what is live and of rotations.
 */
export function deflationKernel(
  { batch, m, type }: RankOne,
  profile: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const lanes = profile.maxLanes === 1 ? 1 : Math.min(profile.maxLanes, Math.max(32, powerOfTwo(m / 4)));
  const k = new KernelBuilder(`rankOne deflation[${batch}×${m}]`, batch, lanes);
  const field = new Field(k, { type, isComplex: false }, settings);
  const isInside = 2 * m * (type === "f64" ? 8 : 4) <= arrayBytes(profile) - 1024;
  new Deflation(k, field, m, buffersOf(k, type), isInside).write();
  return k.finish();
}

type DeflationBuffers = ReturnType<typeof buffersOf>;

/** The buffers, in the order above. */
function buffersOf(k: KernelBuilder, type: "f32" | "f64") {
  const [given, made, place] = [() => k.buffer(type, false), () => k.buffer(type, true), () => k.buffer("i32", true)];
  return {
    d: given(),
    z: given(),
    rho: given(),
    order: place(),
    liveD: made(),
    liveZ: made(),
    places: place(),
    first: place(),
    second: place(),
    cosines: made(),
    sines: made(),
    counts: place(),
  };
}

/** Of the scan: the element that waits for its neighbour, or -1; its d and z; the numbers of what is live and of rotations. */
type ScanState = readonly [waiting: Value, d: Value, z: Value, live: Value, turns: Value];

class Deflation {
  private readonly start: Value;
  private readonly sorted: readonly [d: number, z: number] | null;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly m: number,
    private readonly buffers: DeflationBuffers,
    isInside: boolean,
  ) {
    this.start = k.binary("mul", k.row, this.i(m));
    this.sorted = isInside ? [k.array(field.type, m), k.array(field.type, m)] : null;
  }

  write(): void {
    const { k, field, buffers } = this;
    this.sort();
    const limit = this.limit();
    const weight = k.load(buffers.rho, k.row, field.type);
    k.barrier();
    k.when(k.compare("eq", k.lane, this.i(0)), () => {
      this.scan(limit, weight);
      return [];
    });
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private at(index: Value): Value {
    return this.k.binary("add", this.start, index);
  }

  private store(buffer: number, index: Value, x: Value, gate: Value | null = null): void {
    this.k.store(buffer, this.at(index), x, this.k.lanes === 1, gate);
  }

  /** Rotations are fewer than the elements seen, so their memory holds what is still to be seen, if arrays do not. */
  private outside(which: 0 | 1): number {
    return which === 0 ? this.buffers.cosines : this.buffers.sines;
  }

  private put(which: 0 | 1, index: Value, x: Value): void {
    if (this.sorted) this.k.set(this.sorted[which], index, x);
    else this.store(this.outside(which), index, x);
  }

  private get(which: 0 | 1, index: Value): Value {
    if (this.sorted) return this.k.get(this.sorted[which], index);
    return this.k.read(this.outside(which), this.at(index), this.field.type);
  }

  /** Merges both halves of d, and z with them. */
  private sort(): void {
    const { k, field, m, buffers } = this;
    // With NaN, places may be missed.
    eachByLane(k, m, (index) => this.store(buffers.order, index, index));
    k.barrier();
    eachByLane(k, m, (index) => {
      const x = k.load(buffers.d, this.at(index), field.type);
      const place = placeOf(k, m, index, x, (other) => k.load(buffers.d, this.at(other), field.type));
      this.store(buffers.order, place, index);
      this.put(0, place, x);
      this.put(1, place, k.load(buffers.z, this.at(index), field.type));
    });
  }

  /** Below this everything is lost in rounding. */
  private limit(): Value {
    const { k, m, buffers } = this;
    const { type } = this.field;
    const [largest] = k.loop(Math.ceil(m / k.lanes), [k.constant(type, 0)], (round, [before]) => {
      const own = k.binary("add", k.lane, k.binary("mul", round, this.i(k.lanes)));
      const index = k.binary("min", own, this.i(m - 1));
      const size = (buffer: number) => k.unary("abs", k.load(buffer, this.at(index), type));
      return [k.binary("max", before, k.binary("max", size(buffers.d), size(buffers.z)))];
    });
    return k.binary("mul", k.combineLanes("max", largest), k.constant(type, 4 * epsilonOf(type)));
  }

  /** Sees the elements in rising order; one lane does, because what is done with one depends on those before. */
  private scan(limit: Value, weight: Value): void {
    const { k, m, buffers } = this;
    const [none, zero] = [this.i(-1), k.constant(this.field.type, 0)];
    const last = k.loop(m, [none, zero, zero, this.i(0), this.i(0)], (index, state) =>
      this.see(index, state as unknown as ScanState, limit, weight),
    );
    const [waiting, dw, zw, live, turns] = last;
    const isLeft = k.compare("ge", waiting, this.i(0));
    this.accept(live, waiting, dw, zw, isLeft);
    const place = k.binary("mul", k.row, this.i(2));
    const all = k.binary("add", live, k.select(isLeft, this.i(1), this.i(0)));
    k.store(buffers.counts, place, all, k.lanes === 1);
    k.store(buffers.counts, k.binary("add", place, this.i(1)), turns, k.lanes === 1);
  }

  /** The next element: deflated if z is small, or joined with the one that waits if they are near; else that is accepted. */
  private see(index: Value, [waiting, dw, zw, live, turns]: ScanState, limit: Value, weight: Value): Value[] {
    const { k, field } = this;
    const { type } = field;
    const [x, y] = [this.get(0, index), this.get(1, index)];
    const isWaiting = k.compare("ge", waiting, this.i(0));
    const isSmall = k.compare("le", k.binary("mul", weight, k.unary("abs", y)), limit);
    const seenBefore = k.select(isWaiting, k.binary("sub", index, this.i(1)), index);
    // With c and s of the rotation this is |gap c s| ≤ limit. They take a root and divisions, which the scan would wait for each time.
    const squares = k.binary("add", k.binary("mul", y, y), k.binary("mul", zw, zw));
    const gap = k.binary("sub", x, dw);
    const shift = k.unary("abs", k.binary("mul", gap, k.binary("mul", y, zw)));
    const isNear = k.compare("le", shift, k.binary("mul", limit, squares));
    const isLarge = k.unary("not", isSmall);
    const isMet = k.binary("and", isLarge, isWaiting);
    const joins = k.binary("and", isMet, isNear);
    const accepts = k.binary("and", isMet, k.unary("not", isNear));
    const [low, high, size] = k.when(
      joins,
      () => {
        const root = field.sqrtReal(squares);
        const safe = k.select(k.compare("eq", root, k.constant(type, 0)), k.constant(type, 1), root);
        const [c, s] = [field.divReal(y, safe), k.unary("neg", field.divReal(zw, safe))];
        this.rotate(turns, [waiting, index], [c, s]);
        const [cc, ss] = [k.binary("mul", c, c), k.binary("mul", s, s)];
        return [
          k.binary("add", k.binary("mul", dw, cc), k.binary("mul", x, ss)),
          k.binary("add", k.binary("mul", dw, ss), k.binary("mul", x, cc)),
          root,
        ];
      },
      () => [x, x, y],
    );
    const [which, value] = [k.select(isSmall, index, waiting), k.select(isSmall, x, low)];
    this.deflate(live, seenBefore, which, value, k.binary("or", isSmall, joins));
    this.accept(live, waiting, dw, zw, accepts);
    const more = (count: Value, when: Value) => k.binary("add", count, k.select(when, this.i(1), this.i(0)));
    return [
      k.select(isSmall, waiting, index),
      k.select(isSmall, dw, high),
      k.select(isSmall, zw, size),
      more(live, accepts),
      more(turns, joins),
    ];
  }

  private accept(live: Value, index: Value, x: Value, y: Value, gate: Value): void {
    const { liveD, liveZ, places } = this.buffers;
    this.store(liveD, live, x, gate);
    this.store(liveZ, live, y, gate);
    this.store(places, live, index, gate);
  }

  /** Of `seen` elements all but the live ones, and the one that waits, are deflated: the next goes before them. */
  private deflate(live: Value, seen: Value, index: Value, x: Value, gate: Value): void {
    const { k, m, buffers } = this;
    const to = k.binary("sub", this.i(m - 1), k.binary("sub", seen, live));
    this.store(buffers.liveD, to, x, gate);
    this.store(buffers.places, to, index, gate);
  }

  private rotate(turns: Value, [p, q]: readonly [Value, Value], [c, s]: readonly [Value, Value]): void {
    const { first, second, cosines, sines } = this.buffers;
    this.store(first, turns, p);
    this.store(second, turns, q);
    this.store(cosines, turns, c);
    this.store(sines, turns, s);
  }
}

/** The place of an element in the order of both halves, each of which rises: its own, and as many as are less in the other. */
function placeOf(k: KernelBuilder, m: number, index: Value, x: Value, load: (index: Value) => Value): Value {
  const i = (value: number) => k.constant("i32", value);
  const half = m / 2;
  const isFirst = k.compare("lt", index, i(half));
  const begin = k.select(isFirst, i(half), i(0));
  const [, high] = k.loop(Math.ceil(Math.log2(half + 1)), [i(0), i(half)], (_, [low, top]) => {
    const isOpen = k.compare("lt", low, top);
    const middle = k.binary("shr", k.binary("add", low, top), i(1));
    const other = load(k.binary("add", begin, k.binary("min", middle, i(half - 1))));
    // Equal ones of the first half come first.
    const isLess = k.select(isFirst, k.compare("lt", other, x), k.compare("le", other, x));
    const goesUp = k.binary("and", isOpen, isLess);
    const goesDown = k.binary("and", isOpen, k.unary("not", isLess));
    return [k.select(goesUp, k.binary("add", middle, i(1)), low), k.select(goesDown, middle, top)];
  });
  const own = k.select(isFirst, index, k.binary("sub", index, i(half)));
  return k.binary("add", own, high);
}
