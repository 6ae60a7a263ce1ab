/**
 * A product of matrices on a CPU, as in Goto and van de Geijn (2008). A thread computes a tile of the result. It copies the
 * parts of the operands that it needs next into memory of its own, in the order in which they will be read: of the left one
 * in panels of a few rows, of the right one in panels of a few vectors. The sums of a few rows and vectors stay in
 * registers along a panel. Operands are read like any element, so movement, casts and cheap operations are done on the way.
 *
 * Tiles are whole: at the edges of the matrix they overlap, and what is in two of them is computed and stored twice, to the
 * same value. Nothing has to be tested, and everything is a vector.
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
import { productArithmetic } from "./arithmetic.js";
import { storeElements } from "./product-result.js";

/** Numbers of 4 bytes in a line of a cache. */
const LINE = 16;

export function lowerPanelProduct(
  group: Group,
  tile: PanelTile,
  name: string,
  settings: ElementSettings,
): LoweredKernel {
  const { dot } = group.product as FusedProduct;
  const [a, b] = dot.inputs;
  const [batch, m, depth] = a.shape;
  const n = b.shape[2];
  const { rows, columns, lanes } = tile;
  const [microRows, vectors] = tile.micro;
  const microColumns = vectors * lanes;
  const [tilesDown, tilesAcross] = [Math.ceil(m / rows), Math.ceil(n / columns)];
  const k = new KernelBuilder(name, batch * tilesDown * tilesAcross, lanes);
  k.isRepeating = true;
  const lowering = new Lowering(k, group, settings);
  const arithmetic = productArithmetic(k, lowering, dot.dtype);
  const { space } = lowering;
  const i = (value: number) => k.constant("i32", value);
  const offset = (base: Value, by: number) => k.binary("add", base, i(by));
  const times = (value: Value, by: number) => k.binary("mul", value, i(by));

  const row = lowering.bind("row", k.rows, k.row);
  const [atBatch, down, across] = unravel(space, row, [batch, tilesDown, tilesAcross]);
  // Where tiles begin at whole vectors, that is to be seen: what is loaded and stored there may be vectors, too.
  const start = (at: IndexExpr, size: number, extent: number) => {
    if (extent % size === 0) return scale(at, size);
    const step = size % lanes === 0 && extent % lanes === 0 ? lanes : 1;
    const last = (extent - size) / step;
    const first = k.binary("min", times(lowering.indexValue(at), size / step), i(last));
    return scale(lowering.index(first, last + 1), step);
  };
  const [firstRow, firstColumn] = [start(down, rows, m), start(across, columns, n)];
  const lane = lowering.bind("lane", lanes, k.lane);

  const blocks = Math.ceil(depth / tile.depth);
  const panelDepth = Math.min(tile.depth, depth);
  // Panels begin at different places of a cache's sets, or they would displace one another while they are copied.
  const pitch = (width: number, length: number) => width * length + LINE;
  const left = k.array(arithmetic.type, (rows / microRows) * pitch(microRows, panelDepth));
  const right = k.array(arithmetic.type, (columns / microColumns) * pitch(microColumns, panelDepth));
  // Sums wait here while the next parts of the operands are copied.
  const waiting = blocks > 1 ? k.array(arithmetic.type, rows * columns) : null;

  /** A loop whose body takes its index as an expression and as a value. */
  const loop = (name: string, extent: number, body: (at: IndexExpr, value: Value) => void) => {
    const variable = lowering.variable(name, extent);
    lowering.loop(variable, extent, [], () => {
      body(variable, lowering.indexValue(variable));
      return [];
    });
  };

  const isLoaded = (node: Node) => lowering.isLoaded(node);
  /** Two loops, the one inside the other. What depends on the outer one alone is computed there. */
  const nest = (
    [outer, inner]: readonly (readonly [name: string, extent: number])[],
    body: (outer: IndexExpr, inner: IndexExpr) => void,
  ) => loop(...outer, (x) => loop(...inner, (y) => body(x, y)));

  // The left operand: lanes are neighbours along the summation where those are neighbours in memory, or else one by one.
  const isAlongSum = loadStrides(a, isLoaded).some((each) => Math.abs(each[2]) === 1);
  const leftSplit = splitAxes(a, isLoaded);
  const copyLeft = (from: IndexExpr, length: number) => {
    const copy = (panel: IndexExpr, at: IndexExpr) => {
      const place = lowering.indexValue(plus(scale(panel, pitch(microRows, length)), scale(at, microRows)));
      for (let r = 0; r < microRows; r++) {
        const index = [atBatch, plus(firstRow, plus(scale(panel, microRows), constantExpr(r))), plus(from, at)];
        k.set(left, offset(place, r), arithmetic.enter(lowering.element(a, index)));
      }
    };
    const step = isAlongSum ? lanes : 1;
    const whole = Math.floor(length / step);
    const panels = ["panel", rows / microRows] as const;
    const steps = ["along", whole] as const;
    const at = (along: IndexExpr) => (step > 1 ? plus(scale(along, lanes), lane) : along);
    if (leftSplit[2] && !leftSplit[1]) nest([steps, panels], (along, panel) => copy(panel, at(along)));
    else nest([panels, steps], (panel, along) => copy(panel, at(along)));
    for (let rest = whole * step; rest < length; rest++) loop(...panels, (panel) => copy(panel, constantExpr(rest)));
  };

  /** The right operand: lanes are neighbours along a row of it. */
  const rightSplit = splitAxes(b, isLoaded);
  const copyRight = (from: IndexExpr, length: number) => {
    const copy = (panel: IndexExpr, along: IndexExpr) => {
      const place = lowering.indexValue(plus(scale(panel, pitch(microColumns, length)), scale(along, microColumns)));
      for (let v = 0; v < vectors; v++) {
        const inPanel = plus(constantExpr(v * lanes), lane);
        const index = [atBatch, plus(from, along), plus(firstColumn, plus(scale(panel, microColumns), inPanel))];
        const to = k.binary("add", offset(place, v * lanes), k.lane);
        k.set(right, to, arithmetic.enter(lowering.element(b, index)));
      }
    };
    const panels = ["panel", columns / microColumns] as const;
    const steps = ["along", length] as const;
    if (rightSplit[2]) nest([panels, steps], copy);
    else nest([steps, panels], (along, panel) => copy(panel, along));
  };

  /** Adds the products along two panels to sums. */
  const addPanels = (leftPlace: Value, rightPlace: Value, length: number, sums: readonly Value[]): readonly Value[] => {
    const step = (fromLeft: Value, fromRight: Value, totals: readonly Value[]) => {
      const columnsAt = Array.from({ length: vectors }, (_, v) => k.get(right, offset(fromRight, v * lanes)));
      return Array.from({ length: microRows }, (_, r) => {
        const x = k.get(left, offset(fromLeft, r));
        return columnsAt.map((y, v) => arithmetic.step(x, y, totals[r * vectors + v]));
      }).flat();
    };
    // One step per round: V8 unrolls by itself, and of several steps it would load all operands first, and spill them.
    return k.loop(length, sums, (at, totals) => {
      const fromLeft = k.binary("add", leftPlace, times(at, microRows));
      const fromRight = k.binary("add", rightPlace, times(at, microColumns));
      return step(fromLeft, fromRight, totals);
    });
  };

  const store = (downPanel: IndexExpr, acrossPanel: IndexExpr, sums: readonly Value[]) => {
    for (let r = 0; r < microRows; r++) {
      for (let v = 0; v < vectors; v++) {
        const rowIndex = plus(firstRow, plus(scale(downPanel, microRows), constantExpr(r)));
        const inPanel = plus(constantExpr(v * lanes), lane);
        const columnIndex = plus(firstColumn, plus(scale(acrossPanel, microColumns), inPanel));
        const element = { index: [atBatch, rowIndex, columnIndex], sum: sums[r * vectors + v], gate: null };
        storeElements(k, lowering, group, arithmetic, [element]);
      }
    }
  };

  /** Every pair of panels. */
  const eachPair = (
    body: (pair: {
      downAt: IndexExpr;
      acrossAt: IndexExpr;
      downValue: Value;
      acrossValue: Value;
      place: Value;
    }) => void,
  ) => {
    loop("across", columns / microColumns, (acrossAt, acrossValue) => {
      loop("down", rows / microRows, (downAt, downValue) => {
        const which = k.binary("add", times(acrossValue, rows / microRows), downValue);
        body({ downAt, acrossAt, downValue, acrossValue, place: times(which, microRows * microColumns) });
      });
    });
  };
  const wait = (place: Value, at: number): Value => k.binary("add", offset(place, at * lanes), k.lane);
  const count = microRows * vectors;

  const addBlock = (from: IndexExpr, length: number) => {
    copyRight(from, length);
    copyLeft(from, length);
    eachPair(({ downAt, acrossAt, downValue, acrossValue, place }) => {
      const leftPlace = times(downValue, pitch(microRows, length));
      const rightPlace = k.binary("add", times(acrossValue, pitch(microColumns, length)), k.lane);
      const initial = Array.from({ length: count }, (_, at) =>
        waiting === null ? arithmetic.zero : k.get(waiting, wait(place, at)),
      );
      const sums = addPanels(leftPlace, rightPlace, length, initial);
      if (waiting === null) store(downAt, acrossAt, sums);
      else for (const [at, sum] of sums.entries()) k.set(waiting, wait(place, at), sum);
    });
  };

  if (waiting !== null) {
    eachPair(({ place }) => {
      for (let at = 0; at < count; at++) k.set(waiting, wait(place, at), arithmetic.zero);
    });
  }
  const wholeBlocks = Math.floor(depth / panelDepth);
  if (blocks === 1) addBlock(constantExpr(0), depth);
  else loop("block", wholeBlocks, (block) => addBlock(scale(block, panelDepth), panelDepth));
  if (blocks > 1 && depth % panelDepth > 0) addBlock(constantExpr(wholeBlocks * panelDepth), depth % panelDepth);
  if (waiting !== null) {
    eachPair(({ downAt, acrossAt, place }) => {
      const sums = Array.from({ length: count }, (_, at) => k.get(waiting, wait(place, at)));
      store(downAt, acrossAt, sums);
    });
  }
  return { kernel: k.finish(), buffers: lowering.buffers };
}
