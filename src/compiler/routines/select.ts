/**
 * Positions of some ranks (the primitive argsortAt): by a kernel that selects (select-kernel.ts) where a workgroup can, else
 * by sorting the rows and taking the ranks from the result. Selecting reads the keys once and writes the positions alone.
 */
import { productOf } from "../../core/shape.js";
import { makeNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import type { Params } from "../../graph/primitive.js";
import { argsort, orderKey, RANKS_AROUND } from "../../graph/primitives/order.js";
import { computeType, type ElementSettings, elementOps } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { TargetProfile } from "../target/profile.js";
import type { Routine, RoutineBuffer, RoutinePlan, RoutineStep } from "../target/routine.js";
import { LEAST_LANES, laneSumsWords } from "./lane-sums.js";
import {
  firstsKernel,
  KEYS,
  type KeySource,
  listWords,
  mostFirsts,
  type Ranks,
  ranksKernel,
  type SelectedRows,
} from "./select-kernel.js";
import { argsortRoutine } from "./sort.js";

/** Keys that a lane holds in registers. */
const MOST_PER_LANE = 16;
/** Lanes of a workgroup that selects, unless a row needs more. */
const USUAL_LANES = 256;
/** Ranks that are found one by one. */
const MOST_RANKS = 8;
/** Shorter rows are sorted by a thread each. */
const LEAST_EXTENT = 64;

export const argsortAtRoutine: Routine = (node, profile, settings) => {
  const [keys] = node.inputs as readonly [Node];
  const ranks = node.params.ranks as Ranks;
  const axis = keys.shape.length - 1;
  const kernel = selectKernel(keys, ranks, profile, sourceOf(node, settings));
  if (!kernel) return bySorting(node, profile, settings);
  return {
    temporaries: [],
    steps: [
      {
        kernel,
        buffers: [...node.inputs.map((_, index) => ({ kind: "input", index }) as const), { kind: "result" }],
        formula: ([a, ...others]) =>
          `${others.at(-1)} = the positions of the elements of ranks ${shownRanks(ranks)} of ${a} along axis ${axis}`,
      },
    ],
  };
};

/** Keys, or the values that they are made of. */
function sourceOf({ inputs: [given], params }: Node, settings: ElementSettings): KeySource {
  const { dtype } = given;
  if (!params.keyed) return KEYS;
  return {
    dtype,
    keyOf: (k, value) =>
      orderKey.lower(elementOps(k, settings), [{ dtype, value }], params.keyed as Params, "u32").value,
  };
}

const isPrefix = (ranks: readonly number[]): boolean => ranks.every((rank, i) => rank === i);

function shownRanks(ranks: Ranks): string {
  if (ranks === "around") return "around one";
  return isPrefix(ranks) && ranks.length > 2 ? `0 to ${ranks.length - 1}` : ranks.join(", ");
}

/** The kernel that selects, or null where sorting is the better way or the only one. */
function selectKernel(keys: Node, ranks: Ranks, { sort, tiles }: TargetProfile, source: KeySource): Kernel | null {
  const extent = keys.shape[keys.shape.length - 1];
  const rows = productOf(keys.shape.slice(0, -1));
  if ((source === KEYS && keys.dtype !== "u32") || sort.lanes === 1 || extent < LEAST_EXTENT || rows === 0) return null;
  const most = Math.min(1024, tiles.maxLanes);
  const fitsInLanes = extent <= most * MOST_PER_LANE;
  const shape = selectedRowsOf(rows, extent, fitsInLanes ? most : Math.min(most, USUAL_LANES));
  if (ranks === "around" || ranks.length <= MOST_RANKS) return fitsInLanes ? ranksKernel(shape, ranks, source) : null;
  const words = listWords(shape.lanes) + laneSumsWords(shape.lanes) + 2 * shape.lanes;
  const isListed = ranks.length <= Math.min(mostFirsts(shape.lanes), extent / 4) && 4 * words <= sort.sharedBytes;
  return isPrefix(ranks) && isListed ? firstsKernel(shape, ranks.length, source) : null;
}

/** The usual number of lanes with as many keys each as it takes; more lanes only where those are too many. */
function selectedRowsOf(rows: number, extent: number, most: number): SelectedRows {
  let lanes = LEAST_LANES;
  while (lanes < most && (lanes * MOST_PER_LANE < extent || (lanes < USUAL_LANES && lanes * 4 < extent))) lanes *= 2;
  let perLane = 4;
  while (perLane < MOST_PER_LANE && lanes * perLane < extent) perLane *= 2;
  return { rows, extent, lanes, perLane };
}

function bySorting(node: Node, profile: TargetProfile, settings: ElementSettings): RoutinePlan {
  const [given] = node.inputs as readonly [Node];
  const { shape } = given;
  const ranks = node.params.ranks as Ranks;
  const isKeyed = node.params.keyed !== undefined;
  const keys = isKeyed ? makeNode(orderKey, [given], node.params.keyed as Params, node.device) : given;
  const plan = argsortRoutine(makeNode(argsort, [keys], {}, node.device), profile, settings);
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index: plan.temporaries.length + index });
  const [sorted, made] = [temporary(0), temporary(1)];
  const instead = (buffer: RoutineBuffer): RoutineBuffer => {
    if (buffer.kind === "input" && isKeyed) return made;
    return buffer.kind === "result" ? sorted : buffer;
  };
  const making: RoutineStep = {
    kernel: keysKernel(sourceOf(node, settings), productOf(shape)),
    buffers: [{ kind: "input", index: 0 }, made],
    formula: ([a, out]) => `${out} = orderKey(${a})`,
  };
  const taking: RoutineStep = {
    kernel: takeKernel(given, ranks),
    buffers: [sorted, ...(ranks === "around" ? [{ kind: "input", index: 1 } as const] : []), { kind: "result" }],
    formula: ([a, ...others]) => `${others.at(-1)} = ranks ${shownRanks(ranks)} of ${a}`,
  };
  return {
    temporaries: [
      ...plan.temporaries,
      { dtype: "i32", shape },
      ...(isKeyed ? [{ dtype: keys.dtype, shape } as const] : []),
    ],
    steps: [
      ...(isKeyed ? [making] : []),
      ...plan.steps.map((step) => ({ ...step, buffers: step.buffers.map(instead) })),
      taking,
    ],
  };
}

/** Makes the keys of values. */
function keysKernel({ dtype, keyOf }: KeySource, size: number): Kernel {
  const k = new KernelBuilder(`sort keys[${size}]`, size);
  const [from, to] = [k.buffer(dtype, false), k.buffer("u32", true)];
  k.store(to, k.row, keyOf(k, k.load(from, k.row, computeType(dtype))));
  return k.finish();
}

/** Takes ranks out of sorted rows. */
function takeKernel(keys: Node, ranks: Ranks): Kernel {
  const extent = keys.shape[keys.shape.length - 1];
  const rows = productOf(keys.shape.slice(0, -1));
  const count = ranks === "around" ? RANKS_AROUND : ranks.length;
  const k = new KernelBuilder(`sort ranks[${rows}×${extent}]`, rows * count);
  const i = (value: number) => k.constant("i32", value);
  const from = k.buffer("i32", false);
  const given = ranks === "around" ? k.buffer("i32", false) : null;
  const out = k.buffer("i32", true);
  const [row, which] = [k.binary("idiv", k.row, i(count)), k.binary("irem", k.row, i(count))];
  const chosen = (all: readonly Value[]): Value =>
    all.reduce((before, each, j) => k.select(k.compare("eq", which, i(j)), each, before), all[0]);
  const rankOf = (): Value => {
    if (given === null || ranks !== "around")
      return isPrefix(ranks as readonly number[]) ? which : chosen((ranks as readonly number[]).map(i));
    const first = k.load(given, i(0), "i32");
    return chosen([first, k.binary("min", k.binary("add", first, i(1)), i(extent - 1)), i(extent - 1)]);
  };
  const rank = rankOf();
  k.store(out, k.row, k.load(from, k.binary("add", k.binary("mul", row, i(extent)), rank), "i32"));
  return k.finish();
}
