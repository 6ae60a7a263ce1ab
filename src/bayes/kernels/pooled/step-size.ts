/**
 * One step size for all chains, by dual averaging of their mean acceptance, and for ChEES-HMC one trajectory's time: a kernel
 * of one row, whose lanes share the chains. It does nothing until every chain has made the draw that is to be adapted to, so
 * that it may run after any dispatch, and what comes of it does not depend on how dispatches fall.
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import { DISPATCH_INTS, POOLED_INTS, POOLED_REALS, REALS, RUN_REALS, SCHEDULE } from "../layout.js";
import { dualAverage } from "../nuts/step-size.js";
import type { PooledWriter } from "./writer.js";

/** Dual averaging starts from ten times the step size that was found. */
const LOG_10 = Math.log(10);
/** A trajectory has a thousand steps at most. */
const LOG_MOST_STEPS = Math.log(1000);
/** Adam without momentum, on the logarithm of the time; of what it tries, the average weighs the nth with n^-κ. */
const ADAM = { rate: 0.05, decay: 0.95, least: 1e-20, kappa: 0.5 } as const;
/** Less than any sum of chances that is not 0, but not 0 in f32. */
export const LEAST_CHANCE = 1e-30;

type ValuesByName<N extends string> = Readonly<Record<N, Value>>;

interface Warmup {
  readonly dispatchInts: ValuesByName<(typeof DISPATCH_INTS)[number]>;
  readonly ints: ValuesByName<(typeof POOLED_INTS)[number]>;
  readonly reals: ValuesByName<(typeof POOLED_REALS)[number]>;
}

export const STEP_SIZE_WRITES = ["dispatchInts", "runReals", "reals", "pooledInts", "pooledReals"] as const;

export function writeStepSize(p: PooledWriter): void {
  const { k, ops } = p;
  const numbers = <N extends string>(buffer: "dispatchInts" | "pooledInts" | "pooledReals", names: readonly N[]) =>
    Object.fromEntries(names.map((name, n) => [name, p.load(buffer, ops.i(n))])) as ValuesByName<N>;
  const dispatchInts = numbers("dispatchInts", DISPATCH_INTS);
  const ints = numbers("pooledInts", POOLED_INTS);
  const warmup = { dispatchInts, ints, reals: numbers("pooledReals", POOLED_REALS) };
  const least = p.extreme("min", (c) => p.int("draw", c));
  // All lanes have read what one of them is about to write.
  k.barrier();
  const isReady = ops.and(k.compare("lt", ints.adapted, dispatchInts.warmup), k.compare("gt", least, ints.adapted));
  const [adapted, closing] = k.when(
    isReady,
    () => [ops.add(ints.adapted, ops.i(1)), adapt(p, warmup)],
    () => [ints.adapted, ops.i(0)],
  );
  p.storeOnce("pooledInts", p.pooledAt("adapted"), adapted);
  p.storeOnce("pooledInts", p.pooledAt("closing"), closing);
  const until = k.select(k.compare("lt", adapted, dispatchInts.warmup), ops.add(adapted, ops.i(1)), dispatchInts.asked);
  p.storeOnce("dispatchInts", ops.i(DISPATCH_INTS.indexOf("until")), until);
}

/** Adapts to a draw. Returns how many of each chain are in the window that it closes. */
function adapt(p: PooledWriter, warmup: Warmup): Value {
  const { k, ops, energy, options } = p;
  const { i } = ops;
  const { dispatchInts, ints, reals } = warmup;
  const flags = p.load("schedule", ints.adapted);
  const isScheduled = (what: keyof typeof SCHEDULE) => k.compare("ne", k.binary("and", flags, i(SCHEDULE[what])), i(0));
  const isLast = k.compare("eq", ops.add(ints.adapted, i(1)), dispatchInts.warmup);
  const isFirst = k.compare("eq", ints.adapted, i(0));
  const isClosing = isScheduled("closes");
  const [chances, logs] = p.sums(2, (c) => [p.acceptance(c), ops.log(p.real("stepSize", c))]);
  // Each chain has searched its own step size; from here on all chains share one.
  const found = ops.div(logs, p.f(options.chains));

  const mu = k.select(isFirst, ops.add(found, p.f(LOG_10)), reals.mu);
  const averaged = ops.add(ints.averaged, i(1));
  const target = p.load("runReals", i(RUN_REALS.indexOf("targetAcceptance")));
  const acceptance = ops.div(chances, p.f(options.chains));
  const dual = dualAverage(ops, { ...reals, mu }, k.convert(energy, averaged), target, acceptance);
  const logStep = k.select(ops.or(isLast, isClosing), dual.xBar, dual.x);
  if (options.isTimed) adaptTime(p, warmup, { isFirst, isLast, isClosing, chances, found, logStep });

  const stepSize = ops.exp(logStep);
  ops.each(options.chains, (c) => p.store("reals", p.at(i(REALS.indexOf("stepSize")), c), stepSize));
  // Under a new metric everything starts again.
  p.storeOnce("pooledReals", p.pooledAt("mu"), k.select(isClosing, ops.add(logStep, p.f(LOG_10)), mu));
  p.storeOnce("pooledReals", p.pooledAt("sBar"), k.select(isClosing, p.f(0), dual.sBar));
  p.storeOnce("pooledReals", p.pooledAt("xBar"), k.select(isClosing, p.f(0), dual.xBar));
  p.storeOnce("pooledInts", p.pooledAt("averaged"), k.select(isClosing, i(0), averaged));
  const counted = ops.add(ints.counted, k.select(isScheduled("counts"), i(1), i(0)));
  p.storeOnce("pooledInts", p.pooledAt("counted"), k.select(isClosing, i(0), counted));
  return k.select(isClosing, counted, i(0));
}

/**
 * Moves the trajectories' time along the gradient of ChEES. The criterion has a maximum for every turn that the target can
 * make, and all but the first cost more than they are worth; so the time has to grow from where it is too short. It begins with
 * one step, and under a new metric, in which the target has a scale of 1 or more along its longest direction, with 1. It is not
 * held above the step size: that which dual averaging begins with is ten times too large, and a trajectory has one step anyway.
 */
function adaptTime(
  p: PooledWriter,
  { ints, reals }: Warmup,
  numbers: ValuesByName<"isFirst" | "isLast" | "isClosing" | "chances" | "found" | "logStep">,
): void {
  const { isFirst, isLast, isClosing, chances, found, logStep } = numbers;
  const { k, ops, energy } = p;
  const { i } = ops;
  const [changes] = p.sums(1, (c) => [p.load("changes", c)]);
  // Chains that diverged stopped early.
  const longest = k.convert(
    energy,
    p.extreme("max", (c) => p.int("leapfrogs", c)),
  );
  const took = ops.mul(longest, ops.exp(found));
  const gradient = ops.mul(took, ops.div(changes, k.binary("max", chances, p.f(LEAST_CHANCE))));
  const square = ops.mul(gradient, gradient);
  const isKnown = ops.isBounded(square);
  const one = k.select(isKnown, i(1), i(0));
  const moved = ops.add(ints.moved, one);
  const mixed = ops.add(ops.mul(p.f(ADAM.decay), reals.squares), ops.mul(p.f(1 - ADAM.decay), square));
  const squares = k.select(isKnown, mixed, reals.squares);
  const weight = ops.sub(p.f(1), ops.exp(ops.mul(k.convert(energy, moved), p.f(Math.log(ADAM.decay)))));
  const scale = ops.add(ops.sqrt(ops.div(squares, weight)), p.f(ADAM.least));
  const before = k.select(isFirst, found, reals.logTime);
  const after = ops.add(before, ops.div(ops.mul(p.f(ADAM.rate), gradient), scale));
  const logTime = k.select(isKnown, k.binary("min", ops.add(logStep, p.f(LOG_MOST_STEPS)), after), before);
  const share = k.select(isKnown, ops.pow(k.convert(energy, k.binary("max", moved, i(1))), -ADAM.kappa), p.f(0));
  const average = ops.add(reals.averageTime, ops.mul(share, ops.sub(logTime, reals.averageTime)));
  const isAverage = ops.and(isLast, k.compare("gt", moved, i(0)));
  const next = k.select(isClosing, p.f(0), logTime);
  p.storeOnce("runReals", i(RUN_REALS.indexOf("trajectory")), ops.exp(k.select(isAverage, average, next)));
  p.storeOnce("pooledReals", p.pooledAt("logTime"), next);
  p.storeOnce("pooledReals", p.pooledAt("averageTime"), average);
  p.storeOnce("pooledReals", p.pooledAt("squares"), k.select(isClosing, p.f(0), squares));
  p.storeOnce("pooledInts", p.pooledAt("moved"), k.select(isClosing, i(0), moved));
}
