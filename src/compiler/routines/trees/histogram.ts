/**
 * Histograms of gradients for growing trees: sums by node, feature and bin. Every row of a node that is asked for adds to one bin of
 * each feature. Siblings are not summed: theirs is what is left of their parents'. The result has the same bits in every run.
 *
 * A CPU thread takes two features, for which the rows have been listed by slot: their sums stay in its cache, and are added in the order of
 * the rows, so that nothing is combined later. A workgroup of a GPU takes four features and a chunk of rows, and adds whole numbers (fixed
 * point, relative to the largest gradient) in shared memory, where the order does not matter; chunks are combined as 64-bit integers.
 */
import type { Node } from "../../../graph/node.js";
import { BINS } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import type { Routine, RoutinePlan, RoutineStep } from "../../target/routine.js";

/** Features in a word of codes. */
const PACKED = 4;
/** Features that a CPU thread takes at once. */
const FEATURES_TO_THREAD = 2;
/** Rows of a chunk of the list, at least, and the number of chunks at most. */
const [LEAST_LISTED, MOST_CHUNKS] = [4096, 16];
/** Rows that a workgroup of a GPU adds up: sums of so many stay below 2^31. */
const MOST_TO_WORKGROUP = 8192;

interface Shape {
  readonly words: number;
  readonly rows: number;
  readonly slots: number;
  readonly features: number;
  readonly channels: number;
  readonly type: "f32" | "f64";
  readonly hasHessians: boolean;
  /** Siblings get what is left of their parents. */
  readonly hasParents: boolean;
  /** Fixed point keeps twice as many bits. */
  readonly isPrecise: boolean;
}

function shapeOf({ inputs: [codes], params }: Node): Shape {
  const [words, rows] = codes.shape;
  const hasHessians = params.hasHessians as boolean;
  return {
    words,
    rows,
    slots: params.slots as number,
    features: PACKED * words,
    channels: hasHessians ? 3 : 2,
    type: params.dtype as "f32" | "f64",
    hasHessians,
    hasParents: params.hasParents as boolean,
    isPrecise: params.isPrecise as boolean,
  };
}

export const histogramRoutine: Routine = (node, profile) => {
  const shape = shapeOf(node);
  return profile.maxLanes === 1 ? listedPlan(shape) : sharedPlan(shape, profile);
};

const inputs = (...which: readonly number[]) => which.map((index) => ({ kind: "input", index }) as const);
const gradientInputs = ({ hasHessians }: Shape) => inputs(...(hasHessians ? [4, 5] : [4]));
/** Histograms of parents, and the parent of each slot. */
const parentInputs = ({ hasParents, channels }: Shape) => inputs(...(hasParents ? [channels + 3, channels + 4] : []));

/** The end of a formula. */
const leftOver = ({ hasParents }: Shape): string => (hasParents ? "; siblings: what is left of parents" : "");

/** Operations on indices, which kernels of this folder share. */
export const indices = (k: KernelBuilder) => ({
  i: (value: number) => k.constant("i32", value),
  add: (a: Value, b: Value) => k.binary("add", a, b),
  times: (a: Value, b: number) => k.binary("mul", a, k.constant("i32", b)),
});

/** The code of a feature of a word, by its place in it. */
export function codeIn(k: KernelBuilder, word: Value, place: Value): Value {
  const shift = k.bitcast("u32", k.binary("mul", place, k.constant("i32", 8)));
  return k.bitcast("i32", k.binary("and", k.binary("shr", word, shift), k.constant("u32", BINS - 1)));
}

// ---------------------------------------------------------------------------------------------- by a thread

function listedPlan(shape: Shape): RoutinePlan {
  const chunks = Math.max(1, Math.min(MOST_CHUNKS, Math.floor(shape.rows / LEAST_LISTED)));
  const length = Math.ceil(shape.rows / chunks);
  return {
    temporaries: [
      { dtype: "i32", shape: [chunks * length] },
      { dtype: "i32", shape: [chunks, shape.slots + 2] },
    ],
    steps: [
      {
        kernel: listKernel(shape, chunks, length),
        buffers: [...inputs(1, 2), { kind: "temporary", index: 0 }, { kind: "temporary", index: 1 }],
        formula: ([nodes, slots, list]) => `${list} = rows by ${slots}[${nodes}]`,
      },
      {
        kernel: listedKernel(shape, chunks, length),
        buffers: [
          ...inputs(0),
          ...gradientInputs(shape),
          { kind: "temporary", index: 0 },
          { kind: "temporary", index: 1 },
          ...parentInputs(shape),
          { kind: "result" },
        ],
        formula: ([codes, gradients, ...rest]) =>
          `${rest.at(-1)}[slot of i, f, ${codes}[f, i]] += ${gradients}[i], 1${leftOver(shape)}`,
      },
    ],
  };
}

/**
 * The rows of each chunk by slot, those without one first; and where slots begin in the chunk's part of the list, [chunks, slots + 2]. Rows
 * keep their order.
 */
function listKernel({ rows, slots }: Shape, chunks: number, length: number) {
  const k = new KernelBuilder(`list rows[${rows}]`, chunks);
  const { i, add, times } = indices(k);
  const [nodes, slotOf] = [k.buffer("i32", false), k.buffer("i32", false)];
  const [list, starts] = [k.buffer("i32", true), k.buffer("i32", true)];
  const groups = slots + 1;
  // Rows of each group; then where its next row goes.
  const places = k.array("i32", groups);
  const first = times(k.row, length);
  const eachRow = (visit: (row: Value, group: Value, isRow: Value) => void) => {
    k.loop(length, [], (at) => {
      const row = add(first, at);
      const isRow = k.compare("lt", row, i(rows));
      const slot = k.load(slotOf, k.load(nodes, k.select(isRow, row, i(0)), "i32"), "i32");
      visit(row, add(slot, i(1)), isRow);
      return [];
    });
  };
  k.loop(groups, [], (group) => {
    k.set(places, group, i(0));
    return [];
  });
  eachRow((_, group, isRow) => {
    k.set(places, group, add(k.get(places, group), k.select(isRow, i(1), i(0))));
  });
  const start = (group: Value) => add(times(k.row, groups + 1), group);
  const [end] = k.loop(groups, [i(0)], (group, [before]) => {
    const count = k.get(places, group);
    k.set(places, group, before);
    k.store(starts, start(group), before);
    return [add(before, count)];
  });
  k.store(starts, start(i(groups)), end);
  eachRow((row, group, isRow) => {
    const place = k.get(places, group);
    k.store(list, add(first, place), row, false, isRow);
    k.set(places, group, add(place, k.select(isRow, i(1), i(0))));
  });
  return k.finish();
}

function listedKernel(shape: Shape, chunks: number, length: number) {
  const { words, slots, channels, type, hasHessians, hasParents } = shape;
  const parts = PACKED / FEATURES_TO_THREAD;
  const k = new KernelBuilder(`histogram[${slots}×${shape.features}]`, words * parts);
  const { i, add, times } = indices(k);
  const codes = k.buffer("u32", false);
  const gradients = k.buffer("f32", false);
  const hessians = hasHessians ? k.buffer("f32", false) : null;
  const [list, starts] = [k.buffer("i32", false), k.buffer("i32", false)];
  const [parents, parentOf] = hasParents ? [k.buffer(type, false), k.buffer("i32", false)] : [-1, -1];
  const out = k.buffer(type, true);
  const [word, part] = [k.binary("idiv", k.row, i(parts)), k.binary("irem", k.row, i(parts))];
  const size = FEATURES_TO_THREAD * BINS * channels;
  const sums = k.array(type, size);
  const zero = k.constant(type, 0);
  k.loop(size, [], (at) => {
    k.set(sums, at, zero);
    return [];
  });
  const one = k.constant(type, 1);
  const firstWord = times(word, shape.rows);
  const firstFeature = times(part, FEATURES_TO_THREAD);
  const addRow = (row: Value) => {
    const packed = k.load(codes, add(firstWord, row), "u32");
    const added = [k.load(gradients, row, "f32"), ...(hessians === null ? [] : [k.load(hessians, row, "f32")])];
    const values = [...added.map((value) => k.convert(type, value)), one];
    for (let j = 0; j < FEATURES_TO_THREAD; j++) {
      const bin = times(codeIn(k, packed, add(firstFeature, i(j))), channels);
      const cells = values.map((_, channel) => add(bin, i(j * BINS * channels + channel)));
      const held = cells.map((cell) => k.get(sums, cell));
      cells.forEach((cell, channel) => {
        k.set(sums, cell, k.binary("add", held[channel], values[channel]));
      });
    }
  };
  /** Where the thread's features of a slot begin in histograms. */
  const binsOf = (slot: Value) => times(add(times(slot, words * parts), k.row), size);
  k.loop(slots, [], (slot) => {
    const parent = hasParents ? k.load(parentOf, slot, "i32") : i(0);
    k.when(k.compare("ge", parent, i(0)), () => {
      k.loop(chunks, [], (chunk) => {
        const start = add(times(chunk, slots + 2), slot);
        const [begin, end] = [k.load(starts, add(start, i(1)), "i32"), k.load(starts, add(start, i(2)), "i32")];
        k.when(k.compare("gt", end, begin), () => {
          const first = times(chunk, length);
          const next = (at: Value) => {
            addRow(k.load(list, add(first, at), "i32"));
            return [add(at, i(1))];
          };
          k.loop(length, [begin], (_, [at]) => next(at), { exitWhen: ([at]) => k.compare("ge", at, end) });
          return [];
        });
        return [];
      });
      const [own, sibling] = [binsOf(slot), binsOf(add(slot, i(slots)))];
      const given = binsOf(parent);
      k.loop(size, [], (at) => {
        const sum = k.get(sums, at);
        if (hasParents) k.store(out, add(sibling, at), k.binary("sub", k.load(parents, add(given, at), type), sum));
        k.store(out, add(own, at), sum);
        k.set(sums, at, zero);
        return [];
      });
      return [];
    });
    return [];
  });
  return k.finish();
}

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

function workgroupsFor(shape: Shape, { maxLanes, tiles, hasSlowBarriers }: TargetProfile): Workgroups {
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

function sharedPlan(shape: Shape, profile: TargetProfile): RoutinePlan {
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

function sharedKernel(shape: Shape, plan: Workgroups) {
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
function floatKernel(shape: Shape, plan: Workgroups) {
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
  const cellOf = (bin: Value, channel: number) => add(times(bin, channels), i(channel));
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
