/**
 * Running totals, in time proportional to the number of elements and always in the same order, so that a result is the
 * same in every run.
 *
 * The axis is cut into chunks. Each chunk's total is found, the totals are cumulated, and each chunk is then cumulated
 * starting from what came before it: the elements are read twice and written once. Where there are enough rows to keep
 * the device busy, a row is one chunk and is read once.
 *
 * Rows along memory (no axes inside) are shared by the lanes of a workgroup: a lane takes four neighbours at a time, and
 * the lanes' totals are cumulated among them by doubling distances (Hillis and Steele 1986). Other rows have neighbours
 * in memory that are other rows, so that one thread per row reads in good order by itself.
 */
import type { DType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { ElementOps } from "../../graph/element-ops.js";
import type { Node } from "../../graph/node.js";
import { type CumulateOp, runningTotal } from "../../graph/primitives/cumulate.js";
import type { PlainScalar } from "../../graph/reduction.js";
import { computeType, type Element, type ElementSettings, elementOps, wrap } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { axisNames } from "../print/formula.js";
import type { TargetProfile } from "../target/profile.js";
import type { Routine, RoutineBuffer, RoutinePlan, RoutineStep } from "./routine.js";

/** Neighbours that one lane takes at a time. */
const PER_LANE = 4;
/** Rows along memory shorter than this are one thread's work. */
const MIN_LANE_ROW = 48;

/** What is cumulated. */
export interface Task {
  readonly op: CumulateOp;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly axis: number;
  readonly isReverse: boolean;
  readonly isExclusive: boolean;
  readonly hasSegments: boolean;
}

/** The extent of the axis, and how many places there are on those before and behind it. */
const sizesOf = ({ shape, axis }: Task) => ({
  outer: sizeOf(shape.slice(0, axis)),
  extent: shape[axis],
  inner: sizeOf(shape.slice(axis + 1)),
});

interface Cut {
  readonly chunks: number;
  readonly chunkLength: number;
  readonly lanes: number;
}

/** A running total; with segments also the segment it belongs to. */
interface Total {
  readonly value: Element;
  readonly segment: Value | null;
}

export const cumulateRoutine: Routine = (node, profile, settings) => {
  const [x, segments] = node.inputs as readonly [Node, Node | undefined];
  const task: Task = {
    op: node.params.op as CumulateOp,
    dtype: x.dtype,
    shape: x.shape,
    axis: node.params.axis as number,
    isReverse: node.params.isReverse === true,
    isExclusive: node.params.isExclusive === true,
    hasSegments: segments !== undefined,
  };
  return planCumulate(task, profile, settings);
};

export function planCumulate(task: Task, profile: TargetProfile, settings: ElementSettings): RoutinePlan {
  const cut = cutInto(task, profile);
  const input: RoutineBuffer[] = [{ kind: "input", index: 0 }];
  if (task.hasSegments) input.push({ kind: "input", index: 1 });
  const result: RoutineBuffer = { kind: "result" };
  const { identity, neutral } = runningTotal(task.op);
  // Without the element itself, the first total is shown as it is.
  const nothing = task.isExclusive ? identity(task.dtype) : neutral(task.dtype);
  if (cut.chunks === 1) {
    const role: Role = { stores: "elements", startsFrom: null, nothing };
    const step = { kernel: cumulateKernel(task, cut, role, settings), formula: formulaOf(task, cut, role) };
    return { temporaries: [], steps: [{ ...step, buffers: [...input, result] }] };
  }
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const wide = computeType(task.dtype);
  const shape = task.shape.map((extent, axis) => (axis === task.axis ? cut.chunks : extent));
  // Totals and what came before each chunk; with segments also which segment each of them belongs to.
  const kinds: DType[] = task.hasSegments ? [wide, "i32"] : [wide];
  const temporaries = [...kinds, ...kinds].map((dtype) => ({ dtype, shape }));
  const totals = kinds.map((_, i) => temporary(i));
  const before = kinds.map((_, i) => temporary(kinds.length + i));
  // The totals are in the order of the chunks, which is the order of going.
  const ofTotals: Task = { ...task, dtype: wide, shape, isReverse: false, isExclusive: true };
  const tile = cut.lanes === 1 ? 1 : cut.lanes * PER_LANE;
  const whole: Cut = { ...cut, chunks: 1, chunkLength: Math.ceil(cut.chunks / tile) * tile };
  const step = (of: Task, by: Cut, role: Role, buffers: readonly RoutineBuffer[]): RoutineStep => ({
    kernel: cumulateKernel(of, by, role, settings),
    buffers,
    formula: formulaOf(of, by, role),
  });
  return {
    temporaries,
    steps: [
      step(task, cut, { stores: "totals", startsFrom: null, nothing: neutral(task.dtype) }, [...input, ...totals]),
      step(ofTotals, whole, { stores: "totalsSoFar", startsFrom: null, nothing }, [...totals, ...before]),
      step(task, cut, { stores: "elements", startsFrom: "before", nothing }, [...input, ...before, result]),
    ],
  };
}

function cutInto(task: Task, { maxLanes }: TargetProfile): Cut {
  const { outer, extent, inner } = sizesOf(task);
  const isShared = maxLanes > 1 && inner === 1 && extent >= MIN_LANE_ROW;
  if (isShared) {
    let lanes = 32;
    while (lanes < maxLanes && lanes * PER_LANE < extent) lanes *= 2;
    const tile = lanes * PER_LANE;
    const chunks = Math.max(1, Math.min(Math.ceil(extent / (4 * tile)), Math.floor(4096 / Math.max(1, outer))));
    const chunkLength = Math.ceil(extent / chunks / tile) * tile;
    return { lanes, chunkLength, chunks: Math.max(1, Math.ceil(extent / chunkLength)) };
  }
  const [threads, shortest] = maxLanes > 1 ? [65536, 64] : [64, 16384];
  const rows = Math.max(1, outer * inner);
  const chunks = Math.max(1, Math.min(512, Math.floor(threads / rows), Math.floor(extent / shortest)));
  const chunkLength = Math.max(1, Math.ceil(extent / chunks));
  return { lanes: 1, chunkLength, chunks: Math.max(1, Math.ceil(extent / chunkLength)) };
}

interface Role {
  /** Every element's total, one total per chunk, or (for totals themselves) the total and its segment. */
  readonly stores: "elements" | "totals" | "totalsSoFar";
  readonly startsFrom: "before" | null;
  /** The total of no elements. */
  readonly nothing: PlainScalar;
}

/**
 * What such a kernel computes, as `out[i, j] = sum over k <= j of a[i, k]`. Chunks go the way the totals go: those from the
 * end begin at the end.
 */
function formulaOf(task: Task, { chunkLength }: Cut, role: Role): RoutineStep["formula"] {
  const { op, axis, shape, isReverse, isExclusive, hasSegments } = task;
  const axes = axisNames(shape.length);
  const [own, counter] = [axes[axis], axisNames(shape.length + 1)[shape.length]];
  const at = (place: string) => `[${axes.map((name, i) => (i === axis ? place : name)).join(", ")}]`;
  const last = shape[axis] - 1;
  const over = `${counter} ${isReverse ? ">" : "<"}${isExclusive ? "" : "="} ${own}`;
  if (role.stores !== "elements") {
    const inChunk = isReverse
      ? `${last} - ${chunkLength} * ${own} - ${counter}`
      : `${chunkLength} * ${own} + ${counter}`;
    const [rounds, place] = role.stores === "totals" ? [`${counter} < ${chunkLength}`, inChunk] : [over, counter];
    return (names) => {
      const [to, segment] = names.slice(hasSegments ? 2 : 1);
      const which = segment ? `, of the last segment there, ${segment}${at(own)}` : "";
      return `${to}${at(own)} = ${op} over ${rounds} of ${names[0]}${at(place)}${which}`;
    };
  }
  const chunk = at(`${isReverse ? `(${last} - ${own})` : own} / ${chunkLength}`);
  return (names) => {
    const [a, ...rest] = names.slice(0, -1);
    const segments = hasSegments ? rest.shift() : null;
    const [before, itsSegment] = rest;
    const same = segments ? ` with ${segments}[${counter}] == ${segments}[${own}]` : "";
    const where = itsSegment ? ` where ${itsSegment}${chunk} == ${segments}[${own}]` : "";
    const start = before ? `, from ${before}${chunk} on${where}` : "";
    return `${names.at(-1)}${at(own)} = ${op} over ${over}${same} of ${a}${at(counter)}${start}`;
  };
}

function cumulateKernel(task: Task, cut: Cut, role: Role, settings: ElementSettings): Kernel {
  const { dtype, hasSegments } = task;
  const { outer, extent, inner } = sizesOf(task);
  const { chunks, chunkLength, lanes } = cut;
  const rows = extent === 0 ? 0 : outer * chunks * inner;
  const k = new KernelBuilder(`cumulate ${task.op} ${role.stores}[${outer}×${extent}×${inner}]`, rows, lanes);
  const ops = elementOps(k, settings);
  const i = (value: number) => k.constant("i32", value);
  const wide = computeType(dtype);

  const source = k.buffer(dtype, false);
  const segmentsOf = hasSegments ? k.buffer("i32", false) : -1;
  const start = role.startsFrom ? k.buffer(wide, false) : -1;
  const startSegment = role.startsFrom && hasSegments ? k.buffer("i32", false) : -1;
  const isOfTotals = role.stores !== "elements";
  const target = k.buffer(isOfTotals ? wide : dtype, true);
  const targetSegment = isOfTotals && hasSegments ? k.buffer("i32", true) : -1;

  // The row is block, chunk, place within; what has one value needs no division.
  const split = (x: Value, by: number, rest: number): [quotient: Value, remainder: Value] => {
    if (rest === 1) return [i(0), x];
    return by === 1 ? [x, i(0)] : [k.binary("idiv", x, i(by)), k.binary("irem", x, i(by))];
  };
  const [outside, within] = split(k.row, inner, outer * chunks);
  const [block, chunk] = split(outside, chunks, outer);
  const first = k.binary("mul", chunk, i(chunkLength));
  const isRagged = chunks * chunkLength > extent;

  const combine = combineWith(k, ops, task);
  const { combineOp } = runningTotal(task.op);
  const nothing: Total = {
    value: ops.constant(dtype, role.nothing),
    segment: hasSegments ? i(-1) : null,
  };
  const choose = (condition: Value, a: Total, b: Total): Total => ({
    value: { dtype, value: k.select(condition, a.value.value, b.value.value) },
    segment: a.segment && b.segment ? k.select(condition, a.segment, b.segment) : null,
  });
  const pack = ({ value, segment }: Total): Value[] => (segment ? [value.value, segment] : [value.value]);
  const unpack = ([value, segment]: readonly Value[]): Total => ({
    value: { dtype, value: value as Value },
    segment: segment ?? null,
  });

  /** Index along the axis of the p-th element on the way; flat index of that element. */
  const along = (p: Value) => (task.isReverse ? k.binary("sub", i(extent - 1), p) : p);
  const flat = (at: Value) =>
    k.binary("add", k.binary("mul", k.binary("add", k.binary("mul", block, i(extent)), at), i(inner)), within);
  const read = (p: Value): { total: Total; isInside: Value | null; index: Value } => {
    const isInside = isRagged ? k.compare("lt", p, i(extent)) : null;
    const safe = isInside ? k.select(isInside, p, i(0)) : p;
    const at = along(safe);
    const index = flat(at);
    // The segments of totals are stored with them; those of elements are the same for all rows.
    const segmentIndex = role.stores === "totalsSoFar" ? index : at;
    const loaded: Total = {
      value: { dtype, value: k.load(source, index, wide) },
      segment: hasSegments ? k.load(segmentsOf, segmentIndex, "i32") : null,
    };
    return { total: isInside ? choose(isInside, loaded, nothing) : loaded, isInside, index };
  };
  const write = (index: Value, total: Total, isOnce: boolean, gate: Value | null) => {
    k.store(target, index, total.value.value, isOnce, gate);
    if (targetSegment >= 0 && total.segment) k.store(targetSegment, index, total.segment, isOnce, gate);
  };
  const totalIndex = k.row;
  const carry: Total = role.startsFrom
    ? {
        value: { dtype, value: k.load(start, totalIndex, wide) },
        segment: hasSegments ? k.load(startSegment, totalIndex, "i32") : null,
      }
    : nothing;
  const writesEach = role.stores !== "totals";
  /** What stands at an element: the total up to it, or up to the one before. A new segment has nothing before it. */
  const shown = (before: Total, own: Total, sum: Total): Total => {
    if (!task.isExclusive) return sum;
    if (role.stores === "totalsSoFar" || !before.segment || !own.segment) return before;
    return choose(k.compare("eq", before.segment, own.segment), before, { ...nothing, segment: own.segment });
  };

  if (lanes === 1) {
    const last = k.loop(chunkLength, pack(carry), (round, state) => {
      const before = unpack(state);
      const { total, isInside, index } = read(k.binary("add", first, round));
      const sum = combine(before, total);
      if (writesEach) write(index, shown(before, total, sum), true, isInside);
      return pack(sum);
    });
    if (!writesEach) write(totalIndex, unpack(last), true, null);
    return k.finish();
  }

  const tile = lanes * PER_LANE;
  if (role.stores === "totals" && !hasSegments && combineOp) {
    // Any order will do, so that no lane needs to hear of the others before the end.
    const spread = k.binary("add", first, k.lane);
    const [sum] = k.loop(chunkLength / tile, pack(nothing), (round, state) => {
      const base = k.binary("add", spread, k.binary("mul", round, i(tile)));
      let total = unpack(state);
      for (let j = 0; j < PER_LANE; j++) total = combine(total, read(k.binary("add", base, i(j * lanes))).total);
      return pack(total);
    });
    const all = k.combineLanes(combineOp, sum as Value);
    k.store(target, totalIndex, wrap(k, dtype, all), true);
    return k.finish();
  }
  const mine = k.binary("add", first, k.binary("mul", k.lane, i(PER_LANE)));
  const fromLane = (total: Total, lane: Value): Total => unpack(pack(total).map((value) => k.fromLane(value, lane)));
  const clampedLane = (distance: number) => k.binary("max", k.binary("sub", k.lane, i(distance)), i(0));
  const last = k.loop(chunkLength / tile, pack(carry), (round, state) => {
    const before = unpack(state);
    const base = k.binary("add", mine, k.binary("mul", round, i(tile)));
    const items = Array.from({ length: PER_LANE }, (_, j) => read(k.binary("add", base, i(j))));
    const sums: Total[] = [];
    for (const { total } of items)
      sums.push(sums.length === 0 ? total : combine(sums[sums.length - 1] as Total, total));
    let upToLane = sums[PER_LANE - 1] as Total;
    for (let distance = 1; distance < lanes; distance *= 2) {
      const other = fromLane(upToLane, clampedLane(distance));
      upToLane = choose(k.compare("ge", k.lane, i(distance)), combine(other, upToLane), upToLane);
    }
    if (writesEach) {
      const earlier = fromLane(upToLane, clampedLane(1));
      const prefix = choose(k.compare("gt", k.lane, i(0)), combine(before, earlier), before);
      items.forEach(({ total, isInside, index }, j) => {
        const previous = j === 0 ? prefix : combine(prefix, sums[j - 1] as Total);
        write(index, shown(previous, total, combine(prefix, sums[j] as Total)), false, isInside);
      });
    }
    return pack(combine(before, fromLane(upToLane, i(lanes - 1))));
  });
  if (!writesEach) write(totalIndex, unpack(last), true, null);
  return k.finish();
}

/** The later total added to the earlier; where a segment begins, the later alone. */
function combineWith(k: KernelBuilder, ops: ElementOps<Element>, { op, hasSegments }: Task) {
  const running = runningTotal(op);
  return (a: Total, b: Total): Total => {
    const value = running.combine(ops, a.value, b.value);
    if (!hasSegments || !a.segment || !b.segment) return { value, segment: null };
    const isSame = k.compare("eq", a.segment, b.segment);
    return { value: { dtype: value.dtype, value: k.select(isSame, value.value, b.value.value) }, segment: b.segment };
  };
}
