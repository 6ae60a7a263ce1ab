/**
 * Results whose neighbours come from far apart: a transposed matrix, read row by row, takes one number of every row of its
 * source. Such a result is made square by square. On a GPU a workgroup loads a square the way it lies in memory, and
 * stores it the other way, with shared memory in between; on a CPU a square fits the cache.
 *
 * Only the loads that lie badly go through shared memory; whatever else the result is computed from is computed as ever.
 */

import { DTYPES } from "../../core/dtype.js";
import { atomsOf, constantExpr, type IndexExpr, add as plus, ravel, unravel } from "../../core/index-expr.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { computeType, type ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { Lowering } from "../lower/lowering.js";
import type { Group, LoweredKernel, TransposedAxes } from "../schedule/group.js";
import { type FoundLoad, loadStrides, loadsOf } from "../schedule/loads.js";
import { FAR, LANES } from "../schedule/transposed-axes.js";

/** The side of a square. On a GPU (H200) 32 moves 3.7 TB/s; with 64, vectors meet in the same banks, and it is 1.3. */
const SIDE = 32;
/** Elements a lane moves at once. */
const UNIT = 4;
/** Bytes of shared memory for a square, of one more column than it has: or all of a column were in the same bank. */
const squareBytes = ({ dtype }: Node): number => SIDE * (SIDE + 1) * Math.max(4, DTYPES[dtype].bytes);

export function lowerTransposed(group: Group, name: string, settings: ElementSettings): LoweredKernel {
  const axes = group.transposed as TransposedAxes;
  return axes.sharedBytes !== null
    ? throughSharedMemory(group, axes, axes.sharedBytes, name, settings)
    : throughCache(group, axes, name, settings);
}

/** The squares of a result: which the row of a kernel is, and the index of its elements. */
function squares({ node: { shape }, from, to }: TransposedAxes) {
  const others = shape.map((_, axis) => axis).filter((axis) => axis !== from && axis !== to);
  const counts = [Math.ceil(shape[from] / SIDE), Math.ceil(shape[to] / SIDE)];
  const extents = [...others.map((axis) => shape[axis]), ...counts];
  return {
    rows: productOf(extents),
    /** Which square a row is, along each of the two axes, and the index of an element of it. */
    at: (lowering: Lowering, row: Value) => {
      const parts = unravel(lowering.space, lowering.bind("row", productOf(extents), row), extents);
      const [along, across] = parts.slice(-2).map((part) => lowering.indexValue(part));
      const indexOf = (alongAt: IndexExpr, acrossAt: IndexExpr) =>
        shape.map((_, axis) => (axis === from ? alongAt : axis === to ? acrossAt : parts[others.indexOf(axis)]));
      return { along, across, indexOf };
    },
  };
}

function throughSharedMemory(
  group: Group,
  axes: TransposedAxes,
  sharedBytes: number,
  name: string,
  settings: ElementSettings,
): LoweredKernel {
  const { node: result, from, to } = axes;
  const [alongExtent, acrossExtent] = [result.shape[from], result.shape[to]];
  const { rows, at } = squares(axes);
  const k = new KernelBuilder(`${name} transposed`, rows, LANES);
  const lowering = new Lowering(k, group, settings);
  const i = (value: number) => k.constant("i32", value);
  const { along, across, indexOf } = at(lowering, k.row);
  const isLoaded = (node: Node) => lowering.isLoaded(node);
  const pitch = SIDE + 1;
  const perLine = SIDE / UNIT;
  const lane = lowering.bind("lane", LANES, k.lane);
  const inLine = k.binary("mul", lowering.indexValue(lowering.space.remainder(lane, perLine)), i(UNIT));
  const line = lowering.indexValue(lowering.space.quotient(lane, perLine));
  const passes = SIDE / (LANES / perLine);
  const start = (square: Value) => k.binary("mul", square, i(SIDE));
  const below = (value: Value, extent: number) => (extent % SIDE === 0 ? null : k.compare("lt", value, i(extent)));
  const both = (x: Value | null, y: Value | null) => (x && y ? k.binary("and", x, y) : (x ?? y));

  /** The units of a lane, whose elements are neighbours along one of the axes: its place in the square, and the index. */
  const units = (isAlong: boolean) =>
    Array.from({ length: passes }, (_, pass) => {
      const inSquare = k.binary("add", line, i((pass * LANES) / perLine));
      const [alongAt, acrossAt] = isAlong
        ? [k.binary("add", start(along), inLine), k.binary("add", start(across), inSquare)]
        : [k.binary("add", start(along), inSquare), k.binary("add", start(across), inLine)];
      const isWhole = (isAlong ? alongExtent : acrossExtent) % UNIT === 0;
      const unitStart = isAlong ? alongAt : acrossAt;
      const unitExtent = isAlong ? alongExtent : acrossExtent;
      const lineIndex = isAlong ? lowering.index(acrossAt, acrossExtent) : lowering.index(alongAt, alongExtent);
      const isLine = isAlong ? below(acrossAt, acrossExtent) : below(alongAt, alongExtent);
      const first = isWhole ? lowering.index(unitStart, unitExtent - UNIT + 1) : null;
      const isUnit = isWhole ? below(unitStart, unitExtent) : null;
      const elements = Array.from({ length: UNIT }, (_, c) => {
        const place = k.binary("add", unitStart, i(c));
        const index = first ? plus(first, constantExpr(c)) : lowering.index(place, unitExtent);
        const gate = both(isLine, isWhole ? isUnit : below(place, unitExtent));
        const [x, y] = [k.binary("add", inLine, i(c)), inSquare];
        // Neighbours along the source lie side by side in shared memory, those along the result a line apart.
        const kept = isAlong
          ? k.binary("add", k.binary("mul", y, i(pitch)), x)
          : k.binary("add", k.binary("mul", x, i(pitch)), y);
        return { at: isAlong ? indexOf(index, lineIndex) : indexOf(lineIndex, index), gate, kept };
      });
      return elements;
    });

  const sourceUnits = units(true);
  const [probe] = sourceUnits[0];
  const which = badLoads(lowering, probe.at, isLoaded, axes, sharedBytes);
  const source = (index: readonly IndexExpr[]): FoundLoad[] => {
    const loads = loadsOf(lowering.space, result, index, isLoaded);
    return which.map((position) => loads[position]);
  };
  const arrays = source(probe.at).map(({ node }) => k.array(computeType(node.dtype), SIDE * pitch));
  for (const elements of sourceUnits) {
    const values = elements.map(({ at: index, gate }) =>
      source(index).map((load) => lowering.element(load.node, load.index, gate).value),
    );
    elements.forEach(({ kept }, c) => {
      arrays.forEach((array, which) => {
        k.set(array, kept, values[c][which]);
      });
    });
  }
  k.barrier();
  const target = lowering.slotOf(group.results[0].node, true);
  for (const elements of units(false)) {
    const stores = elements.map(({ at: index, gate, kept }) => {
      source(index).forEach((load, which) => {
        const element = { dtype: load.node.dtype, value: k.get(arrays[which], kept) };
        lowering.provide(load.node, load.index, element);
      });
      const { value } = lowering.element(result, index, gate);
      return { to: lowering.indexValue(ravel(index, result.shape)), value, gate };
    });
    for (const { to: place, value, gate } of stores) k.store(target, place, value, false, gate);
  }
  return { kernel: k.finish(), buffers: lowering.buffers };
}

/** The loads that go through shared memory, as far as it reaches, by their position among those of an element. */
function badLoads(
  lowering: Lowering,
  index: readonly IndexExpr[],
  isLoaded: (node: Node) => boolean,
  { node: result, from, to }: TransposedAxes,
  sharedBytes: number,
): number[] {
  const own = new Set(index.flatMap((part) => [...atomsOf(part)]));
  const strides = loadStrides(result, isLoaded);
  let bytes = 0;
  return loadsOf(lowering.space, result, index, isLoaded).flatMap(({ node, index: at, isGated }, position) => {
    // An index that is itself loaded is not known beforehand, and under a gate it may be out of range.
    const isKnown = at.every((part) => [...atomsOf(part)].every((atom) => own.has(atom)));
    const each = strides[position];
    const isBad = Math.abs(each[from]) === 1 && Math.abs(each[to]) >= FAR;
    const more = squareBytes(node);
    if (!isKnown || isGated || !isBad || bytes + more > sharedBytes) return [];
    bytes += more;
    return [position];
  });
}

/** Squares that overlap at the edges, where they write the same twice: nothing has to be tested. */
function throughCache(group: Group, axes: TransposedAxes, name: string, settings: ElementSettings): LoweredKernel {
  const { node: result, from, to } = axes;
  const [alongExtent, acrossExtent] = [result.shape[from], result.shape[to]];
  const { rows, at } = squares(axes);
  const k = new KernelBuilder(`${name} transposed`, rows);
  k.isRepeating = true;
  const lowering = new Lowering(k, group, settings);
  const i = (value: number) => k.constant("i32", value);
  const { along, across, indexOf } = at(lowering, k.row);
  const extents = [Math.min(SIDE, alongExtent), Math.min(SIDE, acrossExtent)];
  const start = (square: Value, extent: number, length: number) =>
    k.binary("min", k.binary("mul", square, i(SIDE)), i(extent - length));
  const alongStart = lowering.index(start(along, alongExtent, extents[0]), alongExtent - extents[0] + 1);
  const acrossStart = lowering.index(start(across, acrossExtent, extents[1]), acrossExtent - extents[1] + 1);
  const target = lowering.slotOf(group.results[0].node, true);
  const [down, aside] = [lowering.variable("down", extents[0]), lowering.variable("aside", extents[1])];
  lowering.loop(down, extents[0], [], () => {
    lowering.loop(aside, extents[1], [], () => {
      const index = indexOf(plus(alongStart, down), plus(acrossStart, aside));
      const { value } = lowering.element(result, index);
      k.store(target, lowering.indexValue(ravel(index, result.shape)), value, false);
      return [];
    });
    return [];
  });
  return { kernel: k.finish(), buffers: lowering.buffers };
}
