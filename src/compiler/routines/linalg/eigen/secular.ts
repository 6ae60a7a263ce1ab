/**
 * Roots of the secular equation f(λ) = 1 + ρ Σ zⱼ² / (dⱼ - λ) = 0 (rank-one.ts): between two neighbouring d, where f rises from
 * -∞ to ∞, lies one. A root is found as its distance μ from the nearer of the two, its origin, because differences of the root
 * with any d must be exact. Each step replaces f by a function with the same two poles (the middle way of R.-C. Li, LAPACK
 * working note 89, 1994); a step that leaves the interval known to hold the root is replaced by halving, on a
 * logarithmic scale, because μ may be tiny.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import { Field } from "../field.js";
import { epsilonOf } from "../workspace.js";
import { memberOf, overAll, type RankOne } from "./rank-one-problem.js";

/** Steps for a root; six are usual. */
const MOST_STEPS = { f32: 60, f64: 90 } as const;

/** Buffers: ρ, d, z and the counts; then what it writes: the distances, the origins, and the roots. */
export function secularKernel(problem: RankOne, settings: ElementSettings): Kernel {
  const { batch, m, type, lanes } = problem;
  const k = new KernelBuilder(`rankOne roots[${batch}×${m}]`, batch * m, lanes);
  const field = new Field(k, { type, isComplex: false }, settings);
  const [rhos, d, z, counts] = [
    k.buffer(type, false),
    k.buffer(type, false),
    k.buffer(type, false),
    k.buffer("i32", false),
  ];
  const [shifts, origins, roots] = [k.buffer(type, true), k.buffer("i32", true), k.buffer(type, true)];
  const { member, live, own, at } = memberOf(k, problem, counts);
  const mine = k.load(d, at(own), type);
  const zero = k.constant(type, 0);
  const store = (shift: Value, origin: Value, root: Value) => {
    k.store(shifts, k.row, shift, true);
    k.store(origins, k.row, origin, true);
    k.store(roots, k.row, root, true);
  };
  k.when(
    k.compare("lt", own, live),
    () => {
      const rho = k.load(rhos, member, type);
      const secular = new Secular(k, field, problem, { d, z, rho, live, own, at });
      const { shift, origin } = secular.root();
      store(shift, origin, k.binary("add", k.load(d, at(origin), type), shift));
      return [];
    },
    () => {
      store(zero, own, mine);
      return [];
    },
  );
  return k.finish();
}

interface Poles {
  readonly d: number;
  readonly z: number;
  readonly rho: Value;
  readonly live: Value;
  readonly own: Value;
  at(index: Value): Value;
}

class Secular {
  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly problem: RankOne,
    private readonly poles: Poles,
  ) {}

  /** Sums at the distance `mu` from `base`, a d: those of the poles up to this root, and of those above, and their slopes. */
  private sums(base: Value, mu: Value): [below: Value, above: Value, slopeBelow: Value, slopeAbove: Value] {
    const { k, field, problem } = this;
    const { type, m } = problem;
    const { d, z, live, own, at, rho } = this.poles;
    const zero = k.constant(type, 0);
    const found = overAll(k, m, [zero, zero, zero, zero], (index, isInside, before) => {
      const isLive = k.compare("lt", index, live);
      const counts = isInside ? k.binary("and", isLive, isInside) : isLive;
      const distance = k.binary("sub", k.binary("sub", k.load(d, at(index), type), base), mu);
      const weight = k.load(z, at(index), type);
      const ratio = field.divReal(weight, k.select(counts, distance, k.constant(type, 1)));
      const [term, slope] = [k.binary("mul", weight, ratio), k.binary("mul", ratio, ratio)];
      const isBelow = k.binary("and", counts, k.compare("le", index, own));
      const isAbove = k.binary("and", counts, k.compare("gt", index, own));
      const when = (condition: Value, x: Value) => k.select(condition, x, zero);
      const terms = [when(isBelow, term), when(isAbove, term), when(isBelow, slope), when(isAbove, slope)];
      return before.map((sum, which) => k.binary("add", sum, terms[which]));
    });
    return found.map((sum) => k.binary("mul", rho, k.combineLanes("add", sum))) as [Value, Value, Value, Value];
  }

  root(): { readonly shift: Value; readonly origin: Value } {
    const { k, problem } = this;
    const { type } = problem;
    const { d, z, live, own, at, rho } = this.poles;
    const i = (value: number) => k.constant("i32", value);
    const c = (value: number) => k.constant(type, value);
    const isLast = k.compare("ge", k.binary("add", own, i(1)), live);
    const mine = k.load(d, at(own), type);
    const next = k.load(d, at(k.select(isLast, own, k.binary("add", own, i(1)))), type);
    const [squares] = overAll(k, problem.m, [c(0)], (index, isInside, [before]) => {
      const isLive = k.compare("lt", index, live);
      const counts = isInside ? k.binary("and", isLive, isInside) : isLive;
      const x = k.load(z, at(index), type);
      return [k.binary("add", before, k.select(counts, k.binary("mul", x, x), c(0)))];
    });
    // Beyond this nothing is above the root of the last.
    const reach = k.binary("mul", k.binary("mul", rho, k.combineLanes("add", squares)), c(1 + 4 * epsilonOf(type)));
    const gap = k.select(isLast, reach, k.binary("sub", next, mine));
    const middle = k.binary("mul", gap, c(0.5));
    const [below, above] = this.sums(mine, middle);
    const isLeft = k.compare("ge", k.binary("add", k.binary("add", c(1), below), above), c(0));
    const isMine = k.binary("or", isLeft, isLast);
    const origin = k.select(isMine, own, k.binary("add", own, i(1)));
    const base = k.select(isMine, mine, next);
    const sign = k.select(isMine, c(1), c(-1));
    // The distances between which it lies: 0 and half of the gap; of the last, perhaps half and all.
    const isFar = k.binary("and", isLast, k.unary("not", isLeft));
    const low = k.select(isFar, middle, c(0));
    const high = k.select(isFar, reach, middle);
    // The poles beside it, from the origin.
    const left = k.select(isMine, c(0), k.unary("neg", gap));
    const right = k.select(isMine, gap, c(0));
    const shift = this.steps({ base, sign, left, right, isLast }, low, high);
    return { shift, origin };
  }

  private steps(
    given: { base: Value; sign: Value; left: Value; right: Value; isLast: Value },
    low: Value,
    high: Value,
  ): Value {
    const { k, problem } = this;
    const { type } = problem;
    const { base, sign } = given;
    const c = (value: number) => k.constant(type, value);
    const epsilon = epsilonOf(type);
    const start = this.between(low, high);
    const [, , last] = k.loop(
      MOST_STEPS[type],
      [low, high, start, k.constant("i32", 0)],
      (_, [lo, hi, t]) => {
        const mu = k.binary("mul", sign, t);
        const [below, above, slopeBelow, slopeAbove] = this.sums(base, mu);
        const f = k.binary("add", k.binary("add", c(1), below), above);
        const size = k.binary("add", c(1), k.binary("sub", above, below));
        const isExact = k.compare("le", k.unary("abs", f), k.binary("mul", size, c(epsilon)));
        // f rises with μ; t is μ without its sign.
        const isBeyond = k.compare("ge", k.binary("mul", f, sign), c(0));
        const [newLow, newHigh] = [k.select(isBeyond, lo, t), k.select(isBeyond, t, hi)];
        const moved = this.moved(given, mu, f, slopeBelow, slopeAbove);
        const candidate = k.binary("mul", sign, moved);
        const isInside = k.binary("and", k.compare("gt", candidate, newLow), k.compare("lt", candidate, newHigh));
        const next = k.select(isInside, candidate, this.between(newLow, newHigh));
        const width = k.binary("sub", newHigh, newLow);
        const isNarrow = k.compare("le", width, k.binary("mul", newHigh, c(epsilon)));
        const isDone = k.binary("or", isExact, isNarrow);
        const isStuck = k.binary("or", isDone, k.unary("not", k.compare("gt", width, c(0))));
        return [
          newLow,
          newHigh,
          k.select(isStuck, t, next),
          k.select(isStuck, k.constant("i32", 1), k.constant("i32", 0)),
        ];
      },
      { exitWhen: ([, , , done]) => k.compare("eq", done, k.constant("i32", 1)) },
    );
    return k.binary("mul", sign, last);
  }

  /** The middle of an interval of distances, on a logarithmic scale where it is long. */
  private between(low: Value, high: Value): Value {
    const { k, field, problem } = this;
    const c = (value: number) => k.constant(problem.type, value);
    const isLong = k.compare("gt", high, k.binary("mul", low, c(4)));
    const root = field.sqrtReal(k.binary("mul", low, high));
    const small = k.select(k.compare("gt", root, c(0)), root, k.binary("mul", high, c(1 / 16)));
    return k.select(isLong, small, k.binary("mul", k.binary("add", low, high), c(0.5)));
  }

  /** The zero of the function with the same value and slopes at μ, and poles beside the root. */
  private moved(
    { left, right, isLast }: { left: Value; right: Value; isLast: Value },
    mu: Value,
    f: Value,
    slopeBelow: Value,
    slopeAbove: Value,
  ): Value {
    const { k, field, problem } = this;
    const c = (value: number) => k.constant(problem.type, value);
    const [add, sub, mul] = (["add", "sub", "mul"] as const).map((op) => (x: Value, y: Value) => k.binary(op, x, y));
    const [toLeft, toRight] = [sub(left, mu), sub(right, mu)];
    const product = mul(toLeft, toRight);
    const constant = sub(sub(f, mul(toLeft, slopeBelow)), mul(toRight, slopeAbove));
    const a = sub(mul(add(toLeft, toRight), f), mul(product, add(slopeBelow, slopeAbove)));
    const b = mul(product, f);
    const root = field.sqrtReal(k.unary("abs", sub(mul(a, a), mul(c(4), mul(b, constant)))));
    const isLow = k.compare("le", a, c(0));
    const low = field.divReal(sub(a, root), mul(c(2), constant));
    const high = field.divReal(mul(c(2), b), add(a, root));
    const step = k.select(isLow, low, high);
    // Above the last there is no pole.
    const rest = sub(f, mul(toLeft, slopeBelow));
    const alone = add(toLeft, field.divReal(mul(slopeBelow, mul(toLeft, toLeft)), rest));
    return add(mu, k.select(isLast, alone, step));
  }
}
