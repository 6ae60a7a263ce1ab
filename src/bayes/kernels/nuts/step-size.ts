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

/** The way of the search: doubling, not begun, halving, and halving where the last step led to no finite density. */
const SEARCH = { up: 1, none: 0, down: -1, fallen: -2 } as const;

/**
 * Doubles or halves the step size until one step changes the acceptance across 0.8, as Stan does. It halves down to the
 * smallest float, or until rounding undoes the step: a chain may start at a log density of -1e100, and its first steps lead out
 * of there. Where floats cannot follow the density, the smallest step that moves the chain must do.
 */
export function searchStep(chain: NutsState, delta: Value): void {
  const { k, ops, energy, type, ints, reals } = chain;
  const { i } = ops;
  const least = Math.max(DTYPES[type].tiny, DTYPES[energy].tiny);
  const limit = ops.float(energy, Math.log(0.8));
  const isEasy = k.compare("gt", delta, limit);
  const side = ints.searchSide.get();
  const isFirst = k.compare("eq", side, i(SEARCH.none));
  const isDoubling = k.compare("eq", side, i(SEARCH.up));
  const isHalving = k.compare("lt", side, i(SEARCH.none));
  const isBounded = k.compare("lt", k.unary("abs", delta), ops.float(energy, Number.POSITIVE_INFINITY));
  const now = k.select(isEasy, i(SEARCH.up), k.select(isBounded, i(SEARCH.down), i(SEARCH.fallen)));
  const isCrossed = ops.or(ops.and(isDoubling, ops.not(isEasy)), ops.and(isHalving, isEasy));
  ints.phase.set(i(PHASE.begin));
  // A step that rounding undoes is always accepted, and says nothing of the density around.
  const isUndone = ops.and(isHalving, ops.not(hasMoved(chain)));
  const isLeast = ops.and(isUndone, k.compare("eq", side, i(SEARCH.down)));
  ops.when(
    ops.or(ops.and(isCrossed, ops.not(isUndone)), isLeast),
    () => {
      ints.isSearching.set(i(0));
      const factor = k.select(isLeast, ops.float(energy, 2), ops.float(energy, 1));
      reals.stepSize.set(ops.mul(reals.stepSize.get(), factor));
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
