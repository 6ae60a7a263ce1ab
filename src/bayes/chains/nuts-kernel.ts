/**
 * The whole No-U-Turn sampler as one kernel: one row per chain, many transitions per dispatch, adaptation included.
 *
 * Every round of its one big loop is a leapfrog step of every chain, wherever that chain stands in its own trajectory, so
 * that neighbouring threads evaluate the density together; what they do with the result differs in cheap branches. All state
 * is in buffers of [element][chain] when the kernel ends, in the middle of a trajectory or not: a dispatch does a bounded
 * number of steps, and the next one goes on.
 *
 * The trajectory is that of Stan: multinomial sampling with a bias towards the new half (Betancourt 2017), the generalised
 * U-turn criterion on every subtree and across the halves of each. The tree is built step by step with a record per level
 * in place of recursion (Phan, Pradhan, Jankowiak 2019; Lao and Dillon 2019). Leaf i of a subtree is the first of a
 * subtree of each size 2^l that divides i, and the last one of each size that divides i + 1; records of first leaves lie
 * in a stack that grows with the ones in the binary form of i.
 */
import { computeType } from "../../compiler/elements.js";
import type { Kernel, Value } from "../../compiler/ir.js";
import { arrayPlace, columnPlace, type Place, shifted } from "../../compiler/place.js";
import type { WritingContext } from "../../tensor/backend.js";
import { ChainBuilder, type ChainDensity, type FloatDType, type ScratchBuffer } from "./density.js";
import {
  ADAPTATION,
  BUFFERS,
  INTS,
  NOTED,
  type NutsOptions,
  ORDERS,
  PHASE,
  REALS,
  SCHEDULE,
  VECTORS,
  vectorSlots,
  WISHES,
} from "./nuts-layout.js";
import { type Cell, type Words, wordsOf } from "./words.js";

export interface WrittenNuts {
  readonly kernel: Kernel;
  readonly scratch: readonly ScratchBuffer[];
}

/** Steps of initial points before a chain gives up. */
const MAX_ATTEMPTS = 100;
/** Purposes of random numbers within a transition. */
const PURPOSE = { momentum: 0, direction: 1, leaf: 2, merge: 3, init: 4 } as const;
/** Steps of a trajectory of a given time, at most: a small step size in the warmup would make it endless. */
const MAX_STEPS = 1024;
/** Stan's dual averaging: γ, t0, κ. */
const DUAL = { gamma: 0.05, t0: 10, kappa: 0.75 } as const;
/** Bytes of a chain that may be kept in memory shared by its lanes: thirty chains still fit on a processor. */
const MAX_NEAR_BYTES = 4096;
/** Step sizes beyond this mean that the density does not fall off. */
const MAX_STEP = 1e7;

export function writeNuts(density: ChainDensity, options: NutsOptions, context: WritingContext): WrittenNuts {
  const { chains, lanes } = options;
  const builder = new ChainBuilder(`${options.kernel}[${chains}×${density.dim}]`, density, chains, lanes, context);
  new NutsWriter(builder, density, options).write();
  return { kernel: builder.k.finish(), scratch: builder.scratch.buffers };
}

class NutsWriter {
  private readonly k;
  private readonly w: Words;
  private readonly type: FloatDType;
  private readonly energy: FloatDType;
  private readonly dim: number;
  private readonly buffers: Readonly<Record<(typeof BUFFERS)[number], number>>;
  private readonly ints: Readonly<Record<(typeof INTS)[number], Cell>>;
  private readonly reals: Readonly<Record<(typeof REALS)[number], Cell>>;
  /** Vectors that change with every step are in memory of the row. */
  private readonly hot: Readonly<Record<"q" | "p" | "g" | "sum", Place>>;
  private readonly rhos: readonly Place[];
  /** All vectors, where lanes have memory that they share and it is enough; otherwise they are in the buffer. */
  private readonly near: Place | null;
  /** The diagonal of the metric, which every step needs. */
  private readonly diagonal: Place | null;

  constructor(
    private readonly builder: ChainBuilder,
    density: ChainDensity,
    private readonly options: NutsOptions,
  ) {
    const { k, scratch } = builder;
    this.k = k;
    this.w = wordsOf(k, builder.settings);
    this.type = density.dtype;
    this.energy = options.energyDType;
    this.dim = density.dim;
    const { type, energy, dim } = this;
    const dtypes = {
      orders: "i32",
      key: "u32",
      schedule: "i32",
      wishes: energy,
      vectors: type,
      reals: energy,
      ints: "i32",
      metric: type,
      factor: type,
      draws: type,
      noted: energy,
    } as const;
    const readOnly = new Set(["orders", "key", "schedule", "wishes"]);
    this.buffers = Object.fromEntries(
      BUFFERS.map((name) => [name, k.buffer(dtypes[name], !readOnly.has(name))]),
    ) as NutsWriter["buffers"];
    this.ints = Object.fromEntries(INTS.map((name) => [name, this.w.cell("i32")])) as NutsWriter["ints"];
    this.reals = Object.fromEntries(REALS.map((name) => [name, this.w.cell(energy)])) as NutsWriter["reals"];
    const [q, p, g, sum] = [0, 1, 2, 3].map(() => scratch.place(type, dim));
    this.hot = { q, p, g, sum };
    this.rhos = options.isDense ? [0, 1, 2].map(() => scratch.place(type, dim)) : [];
    const elements = vectorSlots(options) * dim;
    const isNear = k.lanes > 1 && elements * (type === "f64" ? 8 : 4) <= MAX_NEAR_BYTES;
    this.near = isNear ? arrayPlace(k, computeType(type), elements) : null;
    this.diagonal = options.isDense ? null : scratch.place(type, dim);
  }

  write(): void {
    const { k, w, ints } = this;
    const { i, when, add } = w;
    this.restore();
    const until = this.order("until");
    const isActive = () =>
      w.and(k.compare("lt", ints.draw.get(), until), k.compare("ne", ints.phase.get(), i(PHASE.failed)));
    when(isActive(), () => {
      k.loop(
        2 ** 31 - 1,
        [i(0)],
        (_, [done]) => {
          this.round();
          return [add(done, i(1))];
        },
        {
          exitWhen: ([done]) => w.or(k.compare("ge", done, this.order("budget")), w.not(isActive())),
        },
      );
    });
    this.save();
  }

  // ------------------------------------------------------------------------------------------------ state

  private order(name: (typeof ORDERS)[number]): Value {
    return this.k.load(this.buffers.orders, this.w.i(ORDERS.indexOf(name)), "i32");
  }

  private wish(name: (typeof WISHES)[number]): Value {
    return this.k.load(this.buffers.wishes, this.w.i(WISHES.indexOf(name)), this.energy);
  }

  private column(buffer: "vectors" | "draws" | "metric" | "factor", first: Value): Place {
    return columnPlace(this.k, this.buffers[buffer], computeType(this.type), first);
  }

  private vector(name: (typeof VECTORS)[number]): Place {
    return this.vectorsFrom(this.w.i(VECTORS.indexOf(name) * this.dim));
  }

  private vectorsFrom(first: Value): Place {
    return this.near ? shifted(this.k, this.near, first) : this.column("vectors", first);
  }

  /** Part of a record of the tree: the first momentum, the one before it, the sum before it. */
  private record(level: Value, part: "p" | "before" | "sum"): Place {
    const { w, dim } = this;
    const at = w.add(w.mul(level, w.i(3 * dim)), w.i((VECTORS.length + ["p", "before", "sum"].indexOf(part)) * dim));
    return this.vectorsFrom(at);
  }

  private copy(from: Place, to: Place, elements = this.dim): void {
    this.w.each(elements, (d) => to.store(d, from.load(d)));
  }

  private restore(): void {
    const { k, w, buffers } = this;
    INTS.forEach((name, slot) => {
      this.ints[name].set(columnPlace(k, buffers.ints, "i32", w.i(slot)).load(w.i(0)));
    });
    REALS.forEach((name, slot) => {
      this.reals[name].set(columnPlace(k, buffers.reals, this.energy, w.i(slot)).load(w.i(0)));
    });
    const vectors = this.column("vectors", w.i(0));
    if (this.near) this.copy(vectors, this.near, vectorSlots(this.options) * this.dim);
    if (this.diagonal) this.copy(this.column("metric", w.i(0)), this.diagonal);
    k.barrier();
    for (const name of ["q", "p", "g", "sum"] as const) this.copy(this.vector(name), this.hot[name]);
    k.barrier();
  }

  private save(): void {
    const { k, w, buffers } = this;
    k.barrier();
    const isFirst = k.lanes > 1 ? k.compare("eq", k.lane, w.i(0)) : null;
    INTS.forEach((name, slot) => {
      columnPlace(k, buffers.ints, "i32", w.i(slot)).store(w.i(0), this.ints[name].get(), isFirst);
    });
    REALS.forEach((name, slot) => {
      columnPlace(k, buffers.reals, this.energy, w.i(slot)).store(w.i(0), this.reals[name].get(), isFirst);
    });
    for (const name of ["q", "p", "g", "sum"] as const) this.copy(this.hot[name], this.vector(name));
    k.barrier();
    if (this.near) this.copy(this.near, this.column("vectors", w.i(0)), vectorSlots(this.options) * this.dim);
  }

  private isPhase(phase: keyof typeof PHASE): Value {
    return this.k.compare("eq", this.ints.phase.get(), this.w.i(PHASE[phase]));
  }

  private isSet(cell: Cell): Value {
    return this.k.compare("ne", cell.get(), this.w.i(0));
  }

  // ------------------------------------------------------------------------------------------------ randomness

  /** Two words for a purpose within the present transition. */
  private random(purpose: keyof typeof PURPOSE, number: Value): [Value, Value] {
    const { k, w, ints } = this;
    const key = [k.bitcast("u32", ints.keyHigh.get()), k.bitcast("u32", ints.keyLow.get())] as const;
    return w.threefry(key, [w.u(PURPOSE[purpose]), k.bitcast("u32", number)]);
  }

  /** The key of a transition is made of the run's, the chain and a number of its own. */
  private newKey(number: Value, chain: Value = this.k.row): void {
    const { k, w, buffers, ints } = this;
    const run = [k.load(buffers.key, w.i(0), "u32"), k.load(buffers.key, w.i(1), "u32")] as const;
    const [high, low] = w.threefry(run, [k.bitcast("u32", chain), k.bitcast("u32", number)]);
    ints.keyHigh.set(k.bitcast("i32", high));
    ints.keyLow.set(k.bitcast("i32", low));
  }

  // ------------------------------------------------------------------------------------------------ dynamics

  private scaled(d: Value, p: Place): Value {
    const { k, w, dim, type, diagonal } = this;
    if (diagonal) return w.mul(diagonal.load(d), p.load(d));
    const row = this.column("metric", w.mul(d, w.i(dim)));
    const [sum] = k.loop(dim, [w.float(type, 0)], (j, [total]) => [w.add(total, w.mul(row.load(j), p.load(j)))]);
    return sum;
  }

  private toEnergy(x: Value): Value {
    return this.k.convert(this.energy, x);
  }

  /** p·M⁻¹p / 2 */
  private kinetic(): Value {
    const { w, hot, dim, energy } = this;
    this.k.barrier();
    const [sum] = w.sums(dim, energy, 1, (d) => [this.toEnergy(w.mul(hot.p.load(d), this.scaled(d, hot.p)))]);
    return w.mul(sum, w.float(energy, 0.5));
  }

  /** A step of the chain and what follows from where it leads. */
  private round(): void {
    const { k, w, hot, dim, type, ints, reals } = this;
    const { when } = w;
    when(this.isPhase("new"), () => this.chooseStart());
    when(this.isPhase("begin"), () => this.beginTransition());
    if (this.options.kernel === "nuts") {
      when(w.and(this.isPhase("tree"), k.compare("lt", ints.leaf.get(), w.i(0))), () => this.beginSubtree());
    }

    const step = w.mul(k.convert(type, reals.stepSize.get()), k.convert(type, ints.direction.get()));
    const move = k.select(this.isPhase("init"), w.float(type, 0), step);
    const half = w.mul(move, w.float(type, 0.5));
    const kick = (d: Value) => hot.p.store(d, w.add(hot.p.load(d), w.mul(half, hot.g.load(d))));
    w.each(dim, kick);
    k.barrier();
    w.each(dim, (d) => hot.q.store(d, w.add(hot.q.load(d), w.mul(move, this.scaled(d, hot.p)))));
    k.barrier();
    const evaluated = this.toEnergy(this.builder.evaluate(hot.q, hot.g));
    const logp = this.options.mistake === "stale density" ? this.oneBehind(evaluated) : evaluated;
    w.each(dim, kick);
    const hamiltonian = w.sub(this.kinetic(), logp);

    const ended = w.cell("i32");
    ended.set(w.i(0));
    when(
      this.isPhase("init"),
      () => this.judgeStart(logp),
      () => {
        const delta = w.sub(reals.h0.get(), hamiltonian);
        when(
          this.isSet(ints.isSearching),
          () => this.searchStep(delta),
          () =>
            this.options.kernel === "nuts"
              ? this.leaf(delta, logp, hamiltonian, ended)
              : this.trajectoryStep(delta, logp, hamiltonian, ended),
        );
      },
    );
    when(this.isSet(ended), () => this.endTransition());
  }

  /** The density of the step before: what a sampler must not use. */
  private oneBehind(logp: Value): Value {
    const { k, ints } = this;
    const before = this.w.cell(this.energy);
    const isFirst = k.compare("eq", ints.totalLeapfrogs.get(), this.w.i(0));
    const stale = k.select(isFirst, logp, before.get());
    before.set(logp);
    return k.select(this.isPhase("tree"), stale, logp);
  }

  // ------------------------------------------------------------------------------------------------ beginnings

  /** A point to start from: the one that was given, or uniform within the radius, drawn anew until the density is finite. */
  private chooseStart(): void {
    const { k, w, hot, dim, type, ints } = this;
    const { i } = w;
    // Chains of a superchain take the same numbers, those of the first of them, and so start at the same point.
    this.newKey(i(-1), w.sub(k.row, k.binary("irem", k.row, this.order("together"))));
    const isGiven = w.and(k.compare("ne", this.order("givenInits"), i(0)), k.compare("eq", ints.attempts.get(), i(0)));
    const given = this.vector("qSample");
    const radius = k.convert(type, this.wish("initRadius"));
    w.each(dim, (d) => {
      const [word] = this.random("init", w.add(w.mul(ints.attempts.get(), i(dim)), d));
      const drawn = w.mul(radius, w.sub(w.mul(w.unit(type, word), w.float(type, 2)), w.float(type, 1)));
      hot.q.store(d, k.select(isGiven, given.load(d), drawn));
      hot.p.store(d, w.float(type, 0));
      hot.g.store(d, w.float(type, 0));
    });
    k.barrier();
    ints.phase.set(i(PHASE.init));
  }

  private judgeStart(logp: Value): void {
    const { k, w, hot, dim, ints, reals } = this;
    const { i } = w;
    const one = w.float(this.type, 1);
    const none = w.float(this.type, 0);
    const [bad] = w.sums(dim, this.type, 1, (d) => [k.select(w.isBounded(hot.g.load(d)), none, one)]);
    const isGood = w.and(w.isBounded(logp), k.compare("eq", bad, none));
    w.when(
      isGood,
      () => {
        this.copy(hot.q, this.vector("qSample"));
        this.copy(hot.g, this.vector("gSample"));
        reals.logp.set(logp);
        ints.phase.set(i(PHASE.begin));
        ints.isSearching.set(k.select(k.compare("ne", this.order("adaptation"), i(ADAPTATION.none)), i(1), i(0)));
        ints.searchSide.set(i(0));
      },
      () => {
        const attempts = w.add(ints.attempts.get(), i(1));
        ints.attempts.set(attempts);
        const isOver = k.compare("ge", attempts, i(MAX_ATTEMPTS));
        ints.phase.set(k.select(isOver, i(PHASE.failed), i(PHASE.new)));
      },
    );
  }

  /** A new momentum at the present draw. Searches for a step size begin like trajectories. */
  private beginTransition(): void {
    const { k, w, hot, energy, ints, reals } = this;
    const { i } = w;
    const isSearching = this.isSet(ints.isSearching);
    w.when(
      isSearching,
      () => {
        // Numbers of attempts go down from -2, so that they meet no draw.
        ints.attempts.set(w.add(ints.attempts.get(), i(1)));
        this.newKey(w.sub(i(-2), ints.attempts.get()));
      },
      () => this.newKey(ints.draw.get()),
    );
    this.drawMomenta();
    this.copy(this.vector("qSample"), hot.q);
    this.copy(this.vector("gSample"), hot.g);
    const h0 = w.sub(this.kinetic(), reals.logp.get());
    reals.h0.set(h0);
    reals.energy.set(h0);
    for (const side of ["Left", "Right"] as const) {
      this.copy(hot.q, this.vector(`q${side}`));
      this.copy(hot.p, this.vector(`p${side}`));
      this.copy(hot.g, this.vector(`g${side}`));
    }
    this.copy(hot.p, this.vector("rho"));
    reals.logWeight.set(w.float(energy, 0));
    reals.acceptance.set(w.float(energy, 0));
    for (const name of ["depth", "leapfrogs", "isDivergent"] as const) ints[name].set(i(0));
    ints.phase.set(i(PHASE.tree));
    // A subtree begins where there is no leaf yet.
    if (this.options.kernel === "nuts") ints.leaf.set(i(-1));
    else this.beginTrajectory();
    k.barrier();
  }

  /** Of the inverse metric. Two words make two of them, which lanes, who work on one each, have no use for. */
  private drawMomenta(): void {
    const { k, w, hot, dim, type, diagonal } = this;
    const { i } = w;
    const store = (d: Value, z: Value) => hot.p.store(d, diagonal ? w.div(z, w.sqrt(diagonal.load(d))) : z);
    const pair = (number: Value) => w.normals(type, this.random("momentum", number));
    if (k.lanes > 1) {
      w.each(dim, (d) => {
        const [first, second] = pair(k.binary("shr", d, w.u(1)));
        store(d, k.select(k.compare("eq", k.binary("and", d, i(1)), i(0)), first, second));
      });
    } else {
      k.loop(Math.ceil(dim / 2), [], (number) => {
        const [first, second] = pair(number);
        const d = w.mul(number, i(2));
        store(d, first);
        w.when(k.compare("lt", w.add(d, i(1)), i(dim)), () => store(w.add(d, i(1)), second));
        return [];
      });
    }
    if (!diagonal) this.solveFactor();
  }

  /**
   * Forward, for as many steps as were ordered on average or as many as make a random share of the time; the same for all
   * chains. Lengths that are always the same would bring some targets back to where they started, draw after draw.
   */
  private beginTrajectory(): void {
    const { k, w, energy, buffers, ints, reals } = this;
    const { i } = w;
    const run = [k.load(buffers.key, i(0), "u32"), k.load(buffers.key, i(1), "u32")] as const;
    const [word] = w.threefry(run, [w.u(2 ** 32 - 1), k.bitcast("u32", ints.draw.get())]);
    const share = w.unit(energy, word);
    const time = w.mul(this.wish("trajectory"), share);
    const wanted = w.div(time, reals.stepSize.get());
    const steps = k.convert("i32", k.unary("ceil", k.binary("min", wanted, w.float(energy, MAX_STEPS))));
    const ordered = this.order("steps");
    const most = k.convert(energy, w.sub(w.mul(ordered, i(2)), i(1)));
    const around = w.add(k.convert("i32", w.mul(most, share)), i(1));
    ints.length.set(k.select(k.compare("gt", ordered, i(0)), around, k.binary("max", steps, i(1))));
    ints.direction.set(i(1));
  }

  /** p with Lᵀp = z, for the covariance LLᵀ: momenta of the inverse covariance. Z is where p goes. */
  private solveFactor(): void {
    const { k, w, hot, dim, type } = this;
    const { i } = w;
    k.loop(dim, [], (step) => {
      const d = w.sub(i(dim - 1), step);
      const factor = (row: Value, column: Value) => this.column("factor", w.mul(row, i(dim))).load(column);
      const [sum] = k.loop(dim, [w.float(type, 0)], (j, [total]) => {
        const term = w.mul(factor(j, d), hot.p.load(j));
        return [w.add(total, k.select(k.compare("gt", j, d), term, w.float(type, 0)))];
      });
      hot.p.store(d, w.div(w.sub(hot.p.load(d), sum), factor(d, d)));
      return [];
    });
  }

  /** A side is chosen, and the trajectory is to grow there by as many steps as it has. */
  private beginSubtree(): void {
    const { k, w, hot, dim, type, energy, ints, reals } = this;
    const { i } = w;
    const [word] = this.random("direction", ints.depth.get());
    const isRight = w.or(this.isSet(ints.isSearching), k.compare("eq", k.binary("and", word, w.u(1)), w.u(1)));
    ints.direction.set(k.select(isRight, i(1), i(-1)));
    const [before, sumBefore] = [this.record(i(0), "before"), this.record(i(0), "sum")];
    const ends = (letter: "q" | "p" | "g") => [this.vector(`${letter}Left`), this.vector(`${letter}Right`)] as const;
    w.each(dim, (d) => {
      for (const letter of ["q", "p", "g"] as const) {
        const [left, right] = ends(letter);
        hot[letter].store(d, k.select(isRight, right.load(d), left.load(d)));
      }
      before.store(d, hot.p.load(d));
      sumBefore.store(d, w.float(type, 0));
      hot.sum.store(d, w.float(type, 0));
    });
    ints.leaf.set(i(0));
    reals.subLogWeight.set(w.float(energy, Number.NEGATIVE_INFINITY));
    k.barrier();
  }

  /** Doubles or halves the step size until one step changes the acceptance across 0.8, as Stan does. */
  private searchStep(delta: Value): void {
    const { k, w, energy, ints, reals } = this;
    const { i } = w;
    const limit = w.float(energy, Math.log(0.8));
    const isEasy = k.compare("gt", delta, limit);
    const side = ints.searchSide.get();
    const isFirst = k.compare("eq", side, i(0));
    const now = k.select(isEasy, i(1), i(-1));
    const isCrossed = w.and(w.not(isFirst), k.compare("ne", side, now));
    ints.phase.set(i(PHASE.begin));
    w.when(
      isCrossed,
      () => {
        ints.isSearching.set(i(0));
        this.restartDualAveraging();
      },
      () => {
        ints.searchSide.set(now);
        const factor = k.select(isEasy, w.float(energy, 2), w.float(energy, 0.5));
        const next = w.mul(reals.stepSize.get(), factor);
        // The first step only tells in which direction to go.
        reals.stepSize.set(k.select(isFirst, reals.stepSize.get(), next));
        const isEndless = w.or(
          k.compare("gt", next, w.float(energy, MAX_STEP)),
          k.compare("lt", next, w.float(energy, 1 / MAX_STEP / MAX_STEP)),
        );
        w.when(isEndless, () => ints.phase.set(i(PHASE.failed)));
      },
    );
  }

  /** A step of a trajectory of known length; its end is accepted or not (Metropolis). */
  private trajectoryStep(delta: Value, logp: Value, hamiltonian: Value, ended: Cell): void {
    const { k, w, hot, energy, ints, reals } = this;
    const { i } = w;
    const isValid = this.countStep(delta);
    const isLast = k.compare("ge", ints.leapfrogs.get(), ints.length.get());
    w.when(w.or(isLast, w.not(isValid)), () => {
      const chance = this.chanceOf(delta, isValid);
      // What adaptation looks at is the end of the trajectory, not its way.
      reals.acceptance.set(w.mul(chance, k.convert(energy, ints.leapfrogs.get())));
      const [word] = this.random("merge", i(0));
      const isAccepted = w.and(isValid, k.compare("lt", w.log(w.unit(energy, word)), delta));
      w.when(isAccepted, () => {
        this.copy(hot.q, this.vector("qSample"));
        this.copy(hot.g, this.vector("gSample"));
        reals.logp.set(logp);
        reals.energy.set(hamiltonian);
      });
      ended.set(i(1));
    });
  }

  /** Counts a step and whether it is a divergence; returns whether it is none. */
  private countStep(delta: Value): Value {
    const { k, w, energy, ints } = this;
    const { i } = w;
    ints.leapfrogs.set(w.add(ints.leapfrogs.get(), i(1)));
    ints.totalLeapfrogs.set(w.add(ints.totalLeapfrogs.get(), i(1)));
    // NaN is no energy at all: the comparison does not hold.
    const isValid = k.compare("ge", delta, w.sub(w.float(energy, 0), this.wish("maxEnergyError")));
    w.when(w.not(isValid), () => {
      ints.isDivergent.set(i(1));
      ints.totalDivergences.set(w.add(ints.totalDivergences.get(), i(1)));
    });
    return isValid;
  }

  private chanceOf(delta: Value, isValid: Value): Value {
    const { k, w, type } = this;
    const chance = w.exp(k.binary("min", k.convert(type, delta), w.float(type, 0)));
    return this.toEnergy(k.select(isValid, chance, w.float(type, 0)));
  }

  // ------------------------------------------------------------------------------------------------ the tree

  /** A leaf of the growing subtree: the point the step led to. */
  private leaf(delta: Value, logp: Value, hamiltonian: Value, ended: Cell): void {
    const { k, w, hot, type, ints, reals } = this;
    const { i } = w;
    const isValid = this.countStep(delta);
    reals.acceptance.set(w.add(reals.acceptance.get(), this.chanceOf(delta, isValid)));

    const turned = w.cell("i32");
    turned.set(i(0));
    w.when(isValid, () => {
      const own = k.convert(type, delta);
      const weight = w.logAddExp(k.convert(type, reals.subLogWeight.get()), own);
      const [word] = this.random("leaf", ints.leapfrogs.get());
      const isChosen = k.compare("le", w.log(w.unit(type, word)), w.sub(own, weight));
      reals.subLogWeight.set(this.toEnergy(weight));
      w.when(isChosen, () => {
        this.copy(hot.q, this.vector("qSub"));
        this.copy(hot.g, this.vector("gSub"));
        reals.subLogp.set(logp);
        reals.subEnergy.set(hamiltonian);
      });
      this.noteLeaf(turned);
    });
    const size = k.binary("shl", i(1), k.convert("u32", ints.depth.get()));
    const leaf = w.add(ints.leaf.get(), i(1));
    ints.leaf.set(leaf);
    const isWhole = k.compare("ge", leaf, size);
    const hasTurned = this.isSet(turned);
    const isForgiven = this.options.mistake === "invalid doubling";
    w.when(
      isForgiven ? w.not(isValid) : w.or(w.not(isValid), hasTurned),
      () => ended.set(i(1)),
      () => w.when(isWhole, () => this.merge(ended)),
    );
    if (isForgiven) w.when(hasTurned, () => ended.set(i(1)));
  }

  /** Adds the leaf's momentum to the records, and looks at the subtrees that end with it. */
  private noteLeaf(turned: Cell): void {
    const { k, w, hot, dim, ints } = this;
    const { i } = w;
    const leaf = ints.leaf.get();
    w.each(dim, (d) => hot.sum.store(d, w.add(hot.sum.load(d), hot.p.load(d))));
    k.barrier();
    const isEven = k.compare("eq", k.binary("and", leaf, i(1)), i(0));
    const top = this.onesAbove(leaf);
    w.when(
      isEven,
      () => this.copy(hot.p, this.record(top, "p")),
      () => {
        this.checkSubtrees(leaf, top, turned);
        const next = this.onesAbove(w.add(leaf, i(1)));
        this.copy(hot.p, this.record(next, "before"));
        this.copy(hot.sum, this.record(next, "sum"));
      },
    );
  }

  /** How many ones a number has in binary form, the last digit left out: the level of its record. */
  private onesAbove(leaf: Value): Value {
    const { k, w, options } = this;
    const { i } = w;
    let count = i(0);
    for (let bit = 1; bit < options.maxTreeDepth; bit++) {
      const digit = k.binary("and", k.binary("shr", leaf, w.u(bit)), i(1));
      count = w.add(count, digit);
    }
    return count;
  }

  /** Subtrees of 2, 4, 8 … leaves that this odd leaf is the last of. */
  private checkSubtrees(leaf: Value, top: Value, turned: Cell): void {
    const { k, w, hot, options } = this;
    const { i } = w;
    const last = w.add(leaf, i(1));
    k.loop(
      options.maxTreeDepth,
      [i(0)],
      (level) => {
        const slot = w.sub(top, level);
        const isPair = k.compare("eq", level, i(0));
        // The right half begins where the subtree of the level below does. Of a pair it is the leaf itself.
        const inner = k.select(isPair, slot, w.add(slot, i(1)));
        const [first, sumBefore] = [this.record(slot, "p"), this.record(slot, "sum")];
        const [middle, before, middleSum] = [
          this.record(inner, "p"),
          this.record(inner, "before"),
          this.record(inner, "sum"),
        ];
        const isTurning = this.isTurning((d) => {
          const [p, start, from] = [hot.p.load(d), first.load(d), sumBefore.load(d)];
          const total = w.sub(hot.sum.load(d), from);
          const left = k.select(isPair, start, w.sub(middleSum.load(d), from));
          const right = k.select(isPair, p, w.sub(hot.sum.load(d), middleSum.load(d)));
          return {
            rhos: [
              total,
              w.add(left, k.select(isPair, p, middle.load(d))),
              w.add(right, k.select(isPair, start, before.load(d))),
            ],
            leftStart: start,
            leftEnd: k.select(isPair, start, before.load(d)),
            rightStart: k.select(isPair, p, middle.load(d)),
            rightEnd: p,
          };
        });
        w.when(isTurning, () => turned.set(i(1)));
        // Whether the next larger subtree ends here, too.
        const size = k.binary("shl", i(2), k.convert("u32", level));
        const isMore = k.compare("eq", k.binary("and", last, w.sub(k.binary("shl", size, w.u(1)), i(1))), i(0));
        return [k.select(w.and(isMore, w.not(this.isSet(turned))), i(1), i(0))];
      },
      { exitWhen: ([isMore]) => k.compare("eq", isMore, i(0)) },
    );
  }

  /** The criterion for two halves: over the whole, and from each half to the first step into the other. */
  private isTurning(
    at: (d: Value) => {
      readonly rhos: readonly [Value, Value, Value] | readonly Value[];
      readonly leftStart: Value;
      readonly leftEnd: Value;
      readonly rightStart: Value;
      readonly rightEnd: Value;
    },
  ): Value {
    const { k, w, dim, energy, diagonal } = this;
    if (!diagonal) {
      w.each(dim, (d) => {
        const { rhos } = at(d);
        rhos.forEach((rho, r) => {
          this.rhos[r].store(d, rho);
        });
      });
      k.barrier();
    }
    const dots = w.sums(dim, energy, 6, (d) => {
      const { rhos, leftStart, leftEnd, rightStart, rightEnd } = at(d);
      const scaled = rhos.map((rho, r) => (diagonal ? w.mul(diagonal.load(d), rho) : this.scaled(d, this.rhos[r])));
      const pairs = [
        [leftStart, scaled[0]],
        [rightEnd, scaled[0]],
        [leftStart, scaled[1]],
        [rightStart, scaled[1]],
        [leftEnd, scaled[2]],
        [rightEnd, scaled[2]],
      ] as const;
      return pairs.map(([p, rho]) => this.toEnergy(w.mul(p, rho)));
    });
    const goesOn = dots.map((dot) => k.compare("gt", dot, w.float(energy, 0))).reduce((a, b) => w.and(a, b));
    return w.not(goesOn);
  }

  /** The subtree joins the trajectory, and perhaps its sample becomes the trajectory's. */
  private merge(ended: Cell): void {
    const { k, w, hot, type, ints, reals } = this;
    const { i } = w;
    const [own, other] = [reals.logWeight, reals.subLogWeight].map((cell) => k.convert(type, cell.get()));
    const [word] = this.random("merge", ints.depth.get());
    w.when(k.compare("lt", w.log(w.unit(type, word)), w.sub(other, own)), () => {
      this.copy(this.vector("qSub"), this.vector("qSample"));
      this.copy(this.vector("gSub"), this.vector("gSample"));
      reals.logp.set(reals.subLogp.get());
      reals.energy.set(reals.subEnergy.get());
    });
    reals.logWeight.set(this.toEnergy(w.logAddExp(own, other)));

    const isRight = k.compare("gt", ints.direction.get(), i(0));
    const [pLeft, pRight, rho] = [this.vector("pLeft"), this.vector("pRight"), this.vector("rho")];
    const firstOfNew = this.record(i(0), "p");
    const isTurning = this.isTurning((d) => {
      const [left, right, old, sum] = [pLeft.load(d), pRight.load(d), rho.load(d), hot.sum.load(d)];
      const [far, near] = [k.select(isRight, left, right), k.select(isRight, right, left)];
      const first = firstOfNew.load(d);
      return {
        rhos: [w.add(old, sum), w.add(old, first), w.add(sum, near)],
        leftStart: far,
        leftEnd: near,
        rightStart: first,
        rightEnd: hot.p.load(d),
      };
    });
    w.each(this.dim, (d) => rho.store(d, w.add(rho.load(d), hot.sum.load(d))));
    w.when(
      isRight,
      () => this.keepEnd("Right"),
      () => this.keepEnd("Left"),
    );
    const depth = w.add(ints.depth.get(), i(1));
    ints.depth.set(depth);
    const isDeep = k.compare("ge", depth, i(this.options.maxTreeDepth));
    w.when(
      w.or(isTurning, isDeep),
      () => ended.set(i(1)),
      () => ints.leaf.set(i(-1)),
    );
  }

  private keepEnd(side: "Left" | "Right"): void {
    for (const letter of ["q", "p", "g"] as const) this.copy(this.hot[letter], this.vector(`${letter}${side}`));
  }

  // ------------------------------------------------------------------------------------------------ between draws

  private endTransition(): void {
    const { k, w, energy, ints, reals, dim } = this;
    const { i } = w;
    const draw = ints.draw.get();
    const warmup = this.order("warmup");
    const acceptance = w.div(reals.acceptance.get(), k.convert(energy, ints.leapfrogs.get()));
    w.when(
      k.compare("ge", draw, warmup),
      () => {
        const slot = w.sub(draw, this.order("first"));
        this.copy(this.vector("qSample"), this.column("draws", w.mul(slot, i(dim))));
        const values = {
          lp: reals.logp.get(),
          acceptance,
          stepSize: reals.stepSize.get(),
          treeDepth: k.convert(energy, ints.depth.get()),
          leapfrogs: k.convert(energy, ints.leapfrogs.get()),
          divergent: k.convert(energy, ints.isDivergent.get()),
          energy: reals.energy.get(),
        };
        const noted = columnPlace(k, this.buffers.noted, energy, w.mul(slot, i(NOTED.length)));
        const isFirst = k.lanes > 1 ? k.compare("eq", k.lane, i(0)) : null;
        NOTED.forEach((name, n) => {
          noted.store(i(n), values[name], isFirst);
        });
      },
      () => {
        const adaptation = this.order("adaptation");
        w.when(k.compare("eq", adaptation, i(ADAPTATION.own)), () => this.adapt(draw, warmup, acceptance));
        w.when(k.compare("eq", adaptation, i(ADAPTATION.pooled)), () => {
          w.when(this.hasFlag(draw, SCHEDULE.counts), () => this.countDraw());
        });
      },
    );
    ints.draw.set(w.add(draw, i(1)));
    ints.phase.set(i(PHASE.begin));
  }

  private restartDualAveraging(): void {
    const { w, energy, ints, reals } = this;
    reals.mu.set(w.log(w.mul(reals.stepSize.get(), w.float(energy, 10))));
    reals.sBar.set(w.float(energy, 0));
    reals.xBar.set(w.float(energy, 0));
    ints.adapted.set(w.i(0));
  }

  /** One update of dual averaging (Hoffman and Gelman 2014), and of the metric where the schedule says so. */
  private adapt(draw: Value, warmup: Value, acceptance: Value): void {
    const { k, w, energy, ints, reals } = this;
    const { i } = w;
    const f = (value: number) => w.float(energy, value);
    ints.adapted.set(w.add(ints.adapted.get(), i(1)));
    const count = k.convert(energy, ints.adapted.get());
    const eta = w.div(f(1), w.add(count, f(DUAL.t0)));
    const error = w.sub(this.wish("targetAcceptance"), acceptance);
    const mix = (rate: Value, old: Value, now: Value) => w.add(w.mul(w.sub(f(1), rate), old), w.mul(rate, now));
    const sBar = mix(eta, reals.sBar.get(), error);
    const x = w.sub(reals.mu.get(), w.mul(w.mul(sBar, w.sqrt(count)), f(1 / DUAL.gamma)));
    const xBar = mix(w.pow(count, -DUAL.kappa), reals.xBar.get(), x);
    reals.sBar.set(sBar);
    reals.xBar.set(xBar);
    reals.stepSize.set(w.exp(x));
    w.when(this.hasFlag(draw, SCHEDULE.counts), () => this.countDraw());
    w.when(this.hasFlag(draw, SCHEDULE.closes), () => this.closeWindow());
    w.when(k.compare("eq", w.add(draw, i(1)), warmup), () => reals.stepSize.set(w.exp(reals.xBar.get())));
  }

  private hasFlag(draw: Value, flag: number): Value {
    const { k, w } = this;
    const flags = k.load(this.buffers.schedule, draw, "i32");
    return k.compare("ne", k.binary("and", flags, w.i(flag)), w.i(0));
  }

  /** Welford's update of mean and scatter by the present draw. */
  private countDraw(): void {
    const { k, w, type, dim, ints, options } = this;
    const { i } = w;
    const counted = w.add(ints.counted.get(), i(1));
    ints.counted.set(counted);
    const share = w.div(w.float(type, 1), k.convert(type, counted));
    const [q, mean, scatter] = [this.vector("qSample"), this.vector("mean"), this.vector("scatter")];
    if (!options.isDense) {
      w.each(dim, (d) => {
        const value = q.load(d);
        const before = w.sub(value, mean.load(d));
        const next = w.add(mean.load(d), w.mul(before, share));
        mean.store(d, next);
        scatter.store(d, w.add(scatter.load(d), w.mul(before, w.sub(value, next))));
      });
      return;
    }
    // The whole matrix lies behind the metric.
    const before = this.rhos[0];
    w.each(dim, (d) => {
      const change = w.sub(q.load(d), mean.load(d));
      before.store(d, change);
      mean.store(d, w.add(mean.load(d), w.mul(change, share)));
    });
    w.each(dim, (d) => {
      const row = this.column("metric", w.add(i(dim * dim), w.mul(d, i(dim))));
      k.loop(dim, [], (j) => {
        const after = w.sub(q.load(j), mean.load(j));
        row.store(j, w.add(row.load(j), w.mul(before.load(d), after)));
        return [];
      });
    });
  }

  /** The metric becomes the regularised covariance of the window, and everything starts to count anew. */
  private closeWindow(): void {
    const { k, w, type, dim, ints, diagonal } = this;
    const { i } = w;
    const n = k.convert(type, ints.counted.get());
    const total = w.add(n, w.float(type, 5));
    const share = w.div(n, w.mul(total, k.binary("max", w.sub(n, w.float(type, 1)), w.float(type, 1))));
    const floor = w.div(w.float(type, 5e-3), total);
    const [mean, scatter, metric] = [this.vector("mean"), this.vector("scatter"), this.column("metric", i(0))];
    const zero = w.float(type, 0);
    if (!diagonal) {
      const whole = this.column("metric", i(dim * dim));
      k.loop(dim * dim, [], (at) => {
        const isDiagonal = k.compare("eq", k.binary("irem", at, i(dim + 1)), i(0));
        metric.store(at, w.add(w.mul(whole.load(at), share), k.select(isDiagonal, floor, zero)));
        whole.store(at, zero);
        return [];
      });
      this.factorize();
    } else {
      w.each(dim, (d) => {
        const variance = w.add(w.mul(scatter.load(d), share), floor);
        metric.store(d, variance);
        diagonal.store(d, variance);
        scatter.store(d, zero);
      });
    }
    w.each(dim, (d) => mean.store(d, zero));
    ints.counted.set(i(0));
    ints.isSearching.set(i(1));
    ints.searchSide.set(i(0));
  }

  /** The Cholesky factor of the metric, column by column. */
  private factorize(): void {
    const { k, w, type, dim } = this;
    const { i } = w;
    const at = (place: Place, row: Value, column: Value) => place.load(w.add(w.mul(row, i(dim)), column));
    const [metric, factor] = [this.column("metric", i(0)), this.column("factor", i(0))];
    const rest = (row: Value, column: Value) => {
      const [sum] = k.loop(dim, [w.float(type, 0)], (j, [total]) => {
        const term = w.mul(at(factor, row, j), at(factor, column, j));
        return [w.add(total, k.select(k.compare("lt", j, column), term, w.float(type, 0)))];
      });
      return w.sub(at(metric, row, column), sum);
    };
    k.loop(dim, [], (column) => {
      const diagonal = w.sqrt(rest(column, column));
      k.loop(dim, [], (row) => {
        const below = w.div(rest(row, column), diagonal);
        const isBelow = k.compare("gt", row, column);
        const value = k.select(k.compare("eq", row, column), diagonal, k.select(isBelow, below, w.float(type, 0)));
        factor.store(w.add(w.mul(row, i(dim)), column), value);
        return [];
      });
      return [];
    });
  }
}
