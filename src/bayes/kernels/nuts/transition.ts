/** From a draw to the next: what every transition begins with, and what is done with the draw it ends at. */

import { columnPlace } from "../../../compiler/inline/place.js";
import type { Value } from "../../../compiler/ir/ir.js";
import { ADAPTATION, NOTED, PHASE, SCHEDULE } from "../layout.js";
import { closeWindow, countDraw } from "./metric.js";
import { drawMomenta, kinetic } from "./momentum.js";
import { newKey } from "./random-words.js";
import type { NutsState } from "./state.js";
import { averageStepSize, settleStepSize } from "./step-size.js";
import { beginTrajectory } from "./trajectory.js";

/** A new momentum at the present draw. Searches for a step size begin like trajectories. */
export function beginTransition(chain: NutsState): void {
  const { k, w, hot, energy, ints, reals } = chain;
  const { i } = w;
  const isSearching = chain.isSet(ints.isSearching);
  w.when(
    isSearching,
    () => {
      // Numbers of attempts go down from -2, so that they meet no draw.
      ints.attempts.set(w.add(ints.attempts.get(), i(1)));
      newKey(chain, w.sub(i(-2), ints.attempts.get()));
    },
    () => newKey(chain, ints.draw.get()),
  );
  drawMomenta(chain);
  chain.copy(chain.vector("qSample"), hot.q);
  chain.copy(chain.vector("gSample"), hot.g);
  const h0 = w.sub(kinetic(chain), reals.logp.get());
  reals.h0.set(h0);
  reals.energy.set(h0);
  chain.keepEnd("Left");
  chain.keepEnd("Right");
  chain.copy(hot.p, chain.vector("rho"));
  reals.logWeight.set(w.float(energy, 0));
  reals.acceptance.set(w.float(energy, 0));
  for (const name of ["depth", "leapfrogs", "isDivergent"] as const) ints[name].set(i(0));
  ints.phase.set(i(PHASE.tree));
  // A subtree begins where there is no leaf yet.
  if (chain.options.kernel === "nuts") ints.leaf.set(i(-1));
  else beginTrajectory(chain);
  k.barrier();
}

/** Notes the draw, or adapts to it while the warmup lasts. */
export function endTransition(chain: NutsState): void {
  const { k, w, energy, ints, reals } = chain;
  const draw = ints.draw.get();
  const warmup = chain.order("warmup");
  const acceptance = w.div(reals.acceptance.get(), k.convert(energy, ints.leapfrogs.get()));
  // Unless a window closes: then the metric comes first.
  ints.phase.set(w.i(PHASE.begin));
  w.when(
    k.compare("ge", draw, warmup),
    () => noteDraw(chain, draw, acceptance),
    () => adapt(chain, draw, warmup, acceptance),
  );
  ints.draw.set(w.add(draw, w.i(1)));
}

function noteDraw(chain: NutsState, draw: Value, acceptance: Value): void {
  const { k, w, energy, ints, reals, dim } = chain;
  const { i } = w;
  ints.totalDivergences.set(w.add(ints.totalDivergences.get(), ints.isDivergent.get()));
  const slot = w.sub(draw, chain.order("first"));
  chain.copy(chain.vector("qSample"), chain.column("draws", w.mul(slot, i(dim))));
  const values = {
    lp: reals.logp.get(),
    acceptance,
    stepSize: reals.stepSize.get(),
    treeDepth: k.convert(energy, ints.depth.get()),
    leapfrogs: k.convert(energy, ints.leapfrogs.get()),
    divergent: k.convert(energy, ints.isDivergent.get()),
    energy: reals.energy.get(),
  };
  const noted = columnPlace(k, chain.buffers.noted, energy, w.mul(slot, i(NOTED.length)));
  const isFirst = k.lanes > 1 ? k.compare("eq", k.lane, i(0)) : null;
  NOTED.forEach((name, n) => {
    noted.store(i(n), values[name], isFirst);
  });
}

/** What a draw of the warmup changes: the step size, and the metric where the schedule says so. */
function adapt(chain: NutsState, draw: Value, warmup: Value, acceptance: Value): void {
  const { k, w } = chain;
  const { i } = w;
  const adaptation = chain.order("adaptation");
  w.when(k.compare("eq", adaptation, i(ADAPTATION.own)), () => {
    averageStepSize(chain, acceptance);
    w.when(isScheduled(chain, draw, "counts"), () => countDraw(chain));
    w.when(isScheduled(chain, draw, "closes"), () => closeWindow(chain));
    w.when(k.compare("eq", w.add(draw, i(1)), warmup), () => settleStepSize(chain));
  });
  w.when(k.compare("eq", adaptation, i(ADAPTATION.pooled)), () => {
    w.when(isScheduled(chain, draw, "counts"), () => countDraw(chain));
  });
}

function isScheduled({ k, w, buffers }: NutsState, draw: Value, what: keyof typeof SCHEDULE): Value {
  const flags = k.load(buffers.schedule, draw, "i32");
  return k.compare("ne", k.binary("and", flags, w.i(SCHEDULE[what])), w.i(0));
}
