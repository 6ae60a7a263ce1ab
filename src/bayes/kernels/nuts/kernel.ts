/**
 * The whole No-U-Turn sampler as one kernel: one row per chain, many transitions per dispatch, adaptation included. It writes
 * HMC with trajectories of known length just as well: they are a part that it is handed.
 *
 * The kernel is one big loop. Each round is a leapfrog step of every chain, wherever that chain stands in its own trajectory, so
 * that neighbouring threads evaluate the density together; what they do with the result differs in cheap branches. All state
 * is in buffers of [element][chain] when the kernel ends, in the middle of a trajectory or not: a dispatch does a bounded
 * number of steps, and the next one goes on.
 *
 * The trajectory is that of Stan. The files beside this one are the parts of the kernel: the state that all of them write on,
 * what comes before and after a trajectory (start, transition), trajectories (tree, u-turn, known-length), and what they move
 * by (momentum, step-size, metric).
 */
import type { Kernel, Value } from "../../../compiler/inline/kernel-language.js";
import type { WritingContext } from "../../../runtime/backend.js";
import { ChainBuilder, type ChainDensity, type ScratchBuffer } from "../density.js";
import { type NutsOptions, PHASE } from "../layout.js";
import { factorColumn } from "./metric.js";
import { kinetic, velocity } from "./momentum.js";
import { chooseStart, judgeStart } from "./start.js";
import { NutsState } from "./state.js";
import { searchStep } from "./step-size.js";
import { beginTransition, endTransition } from "./transition.js";

export interface WrittenNuts {
  readonly kernel: Kernel;
  readonly scratch: readonly ScratchBuffer[];
}

export function writeNuts(density: ChainDensity, options: NutsOptions, context: WritingContext): WrittenNuts {
  const { chains, lanes } = options;
  const name = `${options.trajectories.name}[${chains}×${density.dim}]`;
  const builder = new ChainBuilder(name, density, chains, lanes, context);
  write(new NutsState(builder, density, options));
  return { kernel: builder.k.finish(), scratch: builder.scratch.buffers };
}

/** Rounds until the chain has made the draws it was asked for, or as many as a dispatch may take. */
function write(chain: NutsState): void {
  const { k, ops, ints } = chain;
  const { i, when, add } = ops;
  chain.restore();
  const until = chain.dispatchInt("until");
  const isActive = () =>
    ops.and(k.compare("lt", ints.draw.get(), until), k.compare("ne", ints.phase.get(), i(PHASE.failed)));
  when(isActive(), () => {
    k.loop(
      2 ** 31 - 1,
      [i(0)],
      (_, [done]) => {
        stepChain(chain);
        return [add(done, i(1))];
      },
      {
        exitWhen: ([done]) => ops.or(k.compare("ge", done, chain.dispatchInt("budget")), ops.not(isActive())),
      },
    );
  });
  chain.save();
}

/** A step of the chain and what follows from where it leads. */
function stepChain(chain: NutsState): void {
  const { ops, ints, reals } = chain;
  const { when } = ops;
  const { trajectories, isDense } = chain.options;
  when(chain.isPhase("new"), () => chooseStart(chain));
  const isFactoring = isDense ? () => chain.isPhase("factor") : null;
  if (isFactoring) when(isFactoring(), () => factorColumn(chain));
  when(chain.isPhase("begin"), () => beginTransition(chain));
  trajectories.beforeStep?.(chain);

  const logp = leapfrog(chain, isFactoring);
  const hamiltonian = ops.sub(kinetic(chain), logp);
  const ended = ops.cell("i32");
  ended.set(ops.i(0));
  const follow = () => {
    const delta = ops.sub(reals.h0.get(), hamiltonian);
    when(
      chain.isSet(ints.isSearching),
      () => searchStep(chain, delta),
      () => trajectories.addPoint(chain, { delta, logp, hamiltonian }, ended),
    );
  };
  when(
    chain.isPhase("init"),
    () => judgeStart(chain, logp),
    () => (isFactoring ? when(ops.not(isFactoring()), follow) : follow()),
  );
  when(chain.isSet(ended), () => endTransition(chain));
}

/** A leapfrog step, of size 0 where the chain only evaluates the density or factors its metric. Returns the log density. */
function leapfrog(chain: NutsState, isFactoring: (() => Value) | null): Value {
  const { k, ops, hot, dim, type, ints, reals } = chain;
  const step = ops.mul(k.convert(type, reals.stepSize.get()), k.convert(type, ints.direction.get()));
  const stays = isFactoring ? ops.or(chain.isPhase("init"), isFactoring()) : chain.isPhase("init");
  const move = k.select(stays, ops.float(type, 0), step);
  const half = ops.mul(move, ops.float(type, 0.5));
  const kick = (d: Value) => hot.p.store(d, ops.add(hot.p.load(d), ops.mul(half, hot.g.load(d))));
  ops.each(dim, kick);
  k.barrier();
  ops.each(dim, (d) => hot.q.store(d, ops.add(hot.q.load(d), ops.mul(move, velocity(chain, d, hot.p)))));
  k.barrier();
  const logp = chain.toEnergy(chain.builder.evaluate(hot.q, hot.g));
  ops.each(dim, kick);
  return logp;
}
