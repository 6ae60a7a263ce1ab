/** The beginning and the end of a transition: a new momentum, and the draw noted or adapted to. */

import { columnPlace, type Value } from "../../../compiler/inline/kernel-language.js";
import { ADAPTATION, NOTED, PHASE, SCHEDULE } from "../layout.js";
import { closeWindow, countDraw } from "./metric.js";
import { drawMomenta, kinetic } from "./momentum.js";
import { newKey } from "./random-words.js";
import type { NutsState } from "./state.js";
import { averageStepSize, settleStepSize } from "./step-size.js";

/** A new momentum at the present draw. Searches for a step size begin like trajectories. */
export function beginTransition(chain: NutsState): void {
  const { k, ops, hot, energy, ints, reals } = chain;
  const { i } = ops;
  const isSearching = chain.isSet(ints.isSearching);
  ops.when(
    isSearching,
    () => {
      // Numbers of attempts go down from -2, so that they meet no draw.
      ints.attempts.set(ops.add(ints.attempts.get(), i(1)));
      newKey(chain, ops.sub(i(-2), ints.attempts.get()));
    },
    () => newKey(chain, ints.draw.get()),
  );
  drawMomenta(chain);
  chain.copy(chain.vector("qSample"), hot.q);
  chain.copy(chain.vector("gSample"), hot.g);
  const h0 = ops.sub(kinetic(chain), reals.logp.get());
  reals.h0.set(h0);
  reals.energy.set(h0);
  chain.keepEnd("Left");
  chain.keepEnd("Right");
  chain.copy(hot.p, chain.vector("rho"));
  reals.logWeight.set(ops.float(energy, 0));
  reals.acceptance.set(ops.float(energy, 0));
  for (const name of ["depth", "leapfrogs", "isDivergent"] as const) ints[name].set(i(0));
  ints.phase.set(i(PHASE.tree));
  chain.options.trajectories.begin(chain);
  k.barrier();
}

/** Notes the draw, or adapts to it while the warmup lasts. */
export function endTransition(chain: NutsState): void {
  const { k, ops, energy, ints, reals } = chain;
  const draw = ints.draw.get();
  const warmup = chain.dispatchInt("warmup");
  const acceptance = ops.div(reals.acceptance.get(), k.convert(energy, ints.leapfrogs.get()));
  // Unless a window closes: then the metric comes first.
  ints.phase.set(ops.i(PHASE.begin));
  ops.when(
    k.compare("ge", draw, warmup),
    () => noteDraw(chain, draw, acceptance),
    () => adapt(chain, draw, warmup, acceptance),
  );
  ints.draw.set(ops.add(draw, ops.i(1)));
}

function noteDraw(chain: NutsState, draw: Value, acceptance: Value): void {
  const { k, ops, energy, ints, reals, dim } = chain;
  const { i } = ops;
  ints.totalDivergences.set(ops.add(ints.totalDivergences.get(), ints.isDivergent.get()));
  const slot = ops.sub(draw, chain.dispatchInt("first"));
  chain.copy(chain.vector("qSample"), chain.column("draws", ops.mul(slot, i(dim))));
  const values = {
    lp: reals.logp.get(),
    acceptance,
    stepSize: reals.stepSize.get(),
    treeDepth: k.convert(energy, ints.depth.get()),
    leapfrogs: k.convert(energy, ints.leapfrogs.get()),
    divergent: k.convert(energy, ints.isDivergent.get()),
    energy: reals.energy.get(),
  };
  const noted = columnPlace(k, chain.buffers.noted, energy, ops.mul(slot, i(NOTED.length)));
  const isFirst = k.lanes > 1 ? k.compare("eq", k.lane, i(0)) : null;
  NOTED.forEach((name, n) => {
    noted.store(i(n), values[name], isFirst);
  });
}

/** Adapts to a draw of the warmup: the step size, and the metric where the schedule says so. */
function adapt(chain: NutsState, draw: Value, warmup: Value, acceptance: Value): void {
  const { k, ops } = chain;
  const { i } = ops;
  const adaptation = chain.dispatchInt("adaptation");
  ops.when(k.compare("eq", adaptation, i(ADAPTATION.own)), () => {
    averageStepSize(chain, acceptance);
    ops.when(isScheduled(chain, draw, "counts"), () => countDraw(chain));
    ops.when(isScheduled(chain, draw, "closes"), () => closeWindow(chain));
    ops.when(k.compare("eq", ops.add(draw, i(1)), warmup), () => settleStepSize(chain));
  });
  ops.when(k.compare("eq", adaptation, i(ADAPTATION.pooled)), () => {
    ops.when(isScheduled(chain, draw, "counts"), () => countDraw(chain));
  });
}

function isScheduled({ k, ops, buffers }: NutsState, draw: Value, what: keyof typeof SCHEDULE): Value {
  const flags = k.load(buffers.schedule, draw, "i32");
  return k.compare("ne", k.binary("and", flags, ops.i(SCHEDULE[what])), ops.i(0));
}
