/** From a fused group of the graph to one kernel: its rows and columns, and what is written of each. */
import {
  add as addIndex,
  constantExpr,
  type IndexExpr,
  type IndexSpace,
  scale,
  unravel,
} from "../../core/index-expr.js";
import { productOf } from "../../core/shape.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Statement } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { Group, GroupResult, LoweredKernel } from "../schedule/group.js";
import { type Batch, placesOf } from "./lane-walk.js";
import { Lowering } from "./lowering.js";
import type { Wanted } from "./row-reductions.js";

/**
 * Values in a kernel above which it is written without repeating its body: drivers would take long to compile it, and what
 * is always computed should fit the instruction cache.
 */
const MAX_SIZE = { all: 8000, always: 2500 } as const;

export function lowerGroup(group: Group, name: string, settings: ElementSettings): LoweredKernel {
  const lowered = lower(group, name, settings);
  const { size, body } = lowered.kernel;
  const isShort = size <= MAX_SIZE.all && countAlways(body) <= MAX_SIZE.always;
  if (isShort || !lowered.isRepeated) return lowered;
  return lower(
    { ...group, rowsPerThread: 1, tiling: { ...group.tiling, unroll: 1, elementsPerLane: 0 } },
    name,
    settings,
  );
}

/** Values that are computed whatever branches are taken. */
function countAlways(statements: readonly Statement[]): number {
  return statements.reduce((sum, statement) => sum + (statement.kind === "loop" ? countAlways(statement.body) : 1), 0);
}

/** `isRepeated`: parts of the body may have been written several times, side by side. */
function lower(
  group: Group,
  name: string,
  settings: ElementSettings,
): LoweredKernel & { readonly isRepeated: boolean } {
  const { results, rowsPerThread, tiling } = group;
  const rows = productOf(rowShapeOf(results[0])) / rowsPerThread;
  const k = new KernelBuilder(name, rows, tiling.lanes);
  const lowering = new Lowering(k, group, settings);
  const thread = lowering.bind("row", rows, k.row);
  const wanted = results.map((result) => wantedOf(lowering.space, result));
  if (rowsPerThread > 1) {
    const first = addIndex(scale(thread, rowsPerThread), lowering.lane);
    const neighbours: Batch = {
      count: rowsPerThread / tiling.lanes,
      at: (i) => addIndex(first, scale(i, tiling.lanes)),
    };
    lowering.shareReductions(wanted, placesOf(neighbours));
    const ofRows = wanted.map(({ node, at }) => ({ node, at: (row: IndexExpr) => at(row, constantExpr(0)) }));
    lowering.store(ofRows, neighbours, null, false);
  } else {
    lowering.shareReductions(wanted, [thread]);
    const ofRow = wanted.filter((result) => result.columns === null);
    const whole = ofRow.map(({ node, at }) => ({ node, at: (row: IndexExpr) => at(row, constantExpr(0)) }));
    lowering.store(whole, { count: 1, at: () => thread }, null, true);
    for (const columns of new Set(wanted.map((result) => result.columns))) {
      if (columns === null) continue;
      const ofColumns = wanted
        .filter((result) => result.columns === columns)
        .map(({ node, at }) => ({ node, at: (column: IndexExpr) => at(thread, column) }));
      lowering.overColumns(columns, (batch, gate) => lowering.store(ofColumns, batch, gate, false));
    }
  }
  // A result without elements is never written, but has its place among the buffers.
  for (const { node } of results) lowering.slotOf(node, true);
  const isRepeated = rowsPerThread > 1 || lowering.hasWalked;
  return { kernel: k.finish(), buffers: lowering.buffers, isRepeated };
}

const rowShapeOf = ({ node, rowAxes }: GroupResult): number[] => rowAxes.map((axis) => node.shape[axis]);

function wantedOf(space: IndexSpace, result: GroupResult): Wanted {
  const { node, rowAxes } = result;
  const columnAxes = node.shape.map((_, axis) => axis).filter((axis) => !rowAxes.includes(axis));
  const columnShape = columnAxes.map((axis) => node.shape[axis]);
  return {
    node,
    columns: columnAxes.length === 0 ? null : productOf(columnShape),
    at: (row, column) => {
      const rowIndex = unravel(space, row, rowShapeOf(result));
      const columnIndex = unravel(space, column, columnShape);
      return node.shape.map((_, axis) => {
        const at = rowAxes.indexOf(axis);
        return at >= 0 ? rowIndex[at] : columnIndex[columnAxes.indexOf(axis)];
      });
    },
  };
}
