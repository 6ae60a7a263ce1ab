/**
 * The best split of each node from its histograms: scikit-learn's gain, its order of looking and so its choice among equals. A thread
 * takes one feature of one node and goes through the bins; another then takes the best feature of each node. On a CPU a thread sums first,
 * and then finds the gains of four bins at once.
 *
 * Bins are looked at from the left, missing values on the right; then, for features with missing values, from the right. The bins of a
 * categorical feature come in a given order, and the looks from either side end in the middle (W. D. Fisher, On Grouping for Maximum
 * Homogeneity, 1958).
 */
import type { Node } from "../../../graph/node.js";
import { BINS, FEATURE_FACTS, NODE_FACTS, SPLIT_FACTS } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Routine } from "../../target/routine.js";
import { indices } from "./codes.js";

/** Keeps quotients finite, as in scikit-learn. */
const TINY = 1e-15;
/** Numbers of the best split of one feature: all but the feature itself. */
const FOUND = SPLIT_FACTS - 1;

export const bestSplitsRoutine: Routine = (node, profile) => {
  const [histograms] = node.inputs;
  const [slots, features] = histograms.shape;
  const type = histograms.dtype as "f32" | "f64";
  return {
    temporaries: [{ dtype: type, shape: [slots, features, FOUND] }],
    steps: [
      {
        kernel: searchKernel(node, type, profile.maxLanes === 1),
        buffers: [
          ...node.inputs.map((_, index) => ({ kind: "input", index }) as const),
          { kind: "temporary", index: 0 },
        ],
        formula: (names) => `${names.at(-1)} = best bin of each feature of ${names[0]}`,
      },
      {
        kernel: chooseKernel(slots, features, type),
        buffers: [{ kind: "temporary", index: 0 }, { kind: "result" }],
        formula: ([found, out]) => `${out} = best feature of ${found}`,
      },
    ],
  };
};

/** A kernel in the making: sums of the node, and where predictions may have to rise or fall, its bounds and the direction. */
interface Search {
  readonly k: KernelBuilder;
  readonly type: "f32" | "f64";
  readonly params: Node["params"];
  readonly total: Sums;
  readonly loss: Value;
  readonly monotone: { readonly bounds: readonly [Value, Value]; readonly direction: Value } | null;
  /** Arrays for the sums up to each step, where bins are looked at four at once; null: one after the other. */
  readonly running: readonly [number, number, number] | null;
}

/** Bins that a thread of a CPU looks at together. */
const TOGETHER = 4;

/** Sums of gradients, of hessians, and the count. */
interface Sums {
  readonly gradient: Value;
  readonly hessian: Value;
  readonly count: Value;
}

function searchKernel(node: Node, type: "f32" | "f64", isVector: boolean) {
  const [histograms, , , order] = node.inputs;
  const [slots, features, channels] = histograms.shape;
  const k = new KernelBuilder(`best splits[${slots}×${features}]`, slots * features, isVector ? TOGETHER : 1);
  const { i, add, times } = indices(k);
  const [source, nodeFacts, featureFacts] = [k.buffer(type, false), k.buffer(type, false), k.buffer("i32", false)];
  const [places, used] = order ? [k.buffer("i32", false), k.buffer("i32", false)] : [-1, -1];
  const out = k.buffer(type, true);
  const [slot, feature] = [k.binary("idiv", k.row, i(features)), k.binary("irem", k.row, i(features))];
  const fact = (which: number) => k.load(nodeFacts, add(times(slot, NODE_FACTS), i(which)), type);
  const trait = (which: number) => k.load(featureFacts, add(times(feature, FEATURE_FACTS), i(which)), "i32");
  const total = { gradient: fact(0), hessian: fact(1), count: fact(2) };
  const search: Search = {
    k,
    type,
    params: node.params,
    total,
    loss: k.binary("mul", fact(3), total.gradient),
    monotone: node.params.isMonotone ? { bounds: [fact(4), fact(5)], direction: trait(2) } : null,
    running: isVector ? [k.array(type, BINS), k.array(type, BINS), k.array(type, BINS)] : null,
  };
  // A node without rows is no node.
  const ofNode = (bins: Value) => k.select(k.compare("gt", total.count, k.constant(type, 0)), bins, i(0));
  const bins = ofNode(trait(0));
  const hasMissing = trait(1);
  const isCategorical = k.compare("ne", trait(3), i(0));
  const usedBins = order ? ofNode(k.load(used, k.row, "i32")) : i(0);
  // One category alone is no split.
  const middle = k.select(k.compare("gt", usedBins, i(1)), k.binary("idiv", add(usedBins, i(1)), i(2)), i(0));
  const firstBin = times(k.row, BINS);
  /** The bin at a position: itself, or the one that the order of categories puts there. The last bin holds missing values. */
  const binAt = (position: Value): Value => (order ? k.load(places, add(firstBin, position), "i32") : position);
  const sumsAt = (bin: Value): Sums => {
    const at = add(times(firstBin, channels), bin);
    const [gradient, ...rest] = Array.from({ length: channels }, (_, c) => k.load(source, add(at, i(c * BINS)), type));
    return { gradient, hessian: rest[0], count: rest.at(-1) as Value };
  };
  const none = [k.constant(type, -1), ...Array.from({ length: FOUND - 1 }, () => k.constant(type, 0))];
  const forward = scan(search, none, {
    limit: k.select(isCategorical, middle, add(k.binary("sub", bins, i(1)), hasMissing)),
    positionAt: (step) => step,
    sumsAt: (step) => sumsAt(binAt(step)),
    isRight: null,
    direction: 0,
  });
  const last = k.select(isCategorical, usedBins, bins);
  const needsSecond = k.binary("or", isCategorical, k.compare("ne", hasMissing, i(0)));
  const wanted = k.select(isCategorical, k.binary("sub", middle, i(1)), k.binary("sub", bins, i(1)));
  const best = scan(search, forward, {
    limit: k.select(needsSecond, wanted, i(0)),
    // The position is the last one that goes left, or, of categories, the first one.
    positionAt: (step) => k.binary("sub", last, add(step, k.select(isCategorical, i(1), i(2)))),
    sumsAt: (step) => sumsAt(binAt(k.binary("sub", last, add(step, i(1))))),
    isRight: k.unary("not", isCategorical),
    direction: 1,
  });
  best.forEach((value, which) => {
    k.store(out, add(times(k.row, FOUND), i(which)), value);
  });
  return k.finish();
}

interface Direction {
  readonly limit: Value;
  positionAt(step: Value): Value;
  sumsAt(step: Value): Sums;
  /** Whether sums are those of the right side; null: they are of the left. */
  readonly isRight: Value | null;
  readonly direction: number;
}

const SUMS = ["gradient", "hessian", "count"] as const;
const listed = (sums: Sums): Value[] => SUMS.map((name) => sums[name]);
const named = ([gradient, hessian, count]: readonly Value[]): Sums => ({ gradient, hessian, count }) as Sums;
const combined = (k: KernelBuilder, op: "add" | "sub", a: Sums, b: Sums): Sums =>
  named(listed(a).map((value, which) => k.binary(op, value, listed(b)[which] as Value)));

/** Goes through positions, and keeps the best split: gain, position, direction, sums on the left. */
function scan(search: Search, best: readonly Value[], by: Direction): Value[] {
  const { k } = search;
  const walk = () => (search.running ? inVectors(search, search.running, best, by) : oneByOne(search, best, by));
  return k.when(k.compare("gt", by.limit, k.constant("i32", 0)), walk, () => best);
}

/** Both sides of a split, by the sums over what was passed. */
function sidesOf(
  { k, total }: Search,
  { isRight }: Direction,
  passed: Sums,
): { readonly left: Sums; readonly right: Sums } {
  const other = combined(k, "sub", total, passed);
  const side = (mine: Sums, others: Sums): Sums =>
    isRight
      ? named(listed(mine).map((value, which) => k.select(isRight, listed(others)[which] as Value, value)))
      : mine;
  return { left: side(passed, other), right: side(other, passed) };
}

const isGain = ({ k, type }: Search, gain: Value, most: Value): Value =>
  k.binary("and", k.compare("gt", gain, most), k.compare("gt", gain, k.constant(type, 0)));

function oneByOne(search: Search, best: readonly Value[], by: Direction): Value[] {
  const { k, type } = search;
  const { i, add } = indices(k);
  const zero = k.constant(type, 0);
  const found = k.loop(
    BINS,
    [...best, zero, zero, zero, i(0)],
    (_, carried) => {
      const step = carried.at(-1) as Value;
      const passed = combined(k, "add", named(carried.slice(FOUND)), by.sumsAt(step));
      const { left, right } = sidesOf(search, by, passed);
      const gain = gainOf(search, left, right);
      const isBetter = isGain(search, gain, carried[0] as Value);
      const now = [gain, k.convert(type, by.positionAt(step)), k.constant(type, by.direction), ...listed(left)];
      return [
        ...now.map((value, which) => k.select(isBetter, value, carried[which] as Value)),
        ...listed(passed),
        add(step, i(1)),
      ];
    },
    { exitWhen: (next) => k.compare("ge", next.at(-1) as Value, by.limit) },
  );
  return found.slice(0, FOUND);
}

/** Sums up to each step first, then the gains of four steps at once: a lane keeps its first largest, and the first of those wins. */
function inVectors(search: Search, running: readonly number[], best: readonly Value[], by: Direction): Value[] {
  const { k, type } = search;
  const { i, add, times } = indices(k);
  const zero = k.constant(type, 0);
  k.loop(
    BINS,
    [zero, zero, zero, i(0)],
    (step, carried) => {
      const passed = combined(k, "add", named(carried), by.sumsAt(step));
      listed(passed).forEach((value, which) => {
        k.set(running[which] as number, step, value);
      });
      return [...listed(passed), add(step, i(1))];
    },
    { exitWhen: (next) => k.compare("ge", next.at(-1) as Value, by.limit) },
  );
  const passedAt = (step: Value): Sums => named(running.map((array) => k.get(array, step)));
  const [gains, steps] = k.loop(
    BINS / TOGETHER,
    [k.constant(type, -1), i(0), i(0)],
    (turn, [most, held]) => {
      const step = add(times(turn, TOGETHER), k.lane);
      const { left, right } = sidesOf(search, by, passedAt(step));
      const gain = gainOf(search, left, right);
      const isBetter = k.binary("and", isGain(search, gain, most as Value), k.compare("lt", step, by.limit));
      return [
        k.select(isBetter, gain, most as Value),
        k.select(isBetter, step, held as Value),
        times(add(turn, i(1)), TOGETHER),
      ];
    },
    { exitWhen: (next) => k.compare("ge", next.at(-1) as Value, by.limit) },
  ) as [Value, Value, Value];
  const gain = k.combineLanes("max", gains);
  const step = k.combineLanes("min", k.select(k.compare("eq", gains, gain), steps, i(BINS)));
  const { left } = sidesOf(search, by, passedAt(step));
  const now = [gain, k.convert(type, by.positionAt(step)), k.constant(type, by.direction), ...listed(left)];
  const isBetter = isGain(search, gain, best[0] as Value);
  return now.map((value, which) => k.select(isBetter, value, best[which] as Value));
}

/** The reduction of the loss by a split; -1 where it is not allowed. */
function gainOf(search: Search, left: Sums, right: Sums): Value {
  const { k, type, params, loss, monotone } = search;
  const number = (value: number) => k.constant(type, value);
  const allowed = [left, right].flatMap(({ hessian, count }) => [
    k.compare("ge", count, number(params.minSamplesLeaf as number)),
    k.compare("ge", hessian, number(params.minHessian as number)),
  ]);
  const [a, b] = [leafValue(search, left), leafValue(search, right)];
  if (monotone) {
    const { i } = indices(k);
    allowed.push(k.binary("or", k.compare("le", a, b), k.compare("le", monotone.direction, i(0))));
    allowed.push(k.binary("or", k.compare("ge", a, b), k.compare("ge", monotone.direction, i(0))));
  }
  const isAllowed = allowed.reduce((all, each) => k.binary("and", all, each));
  const gain = k.binary(
    "sub",
    k.binary("sub", loss, k.binary("mul", left.gradient, a)),
    k.binary("mul", right.gradient, b),
  );
  return k.select(isAllowed, gain, number(-1));
}

function leafValue({ k, type, params, monotone }: Search, { gradient, hessian }: Sums): Value {
  const below = k.binary(
    "add",
    k.binary("add", hessian, k.constant(type, params.l2 as number)),
    k.constant(type, TINY),
  );
  const value = k.binary("div", k.unary("neg", gradient), below);
  if (!monotone) return value;
  const [lower, upper] = monotone.bounds;
  return k.binary("max", lower, k.binary("min", upper, value));
}

/** The first of the features with the largest gain. */
function chooseKernel(slots: number, features: number, type: "f32" | "f64") {
  const k = new KernelBuilder(`best features[${slots}]`, slots);
  const { i, add, times } = indices(k);
  const [found, out] = [k.buffer(type, false), k.buffer(type, true)];
  const first = times(k.row, features * FOUND);
  const [, best] = k.loop(features, [k.constant(type, -2), i(0)], (feature, [most, held]) => {
    const gain = k.load(found, add(first, times(feature, FOUND)), type);
    const isBetter = k.compare("gt", gain, most);
    return [k.select(isBetter, gain, most), k.select(isBetter, feature, held)];
  });
  const at = (which: number) => k.load(found, add(add(first, times(best, FOUND)), i(which)), type);
  const [gain, ...rest] = Array.from({ length: FOUND }, (_, which) => at(which));
  [gain, k.convert(type, best), ...rest].forEach((value, which) => {
    k.store(out, add(times(k.row, SPLIT_FACTS), i(which)), value);
  });
  return k.finish();
}
