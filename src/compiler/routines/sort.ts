/**
 * Sorting by merging: a thread sorts eight neighbours in registers, then runs are merged in pairs, twice as long each
 * time. In a merge each thread writes sixteen elements of the result; where its share begins in the two runs is found by
 * bisecting along the diagonal of the merge path (Odeh, Green, Mwassi, Shmueli, Birk 2012). Left before right at equal
 * keys makes it stable. n log n work, one kernel per doubling, rows of any length side by side.
 */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { axisNames } from "../print/formula.js";
import type { Routine, RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";
import { keyWords } from "./element-words.js";
import { canSortByDigits, rowsAsTiles, sortByDigits } from "./radix-sort.js";
import { asVotingRows, sortBySweeps, sweptRows } from "./radix-sweep.js";
import { sortRowsKernel } from "./radix-tile-sort.js";
import { sortVotingRowsKernel } from "./ranked-tile.js";

type KeyType = "u32" | "u64";

/** Elements one thread sorts in registers. */
const RUN = 8;
/** Elements one thread writes of a merge. */
const SHARE = 16;

export const argsortRoutine: Routine = (node, profile, settings) => {
  const [keys] = node.inputs as readonly [Node];
  const extent = keys.shape[keys.shape.length - 1] as number;
  const tiles = rowsAsTiles(keys, profile.sort);
  const swept = sweptRows(keys, profile.sort);
  const words = keyWords(keys.dtype as KeyType);
  const voting = tiles && asVotingRows(tiles, profile.sort);
  if (voting) return inOneKernel(keys, sortVotingRowsKernel(voting, words), ", each row in shared memory");
  if (tiles) return inOneKernel(keys, sortRowsKernel(tiles, words), ", each row in shared memory");
  if (swept) return sortBySweeps(keys.shape, swept, words);
  if (canSortByDigits(extent, profile)) return sortByDigits(keys, profile, settings);
  if (extent > RUN) return sortByMerging(keys);
  const rows = productOf(keys.shape.slice(0, -1));
  return inOneKernel(keys, runKernel(keys.dtype as KeyType, rows, extent, false), "");
};

const INPUT: RoutineBuffer = { kind: "input", index: 0 };
const RESULT: RoutineBuffer = { kind: "result" };

/** A plan with one kernel, from the keys to the result. */
function inOneKernel({ shape }: Node, kernel: Kernel, how: string): RoutinePlan {
  const formula: RoutineStep["formula"] = ([a, out]) => `${out} = argsort of ${a} along axis ${shape.length - 1}${how}`;
  return { temporaries: [], steps: [{ kernel, buffers: [INPUT, RESULT], formula }] };
}

/** Sorts runs, and merges them in pairs until one is left. */
function sortByMerging({ shape, dtype }: Node): RoutinePlan {
  const type = dtype as KeyType;
  const axis = shape.length - 1;
  const extent = shape[axis];
  const rows = productOf(shape.slice(0, -1));
  const passes = Math.ceil(Math.log2(extent / RUN));
  // Keys and positions go back and forth between two pairs of buffers; the last pass writes the result.
  const pair = (which: number): RoutineBuffer[] => [
    { kind: "temporary", index: 2 * which },
    { kind: "temporary", index: 2 * which + 1 },
  ];
  const steps: RoutineStep[] = [
    {
      kernel: runKernel(type, rows, extent, true),
      buffers: [INPUT, ...pair(0)],
      formula: ([a, sorted, positions]) =>
        `${sorted} = ${a} sorted in runs of ${RUN} along axis ${axis}; ${positions} = the positions they had`,
    },
  ];
  for (let pass = 0; pass < passes; pass++) {
    const isLast = pass === passes - 1;
    const run = RUN * 2 ** pass;
    const target = pair((pass + 1) % 2);
    steps.push({
      kernel: mergeKernel(type, rows, extent, run, isLast),
      buffers: [...pair(pass % 2), ...(isLast ? [RESULT] : target)],
      formula: ([keys, positions, ...to]) => {
        const merged = `runs of ${run} of ${keys} merged in pairs along axis ${axis}`;
        if (isLast) return `${to[0]} = ${positions} moved as in ${merged}: the argsort`;
        return `${to[0]} = ${merged}; ${to[1]} = ${positions} moved alike`;
      },
    });
  }
  const temporaries = [type, "i32", ...(passes > 1 ? ([type, "i32"] as const) : [])] as const;
  return { temporaries: temporaries.map((dtype) => ({ dtype, shape })), steps };
}

/** Sorts runs of neighbours by exchanging adjacent ones, which keeps equal ones in order. */
function runKernel(type: KeyType, rows: number, extent: number, storesKeys: boolean): Kernel {
  const runs = Math.ceil(extent / RUN);
  const k = new KernelBuilder(`sort runs[${rows}×${extent}]`, rows * runs);
  const i = (value: number) => k.constant("i32", value);
  const source = k.buffer(type, false);
  const keysOut = storesKeys ? k.buffer(type, true) : -1;
  const out = k.buffer("i32", true);
  const base = k.binary("mul", k.binary("idiv", k.row, i(runs)), i(extent));
  const start = k.binary("mul", k.binary("irem", k.row, i(runs)), i(RUN));
  const last = k.constant(type, type === "u64" ? 2n ** 64n - 1n : 2 ** 32 - 1);
  const width = Math.min(RUN, extent);
  const isRagged = extent % RUN !== 0 && extent > RUN;
  const items = Array.from({ length: width }, (_, j) => {
    const at = k.binary("add", start, i(j));
    const isInside = isRagged ? k.compare("lt", at, i(extent)) : null;
    const index = k.binary("add", base, at);
    const safe = isInside ? k.select(isInside, index, i(0)) : index;
    const key = k.load(source, safe, type);
    // Places beyond the row get the largest key, so that they stay behind all elements.
    return { at, isInside, index, key: isInside ? k.select(isInside, key, last) : key };
  });
  const sorted = items.map(({ at, key }) => ({ key, at }));
  for (let round = 0; round < width; round++) {
    for (let j = round % 2; j + 1 < width; j += 2) {
      const [a, b] = [sorted[j], sorted[j + 1]] as [{ key: Value; at: Value }, { key: Value; at: Value }];
      const swaps = k.compare("gt", a.key, b.key);
      sorted[j] = { key: k.select(swaps, b.key, a.key), at: k.select(swaps, b.at, a.at) };
      sorted[j + 1] = { key: k.select(swaps, a.key, b.key), at: k.select(swaps, a.at, b.at) };
    }
  }
  sorted.forEach(({ key, at }, j) => {
    const { index, isInside } = items[j] as (typeof items)[number];
    if (storesKeys) k.store(keysOut, index, key, true, isInside);
    k.store(out, index, at, true, isInside);
  });
  return k.finish();
}

function mergeKernel(type: KeyType, rows: number, extent: number, run: number, isLast: boolean): Kernel {
  const shares = Math.ceil(extent / SHARE);
  const k = new KernelBuilder(`sort merge ${run}[${rows}×${extent}]`, rows * shares);
  const i = (value: number) => k.constant("i32", value);
  const { add, sub, min, max } = arithmeticOf(k);
  const keys = k.buffer(type, false);
  const positions = k.buffer("i32", false);
  const keysOut = isLast ? -1 : k.buffer(type, true);
  const out = k.buffer("i32", true);

  const base = k.binary("mul", k.binary("idiv", k.row, i(shares)), i(extent));
  const start = k.binary("mul", k.binary("irem", k.row, i(shares)), i(SHARE));
  const into = k.binary("irem", start, i(2 * run));
  const left = sub(start, into);
  const right = min(add(left, i(run)), i(extent));
  const leftCount = sub(right, left);
  const rightCount = min(i(run), sub(i(extent), right));
  const leftBase = add(base, left);
  const rightBase = add(base, right);
  const end = i(rows * extent - 1);
  const keyAt = (from: Value, at: Value) => k.load(keys, min(max(add(from, at), i(0)), end), type);

  const keyOfLeft = (at: Value) => keyAt(leftBase, at);
  const keyOfRight = (at: Value) => keyAt(rightBase, at);
  const taken = takenFromLeft(k, into, run, [leftCount, rightCount], [keyOfLeft, keyOfRight]);
  const other = sub(into, taken);
  k.loop(SHARE, [taken, other, keyAt(leftBase, taken), keyAt(rightBase, other)], (round, state) => {
    const [fromLeft, fromRight, leftKey, rightKey] = state as [Value, Value, Value, Value];
    const at = add(start, round);
    const isInside = k.compare("lt", at, i(extent));
    const hasLeft = k.compare("lt", fromLeft, leftCount);
    const hasRight = k.compare("lt", fromRight, rightCount);
    const isLeft = k.binary(
      "and",
      hasLeft,
      k.binary("or", k.unary("not", hasRight), k.compare("le", leftKey, rightKey)),
    );
    const source = k.select(isLeft, add(leftBase, fromLeft), add(rightBase, fromRight));
    const index = add(base, at);
    if (!isLast) k.store(keysOut, index, k.select(isLeft, leftKey, rightKey), true, isInside);
    k.store(out, index, k.load(positions, min(source, end), "i32"), true, isInside);
    const next = k.load(keys, min(add(source, i(1)), end), type);
    return [
      k.select(isLeft, add(fromLeft, i(1)), fromLeft),
      k.select(isLeft, fromRight, add(fromRight, i(1))),
      k.select(isLeft, next, leftKey),
      k.select(isLeft, rightKey, next),
    ];
  });
  return k.finish();
}

/** How many of the first `into` elements of the merge come from the left run: bisection, with the same rounds for all. */
function takenFromLeft(
  k: KernelBuilder,
  into: Value,
  run: number,
  [leftCount, rightCount]: readonly [Value, Value],
  [keyOfLeft, keyOfRight]: readonly [(at: Value) => Value, (at: Value) => Value],
): Value {
  const i = (value: number) => k.constant("i32", value);
  const { add, sub, min, max } = arithmeticOf(k);
  const [taken] = k.loop(
    Math.ceil(Math.log2(run + 1)),
    [max(i(0), sub(into, rightCount)), min(into, leftCount)],
    (_, [low, high]) => {
      const middle = k.binary("idiv", add(low, high), i(2));
      const isOpen = k.compare("lt", low, high);
      const fromRight = sub(sub(into, i(1)), middle);
      const isLeft = k.compare("le", keyOfLeft(middle), keyOfRight(fromRight));
      const moves = k.binary("and", isOpen, isLeft);
      const falls = k.binary("and", isOpen, k.unary("not", isLeft));
      return [k.select(moves, add(middle, i(1)), low), k.select(falls, middle, high)];
    },
  );
  return taken;
}

function arithmeticOf(k: KernelBuilder) {
  const combine = (op: "add" | "sub" | "min" | "max") => (a: Value, b: Value) => k.binary(op, a, b);
  return { add: combine("add"), sub: combine("sub"), min: combine("min"), max: combine("max") };
}

/** Bisection, one thread per wanted key; the number of rounds is the same for all. */
export const searchSortedRoutine: Routine = (node) => {
  const [sorted, wanted] = node.inputs as readonly [Node, Node];
  const type = sorted.dtype as KeyType;
  const extent = sorted.shape[sorted.shape.length - 1] as number;
  const isBatched = sorted.shape.length > 1;
  const perRow = wanted.shape[wanted.shape.length - 1] ?? 1;
  const size = productOf(wanted.shape);
  const k = new KernelBuilder(`searchSorted[${size} in ${extent}]`, size);
  const i = (value: number) => k.constant("i32", value);
  const table = k.buffer(type, false);
  const queries = k.buffer(type, false);
  const out = k.buffer("i32", true);
  const base = isBatched ? k.binary("mul", k.binary("idiv", k.row, i(perRow)), i(extent)) : i(0);
  const key = k.load(queries, k.row, type);
  // Halves are the same for all queries, wherever they go: no branches, and no bounds to keep.
  let found = i(0);
  for (let left = extent; left > 0; left = Math.floor(left / 2)) {
    const half = Math.ceil(left / 2);
    const at = k.binary("add", base, k.binary("add", found, i(half - 1)));
    const isBefore = k.compare(node.params.side === "right" ? "le" : "lt", k.load(table, at, type), key);
    found = k.select(isBefore, k.binary("add", found, i(half)), found);
  }
  k.store(out, k.row, found);
  return {
    temporaries: [],
    steps: [
      {
        kernel: k.finish(),
        buffers: [{ kind: "input", index: 0 }, { kind: "input", index: 1 }, { kind: "result" }],
        formula: ([a, b, out]) => {
          const axes = axisNames(wanted.shape.length + 1);
          const [counter, own] = [axes.at(-1), axes.slice(0, -1)];
          const key = [...own.slice(0, sorted.shape.length - 1), counter].join(", ");
          const sign = node.params.side === "right" ? "<=" : "<";
          const at = own.length > 0 ? `[${own.join(", ")}]` : "";
          return `${out}${at} = count over ${counter} < ${extent} of ${a}[${key}] ${sign} ${b}${at}`;
        },
      },
    ],
  };
};
