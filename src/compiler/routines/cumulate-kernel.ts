/**
 * The kernel of running totals (cumulate.ts plans them). It goes through one chunk of one row and stores the total at every
 * element, or only the chunk's total.
 *
 * Rows along memory (no axes inside) are shared by the lanes of a workgroup: a lane takes four neighbours at a time, and
 * the lanes' totals are cumulated among them by doubling distances (Hillis and Steele 1986). Rows of another axis get one
 * thread each: neighbouring threads then read neighbours in memory.
 */
import type { DType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { ElementOps } from "../../graph/element-ops.js";
import { type CumulateOp, runningTotal } from "../../graph/primitives/cumulate.js";
import type { PlainScalar } from "../../graph/reduction.js";
import { computeType, type Element, type ElementSettings, elementOps, wrap } from "../elements/elements.js";
import type { CombineOp, Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";

/** Neighbours that one lane takes at a time. */
export const PER_LANE = 4;

/** One call of cumulate: the operation, its operand and its options. */
export interface Cumulation {
  readonly op: CumulateOp;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly axis: number;
  readonly isReverse: boolean;
  readonly isExclusive: boolean;
  readonly hasSegments: boolean;
}

/** The cut of the axis into chunks, and the number of lanes that share one. */
export interface Cut {
  readonly chunks: number;
  readonly chunkLength: number;
  readonly lanes: number;
}

export interface Role {
  /** Every element's total, one total per chunk, or (for totals themselves) the total and its segment. */
  readonly stores: "elements" | "totals" | "totalsSoFar";
  /** Where the total before a chunk comes from: it is in memory, or those of all chunks before are, and are combined. */
  readonly startsFrom: "before" | "totals" | null;
  /** The total of no elements. */
  readonly nothing: PlainScalar;
}

/** The extent of the axis, and how many places there are on those before and behind it. */
export const sizesOf = ({ shape, axis }: Pick<Cumulation, "shape" | "axis">) => ({
  outer: sizeOf(shape.slice(0, axis)),
  extent: shape[axis],
  inner: sizeOf(shape.slice(axis + 1)),
});

/** A running total; with segments also the segment it belongs to. */
interface Total {
  readonly value: Element;
  readonly segment: Value | null;
}

/** Buffers of the kernel; -1 for those it does not have. */
interface Buffers {
  readonly source: number;
  readonly segments: number;
  /** Totals before each chunk. */
  readonly start: number;
  readonly startSegment: number;
  readonly target: number;
  readonly targetSegment: number;
}

/** A kernel in the making, at the start of its chunk. */
interface ChunkKernel {
  readonly k: KernelBuilder;
  readonly ops: ElementOps<Element>;
  readonly task: Cumulation;
  readonly cut: Cut;
  readonly role: Role;
  readonly buffers: Buffers;
  /** The row is block, position of the chunk, place within. */
  readonly block: Value;
  readonly position: Value;
  readonly within: Value;
  /** The first element of the chunk. */
  readonly first: Value;
  readonly combine: (earlier: Total, later: Total) => Total;
  /** The total of no elements. */
  readonly nothing: Total;
}

export function cumulateKernel(task: Cumulation, cut: Cut, role: Role, settings: ElementSettings): Kernel {
  const chunk = startKernel(task, cut, role, settings);
  if (cut.lanes === 1) cumulateAlone(chunk);
  else {
    const { combineOp } = runningTotal(task.op);
    if (role.stores === "totals" && !task.hasSegments && combineOp) totalOverLanes(chunk, combineOp);
    else cumulateOverLanes(chunk);
  }
  return chunk.k.finish();
}

function startKernel(task: Cumulation, cut: Cut, role: Role, settings: ElementSettings): ChunkKernel {
  const { dtype, hasSegments } = task;
  const { outer, extent, inner } = sizesOf(task);
  const { chunks, chunkLength, lanes } = cut;
  const rows = extent === 0 ? 0 : outer * chunks * inner;
  const k = new KernelBuilder(`cumulate ${task.op} ${role.stores}[${outer}×${extent}×${inner}]`, rows, lanes);
  const ops = elementOps(k, settings);
  const buffers = declareBuffers(k, task, role);
  const [outside, within] = splitRow(k, k.row, inner, outer * chunks);
  const [block, position] = splitRow(k, outside, chunks, outer);
  const first = k.binary("mul", position, k.constant("i32", chunkLength));
  const combine = combineWith(k, ops, task);
  const nothing: Total = {
    value: ops.constant(dtype, role.nothing),
    segment: hasSegments ? k.constant("i32", -1) : null,
  };
  return { k, ops, task, cut, role, buffers, block, position, within, first, combine, nothing };
}

function declareBuffers(k: KernelBuilder, { dtype, hasSegments }: Cumulation, role: Role): Buffers {
  const wide = computeType(dtype);
  const isOfTotals = role.stores !== "elements";
  return {
    source: k.buffer(dtype, false),
    segments: hasSegments ? k.buffer("i32", false) : -1,
    start: role.startsFrom ? k.buffer(wide, false) : -1,
    startSegment: role.startsFrom && hasSegments ? k.buffer("i32", false) : -1,
    target: k.buffer(isOfTotals ? wide : dtype, true),
    targetSegment: isOfTotals && hasSegments ? k.buffer("i32", true) : -1,
  };
}

/** x divided by `by`, with remainder. A part that has only one value needs no division. */
function splitRow(k: KernelBuilder, x: Value, by: number, rest: number): [quotient: Value, remainder: Value] {
  const i = (value: number) => k.constant("i32", value);
  if (rest === 1) return [i(0), x];
  return by === 1 ? [x, i(0)] : [k.binary("idiv", x, i(by)), k.binary("irem", x, i(by))];
}

/** One thread goes through the chunk. */
function cumulateAlone(chunk: ChunkKernel): void {
  const { k, task, cut, role, first, combine } = chunk;
  const writesEach = role.stores !== "totals";
  const last = k.loop(cut.chunkLength, pack(startTotal(chunk)), (round, state) => {
    const before = unpack(task, state);
    const { total, isInside, index } = readTotal(chunk, k.binary("add", first, round));
    const sum = combine(before, total);
    if (writesEach) writeTotal(chunk, index, shownTotal(chunk, before, total, sum), true, isInside);
    return pack(sum);
  });
  if (!writesEach) writeTotal(chunk, k.row, unpack(task, last), true, null);
}

/** The chunk's total where any order will do: no lane needs another lane's total before the end. */
function totalOverLanes(chunk: ChunkKernel, combineOp: CombineOp): void {
  const { k, task, cut, buffers, first, combine, nothing } = chunk;
  const i = (value: number) => k.constant("i32", value);
  const tile = cut.lanes * PER_LANE;
  const spread = k.binary("add", first, k.lane);
  const [sum] = k.loop(cut.chunkLength / tile, pack(nothing), (round, state) => {
    const base = k.binary("add", spread, k.binary("mul", round, i(tile)));
    let total = unpack(task, state);
    for (let j = 0; j < PER_LANE; j++) {
      total = combine(total, readTotal(chunk, k.binary("add", base, i(j * cut.lanes))).total);
    }
    return pack(total);
  });
  const all = k.combineLanes(combineOp, sum as Value);
  k.store(buffers.target, k.row, wrap(k, task.dtype, all), true);
}

/** Elements that a lane has read, and their totals up to each. */
interface LaneItems {
  readonly items: readonly ReturnType<typeof readTotal>[];
  readonly sums: readonly Total[];
}

/** The lanes of a workgroup go through the chunk, each with PER_LANE neighbours per round. */
function cumulateOverLanes(chunk: ChunkKernel): void {
  const { k, task, cut, role, first } = chunk;
  const i = (value: number) => k.constant("i32", value);
  const tile = cut.lanes * PER_LANE;
  const mine = k.binary("add", first, k.binary("mul", k.lane, i(PER_LANE)));
  const last = k.loop(cut.chunkLength / tile, pack(startTotal(chunk)), (round, state) => {
    const base = k.binary("add", mine, k.binary("mul", round, i(tile)));
    return pack(cumulateTile(chunk, unpack(task, state), readItems(chunk, base)));
  });
  if (role.stores === "totals") writeTotal(chunk, k.row, unpack(task, last), true, null);
}

function readItems(chunk: ChunkKernel, base: Value): LaneItems {
  const { k, task, combine } = chunk;
  // Where the axis ends with a whole number of neighbours, all are inside or none: with one gate they are one vector access.
  const { extent } = sizesOf(task);
  const end = extent % PER_LANE === 0 ? insideOf(chunk, base) : undefined;
  const items = Array.from({ length: PER_LANE }, (_, j) =>
    readTotal(chunk, k.binary("add", base, k.constant("i32", j)), end),
  );
  const sums: Total[] = [];
  for (const { total } of items) {
    sums.push(sums.length === 0 ? total : combine(sums[sums.length - 1] as Total, total));
  }
  return { items, sums };
}

/** Cumulates a tile over the lanes, from the total before it, and stores it unless only totals are. The total up to its end. */
function cumulateTile(chunk: ChunkKernel, before: Total, { items, sums }: LaneItems): Total {
  const { k, task, cut, role, combine } = chunk;
  const i = (value: number) => k.constant("i32", value);
  const upToLane = cumulateLanes(chunk, sums[PER_LANE - 1] as Total);
  if (role.stores !== "totals") {
    const earlier = fromLane(chunk, upToLane, laneBefore(k, 1));
    const prefix = choose(k, k.compare("gt", k.lane, i(0)), combine(before, earlier), before);
    const shown = items.map(({ total, isInside, index }, j) => {
      const previous = j === 0 ? prefix : combine(prefix, sums[j - 1] as Total);
      const sum = combine(prefix, sums[j] as Total);
      return { index, total: shownTotal(chunk, previous, total, sum), isInside };
    });
    // In the order of memory, for one vector access.
    for (const { index, total, isInside } of task.isReverse ? shown.reverse() : shown) {
      writeTotal(chunk, index, total, false, isInside);
    }
  }
  return combine(before, fromLane(chunk, upToLane, i(cut.lanes - 1)));
}

/** Each lane's total, cumulated over the lanes up to it by doubling distances. */
function cumulateLanes(chunk: ChunkKernel, own: Total): Total {
  const { k, cut, combine } = chunk;
  let upToLane = own;
  for (let distance = 1; distance < cut.lanes; distance *= 2) {
    const other = fromLane(chunk, upToLane, laneBefore(k, distance));
    const isReached = k.compare("ge", k.lane, k.constant("i32", distance));
    upToLane = choose(k, isReached, combine(other, upToLane), upToLane);
  }
  return upToLane;
}

/** The lane so many places before this one, or the first. */
const laneBefore = (k: KernelBuilder, distance: number): Value =>
  k.binary("max", k.binary("sub", k.lane, k.constant("i32", distance)), k.constant("i32", 0));

const fromLane = ({ k, task }: ChunkKernel, total: Total, lane: Value): Total =>
  unpack(
    task,
    pack(total).map((value) => k.fromLane(value, lane)),
  );

/** The total before the chunk. */
function startTotal(chunk: ChunkKernel): Total {
  const { k, task, role, buffers, nothing } = chunk;
  if (!role.startsFrom) return nothing;
  if (role.startsFrom === "totals") return chunk.combine(nothing, totalOfEarlier(chunk));
  return {
    value: { dtype: task.dtype, value: k.load(buffers.start, k.row, computeType(task.dtype)) },
    segment: task.hasSegments ? k.load(buffers.startSegment, k.row, "i32") : null,
  };
}

/** The totals of the chunks before, combined by all lanes together. */
function totalOfEarlier({ k, ops, task, cut, buffers, block, position, combine }: ChunkKernel): Total {
  const { combineOp, neutral } = runningTotal(task.op);
  if (!combineOp) throw new Error(`cumulate: lanes cannot combine totals of ${task.op}`);
  const i = (value: number) => k.constant("i32", value);
  const none: Total = { value: ops.constant(task.dtype, neutral(task.dtype)), segment: null };
  const line = k.binary("mul", block, i(cut.chunks));
  const tile = cut.lanes * PER_LANE;
  const [sum] = k.loop(Math.ceil(cut.chunks / tile), pack(none), (round, state) => {
    const base = k.binary("add", k.binary("mul", round, i(tile)), k.lane);
    let total = unpack(task, state);
    for (let j = 0; j < PER_LANE; j++) {
      const at = k.binary("add", base, i(j * cut.lanes));
      const isEarlier = k.compare("lt", at, position);
      const place = k.binary("add", line, k.select(isEarlier, at, i(0)));
      const loaded = k.load(buffers.start, place, computeType(task.dtype));
      total = combine(total, choose(k, isEarlier, { ...none, value: { dtype: task.dtype, value: loaded } }, none));
    }
    return pack(total);
  });
  const all = k.combineLanes(combineOp, sum as Value);
  return { value: { dtype: task.dtype, value: wrap(k, task.dtype, all) }, segment: null };
}

/** Whether the axis has a p-th element; null where it always has. */
function insideOf({ k, task, cut }: ChunkKernel, p: Value): Value | null {
  const { extent } = sizesOf(task);
  return cut.chunks * cut.chunkLength > extent ? k.compare("lt", p, k.constant("i32", extent)) : null;
}

/** The p-th element in the direction of the totals. Beyond the end of the axis it is the total of no elements. */
function readTotal(
  chunk: ChunkKernel,
  p: Value,
  isInside = insideOf(chunk, p),
): { total: Total; isInside: Value | null; index: Value } {
  const { k, task, role, buffers, block, within, nothing } = chunk;
  const { extent, inner } = sizesOf(task);
  const i = (value: number) => k.constant("i32", value);
  const safe = isInside ? k.select(isInside, p, i(0)) : p;
  const at = task.isReverse ? k.binary("sub", i(extent - 1), safe) : safe;
  const line = k.binary("add", k.binary("mul", block, i(extent)), at);
  const index = k.binary("add", k.binary("mul", line, i(inner)), within);
  // The segments of totals are stored with them; those of elements are the same for all rows.
  const segmentIndex = role.stores === "totalsSoFar" ? index : at;
  const loaded: Total = {
    value: { dtype: task.dtype, value: k.load(buffers.source, index, computeType(task.dtype)) },
    segment: task.hasSegments ? k.load(buffers.segments, segmentIndex, "i32") : null,
  };
  return { total: isInside ? choose(k, isInside, loaded, nothing) : loaded, isInside, index };
}

function writeTotal(
  { k, buffers }: ChunkKernel,
  index: Value,
  { value, segment }: Total,
  isOnce: boolean,
  gate: Value | null,
): void {
  k.store(buffers.target, index, value.value, isOnce, gate);
  if (buffers.targetSegment >= 0 && segment) k.store(buffers.targetSegment, index, segment, isOnce, gate);
}

/** The result at an element: the total up to it, or up to the one before. A new segment has nothing before it. */
function shownTotal({ k, task, role, nothing }: ChunkKernel, before: Total, own: Total, sum: Total): Total {
  if (!task.isExclusive) return sum;
  if (role.stores === "totalsSoFar" || !before.segment || !own.segment) return before;
  const isSame = k.compare("eq", before.segment, own.segment);
  return choose(k, isSame, before, { ...nothing, segment: own.segment });
}

const choose = (k: KernelBuilder, condition: Value, a: Total, b: Total): Total => ({
  value: { dtype: a.value.dtype, value: k.select(condition, a.value.value, b.value.value) },
  segment: a.segment && b.segment ? k.select(condition, a.segment, b.segment) : null,
});

/** A total as accumulators of a loop, and back. */
const pack = ({ value, segment }: Total): Value[] => (segment ? [value.value, segment] : [value.value]);

const unpack = ({ dtype }: Cumulation, [value, segment]: readonly Value[]): Total => ({
  value: { dtype, value: value as Value },
  segment: segment ?? null,
});

/** The later total added to the earlier; where a segment begins, the later alone. */
function combineWith(k: KernelBuilder, ops: ElementOps<Element>, { op, hasSegments }: Cumulation) {
  const running = runningTotal(op);
  return (a: Total, b: Total): Total => {
    const value = running.combine(ops, a.value, b.value);
    if (!hasSegments || !a.segment || !b.segment) return { value, segment: null };
    const isSame = k.compare("eq", a.segment, b.segment);
    return { value: { dtype: value.dtype, value: k.select(isSame, value.value, b.value.value) }, segment: b.segment };
  };
}
