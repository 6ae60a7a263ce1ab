/**
 * The first step of diag(d) + ρ z zᵀ (rank-one.ts): d in rising order, and without what needs no solving. An element whose z is
 * lost in rounding is an eigenvalue already; of two that are nearly equal a rotation makes one so (LAPACK's laed2). Everything
 * but the scan for those is shared among the lanes.
 */
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import { Field } from "./field.js";
import type { RankOne } from "./rank-one-problem.js";
import { arrayBytes, eachByLane, epsilonOf, powerOfTwo } from "./workspace.js";

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
  const [d, z, rho] = [k.buffer(type, false), k.buffer(type, false), k.buffer(type, false)];
  const [order, liveD, liveZ, places] = [
    k.buffer("i32", true),
    k.buffer(type, true),
    k.buffer(type, true),
    k.buffer("i32", true),
  ];
  const [first, second, cosines, sines] = [
    k.buffer("i32", true),
    k.buffer("i32", true),
    k.buffer(type, true),
    k.buffer(type, true),
  ];
  const counts = k.buffer("i32", true);
  const i = (value: number) => k.constant("i32", value);
  const start = k.binary("mul", k.row, i(m));
  const at = (index: Value) => k.binary("add", start, index);
  const isInside = 2 * m * (type === "f64" ? 8 : 4) <= arrayBytes(profile) - 1024;
  const sorted = isInside ? [k.array(type, m), k.array(type, m)] : null;
  // Rotations are fewer than the elements seen, so their memory holds what is still to be seen.
  const outside = [cosines, sines];
  const put = (which: 0 | 1, index: Value, x: Value) => {
    if (sorted) k.set(sorted[which], index, x);
    else k.store(outside[which], at(index), x, k.lanes === 1);
  };
  const get = (which: 0 | 1, index: Value) =>
    sorted ? k.get(sorted[which], index) : k.read(outside[which], at(index), type);
  // With NaN, places may be missed.
  eachByLane(k, m, (index) => k.store(order, at(index), index, k.lanes === 1));
  k.barrier();
  eachByLane(k, m, (index) => {
    const x = k.load(d, at(index), type);
    const place = placeOf(k, m, index, x, (other) => k.load(d, at(other), type));
    k.store(order, at(place), index, k.lanes === 1);
    put(0, place, x);
    put(1, place, k.load(z, at(index), type));
  });
  const zero = k.constant(type, 0);
  const [largest] = k.loop(Math.ceil(m / k.lanes), [zero], (round, [before]) => {
    const index = k.binary("min", k.binary("add", k.lane, k.binary("mul", round, i(k.lanes))), i(m - 1));
    const size = (buffer: number) => k.unary("abs", k.load(buffer, at(index), type));
    return [k.binary("max", before, k.binary("max", size(d), size(z)))];
  });
  const limit = k.binary("mul", k.combineLanes("max", largest), k.constant(type, 4 * epsilonOf(type)));
  const weight = k.load(rho, k.row, type);
  k.barrier();
  k.when(k.compare("eq", k.lane, i(0)), () => {
    const accept = (live: Value, index: Value, x: Value, y: Value, gate: Value) => {
      k.store(liveD, at(live), x, k.lanes === 1, gate);
      k.store(liveZ, at(live), y, k.lanes === 1, gate);
      k.store(places, at(live), index, k.lanes === 1, gate);
    };
    const deflate = (live: Value, seen: Value, index: Value, x: Value, gate: Value) => {
      // Of `seen` elements all but the live ones, and the one that waits, are deflated: the next goes before them.
      const to = k.binary("sub", i(m - 1), k.binary("sub", seen, live));
      k.store(liveD, at(to), x, k.lanes === 1, gate);
      k.store(places, at(to), index, k.lanes === 1, gate);
    };
    const none = i(-1);
    const state = k.loop(m, [none, zero, zero, i(0), i(0)], (index, [waiting, dw, zw, live, turns]) => {
      const [x, y] = [get(0, index), get(1, index)];
      const isWaiting = k.compare("ge", waiting, i(0));
      const isSmall = k.compare("le", k.binary("mul", weight, k.unary("abs", y)), limit);
      const seenBefore = k.select(isWaiting, k.binary("sub", index, i(1)), index);
      const size = field.sqrtReal(k.binary("add", k.binary("mul", y, y), k.binary("mul", zw, zw)));
      const safe = k.select(k.compare("eq", size, zero), k.constant(type, 1), size);
      const [c, s] = [field.divReal(y, safe), k.unary("neg", field.divReal(zw, safe))];
      const gap = k.binary("sub", x, dw);
      const isNear = k.compare("le", k.unary("abs", k.binary("mul", k.binary("mul", gap, c), s)), limit);
      const isLarge = k.unary("not", isSmall);
      const isMet = k.binary("and", isLarge, isWaiting);
      const joins = k.binary("and", isMet, isNear);
      const accepts = k.binary("and", isMet, k.unary("not", isNear));
      const [cc, ss] = [k.binary("mul", c, c), k.binary("mul", s, s)];
      const low = k.binary("add", k.binary("mul", dw, cc), k.binary("mul", x, ss));
      const high = k.binary("add", k.binary("mul", dw, ss), k.binary("mul", x, cc));
      deflate(
        live,
        seenBefore,
        k.select(isSmall, index, waiting),
        k.select(isSmall, x, low),
        k.binary("or", isSmall, joins),
      );
      accept(live, waiting, dw, zw, accepts);
      k.store(first, at(turns), waiting, k.lanes === 1, joins);
      k.store(second, at(turns), index, k.lanes === 1, joins);
      k.store(cosines, at(turns), c, k.lanes === 1, joins);
      k.store(sines, at(turns), s, k.lanes === 1, joins);
      const more = (count: Value, when: Value) => k.binary("add", count, k.select(when, i(1), i(0)));
      return [
        k.select(isSmall, waiting, index),
        k.select(isSmall, dw, k.select(joins, high, x)),
        k.select(isSmall, zw, k.select(joins, size, y)),
        more(live, accepts),
        more(turns, joins),
      ];
    });
    const [waiting, dw, zw, live, turns] = state;
    const isLeft = k.compare("ge", waiting, i(0));
    accept(live, waiting, dw, zw, isLeft);
    const place = k.binary("mul", k.row, i(2));
    k.store(counts, place, k.binary("add", live, k.select(isLeft, i(1), i(0))), k.lanes === 1);
    k.store(counts, k.binary("add", place, i(1)), turns, k.lanes === 1);
    return [];
  });
  return k.finish();
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
