/**
 * Histograms of gradients for growing trees: sums by node, feature and bin. Every row of a node that is asked for adds to one bin of
 * each feature. Siblings are not summed: theirs is what is left of their parents'. The result has the same bits in every run.
 *
 * A CPU lists rows by node, and has a routine of its own (listed-histogram.ts). A workgroup of a GPU takes four features and a chunk of rows,
 * and adds whole numbers (fixed point, relative to the largest gradient) in shared memory, where the order does not matter; chunks are
 * combined as 64-bit integers.
 */
import { BINS } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import type { Routine, RoutinePlan, RoutineStep } from "../../target/routine.js";
import { codeIn, indices, PACKED } from "./codes.js";
import { gradientInputs, type HistogramShape, inputs, leftOver, parentInputs, shapeOf } from "./histogram-shape.js";

/** Rows that a workgroup of a GPU adds up: sums of so many stay below 2^31. */
const MOST_TO_WORKGROUP = 8192;

export const histogramRoutine: Routine = (node, profile) => sharedPlan(shapeOf(node), profile);

// ---------------------------------------------------------------------------------------------- by a workgroup

interface Workgroups {
  readonly lanes: number;
  /** Slots in the shared memory of one workgroup, and how many such blocks there are. */
  readonly slots: number;
  readonly blocks: number;
  readonly chunks: number;
  readonly rows: number;
  /** Words of a bin: each sum has one, or two where it is precise. */
  readonly cells: number;
}

function workgroupsFor(shape: HistogramShape, { maxLanes, tiles, hasSlowBarriers }: TargetProfile): Workgroups {
  const lanes = hasSlowBarriers ? Math.min(maxLanes, 32) : Math.min(maxLanes, 256, tiles.maxLanes * 2);
  const cells = (shape.channels - 1) * (shape.isPrecise ? 2 : 1) + 1;
  const room = Math.floor(Math.min(tiles.sharedBytes, 48 << 10) / (PACKED * BINS * cells * 4));
  const slots = Math.max(1, Math.min(shape.slots, room));
  const rows = Math.min(MOST_TO_WORKGROUP, Math.max(lanes, shape.rows));
  return { lanes, slots, blocks: Math.ceil(shape.slots / slots), chunks: Math.ceil(shape.rows / rows), rows, cells };
}

/** Fixed point makes the largest absolute value at most this. */
const scaleOf = ({ rows }: Workgroups): number => 2 ** (30 - Math.ceil(Math.log2(Math.max(2, rows))));
/** The factor of the rest, in precise sums. */
const finer = scaleOf;

function sharedPlan(shape: HistogramShape, profile: TargetProfile): RoutinePlan {
  const plan = workgroupsFor(shape, profile);
  const { slots, features } = shape;
  const totals = { dtype: "i64", shape: [slots * features * BINS, plan.cells] } as const;
  const count = totals.shape[0] * plan.cells;
  const clear: RoutineStep = {
    kernel: clearKernel(count),
    buffers: [{ kind: "temporary", index: 0 }],
    formula: ([totals]) => `${totals} = 0`,
  };
  return {
    temporaries: [totals],
    steps: [
      clear,
      {
        kernel: sharedKernel(shape, plan),
        buffers: [...inputs(0, 1, 2), ...gradientInputs(shape), ...inputs(3), { kind: "temporary", index: 0 }],
        formula: ([codes, nodes, slotOf, gradients, ...rest]) =>
          `${rest.at(-1)}[${slotOf}[${nodes}[i]], f, ${codes}[f, i]] += ${gradients}[i], 1 in fixed point`,
      },
      {
        kernel: floatKernel(shape, plan),
        buffers: [{ kind: "temporary", index: 0 }, ...inputs(3), ...parentInputs(shape), { kind: "result" }],
        formula: ([totals, ...rest]) => `${rest.at(-1)} = ${totals} as ${shape.type}${leftOver(shape)}`,
      },
    ],
  };
}

function clearKernel(count: number) {
  const k = new KernelBuilder(`clear[${count}]`, count);
  k.store(k.buffer("i64", true), k.row, k.constant("i64", 0));
  return k.finish();
}

function sharedKernel(shape: HistogramShape, plan: Workgroups) {
  const { words, rows, slots, features, hasHessians, isPrecise } = shape;
  const { lanes, cells, blocks, chunks } = plan;
  const k = new KernelBuilder(`histogram[${slots}×${features}]`, blocks * words * chunks, lanes);
  const { i, add, times } = indices(k);
  const [codes, nodes, slotOf] = [k.buffer("u32", false), k.buffer("i32", false), k.buffer("i32", false)];
  const sources = [k.buffer("f32", false), ...(hasHessians ? [k.buffer("f32", false)] : [])];
  const [largest, totals] = [k.buffer("f32", false), k.buffer("i64", true)];
  const size = plan.slots * PACKED * BINS;
  const sums = Array.from({ length: cells }, () => k.array("i32", size));
  const chunk = k.binary("idiv", k.row, i(blocks * words));
  const inChunk = k.binary("irem", k.row, i(blocks * words));
  const [word, block] = [k.binary("idiv", inChunk, i(blocks)), k.binary("irem", inChunk, i(blocks))];
  const firstSlot = times(block, plan.slots);
  const overCells = (visit: (cell: Value) => void) => {
    k.loop(Math.ceil(size / lanes), [], (turn) => {
      visit(add(times(turn, lanes), k.lane));
      return [];
    });
  };
  overCells((cell) => {
    for (const sum of sums) k.set(sum, cell, i(0), k.compare("lt", cell, i(size)));
  });
  const scales = sources.map((_, which) => scaleFor(k, plan, largest, which));
  k.barrier();
  k.loop(Math.ceil(plan.rows / lanes), [], (turn) => {
    const row = add(times(chunk, plan.rows), add(times(turn, lanes), k.lane));
    const isRow = k.compare("lt", row, i(rows));
    const safe = k.select(isRow, row, i(0));
    const slot = k.binary("sub", k.load(slotOf, k.load(nodes, safe, "i32"), "i32"), firstSlot);
    const isHere = k.binary("and", k.compare("ge", slot, i(0)), k.compare("lt", slot, i(plan.slots)));
    k.when(k.binary("and", isRow, isHere), () => {
      const packed = k.load(codes, add(times(word, rows), safe), "u32");
      const values = sources.flatMap((source, which) =>
        fixed(k, k.binary("mul", k.load(source, safe, "f32"), scales[which]), isPrecise ? finer(plan) : null),
      );
      for (let place = 0; place < PACKED; place++) {
        const cell = add(times(add(times(slot, PACKED), i(place)), BINS), codeIn(k, packed, i(place)));
        [...values, i(1)].forEach((value, which) => {
          k.count(sums[which], cell, value);
        });
      }
      return [];
    });
    return [];
  });
  k.barrier();
  overCells((cell) => {
    const isCell = k.compare("lt", cell, i(size));
    const slot = add(firstSlot, k.binary("idiv", cell, i(PACKED * BINS)));
    const inSlot = k.binary("irem", cell, i(PACKED * BINS));
    const to = times(add(times(add(times(slot, features), times(word, PACKED)), BINS), inSlot), cells);
    const isKnown = k.binary("and", isCell, k.compare("lt", slot, i(slots)));
    const safe = k.select(isCell, cell, i(0));
    sums.forEach((sum, which) => {
      const total = k.get(sum, safe);
      const isSome = k.binary("and", isKnown, k.compare("ne", total, i(0)));
      k.atomic("add", totals, add(to, i(which)), k.convert("i64", total), isSome);
    });
  });
  return k.finish();
}

/** The factor of fixed point of gradients (0) or hessians (1): a power of two, so that products are exact. 1 where all of them are 0. */
function scaleFor(k: KernelBuilder, plan: Workgroups, largest: number, which: number): Value {
  const bits = k.bitcast("u32", k.load(largest, k.constant("i32", which), "f32"));
  const exponent = k.binary("and", bits, k.constant("u32", 0x7f800000));
  const isSome = k.compare("ne", exponent, k.constant("u32", 0));
  const one = k.constant("f32", 1);
  const below = k.select(isSome, k.bitcast("f32", exponent), one);
  return k.select(isSome, k.binary("div", k.constant("f32", scaleOf(plan) / 2), below), one);
}

/** A number as a whole one, and where `finer` is given, the rest of it as another. */
function fixed(k: KernelBuilder, value: Value, finer: number | null): Value[] {
  const whole = k.unary("roundEven", value);
  const coarse = k.convert("i32", whole);
  if (finer === null) return [coarse];
  const rest = k.binary("mul", k.binary("sub", value, whole), k.constant("f32", finer));
  return [coarse, k.convert("i32", k.unary("roundEven", rest))];
}

/** Totals of fixed point as floats, channel by channel, and what is left of parents. */
function floatKernel(shape: HistogramShape, plan: Workgroups) {
  const { slots, features, channels, type, isPrecise, hasParents } = shape;
  const inSlot = features * BINS;
  const count = slots * inSlot;
  const k = new KernelBuilder(`floats[${count}×${channels}]`, count);
  const { i, add, times } = indices(k);
  const [totals, largest] = [k.buffer("i64", false), k.buffer("f32", false)];
  const [parents, parentOf] = hasParents ? [k.buffer(type, false), k.buffer("i32", false)] : [-1, -1];
  const out = k.buffer(type, true);
  const at = (cell: number) => k.convert(type, k.load(totals, add(times(k.row, plan.cells), i(cell)), "i64"));
  const sums = Array.from({ length: channels }, (_, channel) => {
    if (channel === channels - 1) return at(plan.cells - 1);
    const scale = k.convert(type, scaleFor(k, plan, largest, channel));
    if (!isPrecise) return k.binary("div", at(channel), scale);
    const rest = k.binary("div", at(2 * channel + 1), k.constant(type, finer(plan)));
    return k.binary("div", k.binary("add", at(2 * channel), rest), scale);
  });
  const cellOf = (bin: Value, channel: number) =>
    add(times(k.binary("idiv", bin, i(BINS)), channels * BINS), add(k.binary("irem", bin, i(BINS)), i(channel * BINS)));
  const parent = hasParents ? k.load(parentOf, k.binary("idiv", k.row, i(inSlot)), "i32") : i(0);
  const given = add(times(k.binary("max", parent, i(0)), inSlot), k.binary("irem", k.row, i(inSlot)));
  sums.forEach((sum, channel) => {
    k.store(out, cellOf(k.row, channel), sum);
    if (!hasParents) return;
    const left = k.binary("sub", k.load(parents, cellOf(given, channel), type), sum);
    k.store(out, cellOf(add(k.row, i(count)), channel), left);
  });
  return k.finish();
}
