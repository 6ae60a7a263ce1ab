/**
 * The rows of nodes while trees grow by exact splits: `partedRows` puts those that go left before the others, in the order they had, and
 * `partTotals` sums weights and targets of each part. A thread takes one node, or one part.
 */
import type { Node } from "../../../graph/node.js";
import { CUT_FACTS, TOTALS_BEFORE } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Routine } from "../../target/routine.js";
import { indices } from "./codes.js";

/** Numbers of a node: its first place, its rows, its tree. */
export const PLACE_FACTS = 3;
/** Channels that are summed in registers, at most. */
export const MOST_CARRIED = 3;

/** Runs the body for 0 … count - 1, where the count is known on the device; at least once. */
export function counted(
  k: KernelBuilder,
  most: number,
  count: Value,
  initial: readonly Value[],
  body: (index: Value, carried: readonly Value[]) => readonly Value[],
): Value[] {
  const { i, add } = indices(k);
  const found = k.loop(
    most,
    [...initial, i(0)],
    (_, carried) => {
      const index = carried.at(-1) as Value;
      return [...body(index, carried.slice(0, -1)), add(index, i(1))];
    },
    { exitWhen: (next) => k.compare("ge", next.at(-1) as Value, count) },
  );
  return found.slice(0, -1);
}

export const partedRowsRoutine: Routine = (node) => ({
  temporaries: [],
  steps: [
    {
      kernel: partKernel(node),
      buffers: [...node.inputs.map((_, index) => ({ kind: "input", index }) as const), { kind: "result" }],
      formula: (names) => `${names.at(-1)} = ${names[1]}, left parts of ${names[2]} first`,
    },
  ],
});

function partKernel({ inputs: [values, , nodes, splits] }: Node) {
  const rows = values.shape[1];
  const count = nodes.shape[0];
  const type = values.dtype as "f32" | "f64";
  const sums = splits.dtype as "f32" | "f64";
  const k = new KernelBuilder(`part rows[${count}]`, count);
  const { i, add, times } = indices(k);
  const [source, from, facts] = [k.buffer(type, false), k.buffer("i32", false), k.buffer("i32", false)];
  const [cuts, out] = [k.buffer(sums, false), k.buffer("i32", true)];
  const fact = (which: number) => k.load(facts, add(times(k.row, PLACE_FACTS), i(which)), "i32");
  const cut = (which: number) => k.load(cuts, add(times(k.row, CUT_FACTS), i(which)), sums);
  const [first, own] = [fact(0), fact(1)];
  k.when(k.compare("gt", own, i(0)), () => {
    const left = k.convert("i32", cut(2));
    const isSplit = k.compare("gt", left, i(0));
    const column = k.binary("mul", k.select(isSplit, k.convert("i32", cut(1)), i(0)), i(rows));
    const threshold = k.convert(type, cut(3));
    counted(k, rows, own, [first, add(first, left)], (index, [toLeft, toRight]) => {
      const row = k.load(from, add(first, index), "i32");
      const isBelow = k.compare("le", k.load(source, add(column, row), type), threshold);
      const goesLeft = k.binary("or", isBelow, k.unary("not", isSplit));
      k.store(out, k.select(goesLeft, toLeft, toRight), row);
      return [k.select(goesLeft, add(toLeft, i(1)), toLeft), k.select(goesLeft, toRight, add(toRight, i(1)))];
    });
    return [];
  });
  return k.finish();
}

export const partTotalsRoutine: Routine = (node) => ({
  temporaries: [],
  steps: [
    {
      kernel: totalsKernel(node),
      buffers: [...node.inputs.map((_, index) => ({ kind: "input", index }) as const), { kind: "result" }],
      formula: (names) => `${names.at(-1)} = sums of ${names[3]} over both parts of ${names[1]}`,
    },
  ],
});

function totalsKernel({ inputs: [, nodes, splits, targets, weights], params }: Node) {
  const [rows, columns] = targets.shape;
  const channels = params.channels as number;
  const isByClass = params.isByClass as boolean;
  const type = splits.dtype as "f32" | "f64";
  const count = 2 * nodes.shape[0];
  const k = new KernelBuilder(`part totals[${count}×${channels}]`, count);
  const { i, add, times } = indices(k);
  const [from, facts, cuts] = [k.buffer("i32", false), k.buffer("i32", false), k.buffer(type, false)];
  const [aims, shares, spreads] = [k.buffer(type, false), k.buffer(type, false), k.buffer(type, false)];
  const out = k.buffer(type, true);
  const [node, side] = [k.binary("idiv", k.row, i(2)), k.binary("irem", k.row, i(2))];
  const fact = (which: number) => k.load(facts, add(times(node, PLACE_FACTS), i(which)), "i32");
  const own = fact(1);
  const cutLeft = k.convert("i32", k.load(cuts, add(times(node, CUT_FACTS), i(2)), type));
  const left = k.select(k.compare("gt", cutLeft, i(0)), cutLeft, own);
  const isLeft = k.compare("eq", side, i(0));
  const first = add(fact(0), k.select(isLeft, i(0), left));
  const size = k.select(isLeft, left, k.binary("sub", own, left));
  const weightsOf = weights.shape[0] === 1 ? i(0) : times(fact(2), rows);
  const to = times(k.row, TOTALS_BEFORE + channels);
  const zero = k.constant(type, 0);
  for (let which = 0; which < TOTALS_BEFORE; which++) k.store(out, add(to, i(which)), zero);
  k.loop(channels, [], (channel) => {
    k.store(out, add(add(to, i(TOTALS_BEFORE)), channel), zero);
    return [];
  });
  const channelAt = (channel: Value) => add(add(to, i(TOTALS_BEFORE)), channel);
  const grow = (at: Value, by: Value) => k.store(out, at, k.binary("add", k.read(out, at, type), by));
  k.when(k.compare("gt", size, i(0)), () => {
    if (params.isByMedian) {
      medianTotals();
      return [];
    }
    const sums = counted(k, rows, size, [zero, zero], (index, [total, spread]) => {
      const row = k.load(from, add(first, index), "i32");
      const weight = k.load(shares, add(weightsOf, row), type);
      if (isByClass) grow(channelAt(k.convert("i32", k.load(aims, row, type))), weight);
      else {
        k.loop(columns, [], (channel) => {
          grow(channelAt(channel), k.binary("mul", weight, k.load(aims, add(times(row, columns), channel), type)));
          return [];
        });
      }
      const added = k.binary("mul", weight, k.load(spreads, row, type));
      return [k.binary("add", total, weight), k.binary("add", spread, added)];
    });
    sums.forEach((sum, which) => {
      k.store(out, add(to, i(which)), sum);
    });
    return [];
  });
  return k.finish();

  /** The weight of the part, its median, and the distances to it. Of an even weight the median is the middle of two. */
  function medianTotals(): void {
    const rowAt = (index: Value) => k.load(from, add(first, index), "i32");
    const weightAt = (index: Value) => k.load(shares, add(weightsOf, rowAt(index)), type);
    const aimAt = (index: Value) => k.load(aims, rowAt(index), type);
    const [total] = counted(k, rows, size, [zero], (index, [held]) => [k.binary("add", held, weightAt(index))]);
    const half = k.binary("mul", total, k.constant(type, 0.5));
    const one = i(1);
    // Places before the weight is a half, and before it is more: the same unless the half is met.
    const [, low, high] = counted(k, rows, size, [zero, i(0), i(0)], (index, [held, reached, passed]) => {
      const next = k.binary("add", held, weightAt(index));
      return [
        next,
        add(reached, k.select(k.compare("lt", next, half), one, i(0))),
        add(passed, k.select(k.compare("le", next, half), one, i(0))),
      ];
    });
    const last = k.binary("sub", size, one);
    const targetAt = (place: Value) => aimAt(k.binary("min", place, last));
    const [a, b] = [targetAt(low), targetAt(high)];
    const median = k.binary("mul", k.binary("add", a, b), k.constant(type, 0.5));
    const [distance] = counted(k, rows, size, [zero], (index, [held]) => {
      const rest = k.unary("abs", k.binary("sub", aimAt(index), median));
      return [k.binary("add", held, k.binary("mul", weightAt(index), rest))];
    });
    [total, distance, median].forEach((value, which) => {
      k.store(out, add(to, i(which)), value);
    });
  }
}
