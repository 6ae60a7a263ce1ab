/**
 * Transposed results: neighbours in the result are far apart in the source. A row of a transposed matrix, for instance, takes
 * one number from every row of its source. Such a result is computed square by square. On a GPU a workgroup loads a square
 * along the source's rows into shared memory and stores it along the result's rows; on a CPU a square fits the cache.
 *
 * Only the loads with a large stride go through shared memory; everything else is computed as usual.
 */
import { DTYPES } from "../../core/dtype.js";
import {
  atomsOf,
  constantExpr,
  type IndexExpr,
  IndexSpace,
  add as plus,
  ravel,
  unravel,
} from "../../core/index-expr.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { computeType, type ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { Lowering } from "../lower/lowering.js";
import type { Group, LoweredKernel, TransposedAxes } from "../schedule/group.js";
import { type FoundLoad, loadStrides, loadsOf } from "../schedule/loads.js";
import { FAR, SQUARE_LANES } from "../schedule/transposed-axes.js";

/** The side of a square. On an H200, 32 moves 3.7 TB/s; 64 moves 1.3, because of bank conflicts. */
const SIDE = 32;
/** Elements a lane moves at once. */
const UNIT = 4;
/** Elements from one line of a square to the next in shared memory: one extra, so that a column is spread over the banks. */
const PITCH = SIDE + 1;
/**
 * Squares side by side along the result that a workgroup moves at once: all loads are under way before the first is waited
 * for, and the result is written in longer stretches. The first of these that fits is taken.
 */
const SQUARES_AT_ONCE = [4, 2] as const;
/** Bytes of shared memory for a square. */
const squareBytes = ({ dtype }: Node): number => SIDE * PITCH * Math.max(4, DTYPES[dtype].bytes);

export function lowerTransposed(group: Group, name: string, settings: ElementSettings): LoweredKernel {
  const axes = group.transposed as TransposedAxes;
  return axes.sharedBytes !== null
    ? throughSharedMemory(group, axes, axes.sharedBytes, name, settings)
    : throughCache(group, axes, name, settings);
}

/** The squares of a result, `atOnce` to a row: how many rows the kernel has, and which squares a row of it computes. */
function squares({ node: { shape }, from, to }: TransposedAxes, atOnce: number) {
  const others = shape.map((_, axis) => axis).filter((axis) => axis !== from && axis !== to);
  const counts = [Math.ceil(shape[from] / SIDE), Math.ceil(shape[to] / SIDE / atOnce)];
  const extents = [...others.map((axis) => shape[axis]), ...counts];
  return {
    rows: productOf(extents),
    /** A row's square, counted along each of the two axes, and the index of an element in it. */
    at: (lowering: Lowering, row: Value) => {
      const parts = unravel(lowering.space, lowering.bind("row", productOf(extents), row), extents);
      const [sourceSquare, resultSquare] = parts.slice(-2).map((part) => lowering.indexValue(part));
      const indexOf = (sourceAt: IndexExpr, resultAt: IndexExpr) =>
        shape.map((_, axis) => (axis === from ? sourceAt : axis === to ? resultAt : parts[others.indexOf(axis)]));
      return { sourceSquare, resultSquare, indexOf };
    },
  };
}

/** A square of a workgroup in the making. */
interface SquareKernel {
  readonly k: KernelBuilder;
  readonly lowering: Lowering;
  readonly axes: TransposedAxes;
  /** Which square it is, counted along the source's axis and along the result's. */
  readonly sourceSquare: Value;
  readonly resultSquare: Value;
  /** Its offset in shared memory. */
  readonly start: number;
  readonly indexOf: (sourceAt: IndexExpr, resultAt: IndexExpr) => readonly IndexExpr[];
  /** The lane's line of the square, and its first element on it. */
  readonly line: Value;
  readonly inLine: Value;
}

/** An element that a lane moves: its index, whether it lies inside the result, and its place in shared memory. */
interface MovedElement {
  readonly index: readonly IndexExpr[];
  readonly gate: Value | null;
  readonly sharedIndex: Value;
}

/** Lanes that share a line of a square. */
const LANES_PER_LINE = SIDE / UNIT;

function throughSharedMemory(
  group: Group,
  axes: TransposedAxes,
  sharedBytes: number,
  name: string,
  settings: ElementSettings,
): LoweredKernel {
  const atOnce = squaresAtOnce(group, axes, sharedBytes);
  const { rows, at } = squares(axes, atOnce);
  const k = new KernelBuilder(`${name} transposed`, rows, SQUARE_LANES);
  const lowering = new Lowering(k, group, settings);
  const i = (value: number) => k.constant("i32", value);
  const { sourceSquare, resultSquare, indexOf } = at(lowering, k.row);
  const lane = lowering.bind("lane", SQUARE_LANES, k.lane);
  const inLine = k.binary("mul", lowering.indexValue(lowering.space.remainder(lane, LANES_PER_LINE)), i(UNIT));
  const line = lowering.indexValue(lowering.space.quotient(lane, LANES_PER_LINE));
  const first = atOnce === 1 ? resultSquare : k.binary("mul", resultSquare, i(atOnce));
  const all = Array.from({ length: atOnce }, (_, which): SquareKernel => {
    const own = which === 0 ? first : k.binary("add", first, i(which));
    const start = which * SIDE * PITCH;
    return { k, lowering, axes, sourceSquare, resultSquare: own, start, indexOf, line, inLine };
  });

  const sourceUnits = all.flatMap((square) => unitsOf(square, true));
  const probe = sourceUnits[0][0].index;
  const isLoaded = (node: Node) => lowering.isLoaded(node);
  const which = stridedLoads(lowering.space, probe, isLoaded, axes, sharedBytes);
  const loadsAt = (index: readonly IndexExpr[]): FoundLoad[] => {
    const loads = loadsOf(lowering.space, axes.node, index, isLoaded);
    return which.map((position) => loads[position]);
  };
  const arrays = loadsAt(probe).map(({ node }) => k.array(computeType(node.dtype), atOnce * SIDE * PITCH));
  loadUnits(all[0], sourceUnits, loadsAt, arrays);
  k.barrier();
  const target = lowering.slotOf(group.results[0].node, true);
  for (const square of all) {
    for (const unit of unitsOf(square, false)) storeUnit(square, unit, loadsAt, arrays, target);
  }
  return { kernel: k.finish(), buffers: lowering.buffers };
}

/** The units of a lane, one per pass over the square: UNIT neighbours along the source, or along the result. */
function unitsOf(square: SquareKernel, isAlongSource: boolean): MovedElement[][] {
  const passes = SIDE / (SQUARE_LANES / LANES_PER_LINE);
  return Array.from({ length: passes }, (_, pass) => unitOf(square, isAlongSource, pass));
}

function unitOf(square: SquareKernel, isAlongSource: boolean, pass: number): MovedElement[] {
  const { k, lowering, axes, sourceSquare, resultSquare, start, indexOf, line, inLine } = square;
  const { shape } = axes.node;
  const i = (value: number) => k.constant("i32", value);
  const below = (value: Value, extent: number) => (extent % SIDE === 0 ? null : k.compare("lt", value, i(extent)));
  const both = (x: Value | null, y: Value | null) => (x && y ? k.binary("and", x, y) : (x ?? y));
  const inSquare = k.binary("add", line, i((pass * SQUARE_LANES) / LANES_PER_LINE));
  const sourceAt = k.binary("add", k.binary("mul", sourceSquare, i(SIDE)), isAlongSource ? inLine : inSquare);
  const resultAt = k.binary("add", k.binary("mul", resultSquare, i(SIDE)), isAlongSource ? inSquare : inLine);
  const [unitStart, lineAt] = isAlongSource ? [sourceAt, resultAt] : [resultAt, sourceAt];
  const [unitExtent, lineExtent] = isAlongSource
    ? [shape[axes.from], shape[axes.to]]
    : [shape[axes.to], shape[axes.from]];
  const isWhole = unitExtent % UNIT === 0;
  const lineIndex = lowering.index(lineAt, lineExtent);
  const isLine = below(lineAt, lineExtent);
  const first = isWhole ? lowering.index(unitStart, unitExtent - UNIT + 1) : null;
  const isUnit = isWhole ? below(unitStart, unitExtent) : null;
  return Array.from({ length: UNIT }, (_, c) => {
    const place = k.binary("add", unitStart, i(c));
    const index = first ? plus(first, constantExpr(c)) : lowering.index(place, unitExtent);
    const gate = both(isLine, isWhole ? isUnit : below(place, unitExtent));
    const x = k.binary("add", inLine, i(c));
    // Neighbours along the source lie side by side in shared memory, those along the result a line apart.
    const [row, column] = isAlongSource ? [inSquare, x] : [x, inSquare];
    const inOwn = k.binary("add", k.binary("mul", row, i(PITCH)), column);
    const sharedIndex = start === 0 ? inOwn : k.binary("add", inOwn, i(start));
    return { index: isAlongSource ? indexOf(index, lineIndex) : indexOf(lineIndex, index), gate, sharedIndex };
  });
}

/** Loads units of the source into shared memory. All loads come before the first write, so that they are under way together. */
function loadUnits(
  { k, lowering }: SquareKernel,
  units: readonly (readonly MovedElement[])[],
  loadsAt: (index: readonly IndexExpr[]) => FoundLoad[],
  arrays: readonly number[],
): void {
  const elements = units.flat();
  const values = elements.map(({ index, gate }) =>
    loadsAt(index).map((load) => lowering.element(load.node, load.index, gate).value),
  );
  elements.forEach(({ sharedIndex }, c) => {
    arrays.forEach((array, which) => {
      k.set(array, sharedIndex, values[c][which]);
    });
  });
}

/** Computes a unit of the result from shared memory and stores it. */
function storeUnit(
  { k, lowering, axes }: SquareKernel,
  unit: readonly MovedElement[],
  loadsAt: (index: readonly IndexExpr[]) => FoundLoad[],
  arrays: readonly number[],
  target: number,
): void {
  const stores = unit.map(({ index, gate, sharedIndex }) => {
    loadsAt(index).forEach((load, which) => {
      const element = { dtype: load.node.dtype, value: k.get(arrays[which], sharedIndex) };
      lowering.provide(load.node, load.index, element);
    });
    const { value } = lowering.element(axes.node, index, gate);
    return { to: lowering.indexValue(ravel(index, axes.node.shape)), value, gate };
  });
  for (const { to, value, gate } of stores) k.store(target, to, value, false, gate);
}

/** Squares that a workgroup moves at once: as many as divide the axis and leave room for a second workgroup. */
function squaresAtOnce(group: Group, axes: TransposedAxes, sharedBytes: number): number {
  const { node, to } = axes;
  const space = new IndexSpace();
  const index = node.shape.map((extent, axis) => space.variable(`i${axis}`, extent));
  const isLoaded = (each: Node) => each.storage !== null || (each !== group.results[0].node && group.isLoaded(each));
  const loads = loadsOf(space, node, index, isLoaded);
  const strided = stridedLoads(space, index, isLoaded, axes, sharedBytes);
  const bytes = strided.reduce((sum, position) => sum + squareBytes(loads[position].node), 0);
  const fits = (count: number) => node.shape[to] % (SIDE * count) === 0 && 2 * count * bytes <= sharedBytes;
  return SQUARES_AT_ONCE.find(fits) ?? 1;
}

/** Loads with a large stride, to send through shared memory, as many as fit: positions among the loads of an element. */
function stridedLoads(
  space: IndexSpace,
  index: readonly IndexExpr[],
  isLoaded: (node: Node) => boolean,
  { node: result, from, to }: TransposedAxes,
  sharedBytes: number,
): number[] {
  const own = new Set(index.flatMap((part) => [...atomsOf(part)]));
  const strides = loadStrides(result, isLoaded);
  let bytes = 0;
  return loadsOf(space, result, index, isLoaded).flatMap(({ node, index: at, isGated }, position) => {
    // An index that is itself loaded is not known beforehand, and under a gate it may be out of range.
    const isKnown = at.every((part) => [...atomsOf(part)].every((atom) => own.has(atom)));
    const each = strides[position];
    const isStrided = Math.abs(each[from]) === 1 && Math.abs(each[to]) >= FAR;
    const more = squareBytes(node);
    if (!isKnown || isGated || !isStrided || bytes + more > sharedBytes) return [];
    bytes += more;
    return [position];
  });
}

/** Computes squares on a CPU. They overlap at the edges and store the same elements twice, so no bounds are tested. */
function throughCache(group: Group, axes: TransposedAxes, name: string, settings: ElementSettings): LoweredKernel {
  const { node: result, from, to } = axes;
  const [sourceExtent, resultExtent] = [result.shape[from], result.shape[to]];
  const { rows, at } = squares(axes, 1);
  const k = new KernelBuilder(`${name} transposed`, rows);
  k.isRepeating = true;
  const lowering = new Lowering(k, group, settings);
  const i = (value: number) => k.constant("i32", value);
  const { sourceSquare, resultSquare, indexOf } = at(lowering, k.row);
  const extents = [Math.min(SIDE, sourceExtent), Math.min(SIDE, resultExtent)];
  const start = (square: Value, extent: number, length: number) =>
    k.binary("min", k.binary("mul", square, i(SIDE)), i(extent - length));
  const sourceStart = lowering.index(start(sourceSquare, sourceExtent, extents[0]), sourceExtent - extents[0] + 1);
  const resultStart = lowering.index(start(resultSquare, resultExtent, extents[1]), resultExtent - extents[1] + 1);
  const target = lowering.slotOf(group.results[0].node, true);
  const [line, column] = [lowering.variable("line", extents[0]), lowering.variable("column", extents[1])];
  lowering.loop(line, extents[0], [], () => {
    lowering.loop(column, extents[1], [], () => {
      const index = indexOf(plus(sourceStart, line), plus(resultStart, column));
      const { value } = lowering.element(result, index);
      k.store(target, lowering.indexValue(ravel(index, result.shape)), value, false);
      return [];
    });
    return [];
  });
  return { kernel: k.finish(), buffers: lowering.buffers };
}
