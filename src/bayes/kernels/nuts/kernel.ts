/**
 * The whole No-U-Turn sampler as one kernel: one row per chain, many transitions per dispatch, adaptation included.
 *
 * Every round of its one big loop is a leapfrog step of every chain, wherever that chain stands in its own trajectory, so
 * that neighbouring threads evaluate the density together; what they do with the result differs in cheap branches. All state
 * is in buffers of [element][chain] when the kernel ends, in the middle of a trajectory or not: a dispatch does a bounded
 * number of steps, and the next one goes on.
 *
 * The trajectory is that of Stan. The parts of the kernel are in nuts/: the state that all of them write on, what comes
 * before and after a trajectory (start, transition), trajectories (tree, u-turn; trajectory for a known length), and what
 * they move by (momentum, step-size, metric).
 */
import type { Kernel, Value } from "../../../compiler/ir/ir.js";
import type { WritingContext } from "../../../runtime/backend.js";
import { ChainBuilder, type ChainDensity, type ScratchBuffer } from "../density.js";
import { type NutsOptions, PHASE } from "../layout.js";
import { factorColumn } from "./metric.js";
import { kinetic, velocity } from "./momentum.js";
import { chooseStart, judgeStart } from "./start.js";
import { NutsState } from "./state.js";
import { searchStep } from "./step-size.js";
import { trajectoryStep } from "./trajectory.js";
import { beginTransition, endTransition } from "./transition.js";
import { addLeaf, beginSubtree } from "./tree.js";

export interface WrittenNuts {
  readonly kernel: Kernel;
  readonly scratch: readonly ScratchBuffer[];
}

export function writeNuts(density: ChainDensity, options: NutsOptions, context: WritingContext): WrittenNuts {
  const { chains, lanes } = options;
  const builder = new ChainBuilder(`${options.kernel}[${chains}×${density.dim}]`, density, chains, lanes, context);
  write(new NutsState(builder, density, options));
  return { kernel: builder.k.finish(), scratch: builder.scratch.buffers };
}

/** Rounds until the chain has made the draws it was asked for, or as many as a dispatch may take. */
function write(chain: NutsState): void {
  const { k, w, ints } = chain;
  const { i, when, add } = w;
  chain.restore();
  const until = chain.order("until");
  const isActive = () =>
    w.and(k.compare("lt", ints.draw.get(), until), k.compare("ne", ints.phase.get(), i(PHASE.failed)));
  when(isActive(), () => {
    k.loop(
      2 ** 31 - 1,
      [i(0)],
      (_, [done]) => {
        round(chain);
        return [add(done, i(1))];
      },
      {
        exitWhen: ([done]) => w.or(k.compare("ge", done, chain.order("budget")), w.not(isActive())),
      },
    );
  });
  chain.save();
}

/** A step of the chain and what follows from where it leads. */
function round(chain: NutsState): void {
  const { k, w, hot, dim, type, ints, reals } = chain;
  const { when } = w;
  when(chain.isPhase("new"), () => chooseStart(chain));
  const isFactoring = chain.options.isDense ? () => chain.isPhase("factor") : null;
  if (isFactoring) when(isFactoring(), () => factorColumn(chain));
  when(chain.isPhase("begin"), () => beginTransition(chain));
  if (chain.options.kernel === "nuts") {
    when(w.and(chain.isPhase("tree"), k.compare("lt", ints.leaf.get(), w.i(0))), () => beginSubtree(chain));
  }

  const step = w.mul(k.convert(type, reals.stepSize.get()), k.convert(type, ints.direction.get()));
  const stays = isFactoring ? w.or(chain.isPhase("init"), isFactoring()) : chain.isPhase("init");
  const move = k.select(stays, w.float(type, 0), step);
  const half = w.mul(move, w.float(type, 0.5));
  const kick = (d: Value) => hot.p.store(d, w.add(hot.p.load(d), w.mul(half, hot.g.load(d))));
  w.each(dim, kick);
  k.barrier();
  w.each(dim, (d) => hot.q.store(d, w.add(hot.q.load(d), w.mul(move, velocity(chain, d, hot.p)))));
  k.barrier();
  const evaluated = chain.toEnergy(chain.builder.evaluate(hot.q, hot.g));
  const logp = chain.options.mistake === "stale density" ? oneBehind(chain, evaluated) : evaluated;
  w.each(dim, kick);
  const hamiltonian = w.sub(kinetic(chain), logp);

  const ended = w.cell("i32");
  ended.set(w.i(0));
  const follow = () => {
    const delta = w.sub(reals.h0.get(), hamiltonian);
    when(
      chain.isSet(ints.isSearching),
      () => searchStep(chain, delta),
      () =>
        chain.options.kernel === "nuts"
          ? addLeaf(chain, delta, logp, hamiltonian, ended)
          : trajectoryStep(chain, delta, logp, hamiltonian, ended),
    );
  };
  when(
    chain.isPhase("init"),
    () => judgeStart(chain, logp),
    () => (isFactoring ? when(w.not(isFactoring()), follow) : follow()),
  );
  when(chain.isSet(ended), () => endTransition(chain));
}

/** The density of the step before: what a sampler must not use. */
function oneBehind(chain: NutsState, logp: Value): Value {
  const { k, w, ints } = chain;
  const before = w.cell(chain.energy);
  const isFirst = k.compare("eq", ints.totalLeapfrogs.get(), w.i(0));
  const stale = k.select(isFirst, logp, before.get());
  before.set(logp);
  return k.select(chain.isPhase("tree"), stale, logp);
}
