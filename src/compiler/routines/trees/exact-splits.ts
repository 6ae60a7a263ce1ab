/**
 * The best split of each node over all places between its values, as trees without bins look for it. A thread takes one candidate
 * feature of one node: it sorts the node's rows by their ranks and goes through them once. Another thread then takes the best candidate of
 * each node, the first of equals. With random thresholds there is nothing to sort: a thread looks for the extremes and sums one side.
 *
 * Few rows are sorted by insertion; more by their ranks' bytes, least first, over the bytes in which ranks of the node differ.
 */
import type { Node } from "../../../graph/node.js";
import { CUT_FACTS, TOTALS_BEFORE } from "../../../graph/primitives/trees.js";
import { type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Routine } from "../../target/routine.js";
import { indices } from "./codes.js";
import { counted, MOST_CARRIED, PLACE_FACTS } from "./exact-parts.js";
import { MEDIAN_SUMS, medianSums } from "./median-sums.js";
import { type ChannelSums, type Criterion, channelSums } from "./split-criteria.js";

/** Rows that are sorted by insertion, at most. */
const MOST_INSERTED = 40;
/** Values of a byte. */
const DIGITS = 256;
/** Numbers of a candidate: score, rows on the left, threshold, whether it varies. */
const FOUND = 4;

export const sortedSplitsRoutine: Routine = (node, _, settings) => {
  const [, , order, nodes, candidates] = node.inputs;
  const [count, width] = candidates.shape;
  const type = node.dtype as "f32" | "f64";
  const scratch = { dtype: "i32", shape: [width, 2, order.shape[0]] } as const;
  const isRandom = node.params.isRandom as boolean;
  const medians = { dtype: type, shape: [width, MEDIAN_SUMS, order.shape[0]] } as const;
  const sorting = [...(isRandom ? [] : [scratch, scratch]), ...(isByMedian(node) ? [medians] : [])];
  return {
    temporaries: [{ dtype: type, shape: [count, width, FOUND] }, ...sorting],
    steps: [
      {
        kernel: searchKernel(node, settings),
        buffers: [
          ...node.inputs.map((_, index) => ({ kind: "input", index }) as const),
          { kind: "temporary", index: 0 },
          ...sorting.map((_, index) => ({ kind: "temporary", index: index + 1 }) as const),
        ],
        formula: (names) =>
          `${names.at(-1)} = best split of ${nodes.shape[0]} nodes ${names[3]} by each of ${names[4]}`,
      },
      {
        kernel: chooseKernel(count, width, type),
        buffers: [{ kind: "input", index: 4 }, { kind: "temporary", index: 0 }, { kind: "result" }],
        formula: ([features, found, out]) => `${out} = best of ${found} by features ${features}`,
      },
    ],
  };
};

const isByMedian = ({ params }: Node): boolean => params.criterion === "absolute";

/** A thread's candidate: the kernel, its buffers, and where its node lies. */
interface Search {
  readonly k: KernelBuilder;
  readonly type: "f32" | "f64";
  readonly valueType: "f32" | "f64";
  /** Rows of a node, at most, and places of the rows of all nodes. */
  readonly rows: number;
  readonly places: number;
  readonly first: Value;
  readonly own: Value;
  readonly minSamplesLeaf: number;
  readonly rowAt: (index: Value) => Value;
  readonly numberOf: (row: Value) => Value;
  readonly rankOf: (row: Value) => Value;
  readonly draw: () => Value;
  readonly sums: ChannelSums;
  /** How sums know the row at a place of the node, and the row of what they know. */
  readonly itemAt: (index: Value) => Value;
  readonly rowOf: (item: Value) => Value;
  /** Writes what was found. */
  readonly tell: (score: Value, left: Value, threshold: Value) => void;
}

function searchKernel(given: Node, settings: ElementSettings) {
  const { inputs, params, dtype } = given;
  const [, values, order, , candidates, targets, weights, totalsOfNodes] = inputs;
  const [, rows] = values.shape;
  const [count, width] = candidates.shape;
  const type = dtype as "f32" | "f64";
  const valueType = values.dtype as "f32" | "f64";
  const k = new KernelBuilder(`exact splits[${count}×${width}]`, count * width);
  const { i, add, times } = indices(k);
  const [ranks, source, from] = [k.buffer("i32", false), k.buffer(valueType, false), k.buffer("i32", false)];
  const [facts, features] = [k.buffer("i32", false), k.buffer("i32", false)];
  const [aims, shares, totals] = [k.buffer(type, false), k.buffer(type, false), k.buffer(type, false)];
  const draws = params.isRandom ? k.buffer(valueType, false) : -1;
  const out = k.buffer(type, true);
  const [node, place] = [k.binary("idiv", k.row, i(width)), k.binary("irem", k.row, i(width))];
  const fact = (which: number) => k.load(facts, add(times(node, PLACE_FACTS), i(which)), "i32");
  const tell = (which: number, value: Value) => k.store(out, add(times(k.row, FOUND), i(which)), value);
  for (let which = 0; which < FOUND; which++) tell(which, k.constant(type, 0));
  const feature = k.load(features, k.row, "i32");
  const [first, own] = [fact(0), fact(1)];
  k.when(k.binary("and", k.compare("ge", feature, i(0)), k.compare("gt", own, i(1))), () => {
    const column = k.binary("mul", feature, i(rows));
    const weightsOf = weights.shape[0] === 1 ? i(0) : times(fact(2), rows);
    const channels = totalsOfNodes.shape[1] - TOTALS_BEFORE;
    const rowAt = (index: Value) => k.load(from, add(first, index), "i32");
    const lists = params.isRandom ? null : ([k.buffer("i32", true), k.buffer("i32", true)] as const);
    const leastWeight = params.hasLeastWeight
      ? k.load(totals, add(times(node, TOTALS_BEFORE + channels), i(1)), type)
      : null;
    const weight = k.load(totals, times(node, TOTALS_BEFORE + channels), type);
    const weightOf = (row: Value) => k.load(shares, add(weightsOf, row), type);
    const byMedian = isByMedian(given);
    const search: Search = {
      ...{ k, type, valueType, first, own, rows, places: order.shape[0] },
      minSamplesLeaf: params.minSamplesLeaf as number,
      rowAt,
      itemAt: byMedian ? (index) => index : rowAt,
      rowOf: byMedian ? rowAt : (item) => item,
      numberOf: (row) => k.load(source, add(column, row), valueType),
      rankOf: (row) => k.load(ranks, add(column, row), "i32"),
      draw: () => k.load(draws, k.row, valueType),
      sums: byMedian
        ? medianSums(k, type, {
            ...{ rows, own, weight, leastWeight, memory: k.buffer(type, true) },
            begin: (list) => add(times(add(times(place, MEDIAN_SUMS), i(list)), order.shape[0]), first),
            weightOf: (index) => weightOf(rowAt(index)),
            targetOf: (index) => k.load(aims, rowAt(index), type),
          })
        : channelSums(k, type, {
            ...{ criterion: params.criterion as Criterion, channels, weight, weightOf, leastWeight },
            isCarried: channels <= MOST_CARRIED,
            targetOf: (row, channel) => k.load(aims, add(times(row, targets.shape[1]), channel), type),
            total: (channel) =>
              k.load(totals, add(times(node, TOTALS_BEFORE + channels), add(channel, i(TOTALS_BEFORE))), type),
            log: (x) => elementOps(k, settings).math("log", { dtype: type, value: x }).value,
          }),
      tell: (score, left, threshold) => {
        [score, k.convert(type, left), k.convert(type, threshold)].forEach((value, which) => {
          tell(which, value);
        });
      },
    };
    const [least, most] = extremes(search, !params.isRandom);
    k.when(k.compare("gt", most, least), () => {
      tell(FOUND - 1, k.constant(type, 1));
      if (lists) sortedSplit(search, place, least, most, lists);
      else randomSplit(search, least, most);
      return [];
    });
    return [];
  });
  return k.finish();
}

/** The least and the largest rank, or value, of the node's rows. */
function extremes({ k, rows, own, rowAt, numberOf, rankOf }: Search, isByRank: boolean): readonly [Value, Value] {
  const { i } = indices(k);
  const read = (index: Value) => (isByRank ? rankOf(rowAt(index)) : numberOf(rowAt(index)));
  const start = read(i(0));
  return counted(k, rows, own, [start, start], (index, [least, most]) => {
    const value = read(index);
    return [k.select(k.compare("lt", value, least), value, least), k.select(k.compare("gt", value, most), value, most)];
  }) as [Value, Value];
}

/** One threshold between the extremes. */
function randomSplit(search: Search, least: Value, most: Value): void {
  const { k, valueType, rows, own, rowAt, itemAt, numberOf, minSamplesLeaf, sums, tell } = search;
  const { i, add } = indices(k);
  const drawn = k.binary("add", least, k.binary("mul", search.draw(), k.binary("sub", most, least)));
  const threshold = k.select(k.compare("ge", drawn, most), least, drawn);
  sums.clear();
  const [count, ...carried] = counted(k, rows, own, [i(0), ...sums.initial], (index, [left, ...held]) => {
    const isLeft = k.compare("le", numberOf(rowAt(index)), threshold);
    return [k.select(isLeft, add(left, i(1)), left), ...sums.added(itemAt(index), held, isLeft)];
  });
  const isAllowed = enough(k, count, own, minSamplesLeaf);
  k.when(isAllowed, () => {
    const { score, isValid } = sums.score(carried);
    k.when(isValid, () => {
      tell(score, count, k.convert(valueType, threshold));
      return [];
    });
    return [];
  });
}

const enough = (k: KernelBuilder, left: Value, own: Value, least: number): Value =>
  k.binary(
    "and",
    k.compare("ge", left, k.constant("i32", least)),
    k.compare("ge", k.binary("sub", own, left), k.constant("i32", least)),
  );

function sortedSplit(
  search: Search,
  place: Value,
  least: Value,
  most: Value,
  [keys, sorted]: readonly [number, number],
): void {
  const { k, rows, places, first, own, minSamplesLeaf, sums, rankOf, rowAt, itemAt, rowOf, numberOf, tell, type } =
    search;
  const { i, add, times } = indices(k);
  // Memory of this thread: the places of its node among those of its candidate, twice.
  const base = add(times(place, 2 * places), first);
  const [start] = k.when(
    k.compare("le", own, i(MOST_INSERTED)),
    () => {
      counted(k, MOST_INSERTED, own, [], (index) => {
        insert(k, [keys, sorted], base, index, itemAt(index), rankOf(rowAt(index)));
        return [];
      });
      return [base];
    },
    () => [byBytes(search, base, least, most, [keys, sorted])],
  );
  sums.clear();
  const none = k.constant(type, type === "f64" ? -Number.MAX_VALUE : -3e38);
  const lastPlace = k.binary("sub", own, i(1));
  const rank = (index: Value) => k.read(keys, add(start, index), "i32");
  const [best, left] = counted(
    k,
    rows,
    lastPlace,
    [none, i(0), rank(i(0)), ...sums.initial],
    (index, [held, at, here, ...carried]) => {
      const item = k.read(sorted, add(start, index), "i32");
      const next = sums.added(item, carried, null);
      const after = rank(add(index, i(1)));
      const count = add(index, i(1));
      const isPlace = k.binary("and", k.compare("ne", after, here), enough(k, count, own, minSamplesLeaf));
      const [score, chosen] = k.when(
        isPlace,
        () => {
          const found = sums.score(next);
          const isBetter = k.binary("and", found.isValid, k.compare("gt", found.score, held));
          return [k.select(isBetter, found.score, held), k.select(isBetter, count, at)];
        },
        () => [held, at],
      );
      return [score, chosen, after, ...next];
    },
  );
  k.when(k.compare("gt", left, i(0)), () => {
    const valueAt = (index: Value) => numberOf(rowOf(k.read(sorted, add(start, index), "i32")));
    const [below, above] = [valueAt(k.binary("sub", left, i(1))), valueAt(left)];
    const half = k.constant(below.type, 0.5);
    const middle = k.binary("add", k.binary("mul", below, half), k.binary("mul", above, half));
    tell(best, left, k.select(k.compare("ge", middle, above), below, middle));
    return [];
  });
}

/** Puts a row, as sums know it, among those before it. */
function insert(
  k: KernelBuilder,
  [keys, sorted]: readonly [number, number],
  base: Value,
  index: Value,
  row: Value,
  rank: Value,
): void {
  const { i, add } = indices(k);
  const [at] = k.loop(
    MOST_INSERTED + 1,
    [index, k.constant("bool", false)],
    (_, [place]) => {
      const isFirst = k.compare("eq", place, i(0));
      const before = add(base, k.select(isFirst, i(0), k.binary("sub", place, i(1))));
      const key = k.read(keys, before, "i32");
      const moves = k.binary("and", k.unary("not", isFirst), k.compare("gt", key, rank));
      const other = k.read(sorted, before, "i32");
      k.store(keys, add(base, place), key, true, moves);
      k.store(sorted, add(base, place), other, true, moves);
      return [k.select(moves, k.binary("sub", place, i(1)), place), k.unary("not", moves)];
    },
    { exitWhen: ([, isDone]) => isDone },
  );
  k.store(keys, add(base, at), rank);
  k.store(sorted, add(base, at), row);
}

/** Sorts by bytes; the place where the sorted rows begin. */
function byBytes(
  { k, rows, places, own, rowAt, itemAt, rankOf }: Search,
  base: Value,
  least: Value,
  most: Value,
  [keys, sorted]: readonly [number, number],
): Value {
  const { i, add } = indices(k);
  counted(k, rows, own, [], (index) => {
    k.store(keys, add(base, index), rankOf(rowAt(index)));
    k.store(sorted, add(base, index), itemAt(index));
    return [];
  });
  const counts = k.array("i32", DIGITS, true);
  const range = k.binary("sub", most, least);
  const [from] = k.loop(
    4,
    [base, add(base, i(places)), i(0)],
    (_, [source, to, shift]) => {
      const digit = (index: Value): Value => {
        const offset = k.binary("sub", k.read(keys, add(source, index), "i32"), least);
        const shifted = k.binary("shr", k.bitcast("u32", offset), k.bitcast("u32", shift));
        return k.bitcast("i32", k.binary("and", shifted, k.constant("u32", DIGITS - 1)));
      };
      k.loop(DIGITS, [], (at) => {
        k.set(counts, at, i(0));
        return [];
      });
      counted(k, rows, own, [], (index) => {
        const at = digit(index);
        k.set(counts, at, add(k.get(counts, at), i(1)));
        return [];
      });
      k.loop(DIGITS, [to], (at, [running]) => {
        const here = k.get(counts, at);
        k.set(counts, at, running);
        return [add(running, here)];
      });
      counted(k, rows, own, [], (index) => {
        const at = digit(index);
        const [key, row] = [keys, sorted].map((buffer) => k.read(buffer, add(source, index), "i32"));
        const target = k.get(counts, at);
        k.set(counts, at, add(target, i(1)));
        k.store(keys, target, key as Value);
        k.store(sorted, target, row as Value);
        return [];
      });
      return [to, source, add(shift, i(8))];
    },
    {
      exitWhen: ([, , shift]) => {
        const isLast = k.compare("ge", shift, i(32));
        const rest = k.binary("shr", k.bitcast("u32", range), k.bitcast("u32", k.binary("and", shift, i(31))));
        return k.binary("or", isLast, k.compare("eq", rest, k.constant("u32", 0)));
      },
    },
  );
  return from;
}

/** The first of the candidates with the largest score. */
function chooseKernel(count: number, width: number, type: "f32" | "f64") {
  const k = new KernelBuilder(`best candidates[${count}]`, count);
  const { i, add, times } = indices(k);
  const [features, found, out] = [k.buffer("i32", false), k.buffer(type, false), k.buffer(type, true)];
  const first = times(k.row, width);
  const at = (candidate: Value, which: number) =>
    k.load(found, add(times(add(first, candidate), FOUND), i(which)), type);
  const zero = k.constant(type, 0);
  const [, best, varies] = k.loop(width, [zero, i(-1), zero], (candidate, [most, held, varied]) => {
    const score = at(candidate, 0);
    const isFirst = k.compare("lt", held, i(0));
    const isBetter = k.binary(
      "and",
      k.compare("gt", at(candidate, 1), zero),
      k.binary("or", isFirst, k.compare("gt", score, most)),
    );
    return [
      k.select(isBetter, score, most),
      k.select(isBetter, candidate, held),
      k.binary("max", varied, at(candidate, FOUND - 1)),
    ];
  });
  const isFound = k.compare("ge", best, i(0));
  const chosen = k.select(isFound, best, i(0));
  const kept = (value: Value) => k.select(isFound, value, zero);
  const feature = k.convert(type, k.load(features, add(first, chosen), "i32"));
  const facts = [kept(at(chosen, 0)), kept(feature), kept(at(chosen, 1)), kept(at(chosen, 2)), varies];
  facts.forEach((value, which) => {
    k.store(out, add(times(k.row, CUT_FACTS), i(which)), value);
  });
  return k.finish();
}
