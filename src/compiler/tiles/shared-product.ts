/**
 * A product of matrices on a GPU. A workgroup computes a tile of the result. It loads tiles of both operands into memory
 * that its lanes share, as many columns of one and rows of the other as the tile is deep; each lane multiplies its part of
 * them in registers, while the next ones arrive. Operands are read like any element, so that transposes, slices, windows,
 * casts and cheap operations are done on the way.
 *
 * The tile of 128×128 with 8×8 elements per lane is the one everybody ends up with (Volkov and Demmel 2008; CUTLASS): a
 * lane then multiplies four times for each number it reads.
 */
import { constantExpr, type IndexExpr, add as plus, scale, unravel } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { Lowering } from "../lower/lowering.js";
import type { FusedProduct, Group, LoweredKernel } from "../schedule/group.js";
import { loadStrides } from "../schedule/loads.js";
import type { SharedTile } from "../target/tile-profile.js";
import { type ProductArithmetic, productArithmetic } from "./arithmetic.js";
import { lanesOf, pitchOf, wideBytes } from "./plan.js";
import { storeElements } from "./product-result.js";

/** Tiles of a column of tiles that follow one another: workgroups at work at the same time then share operands. */
const STRIP = 8;

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
  const [tilesDown, tilesAcross] = [Math.ceil(m / tile.rows), Math.ceil(n / tile.columns)];
  const k = new KernelBuilder(name, batch * tilesDown * tilesAcross, lanes);
  const lowering = new Lowering(k, group, settings);
  const arithmetic = productArithmetic(k, lowering, dot.dtype);
  const i = (value: number) => k.constant("i32", value);
  const { space } = lowering;

  const row = lowering.bind("row", k.rows, k.row);
  const strip = tilesDown % STRIP === 0 ? STRIP : 1;
  const [atBatch, atStrip, across, inStrip] = unravel(space, row, [batch, tilesDown / strip, tilesAcross, strip]);
  const firstRow = lowering.indexValue(scale(plus(scale(atStrip, strip), inStrip), tile.rows));
  const firstColumn = lowering.indexValue(scale(across, tile.columns));

  // Of 32 lanes that work in step, 8 lie side by side and 4 below one another: they read the fewest different numbers.
  const [laneRows, laneColumns] = [tile.rows / tile.perLane[0], tile.columns / tile.perLane[1]];
  const side = Math.min(8, laneColumns);
  const stack = Math.min(32 / side, laneRows);
  const lane = lowering.bind("lane", lanes, k.lane);
  const [blockDown, blockAcross, down, aside] = unravel(space, lane, [
    laneRows / stack,
    laneColumns / side,
    stack,
    side,
  ]);
  const laneRow = lowering.indexValue(scale(plus(scale(blockDown, stack), down), width));
  const laneColumn = lowering.indexValue(scale(plus(scale(blockAcross, side), aside), width));

  const stage = (node: Node, rows: number, extent: number, first: Value, at: StagedOperand["at"]): Stage => {
    const operand: StagedOperand = { node, rows, extent, first, at };
    return new Stage(k, lowering, arithmetic, operand, tile, depth, lanes, width, lane);
  };
  const left = stage(a, tile.rows, m, firstRow, (x, at) => [atBatch, x, at]);
  const right = stage(b, tile.columns, n, firstColumn, (x, at) => [atBatch, at, x]);

  const steps = Math.ceil(depth / tile.depth);
  const first = i(0);
  const [leftStart, rightStart] = [left.load(first), right.load(first)];
  left.keep(leftStart, i(0));
  right.keep(rightStart, i(0));
  k.barrier();

  const [perRow, perColumn] = tile.perLane;
  const initial = new Array<Value>(perRow * perColumn).fill(arithmetic.zero);
  /** Adds what one tile of each operand has to add, from where the lane's part of it begins. */
  const addTile = (leftBase: Value, rightBase: Value, start: readonly Value[]): readonly Value[] => {
    const rounds = tile.depth / tile.unrolled;
    const add = (from: Value | null, accumulators: readonly Value[]) => {
      const offset = (stage: Stage, base: Value) => (from ? stage.deeper(base, from) : base);
      const bases = [offset(left, leftBase), offset(right, rightBase)];
      let totals = accumulators;
      for (let at = 0; at < tile.unrolled; at++) {
        const rows = left.fragments(bases[0], at, perRow);
        const columns = right.fragments(bases[1], at, perColumn);
        totals = totals.map((sum, place) => {
          const [r, c] = [Math.floor(place / perColumn), place % perColumn];
          return arithmetic.step(rows[r], columns[c], sum);
        });
      }
      return totals;
    };
    if (rounds === 1) return add(null, start);
    return k.loop(rounds, start, (round, totals) => add(k.binary("mul", round, i(tile.unrolled)), totals));
  };

  const step = space.variable("step", steps);
  const sums = lowering.loop(step, steps, initial, (accumulators) => {
    const now = lowering.indexValue(step);
    const which = tile.buffers === 2 ? k.binary("and", now, i(1)) : i(0);
    // The last round loads its own tile again, which nobody uses: that takes no test.
    const next = k.binary("min", k.binary("add", now, i(1)), i(steps - 1));
    const [leftNext, rightNext] = steps > 1 ? [left.load(next), right.load(next)] : [[], []];
    const totals = addTile(left.base(which, laneRow), right.base(which, laneColumn), accumulators);
    if (steps > 1) {
      if (tile.buffers === 1) k.barrier();
      const other = tile.buffers === 2 ? k.binary("sub", i(1), which) : which;
      left.keep(leftNext, other);
      right.keep(rightNext, other);
      k.barrier();
    }
    return totals;
  });

  const corner = [k.binary("add", firstRow, laneRow), k.binary("add", firstColumn, laneColumn)] as const;
  storeTile({ k, lowering, group, arithmetic, tile, width, atBatch, corner, sums });
  return { kernel: k.finish(), buffers: lowering.buffers };
}

interface FinishedTile {
  readonly k: KernelBuilder;
  readonly lowering: Lowering;
  readonly group: Group;
  readonly arithmetic: ProductArithmetic;
  readonly tile: SharedTile;
  readonly width: number;
  readonly atBatch: IndexExpr;
  /** The row and the column of the lane's first element. */
  readonly corner: readonly [Value, Value];
  readonly sums: readonly Value[];
}

/** Stores a lane's part of the tile, as far as the result reaches. */
function storeTile({ k, lowering, group, arithmetic, tile, width, atBatch, corner, sums }: FinishedTile): void {
  const { dot } = group.product as FusedProduct;
  const [, m, n] = dot.shape;
  const [perRow, perColumn] = tile.perLane;
  const i = (value: number) => k.constant("i32", value);
  // Fragments of `width` neighbours lie as far apart as there are lanes to have one each.
  const place = (base: Value, at: number, lanesAlong: number): Value =>
    k.binary("add", base, i(Math.floor(at / width) * lanesAlong * width));
  const isBelow = (value: Value, extent: number) => k.compare("lt", value, i(extent));
  const both = (x: Value | null, y: Value | null) => (x && y ? k.binary("and", x, y) : (x ?? y));
  const isVector = n % width === 0;
  for (let r = 0; r < perRow; r++) {
    const rowAt = k.binary("add", place(corner[0], r, tile.rows / perRow), i(r % width));
    const rowIndex = lowering.index(rowAt, m);
    const isRow = m % tile.rows === 0 ? null : isBelow(rowAt, m);
    for (let fragment = 0; fragment < perColumn; fragment += width) {
      const columnAt = place(corner[1], fragment, tile.columns / perColumn);
      const isFragment = n % tile.columns === 0 || !isVector ? null : isBelow(columnAt, n);
      const fragmentIndex = isVector ? lowering.index(columnAt, n - width + 1) : null;
      const elements = Array.from({ length: width }, (_, c) => {
        const at = k.binary("add", columnAt, i(c));
        const index = fragmentIndex ? plus(fragmentIndex, constantExpr(c)) : lowering.index(at, n);
        const isColumn = isVector ? isFragment : isBelow(at, n);
        return {
          index: [atBatch, rowIndex, index],
          sum: sums[r * perColumn + fragment + c],
          gate: both(isRow, isColumn),
        };
      });
      storeElements(k, lowering, group, arithmetic, elements);
    }
  }
}

interface StagedOperand {
  readonly node: Node;
  /** Rows of the tile, if the operand is on the left, or columns. */
  readonly rows: number;
  /** All there are. */
  readonly extent: number;
  /** The first of the tile. */
  readonly first: Value;
  /** The index of the operand, from the one along the tile and the one along the summation. */
  readonly at: (along: IndexExpr, summed: IndexExpr) => readonly IndexExpr[];
}

/** An operand on its way into shared memory: lanes load units of one element or of `width` neighbours. */
class Stage {
  private readonly array: number;
  private readonly depth: number;
  private readonly pitch: number;
  /** Neighbours in memory are neighbours along the summation. */
  private readonly isAlongSum: boolean;
  private readonly unit: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly lowering: Lowering,
    private readonly arithmetic: ProductArithmetic,
    private readonly operand: StagedOperand,
    { depth, buffers }: SharedTile,
    private readonly summed: number,
    private readonly lanes: number,
    private readonly width: number,
    private readonly lane: IndexExpr,
  ) {
    this.depth = depth;
    this.pitch = pitchOf(operand.rows);
    this.array = k.array(arithmetic.type, buffers * depth * this.pitch);
    const isLoaded = (node: Node) => lowering.isLoaded(node);
    const [one, zero] = [1, 0].map(constantExpr);
    // Which of the operand's axes each of the two is.
    const axisOf = (expression: IndexExpr) => operand.at(expression, zero).indexOf(expression);
    const along = axisOf(one);
    const strides = loadStrides(operand.node, isLoaded);
    const other = 3 - along;
    const votes = (axis: number) => strides.filter((each) => Math.abs(each[axis]) === 1).length;
    this.isAlongSum = votes(other) > votes(along);
    const [extent, axis] = this.isAlongSum ? [summed, other] : [operand.extent, along];
    // A vector must not reach beyond the axis, nor begin anywhere but at a multiple of its width.
    const isRegular = strides.every((each) =>
      each.every((stride, i) => (i === axis ? stride === 1 || stride === 0 : stride % width === 0)),
    );
    this.unit = extent % width === 0 && isRegular ? width : 1;
  }

  /** The elements this lane loads of the tile at a step of the summation. */
  load(step: Value): Value[][] {
    const { k, lowering, operand, depth, unit, lanes, isAlongSum } = this;
    const { space } = lowering;
    const i = (value: number) => k.constant("i32", value);
    const units = (operand.rows * depth) / unit;
    const perLine = (isAlongSum ? depth : operand.rows) / unit;
    const start = k.binary("mul", step, i(depth));
    const isDepthWhole = this.summed % depth === 0;
    const loaded: Value[][] = [];
    for (let done = 0; done < units; done += lanes) {
      const which = plus(this.lane, constantExpr(done));
      const inLine = lowering.indexValue(scale(space.remainder(which, perLine), unit));
      const line = lowering.indexValue(space.quotient(which, perLine));
      const along = k.binary("add", operand.first, isAlongSum ? line : inLine);
      const sum = k.binary("add", start, isAlongSum ? inLine : line);
      const gates: Value[] = [];
      if (operand.extent % operand.rows !== 0) gates.push(k.compare("lt", along, i(operand.extent)));
      if (units % lanes !== 0) gates.push(k.compare("lt", lowering.indexValue(which), i(units)));
      const isSummed = isDepthWhole ? null : k.compare("lt", sum, i(this.summed));
      if (isSummed) gates.push(isSummed);
      const gate = gates.length > 0 ? gates.reduce((x, y) => k.binary("and", x, y)) : null;
      const alongIndex = lowering.index(along, operand.extent - (isAlongSum ? 0 : unit - 1));
      const sumIndex = lowering.index(sum, this.summed - (isAlongSum ? unit - 1 : 0));
      loaded.push(
        Array.from({ length: unit }, (_, c) => {
          const at = isAlongSum
            ? operand.at(alongIndex, plus(sumIndex, constantExpr(c)))
            : operand.at(plus(alongIndex, constantExpr(c)), sumIndex);
          const value = this.arithmetic.enter(lowering.element(operand.node, at, gate));
          // What is beyond the summation must not count; what is beyond the result is not stored.
          return isSummed ? k.select(isSummed, value, this.arithmetic.zero) : value;
        }),
      );
    }
    return loaded;
  }

  /** Puts what was loaded into one of the tiles there is memory for. */
  keep(loaded: readonly (readonly Value[])[], which: Value): void {
    const { k, lowering, operand, depth, unit, lanes, isAlongSum, pitch } = this;
    const i = (value: number) => k.constant("i32", value);
    const { space } = lowering;
    const units = (operand.rows * depth) / unit;
    const perLine = (isAlongSum ? depth : operand.rows) / unit;
    const base = k.binary("mul", which, i(depth * pitch));
    loaded.forEach((values, pass) => {
      const number = plus(this.lane, constantExpr(pass * lanes));
      const inLine = scale(space.remainder(number, perLine), unit);
      const line = space.quotient(number, perLine);
      const place = isAlongSum ? plus(line, scale(inLine, pitch)) : plus(inLine, scale(line, pitch));
      const at = k.binary("add", base, lowering.indexValue(place));
      const gate = units % lanes === 0 ? null : k.compare("lt", lowering.indexValue(number), i(units));
      if (!isAlongSum && unit === this.width) k.setMany(this.array, at, values, gate);
      else {
        const distance = isAlongSum ? pitch : 1;
        for (const [c, value] of values.entries()) k.set(this.array, k.binary("add", at, i(c * distance)), value, gate);
      }
    });
  }

  /** Where a lane's part of one of these tiles begins. */
  base(which: Value, lanePlace: Value): Value {
    const { k } = this;
    return k.binary("add", k.binary("mul", which, k.constant("i32", this.depth * this.pitch)), lanePlace);
  }

  /** The same, that many places further along the summation. */
  deeper(base: Value, by: Value): Value {
    const { k } = this;
    return k.binary("add", base, k.binary("mul", by, k.constant("i32", this.pitch)));
  }

  /** A lane's part at one place of the summation. */
  fragments(base: Value, at: number, count: number): Value[] {
    const { k, width, pitch, operand } = this;
    const distance = (operand.rows / count) * width;
    return Array.from({ length: count / width }, (_, f) => {
      const place = k.binary("add", base, k.constant("i32", at * pitch + f * distance));
      return k.getMany(this.array, place, width);
    }).flat();
  }
}
