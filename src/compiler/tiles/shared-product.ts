/**
 * A matrix product on a GPU. A workgroup computes a tile of the result. It loads tiles of both operands, `depth` steps of the
 * summation, into shared memory; each lane multiplies its part of them in registers while the next tiles are loaded.
 * Operands are read like any element, so transposes, slices, windows, casts and cheap operations are fused into the loads.
 *
 * Tiles of 128×128 with 8×8 elements per lane are the usual choice (Volkov and Demmel 2008; CUTLASS): a lane then multiplies
 * four times for each number it reads.
 */
import { constantExpr, type IndexExpr, add as plus, scale, unravel } from "../../core/index-expr.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { Lowering } from "../lower/lowering.js";
import type { FusedProduct, Group, LoweredKernel } from "../schedule/group.js";
import { lanesOf, wideBytes } from "../target/shared-tile.js";
import type { SharedTile } from "../target/tile-profile.js";
import { type ProductArithmetic, productArithmetic } from "./arithmetic.js";
import { storeElements } from "./product-result.js";
import { storeRowResults } from "./row-results.js";
import { Stage, type StagedOperand } from "./staged-operand.js";
import { aboveDiagonal, halfOfTiles } from "./symmetric-product.js";

/** Consecutive workgroups take this many tiles of one column of tiles: those running at the same time then share operands. */
const STRIP = 8;

/** A shared product in the making. */
interface SharedKernel {
  readonly k: KernelBuilder;
  readonly lowering: Lowering;
  readonly group: Group;
  readonly arithmetic: ProductArithmetic;
  readonly tile: SharedTile;
  /** Neighbouring rows and columns of a lane: a vector of 16 bytes, or one column. */
  readonly neighbours: readonly [rows: number, columns: number];
  readonly left: Stage;
  readonly right: Stage;
}

export function lowerSharedProduct(
  group: Group,
  tile: SharedTile,
  name: string,
  settings: ElementSettings,
): LoweredKernel {
  const { dot } = group.product as FusedProduct;
  const [a, b] = dot.inputs;
  const [batch, m, depth] = a.shape;
  const n = b.shape[2];
  const width = 16 / wideBytes(dot.dtype);
  const lanes = lanesOf(tile);
  const tiles = { batch, rowTiles: Math.ceil(m / tile.rows), columnTiles: Math.ceil(n / tile.columns) };
  const count = tile.isHalf ? halfOfTiles(tiles.rowTiles) : tiles.rowTiles * tiles.columnTiles;
  const k = new KernelBuilder(name, batch * count, lanes);
  const lowering = new Lowering(k, group, settings);
  const arithmetic = productArithmetic(k, lowering, dot.dtype);
  const { atBatch, firstRow, firstColumn } = tileOrigin(k, lowering, tile, tiles);
  const neighbours = [width, tile.isSpread ? 1 : width] as const;
  const { lane, laneRow, laneColumn } = laneOrigin(k, lowering, tile, neighbours);

  const stage = (side: 0 | 1, rows: number, extent: number, first: Value, at: StagedOperand["at"]): Stage => {
    const operand: StagedOperand = { node: dot.inputs[side], rows, extent, first, neighbours: neighbours[side], at };
    return new Stage(k, lowering, arithmetic, operand, tile, depth, lanes, width, lane);
  };
  const left = stage(0, tile.rows, m, firstRow, (x, at) => [atBatch, x, at]);
  const right = stage(1, tile.columns, n, firstColumn, (x, at) => [atBatch, at, x]);
  const kernel: SharedKernel = { k, lowering, group, arithmetic, tile, neighbours, left, right };

  const sums = sumTiles(kernel, Math.ceil(depth / tile.depth), laneRow, laneColumn);
  const corner = [k.binary("add", firstRow, laneRow), k.binary("add", firstColumn, laneColumn)] as const;
  if (group.product?.reductions) storeRows(kernel, atBatch, [laneRow, laneColumn], firstRow, sums);
  else storeTile(kernel, atBatch, corner, sums);
  if (tile.isHalf) {
    k.when(k.compare("ne", firstRow, firstColumn), () => {
      storeTile(kernel, atBatch, corner, sums, true);
      return [];
    });
  }
  return { kernel: k.finish(), buffers: lowering.buffers };
}

/** The workgroup's tile: its batch, and its first row and column. */
function tileOrigin(
  k: KernelBuilder,
  lowering: Lowering,
  tile: SharedTile,
  { batch, rowTiles, columnTiles }: { readonly batch: number; readonly rowTiles: number; readonly columnTiles: number },
) {
  const row = lowering.bind("row", k.rows, k.row);
  const origin = (atBatch: IndexExpr, tileRow: IndexExpr, tileColumn: IndexExpr) => ({
    atBatch,
    firstRow: lowering.indexValue(scale(tileRow, tile.rows)),
    firstColumn: lowering.indexValue(scale(tileColumn, tile.columns)),
  });
  if (tile.isHalf) {
    const [atBatch, at] = unravel(lowering.space, row, [batch, halfOfTiles(rowTiles)]);
    return origin(atBatch, ...aboveDiagonal(lowering, k, at, rowTiles));
  }
  const strip = rowTiles % STRIP === 0 ? STRIP : 1;
  const [atBatch, atStrip, column, inStrip] = unravel(lowering.space, row, [
    batch,
    rowTiles / strip,
    columnTiles,
    strip,
  ]);
  return origin(atBatch, plus(scale(atStrip, strip), inStrip), column);
}

/**
 * The lane's first row and column in the tile. 32 lanes that run in lockstep are arranged as 4 rows of 8: together they then
 * read the fewest different elements.
 */
function laneOrigin(
  k: KernelBuilder,
  lowering: Lowering,
  tile: SharedTile,
  [rowsTogether, columnsTogether]: SharedKernel["neighbours"],
) {
  const [laneRows, laneColumns] = [tile.rows / tile.perLane[0], tile.columns / tile.perLane[1]];
  const side = Math.min(8, laneColumns);
  const stack = Math.min(32 / side, laneRows);
  const lane = lowering.bind("lane", lanesOf(tile), k.lane);
  const blocks = [laneRows / stack, laneColumns / side, stack, side];
  const [blockRow, blockColumn, rowInBlock, columnInBlock] = unravel(lowering.space, lane, blocks);
  const laneRow = lowering.indexValue(scale(plus(scale(blockRow, stack), rowInBlock), rowsTogether));
  const laneColumn = lowering.indexValue(scale(plus(scale(blockColumn, side), columnInBlock), columnsTogether));
  return { lane, laneRow, laneColumn };
}

/** Sums over all tiles of the summation. While a tile is multiplied, the next one is loaded. */
function sumTiles(kernel: SharedKernel, steps: number, laneRow: Value, laneColumn: Value): readonly Value[] {
  const { k, lowering, arithmetic, tile, left, right } = kernel;
  const i = (value: number) => k.constant("i32", value);
  const first = i(0);
  const [leftStart, rightStart] = [left.load(first), right.load(first)];
  left.write(leftStart, i(0));
  right.write(rightStart, i(0));
  k.barrier();
  const [perRow, perColumn] = tile.perLane;
  const initial = new Array<Value>(perRow * perColumn).fill(arithmetic.zero);
  const step = lowering.space.variable("step", steps);
  return lowering.loop(step, steps, initial, (accumulators) => {
    const now = lowering.indexValue(step);
    const which = tile.buffers === 2 ? k.binary("and", now, i(1)) : i(0);
    // The last round loads its own tile again and does not use it. That is cheaper than a branch.
    const next = k.binary("min", k.binary("add", now, i(1)), i(steps - 1));
    const [leftNext, rightNext] = steps > 1 ? [left.load(next), right.load(next)] : [[], []];
    const totals = addTile(kernel, left.base(which, laneRow), right.base(which, laneColumn), accumulators);
    if (steps > 1) {
      if (tile.buffers === 1) k.barrier();
      const other = tile.buffers === 2 ? k.binary("sub", i(1), which) : which;
      left.write(leftNext, other);
      right.write(rightNext, other);
      k.barrier();
    }
    return totals;
  });
}

/** Adds the products of one tile of each operand, from where the lane's part of it begins. */
function addTile(
  { k, arithmetic, tile, left, right }: SharedKernel,
  leftBase: Value,
  rightBase: Value,
  start: readonly Value[],
): readonly Value[] {
  const [perRow, perColumn] = tile.perLane;
  const rounds = Math.floor(tile.depth / tile.unrolled);
  const add = (from: Value | null, accumulators: readonly Value[], steps: number) => {
    const offset = (stage: Stage, base: Value) => (from ? stage.deeper(base, from) : base);
    const bases = [offset(left, leftBase), offset(right, rightBase)];
    let totals = accumulators;
    for (let at = 0; at < steps; at++) {
      const rows = left.fragments(bases[0], at, perRow);
      const columns = right.fragments(bases[1], at, perColumn);
      totals = totals.map((sum, place) => {
        const [r, c] = [Math.floor(place / perColumn), place % perColumn];
        return arithmetic.step(rows[r], columns[c], sum);
      });
    }
    return totals;
  };
  const from = (round: Value) => k.binary("mul", round, k.constant("i32", tile.unrolled));
  const looped =
    rounds === 1
      ? add(null, start, tile.unrolled)
      : k.loop(rounds, start, (round, totals) => add(from(round), totals, tile.unrolled));
  const rest = tile.depth % tile.unrolled;
  return rest === 0 ? looped : add(k.constant("i32", tile.depth - rest), looped, rest);
}

/**
 * Stores a lane's part of the tile, without elements outside the result. `corner` is its first element. `isTurned`: as a part of the
 * tile across the diagonal, row by row there as well.
 */
function storeTile(
  { k, lowering, group, arithmetic, tile, neighbours }: SharedKernel,
  atBatch: IndexExpr,
  corner: readonly [row: Value, column: Value],
  sums: readonly Value[],
  isTurned = false,
): void {
  const { dot } = group.product as FusedProduct;
  const i = (value: number) => k.constant("i32", value);
  const axis = (which: 0 | 1) => {
    const [extent, whole] = [dot.shape[1 + which], [tile.rows, tile.columns][which]];
    const [count, together] = [tile.perLane[which], neighbours[which]];
    const at = (place: number): Value =>
      k.binary("add", corner[which], i(fragmentOffset(place, whole / count, together)));
    const gate = (value: Value) => (extent % whole === 0 ? null : k.compare("lt", value, i(extent)));
    return { extent, count, together, at, gate };
  };
  const [rows, columns] = isTurned ? [axis(1), axis(0)] : [axis(0), axis(1)];
  const both = (x: Value | null, y: Value | null) => (x && y ? k.binary("and", x, y) : (x ?? y));
  const width = columns.together;
  const isVector = columns.extent % width === 0;
  for (let r = 0; r < rows.count; r++) {
    const rowAt = k.binary("add", rows.at(r), i(r % rows.together));
    const rowIndex = lowering.index(rowAt, rows.extent);
    const isRow = rows.gate(rowAt);
    for (let fragment = 0; fragment < columns.count; fragment += width) {
      const columnAt = columns.at(fragment);
      const isFragment = isVector ? columns.gate(columnAt) : null;
      const fragmentIndex = isVector ? lowering.index(columnAt, columns.extent - width + 1) : null;
      const elements = Array.from({ length: width }, (_, c) => {
        const at = k.binary("add", columnAt, i(c));
        const index = fragmentIndex ? plus(fragmentIndex, constantExpr(c)) : lowering.index(at, columns.extent);
        const isColumn = isVector ? isFragment : k.compare("lt", at, i(columns.extent));
        const [row, column] = isTurned ? [fragment + c, r] : [r, fragment + c];
        return {
          index: [atBatch, rowIndex, index],
          sum: sums[row * tile.perLane[1] + column],
          gate: both(isRow, isColumn),
        };
      });
      storeElements(k, lowering, group, arithmetic, elements);
    }
  }
}

/** Where a lane's fragment begins: lanes take fragments of neighbours in turn, one of each lane beside it in between. */
const fragmentOffset = (at: number, lanesAlong: number, together: number): number =>
  Math.floor(at / together) * lanesAlong * together;

/** Reduces the rows of the tile, which holds all their columns, and stores what is made of them. */
function storeRows(
  { k, lowering, group, arithmetic, tile, neighbours }: SharedKernel,
  atBatch: IndexExpr,
  [laneRow, laneColumn]: readonly [row: Value, column: Value],
  firstRow: Value,
  sums: readonly Value[],
): void {
  const [perRow, perColumn] = tile.perLane;
  const i = (value: number) => k.constant("i32", value);
  const places = (first: Value, count: number, lanesAlong: number, together: number): Value[] =>
    Array.from({ length: count }, (_, at) =>
      k.binary("add", first, i(fragmentOffset(at, lanesAlong, together) + (at % together))),
    );
  const rows = places(laneRow, perRow, tile.rows / perRow, neighbours[0]).map((inTile) => ({
    inTile,
    at: k.binary("add", firstRow, inTile),
  }));
  const columns = places(laneColumn, perColumn, tile.columns / perColumn, neighbours[1]);
  const aside = k.binary("idiv", laneColumn, i(neighbours[1]));
  storeRowResults(k, lowering, group, arithmetic, tile, { atBatch, rows, columns, aside, sums });
}
