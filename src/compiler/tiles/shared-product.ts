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
import { blockOf, productOrder } from "./product-order.js";
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
 * read the fewest different elements. Each four of them are 2 rows of 2, so that neighbours share an element of one operand, and
 * neighbouring pairs one of the other: f64 made 20.1 instead of 19.3 TFLOP/s on an H200.
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
  const [pair, couple] = [pairIn(stack), pairIn(side)];
  const extents = [laneRows / stack, laneColumns / side, stack / pair, side / couple, pair, couple];
  const [blockRow, blockColumn, rowPair, columnPair, inRows, inColumns] = unravel(lowering.space, lane, extents);
  const row = plus(scale(plus(scale(blockRow, stack / pair), rowPair), pair), inRows);
  const column = plus(scale(plus(scale(blockColumn, side / couple), columnPair), couple), inColumns);
  const laneRow = lowering.indexValue(scale(row, rowsTogether));
  const laneColumn = lowering.indexValue(scale(column, columnsTogether));
  return { lane, laneRow, laneColumn };
}

/** The lanes of a pair along an axis with so many of them; 1 where they do not make pairs. */
const pairIn = (lanes: number): 1 | 2 => (lanes % 2 === 0 ? 2 : 1);

/** A lane's sums, row by row, and its place in the tiles of both operands. */
interface LaneSums {
  readonly initial: readonly Value[];
  readonly laneRow: Value;
  readonly laneColumn: Value;
}

/** Sums over all tiles of the summation. While a tile is multiplied, the next one is loaded. */
function sumTiles(kernel: SharedKernel, steps: number, laneRow: Value, laneColumn: Value): readonly Value[] {
  const { k, arithmetic, tile, left, right } = kernel;
  const first = k.constant("i32", 0);
  const [leftStart, rightStart] = [left.load(first), right.load(first)];
  left.write(leftStart, first);
  right.write(rightStart, first);
  k.barrier();
  const [perRow, perColumn] = tile.perLane;
  const sums: LaneSums = { initial: new Array<Value>(perRow * perColumn).fill(arithmetic.zero), laneRow, laneColumn };
  if (steps === 1) return addTile(kernel, left.base(first, laneRow), right.base(first, laneColumn), sums.initial);
  return tile.buffers === 2 ? sumInTwoBuffers(kernel, steps, sums) : sumInOneBuffer(kernel, steps, sums);
}

/** The tiles after those of a step. The last step loads its own again and does not use them: that is cheaper than a branch. */
function loadNext({ k, left, right }: SharedKernel, now: Value, steps: number) {
  const next = k.binary("min", k.binary("add", now, k.constant("i32", 1)), k.constant("i32", steps - 1));
  const loaded = [left.load(next), right.load(next)] as const;
  return {
    /** Writes them to a buffer. */
    writeTo(buffer: Value): void {
      left.write(loaded[0], buffer);
      right.write(loaded[1], buffer);
    },
  };
}

function sumInOneBuffer(kernel: SharedKernel, steps: number, { initial, laneRow, laneColumn }: LaneSums) {
  const { k, lowering, left, right } = kernel;
  const only = k.constant("i32", 0);
  const step = lowering.space.variable("step", steps);
  return lowering.loop(step, steps, initial, (sums) => {
    const next = loadNext(kernel, lowering.indexValue(step), steps);
    const totals = addTile(kernel, left.base(only, laneRow), right.base(only, laneColumn), sums);
    k.barrier();
    next.writeTo(only);
    k.barrier();
    return totals;
  });
}

/**
 * With two buffers lanes wait once a step. They read their elements one step of the depth ahead, the first of the next tile
 * before they multiply the last of this one, so that nobody waits for shared memory after the barrier.
 */
function sumInTwoBuffers(kernel: SharedKernel, steps: number, { initial, laneRow, laneColumn }: LaneSums) {
  const { k, lowering, tile, left, right } = kernel;
  const i = (value: number) => k.constant("i32", value);
  const [perRow, perColumn] = tile.perLane;
  const elementsAt = (buffer: Value, at: number): Value[] => [
    ...left.fragments(left.base(buffer, laneRow), at, perRow),
    ...right.fragments(right.base(buffer, laneColumn), at, perColumn),
  ];
  const step = lowering.space.variable("step", steps);
  const carried = lowering.loop(step, steps, [...initial, ...elementsAt(i(0), 0)], (values) => {
    const now = lowering.indexValue(step);
    const buffer = k.binary("and", now, i(1));
    const other = k.binary("sub", i(1), buffer);
    const next = loadNext(kernel, now, steps);
    let sums: readonly Value[] = values.slice(0, initial.length);
    let elements: readonly Value[] = values.slice(initial.length);
    for (let at = 1; at <= tile.depth; at++) {
      const isLast = at === tile.depth;
      if (isLast) {
        next.writeTo(other);
        k.barrier();
      }
      const ahead = isLast ? elementsAt(other, 0) : elementsAt(buffer, at);
      sums = addProducts(kernel, elements.slice(0, perRow), elements.slice(perRow), sums);
      elements = ahead;
    }
    return [...sums, ...elements];
  });
  return carried.slice(0, initial.length);
}

/** Adds the products of one tile of each operand, from where the lane's part of it begins. */
function addTile(kernel: SharedKernel, leftBase: Value, rightBase: Value, start: readonly Value[]): readonly Value[] {
  const { k, tile, left, right } = kernel;
  const [perRow, perColumn] = tile.perLane;
  const rounds = Math.floor(tile.depth / tile.unrolled);
  const add = (from: Value | null, accumulators: readonly Value[], steps: number) => {
    const offset = (stage: Stage, base: Value) => (from ? stage.deeper(base, from) : base);
    const bases = [offset(left, leftBase), offset(right, rightBase)];
    let totals = accumulators;
    for (let at = 0; at < steps; at++) {
      const rows = left.fragments(bases[0], at, perRow);
      const columns = right.fragments(bases[1], at, perColumn);
      totals = addProducts(kernel, rows, columns, totals);
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

/** Adds the products of a lane's rows and columns to its sums. */
function addProducts(
  { arithmetic }: SharedKernel,
  rows: readonly Value[],
  columns: readonly Value[],
  sums: readonly Value[],
): readonly Value[] {
  const totals = [...sums];
  for (const [r, c] of productOrder(rows.length, columns.length, blockOf(arithmetic.type))) {
    const place = r * columns.length + c;
    totals[place] = arithmetic.step(rows[r], columns[c], sums[place]);
  }
  return totals;
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
