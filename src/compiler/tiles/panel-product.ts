/**
 * A product of matrices on a CPU, as in Goto and van de Geijn (2008). A thread computes a tile of the result. It copies the
 * parts of the operands that it needs next into private memory, in the order in which they will be read: panels of a few
 * rows of the left operand, panels of a few vectors of the right one. The sums of a few rows and vectors stay in registers
 * along a panel. Operands are read like any element, so movement, casts and cheap operations are fused into the copy.
 *
 * A product whose rows are reduced (FusedProduct.reductions) is computed as its transpose, so that the lanes of a vector are neighbouring
 * rows: see panel-row-results.ts.
 *
 * Tiles are whole: at the edges of the matrix they overlap, and an element in two tiles is computed and stored twice, to the
 * same value. No bounds are tested, and everything is a vector.
 */
import { constantExpr, type IndexExpr, add as plus, scale, unravel } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { Lowering } from "../lower/lowering.js";
import type { FusedProduct, Group, LoweredKernel } from "../schedule/group.js";
import { loadStrides, splitAxes } from "../schedule/loads.js";
import type { PanelTile } from "../target/tile-profile.js";
import { type ProductArithmetic, productArithmetic } from "./arithmetic.js";
import { RowSums } from "./panel-row-results.js";
import { storeElements } from "./product-result.js";
import { aboveDiagonal, halfOfTiles } from "./symmetric-product.js";

/** Numbers of 4 bytes in a line of a cache. */
const LINE = 16;

/** An operand: its axis that the result has, too, and the one that is summed over. */
interface Operand {
  readonly node: Node;
  readonly line: 1 | 2;
  readonly step: 1 | 2;
}

/** A panel product in the making: the tile's sizes, the kernel, and its arrays. */
interface PanelKernel {
  readonly k: KernelBuilder;
  readonly lowering: Lowering;
  readonly group: Group;
  readonly arithmetic: ProductArithmetic;
  /** Of the product, or of its transpose where rows are reduced. */
  readonly tile: PanelTile;
  readonly operands: readonly [left: Operand, right: Operand];
  /** Rows and columns whose sums are in registers at once. */
  readonly microRows: number;
  readonly microColumns: number;
  readonly rowPanels: number;
  readonly columnPanels: number;
  /** The batch, the first row and the first column of the tile. */
  readonly atBatch: IndexExpr;
  readonly firstRow: IndexExpr;
  readonly firstColumn: IndexExpr;
  readonly lane: IndexExpr;
  /** Whether panels of the left operand hold row after row, as its memory does, and not step after step. */
  readonly isLeftByRow: boolean;
  /** Arrays of the packed operands. */
  readonly left: number;
  readonly right: number;
  /** Array of partial sums; null where one block covers the whole summation. */
  readonly partialSums: number | null;
  /** The sums of columns whose rows are reduced; null where every element is stored. */
  readonly rowSums: RowSums | null;
}

export function lowerPanelProduct(
  group: Group,
  tile: PanelTile,
  name: string,
  settings: ElementSettings,
): LoweredKernel {
  const { dot } = group.product as FusedProduct;
  const depth = dot.inputs[0].shape[2];
  const panels = startKernel(group, tile, name, settings);
  const { k, lowering, partialSums } = panels;
  const panelDepth = Math.min(tile.depth, depth);
  const wholeBlocks = Math.floor(depth / panelDepth);
  const rest = depth % panelDepth;
  const copies = [leftCopy(panels), rightCopy(panels)] as const;

  if (partialSums === null) addBlock(panels, copies, constantExpr(0), depth);
  else {
    clearSums(panels, partialSums);
    loop(lowering, "block", wholeBlocks, (block) => addBlock(panels, copies, scale(block, panelDepth), panelDepth));
    if (rest > 0) addBlock(panels, copies, constantExpr(wholeBlocks * panelDepth), rest);
    storeSums(panels, partialSums);
  }
  return { kernel: k.finish(), buffers: lowering.buffers };
}

/** Declares the kernel, the place of its tile and its arrays. */
function startKernel(group: Group, given: PanelTile, name: string, settings: ElementSettings): PanelKernel {
  const { dot, reductions } = group.product as FusedProduct;
  const [batch, , depth] = dot.inputs[0].shape;
  const tile = reductions ? { ...given, rows: given.columns, columns: given.rows } : given;
  const operands = operandsOf(dot, reductions !== undefined);
  const [m, n] = operands.map(({ node, line }) => node.shape[line]);
  const { rows, columns, lanes } = tile;
  const [microRows, vectors] = tile.micro;
  const microColumns = vectors * lanes;
  const [rowTiles, columnTiles] = [Math.ceil(m / rows), Math.ceil(n / columns)];
  const tiles = tile.isHalf ? halfOfTiles(rowTiles) : rowTiles * columnTiles;
  const k = new KernelBuilder(name, batch * tiles, lanes);
  k.isRepeating = true;
  // Lanes have rows of their own: none shares the reductions of a row with another.
  const lowering = new Lowering(k, reductions ? { ...group, rowsPerThread: columns } : group, settings);
  const arithmetic = productArithmetic(k, lowering, dot.dtype);

  const row = lowering.bind("row", k.rows, k.row);
  const [atBatch, at] = unravel(lowering.space, row, [batch, tiles]);
  const [tileRow, tileColumn] = tile.isHalf
    ? aboveDiagonal(lowering, k, at, rowTiles)
    : unravel(lowering.space, at, [rowTiles, columnTiles]);
  const firstRow = startOf(lowering, k, tileRow, rows, m, lanes);
  const firstColumn = startOf(lowering, k, tileColumn, columns, n, lanes);
  const lane = lowering.bind("lane", lanes, k.lane);

  const panelDepth = Math.min(tile.depth, depth);
  const [rowPanels, columnPanels] = [Math.ceil(rows / microRows), Math.ceil(columns / microColumns)];
  const left = k.array(arithmetic.type, rowPanels * panelPitch(microRows, panelDepth));
  const right = k.array(arithmetic.type, columnPanels * panelPitch(microColumns, panelDepth));
  const sums = rowPanels * microRows * columnPanels * microColumns;
  const partialSums = depth > tile.depth ? k.array(arithmetic.type, sums) : null;
  const isLoaded = (node: Node) => lowering.isLoaded(node);
  const [{ node: leftNode, step }] = operands;
  const isLeftByRow = loadStrides(leftNode, isLoaded).some((each) => Math.abs(each[step]) === 1);
  const rowSums = reductions ? new RowSums({ k, lowering, group, arithmetic, atBatch, lane }, m, vectors) : null;
  const place = { atBatch, firstRow, firstColumn, lane, isLeftByRow };
  const micro = { microRows, microColumns, rowPanels, columnPanels };
  return { k, lowering, group, arithmetic, tile, operands, ...micro, ...place, left, right, partialSums, rowSums };
}

/** The operands of a product, or of its transpose: that of the transposed operands in the other order. */
function operandsOf({ inputs: [a, b] }: Node, isTransposed: boolean): readonly [left: Operand, right: Operand] {
  const [first, second] = [{ node: a, line: 1, step: 2 } as const, { node: b, line: 2, step: 1 } as const];
  return isTransposed ? [second, first] : [first, second];
}

/** The index of an element of an operand. */
const elementAt = ({ atBatch }: PanelKernel, { line: axis }: Operand, line: IndexExpr, step: IndexExpr) =>
  axis === 1 ? [atBatch, line, step] : [atBatch, step, line];

/**
 * Where a tile of an axis or a panel of a tile begins; the last one begins early enough to be whole. Where they begin at whole vectors, the
 * expression says so: loads and stores there may then be vectors.
 */
function startOf(
  lowering: Lowering,
  k: KernelBuilder,
  at: IndexExpr,
  size: number,
  extent: number,
  lanes: number,
): IndexExpr {
  if (extent % size === 0) return scale(at, size);
  const step = size % lanes === 0 && extent % lanes === 0 ? lanes : 1;
  const last = (extent - size) / step;
  const first = k.binary("min", times(k, lowering.indexValue(at), size / step), k.constant("i32", last));
  return scale(lowering.index(first, last + 1), step);
}

/** Elements from one panel to the next. Without the extra line, panels would share cache sets and displace one another. */
const panelPitch = (width: number, length: number): number => width * length + LINE;

const offset = (k: KernelBuilder, base: Value, by: number): Value => k.binary("add", base, k.constant("i32", by));

const times = (k: KernelBuilder, value: Value, by: number): Value => k.binary("mul", value, k.constant("i32", by));

/** A loop whose body takes its index as an expression and as a value. */
function loop(lowering: Lowering, name: string, extent: number, body: (at: IndexExpr, value: Value) => void): void {
  const variable = lowering.variable(name, extent);
  lowering.loop(variable, extent, [], () => {
    body(variable, lowering.indexValue(variable));
    return [];
  });
}

/** Two loops, one inside the other. An index that depends on the outer one alone is computed there. */
function nest(
  lowering: Lowering,
  [outer, inner]: readonly (readonly [name: string, extent: number])[],
  body: (outer: IndexExpr, inner: IndexExpr) => void,
): void {
  loop(lowering, ...outer, (x) => loop(lowering, ...inner, (y) => body(x, y)));
}

/** The first row or column of a panel, counted from that of the tile. */
const panelStart = ({ k, lowering, tile }: PanelKernel, panel: IndexExpr, width: number, extent: number): IndexExpr =>
  startOf(lowering, k, panel, width, extent, tile.lanes);

/** Copies `length` steps of the summation of an operand, from `from` on, into its panels. */
type PanelCopy = (from: IndexExpr, length: number) => void;

/** Elements from one row of a left panel to the next, and from one step of the summation to the next. */
const leftStrides = ({ isLeftByRow, microRows }: PanelKernel, length: number): readonly [row: number, step: number] =>
  isLeftByRow ? [length, 1] : [1, microRows];

/** Packs the left operand: in vectors along the summation where that axis is contiguous in memory, else one by one. */
function leftCopy(panels: PanelKernel): PanelCopy {
  const { k, lowering, arithmetic, tile, microRows, firstRow, lane, left } = panels;
  const [operand] = panels.operands;
  const split = splitAxes(operand.node, (node: Node) => lowering.isLoaded(node));
  const step = panels.isLeftByRow ? tile.lanes : 1;
  return (from, length) => {
    const [rowStride, stepStride] = leftStrides(panels, length);
    const copy = (panel: IndexExpr, at: IndexExpr) => {
      const place = lowering.indexValue(plus(scale(panel, panelPitch(microRows, length)), scale(at, stepStride)));
      const first = plus(firstRow, panelStart(panels, panel, microRows, tile.rows));
      for (let r = 0; r < microRows; r++) {
        const index = elementAt(panels, operand, plus(first, constantExpr(r)), plus(from, at));
        k.set(left, offset(k, place, r * rowStride), arithmetic.enter(lowering.element(operand.node, index)));
      }
    };
    const whole = Math.floor(length / step);
    const overPanels = ["panel", panels.rowPanels] as const;
    const steps = ["along", whole] as const;
    const at = (along: IndexExpr) => (step > 1 ? plus(scale(along, tile.lanes), lane) : along);
    if (split[operand.step] && !split[operand.line])
      nest(lowering, [steps, overPanels], (along, panel) => copy(panel, at(along)));
    else nest(lowering, [overPanels, steps], (panel, along) => copy(panel, at(along)));
    for (let rest = whole * step; rest < length; rest++) {
      loop(lowering, ...overPanels, (panel) => copy(panel, constantExpr(rest)));
    }
  };
}

/** Packs the right operand, in vectors along its rows. */
function rightCopy(panels: PanelKernel): PanelCopy {
  const { k, lowering, arithmetic, tile, microColumns, firstColumn, lane, right } = panels;
  const { lanes, columns } = tile;
  const [, operand] = panels.operands;
  const split = splitAxes(operand.node, (node: Node) => lowering.isLoaded(node));
  return (from, length) => {
    const copy = (panel: IndexExpr, along: IndexExpr) => {
      const pitch = panelPitch(microColumns, length);
      const place = lowering.indexValue(plus(scale(panel, pitch), scale(along, microColumns)));
      const first = plus(firstColumn, panelStart(panels, panel, microColumns, columns));
      for (let v = 0; v < tile.micro[1]; v++) {
        const inPanel = plus(constantExpr(v * lanes), lane);
        const index = elementAt(panels, operand, plus(first, inPanel), plus(from, along));
        const to = k.binary("add", offset(k, place, v * lanes), k.lane);
        k.set(right, to, arithmetic.enter(lowering.element(operand.node, index)));
      }
    };
    const overPanels = ["panel", panels.columnPanels] as const;
    const steps = ["along", length] as const;
    if (split[operand.line]) nest(lowering, [overPanels, steps], copy);
    else nest(lowering, [steps, overPanels], (along, panel) => copy(panel, along));
  };
}

/** Packs the operands of one block of the summation and adds its products, pair of panels by pair. */
function addBlock(
  panels: PanelKernel,
  [copyLeft, copyRight]: readonly [PanelCopy, PanelCopy],
  from: IndexExpr,
  length: number,
): void {
  const { k, arithmetic, microRows, microColumns, partialSums } = panels;
  copyRight(from, length);
  copyLeft(from, length);
  eachPair(panels, (pair) => {
    const leftPlace = times(k, pair.rowPanelValue, panelPitch(microRows, length));
    const rightPlace = k.binary("add", times(k, pair.columnPanelValue, panelPitch(microColumns, length)), k.lane);
    const initial = Array.from({ length: sumsOf(panels) }, (_, at) =>
      partialSums === null ? arithmetic.zero : k.get(partialSums, sumPlace(panels, pair.place, at)),
    );
    const sums = addPanels(panels, leftPlace, rightPlace, length, initial);
    if (partialSums === null) storePair(panels, pair, sums);
    else for (const [at, sum] of sums.entries()) k.set(partialSums, sumPlace(panels, pair.place, at), sum);
  });
}

/** Adds the products along two panels to sums. */
function addPanels(
  panels: PanelKernel,
  leftPlace: Value,
  rightPlace: Value,
  length: number,
  sums: readonly Value[],
): readonly Value[] {
  const { k, arithmetic, tile, microRows, microColumns, left, right } = panels;
  const vectors = tile.micro[1];
  const [rowStride, stepStride] = leftStrides(panels, length);
  // One step per round: V8 unrolls the loop itself. Given several steps, it loads all operands first and spills them.
  return k.loop(length, sums, (at, totals) => {
    const fromLeft = k.binary("add", leftPlace, times(k, at, stepStride));
    const fromRight = k.binary("add", rightPlace, times(k, at, microColumns));
    const columnsAt = Array.from({ length: vectors }, (_, v) => k.get(right, offset(k, fromRight, v * tile.lanes)));
    return Array.from({ length: microRows }, (_, r) => {
      const x = k.get(left, offset(k, fromLeft, r * rowStride));
      return columnsAt.map((y, v) => arithmetic.step(x, y, totals[r * vectors + v]));
    }).flat();
  });
}

/** A panel of rows and a panel of columns: where they begin in the product, their numbers, and where the partial sums of the pair begin. */
interface PanelPair {
  readonly firstRow: IndexExpr;
  readonly firstColumn: IndexExpr;
  readonly rowPanelValue: Value;
  readonly columnPanelValue: Value;
  readonly place: Value;
}

/** Of a product that is computed by half, pairs below the diagonal are left out. */
function eachPair(panels: PanelKernel, body: (pair: PanelPair) => void): void {
  const { k, lowering, tile, microRows, microColumns, rowPanels } = panels;
  loop(lowering, "column panel", panels.columnPanels, (columnPanel, columnPanelValue) => {
    loop(lowering, "row panel", rowPanels, (rowPanel, rowPanelValue) => {
      const which = k.binary("add", times(k, columnPanelValue, rowPanels), rowPanelValue);
      const pair: PanelPair = {
        firstRow: plus(panels.firstRow, panelStart(panels, rowPanel, microRows, tile.rows)),
        firstColumn: columnOf(panels, columnPanel),
        rowPanelValue,
        columnPanelValue,
        place: times(k, which, microRows * microColumns),
      };
      if (!tile.isHalf) return body(pair);
      const past = plus(pair.firstColumn, constantExpr(microColumns));
      k.when(k.compare("lt", lowering.indexValue(pair.firstRow), lowering.indexValue(past)), () => {
        body(pair);
        return [];
      });
    });
    panels.rowSums?.reduce(columnOf(panels, columnPanel));
  });
}

/** The first column of a panel in the product. */
const columnOf = (panels: PanelKernel, columnPanel: IndexExpr): IndexExpr =>
  plus(panels.firstColumn, panelStart(panels, columnPanel, panels.microColumns, panels.tile.columns));

/** Vectors of sums in a pair of panels. */
const sumsOf = ({ microRows, tile }: PanelKernel): number => microRows * tile.micro[1];

const sumPlace = ({ k, tile }: PanelKernel, place: Value, at: number): Value =>
  k.binary("add", offset(k, place, at * tile.lanes), k.lane);

function clearSums(panels: PanelKernel, partialSums: number): void {
  eachPair(panels, ({ place }) => {
    for (let at = 0; at < sumsOf(panels); at++) {
      panels.k.set(partialSums, sumPlace(panels, place, at), panels.arithmetic.zero);
    }
  });
}

function storeSums(panels: PanelKernel, partialSums: number): void {
  eachPair(panels, (pair) => {
    const sums = Array.from({ length: sumsOf(panels) }, (_, at) =>
      panels.k.get(partialSums, sumPlace(panels, pair.place, at)),
    );
    storePair(panels, pair, sums);
  });
}

/** Stores the finished sums of a pair of panels; those of a product that is computed by half on both sides of the diagonal. */
function storePair(panels: PanelKernel, { firstRow, firstColumn }: PanelPair, sums: readonly Value[]): void {
  const { k, lowering, group, arithmetic, tile, microRows, atBatch, rowSums } = panels;
  const vectors = tile.micro[1];
  if (rowSums) {
    rowSums.keep(firstRow, sums);
    return;
  }
  for (let r = 0; r < microRows; r++) {
    for (let v = 0; v < vectors; v++) {
      const row = plus(firstRow, constantExpr(r));
      const column = plus(firstColumn, plus(constantExpr(v * tile.lanes), panels.lane));
      const sum = sums[r * vectors + v];
      storeElements(k, lowering, group, arithmetic, [{ index: [atBatch, row, column], sum, gate: null }]);
      if (!tile.isHalf) continue;
      storeElements(k, lowering, group, arithmetic, [{ index: [atBatch, column, row], sum, gate: null }]);
    }
  }
}
