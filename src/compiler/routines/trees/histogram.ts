/**
 * Histograms of gradients for growing trees: sums by node, feature and bin. Every row of a node that is asked for adds to one bin of
 * each feature. The result has the same bits in every run.
 *
 * A CPU thread takes two features, lists the rows that count first (others would be mispredicted branches for every feature), and adds
 * in the order of the rows, so that nothing is combined later. A workgroup of a GPU takes four features and a chunk of rows, and adds whole
 * numbers (fixed point, relative to the largest gradient) in shared memory, where the order does not matter; chunks are combined as 64-bit integers.
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
    isPrecise: params.isPrecise as boolean,
  };
}

export const histogramRoutine: Routine = (node, profile) => {
  const shape = shapeOf(node);
  return profile.maxLanes === 1 ? listedPlan(shape) : sharedPlan(shape, profile);
};

const inputs = (...which: readonly number[]) => which.map((index) => ({ kind: "input", index }) as const);
const gradientInputs = ({ hasHessians }: Shape) => inputs(...(hasHessians ? [4, 5] : [4]));

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
      { dtype: "i32", shape: [chunks] },
    ],
    steps: [
      {
        kernel: listKernel(shape, chunks, length),
        buffers: [...inputs(1, 2), { kind: "temporary", index: 0 }, { kind: "temporary", index: 1 }],
        formula: ([nodes, slots, list]) => `${list} = rows whose ${slots}[${nodes}] >= 0`,
      },
      {
        kernel: listedKernel(shape, chunks, length),
        buffers: [
          ...inputs(0, 1, 2),
          ...gradientInputs(shape),
          { kind: "temporary", index: 0 },
          { kind: "temporary", index: 1 },
          { kind: "result" },
        ],
        formula: ([codes, nodes, slots, gradients, ...rest]) =>
          `${rest.at(-1)}[${slots}[${nodes}[i]], f, ${codes}[f, i]] += ${gradients}[i], 1`,
      },
    ],
  };
}

/** The rows of each chunk that have a slot, and their number. Every row is stored; the next one overwrites it if it does not count. */
function listKernel({ rows }: Shape, chunks: number, length: number) {
  const k = new KernelBuilder(`list rows[${rows}]`, chunks);
  const { i, add, times } = indices(k);
  const [nodes, slots] = [k.buffer("i32", false), k.buffer("i32", false)];
  const [list, counts] = [k.buffer("i32", true), k.buffer("i32", true)];
  const first = times(k.row, length);
  const [count] = k.loop(length, [i(0)], (at, [found]) => {
    const row = add(first, at);
    const isRow = k.compare("lt", row, i(rows));
    const slot = k.load(slots, k.load(nodes, k.select(isRow, row, i(0)), "i32"), "i32");
    k.store(list, add(first, found), row);
    return [add(found, k.select(k.binary("and", isRow, k.compare("ge", slot, i(0))), i(1), i(0)))];
  });
  k.store(counts, k.row, count);
  return k.finish();
}

function listedKernel(shape: Shape, chunks: number, length: number) {
  const { words, rows, slots, features, channels, type, hasHessians } = shape;
  const parts = PACKED / FEATURES_TO_THREAD;
  const k = new KernelBuilder(`histogram[${slots}×${features}]`, words * parts);
  const { i, add, times } = indices(k);
  const [codes, nodes, slotOf] = [k.buffer("u32", false), k.buffer("i32", false), k.buffer("i32", false)];
  const gradients = k.buffer("f32", false);
  const hessians = hasHessians ? k.buffer("f32", false) : null;
  const [list, counts, out] = [k.buffer("i32", false), k.buffer("i32", false), k.buffer(type, true)];
  const [word, part] = [k.binary("idiv", k.row, i(parts)), k.binary("irem", k.row, i(parts))];
  const places = Array.from({ length: FEATURES_TO_THREAD }, (_, j) => add(times(part, FEATURES_TO_THREAD), i(j)));
  const binsOf = (slot: Value, place: Value) =>
    times(add(times(slot, features), add(times(word, PACKED), place)), BINS * channels);
  const zero = k.constant(type, 0);
  const one = k.constant(type, 1);
  k.loop(slots, [], (slot) => {
    for (const place of places) {
      const start = binsOf(slot, place);
      k.loop(BINS * channels, [], (at) => {
        k.store(out, add(start, at), zero);
        return [];
      });
    }
    return [];
  });
  k.loop(chunks, [], (chunk) => {
    const count = k.load(counts, chunk, "i32");
    k.when(k.compare("gt", count, i(0)), () => {
      const first = times(chunk, length);
      k.loop(
        length,
        [i(0)],
        (_, [at]) => {
          const row = k.load(list, add(first, at), "i32");
          const slot = k.load(slotOf, k.load(nodes, row, "i32"), "i32");
          const packed = k.load(codes, add(times(word, rows), row), "u32");
          const added = [k.load(gradients, row, "f32"), ...(hessians === null ? [] : [k.load(hessians, row, "f32")])];
          const values = [...added.map((value) => k.convert(type, value)), one];
          for (const place of places) {
            const bin = add(binsOf(slot, place), times(codeIn(k, packed, place), channels));
            const cells = values.map((_, channel) => add(bin, i(channel)));
            const held = cells.map((cell) => k.read(out, cell, type));
            cells.forEach((cell, channel) => {
              k.store(out, cell, k.binary("add", held[channel], values[channel]));
            });
          }
          return [add(at, i(1))];
        },
        { exitWhen: ([at]) => k.compare("ge", at, count) },
      );
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
        buffers: [{ kind: "temporary", index: 0 }, ...inputs(3), { kind: "result" }],
        formula: ([totals, , out]) => `${out} = ${totals} as ${shape.type}`,
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

/** Totals of fixed point as floats, channel by channel. */
function floatKernel(shape: Shape, plan: Workgroups) {
  const { slots, features, channels, type, isPrecise } = shape;
  const count = slots * features * BINS;
  const k = new KernelBuilder(`floats[${count}×${channels}]`, count);
  const { i, add, times } = indices(k);
  const [totals, largest, out] = [k.buffer("i64", false), k.buffer("f32", false), k.buffer(type, true)];
  const at = (cell: number) => k.convert(type, k.load(totals, add(times(k.row, plan.cells), i(cell)), "i64"));
  for (let channel = 0; channel < channels; channel++) {
    const isCount = channel === channels - 1;
    const value = () => {
      const scale = k.convert(type, scaleFor(k, plan, largest, channel));
      if (!isPrecise) return k.binary("div", at(channel), scale);
      const rest = k.binary("div", at(2 * channel + 1), k.constant(type, finer(plan)));
      return k.binary("div", k.binary("add", at(2 * channel), rest), scale);
    };
    k.store(out, add(times(k.row, channels), i(channel)), isCount ? at(plan.cells - 1) : value());
  }
  return k.finish();
}
