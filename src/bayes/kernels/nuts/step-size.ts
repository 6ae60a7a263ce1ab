/**
 * The step size of a chain that adapts by itself: a first one by doubling and halving, and dual averaging from there on
 * (Hoffman and Gelman 2014), which chains that are adapted together have, too.
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import { DTYPES } from "../../../core/dtype.js";
import type { FloatDType } from "../../target/target.js";
import type { Arithmetic } from "../arithmetic.js";
import { PHASE } from "../layout.js";
import type { NutsState } from "./state.js";

/** Stan's dual averaging: γ, t0, κ. */
const DUAL = { gamma: 0.05, t0: 10, kappa: 0.75 } as const;
/** Step sizes beyond this mean that the density does not fall off. */
const MAX_STEP = 1e7;

/**
 * Doubles or halves the step size until one step changes the acceptance across 0.8, as Stan does. It halves until steps lead
 * nowhere, down to the smallest float: a chain may start at a log density of -1e100, and its first steps lead out of there.
 */
export function searchStep(chain: NutsState, delta: Value): void {
  const { k, ops, energy, type, ints, reals } = chain;
  const { i } = ops;
  const least = Math.max(DTYPES[type].tiny, DTYPES[energy].tiny);
  const limit = ops.float(energy, Math.log(0.8));
  const isEasy = k.compare("gt", delta, limit);
  const side = ints.searchSide.get();
  const isFirst = k.compare("eq", side, i(0));
  const now = k.select(isEasy, i(1), i(-1));
  const isCrossed = ops.and(ops.not(isFirst), k.compare("ne", side, now));
  ints.phase.set(i(PHASE.begin));
  // A step that rounding undoes is always accepted, and says nothing of the density around.
  const isHalving = k.compare("eq", side, i(-1));
  const isUndone = ops.and(isHalving, ops.not(hasMoved(chain)));
  ops.when(
    ops.and(isCrossed, ops.not(isUndone)),
    () => {
      ints.isSearching.set(i(0));
      restartDualAveraging(chain);
    },
    () => {
      ints.searchSide.set(now);
      const factor = k.select(isEasy, ops.float(energy, 2), ops.float(energy, 0.5));
      const next = ops.mul(reals.stepSize.get(), factor);
      // The first step only tells in which direction to go.
      reals.stepSize.set(k.select(isFirst, reals.stepSize.get(), next));
      const isEndless = ops.or(
        k.compare("gt", next, ops.float(energy, MAX_STEP)),
        k.compare("lt", next, ops.float(energy, least)),
      );
      ops.when(ops.or(isEndless, isUndone), () => ints.phase.set(i(PHASE.failed)));
    },
  );
}

/** Whether the step has changed the position at all. */
function hasMoved(chain: NutsState): Value {
  const { k, ops, hot, dim, type } = chain;
  const before = chain.vector("qSample");
  const [one, none] = [ops.float(type, 1), ops.float(type, 0)];
  const [moved] = ops.sums(dim, type, 1, (d) => [k.select(k.compare("ne", hot.q.load(d), before.load(d)), one, none)]);
  return k.compare("ne", moved, none);
}

function restartDualAveraging(chain: NutsState): void {
  const { ops, energy, ints, reals } = chain;
  reals.mu.set(ops.log(ops.mul(reals.stepSize.get(), ops.float(energy, 10))));
  reals.sBar.set(ops.float(energy, 0));
  reals.xBar.set(ops.float(energy, 0));
  ints.adapted.set(ops.i(0));
}

/** One update of dual averaging. */
export function averageStepSize(chain: NutsState, acceptance: Value): void {
  const { k, ops, energy, ints, reals } = chain;
  ints.adapted.set(ops.add(ints.adapted.get(), ops.i(1)));
  const count = k.convert(energy, ints.adapted.get());
  const before = { mu: reals.mu.get(), sBar: reals.sBar.get(), xBar: reals.xBar.get() };
  const { sBar, x, xBar } = dualAverage(ops, before, count, chain.runReal("targetAcceptance"), acceptance);
  reals.sBar.set(sBar);
  reals.xBar.set(xBar);
  reals.stepSize.set(ops.exp(x));
}

/** The update by itself, of logarithms: `x` is to be tried next, `xBar` is their average. */
export function dualAverage(
  ops: Arithmetic,
  { mu, sBar: errors, xBar: average }: Readonly<Record<"mu" | "sBar" | "xBar", Value>>,
  count: Value,
  target: Value,
  acceptance: Value,
): Readonly<Record<"sBar" | "x" | "xBar", Value>> {
  const f = (value: number) => ops.float(count.type as FloatDType, value);
  const mix = (rate: Value, old: Value, now: Value) => ops.add(ops.mul(ops.sub(f(1), rate), old), ops.mul(rate, now));
  const sBar = mix(ops.div(f(1), ops.add(count, f(DUAL.t0))), errors, ops.sub(target, acceptance));
  const x = ops.sub(mu, ops.mul(ops.mul(sBar, ops.sqrt(count)), f(1 / DUAL.gamma)));
  return { sBar, x, xBar: mix(ops.pow(count, -DUAL.kappa), average, x) };
}

/** The average, for the draws that count. */
export function settleStepSize({ ops, reals }: NutsState): void {
  reals.stepSize.set(ops.exp(reals.xBar.get()));
}
