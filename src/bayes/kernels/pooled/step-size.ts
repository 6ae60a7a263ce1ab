/**
 * One step size for all chains, by dual averaging of their mean acceptance, and for ChEES-HMC one trajectory's time: a kernel
 * of one row, whose lanes share the chains. It does nothing until every chain has made the draw that is to be adapted to, so
 * that it may run after any dispatch, and what comes of it does not depend on how dispatches fall.
 */
import type { Value } from "../../../compiler/ir/ir.js";
import { ORDERS, POOLED_INTS, POOLED_REALS, REALS, SCHEDULE, WISHES } from "../layout.js";
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

type Numbers<N extends string> = Readonly<Record<N, Value>>;

interface Warmup {
  readonly orders: Numbers<(typeof ORDERS)[number]>;
  readonly ints: Numbers<(typeof POOLED_INTS)[number]>;
  readonly reals: Numbers<(typeof POOLED_REALS)[number]>;
}

export const STEP_SIZE_WRITES = ["orders", "wishes", "reals", "pooledInts", "pooledReals"] as const;

export function writeStepSize(p: PooledWriter): void {
  const { k, w } = p;
  const numbers = <N extends string>(buffer: "orders" | "pooledInts" | "pooledReals", names: readonly N[]) =>
    Object.fromEntries(names.map((name, n) => [name, p.load(buffer, w.i(n))])) as Numbers<N>;
  const orders = numbers("orders", ORDERS);
  const ints = numbers("pooledInts", POOLED_INTS);
  const warmup = { orders, ints, reals: numbers("pooledReals", POOLED_REALS) };
  const least = p.extreme("min", (c) => p.int("draw", c));
  // All lanes have read what one of them is about to write.
  k.barrier();
  const isReady = w.and(k.compare("lt", ints.adapted, orders.warmup), k.compare("gt", least, ints.adapted));
  const [adapted, closing] = k.when(
    isReady,
    () => [w.add(ints.adapted, w.i(1)), adapt(p, warmup)],
    () => [ints.adapted, w.i(0)],
  );
  p.storeOnce("pooledInts", p.pooledAt("adapted"), adapted);
  p.storeOnce("pooledInts", p.pooledAt("closing"), closing);
  const until = k.select(k.compare("lt", adapted, orders.warmup), w.add(adapted, w.i(1)), orders.asked);
  p.storeOnce("orders", w.i(ORDERS.indexOf("until")), until);
}

/** Adapts to a draw. Returns how many of each chain are in the window that it closes. */
function adapt(p: PooledWriter, warmup: Warmup): Value {
  const { k, w, energy, options } = p;
  const { i } = w;
  const { orders, ints, reals } = warmup;
  const flags = p.load("schedule", ints.adapted);
  const isScheduled = (what: keyof typeof SCHEDULE) => k.compare("ne", k.binary("and", flags, i(SCHEDULE[what])), i(0));
  const isLast = k.compare("eq", w.add(ints.adapted, i(1)), orders.warmup);
  const isFirst = k.compare("eq", ints.adapted, i(0));
  const isClosing = isScheduled("closes");
  const [chances, logs] = p.sums(2, (c) => [p.acceptance(c), w.log(p.real("stepSize", c))]);
  // The chains have looked for step sizes by themselves; from here on there is one.
  const found = w.div(logs, p.f(options.chains));

  const mu = k.select(isFirst, w.add(found, p.f(LOG_10)), reals.mu);
  const averaged = w.add(ints.averaged, i(1));
  const target = p.load("wishes", i(WISHES.indexOf("targetAcceptance")));
  const acceptance = w.div(chances, p.f(options.chains));
  const dual = dualAverage(w, { ...reals, mu }, k.convert(energy, averaged), target, acceptance);
  const logStep = k.select(w.or(isLast, isClosing), dual.xBar, dual.x);
  if (options.isTimed) adaptTime(p, warmup, { isFirst, isLast, isClosing, chances, found, logStep });

  const stepSize = w.exp(logStep);
  w.each(options.chains, (c) => p.store("reals", p.at(i(REALS.indexOf("stepSize")), c), stepSize));
  // Under a new metric everything begins anew.
  p.storeOnce("pooledReals", p.pooledAt("mu"), k.select(isClosing, w.add(logStep, p.f(LOG_10)), mu));
  p.storeOnce("pooledReals", p.pooledAt("sBar"), k.select(isClosing, p.f(0), dual.sBar));
  p.storeOnce("pooledReals", p.pooledAt("xBar"), k.select(isClosing, p.f(0), dual.xBar));
  p.storeOnce("pooledInts", p.pooledAt("averaged"), k.select(isClosing, i(0), averaged));
  const counted = w.add(ints.counted, k.select(isScheduled("counts"), i(1), i(0)));
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
  numbers: Numbers<"isFirst" | "isLast" | "isClosing" | "chances" | "found" | "logStep">,
): void {
  const { isFirst, isLast, isClosing, chances, found, logStep } = numbers;
  const { k, w, energy } = p;
  const { i } = w;
  const [changes] = p.sums(1, (c) => [p.load("changes", c)]);
  // Chains that diverged stopped early.
  const longest = k.convert(
    energy,
    p.extreme("max", (c) => p.int("leapfrogs", c)),
  );
  const took = w.mul(longest, w.exp(found));
  const gradient = w.mul(took, w.div(changes, k.binary("max", chances, p.f(LEAST_CHANCE))));
  const square = w.mul(gradient, gradient);
  const isKnown = w.isBounded(square);
  const one = k.select(isKnown, i(1), i(0));
  const moved = w.add(ints.moved, one);
  const mixed = w.add(w.mul(p.f(ADAM.decay), reals.squares), w.mul(p.f(1 - ADAM.decay), square));
  const squares = k.select(isKnown, mixed, reals.squares);
  const weight = w.sub(p.f(1), w.exp(w.mul(k.convert(energy, moved), p.f(Math.log(ADAM.decay)))));
  const scale = w.add(w.sqrt(w.div(squares, weight)), p.f(ADAM.least));
  const before = k.select(isFirst, found, reals.logTime);
  const after = w.add(before, w.div(w.mul(p.f(ADAM.rate), gradient), scale));
  const logTime = k.select(isKnown, k.binary("min", w.add(logStep, p.f(LOG_MOST_STEPS)), after), before);
  const share = k.select(isKnown, w.pow(k.convert(energy, k.binary("max", moved, i(1))), -ADAM.kappa), p.f(0));
  const average = w.add(reals.averageTime, w.mul(share, w.sub(logTime, reals.averageTime)));
  const isAverage = w.and(isLast, k.compare("gt", moved, i(0)));
  const next = k.select(isClosing, p.f(0), logTime);
  p.storeOnce("wishes", i(WISHES.indexOf("trajectory")), w.exp(k.select(isAverage, average, next)));
  p.storeOnce("pooledReals", p.pooledAt("logTime"), next);
  p.storeOnce("pooledReals", p.pooledAt("averageTime"), average);
  p.storeOnce("pooledReals", p.pooledAt("squares"), k.select(isClosing, p.f(0), squares));
  p.storeOnce("pooledInts", p.pooledAt("moved"), k.select(isClosing, i(0), moved));
}
