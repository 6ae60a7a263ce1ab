/**
 * The pivots and the elimination of a panel, in the registers of one workgroup: stepped-lu.ts, and lu.ts for small matrices, of
 * which one panel is the whole. Column by column: lanes agree on the largest number, the lane that has it offers its row to
 * the others, and all eliminate with it.
 *
 * Rows stay in their lanes, which note where LAPACK's exchanges would have put them: a pivot's row goes to the diagonal, and the
 * row that was there to where the pivot was. In the end each is stored at its place.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Num } from "../field.js";
import { stepNumber } from "../grid.js";
import type { MatrixKernel } from "../matrix-kernel.js";
import type { PanelGrid } from "../panel.js";

/** The extents of the matrices, and of the panels they are cut into. */
export interface LuShape {
  readonly m: number;
  readonly n: number;
  readonly panels: number;
  readonly grid: PanelGrid;
}

/** The place of the panel of a step among the panels of all matrices. */
export const panelOf = (kernel: MatrixKernel, matrix: Value, step: Value, { panels }: LuShape): Value =>
  kernel.add(kernel.mul(matrix, panels), step);

/** Buffers: the matrices so far; the panels, their orders of rows, the pivots; the step. */
export function luPanelKernel(kernel: MatrixKernel, shape: LuShape): Kernel {
  const { k, f } = kernel;
  const { m, n } = shape;
  const [from, columns] = [f.buffer(false), f.buffer(true)];
  const [orders, pivots] = [k.buffer("i32", true), k.buffer("i32", true)];
  const step = stepNumber(kernel);
  const { width } = shape.grid;
  const first = kernel.mul(step, width);
  const panel = new LuPanel(kernel, shape.grid, m, n, first);
  panel.load((row) => kernel.add(kernel.mul(kernel.add(kernel.mul(k.row, m), row), n), first), from);
  panel.eliminate();
  const line = kernel.mul(panelOf(kernel, k.row, step, shape), m);
  panel.eachRow((row, values, isRow, origin) => {
    const gates = values.map(() => isRow);
    f.storeMany(columns, kernel.mul(kernel.add(line, row), width), values, gates);
    k.store(orders, kernel.add(line, row), origin, false, isRow);
  });
  panel.storePivots(pivots);
  return k.finish();
}

/** Matrices of few columns, each of which is one panel. Buffers: the matrices; the factors, the pivots, the order. */
export function luAloneKernel(kernel: MatrixKernel, grid: PanelGrid, [m, n]: readonly [number, number]): Kernel {
  const { k, f } = kernel;
  const [from, lu] = [f.buffer(false), f.buffer(true)];
  const [pivots, order] = [k.buffer("i32", true), k.buffer("i32", true)];
  const line = (row: Value) => kernel.mul(kernel.add(kernel.mul(k.row, m), row), n);
  const panel = new LuPanel(kernel, grid, m, n, kernel.i(0));
  panel.load(line, from);
  panel.eliminate();
  panel.eachRow((row, values, isRow, origin) => {
    const there = values.slice(0, n);
    f.storeMany(
      lu,
      line(row),
      there,
      there.map(() => isRow),
    );
    k.store(order, kernel.add(kernel.mul(k.row, m), row), origin, false, isRow);
  });
  panel.storePivots(pivots);
  return k.finish();
}

/** A panel of the columns from `first` on, and the rows from there on. */
class LuPanel {
  private values: Num[][] = [];
  /** The lane's rows, counted from the first of the panel, and whether they are in the matrix. */
  private readonly own: readonly Value[];
  private readonly isRow: readonly Value[];
  /** The places of these rows after the exchanges so far. */
  private places: Value[];
  /** The places of pivots before their exchange, the same for all lanes. */
  private readonly pivots: Value[] = [];
  /** The rows of pivots, of two columns by turns. */
  private readonly lines;

  constructor(
    private readonly kernel: MatrixKernel,
    private readonly grid: PanelGrid,
    private readonly m: number,
    private readonly n: number,
    private readonly first: Value,
  ) {
    const { k, f } = kernel;
    const { lanes, perLane, width } = grid;
    this.own = Array.from({ length: perLane }, (_, r) => kernel.add(k.lane, r * lanes));
    this.isRow = this.own.map((at) => kernel.less(kernel.add(first, at), m));
    this.places = [...this.own];
    this.lines = f.array(2 * width);
  }

  /** Whether a column of the panel lies before `extent`; null where all do. */
  private isBefore(extent: number, column: number): Value | null {
    const { kernel, grid, first } = this;
    return extent % grid.width === 0 ? null : kernel.less(kernel.add(first, column), extent);
  }

  private both(a: Value, b: Value | null): Value {
    return b ? this.kernel.k.binary("and", a, b) : a;
  }

  /** `line`: the place in the buffer of a row's first element. */
  load(line: (row: Value) => Value, buffer: number): void {
    const { kernel, grid } = this;
    const { k, f } = kernel;
    this.values = this.own.map((at, r) => {
      const start = line(kernel.add(this.first, at));
      return Array.from({ length: grid.width }, (_, c) => {
        const gate = this.both(this.isRow[r], this.isBefore(this.n, c));
        return f.select(gate, f.load(buffer, k.select(gate, kernel.add(start, c), kernel.i(0))), f.zero);
      });
    });
  }

  eliminate(): void {
    for (let j = 0; j < this.grid.width; j++) this.column(j);
  }

  private column(j: number): void {
    const { kernel, grid } = this;
    const { k, f } = kernel;
    const pivot = this.pivotPlace(j);
    this.pivots.push(pivot);
    const isPivot = this.places.map((place) => k.compare("eq", place, pivot));
    const start = (j % 2) * grid.width;
    for (const [r, line] of this.values.entries()) {
      kernel.when(isPivot[r], () => {
        for (let c = 0; c < grid.width; c += 4) f.setMany(this.lines, kernel.i(start + c), line.slice(c, c + 4));
      });
    }
    k.barrier();
    const quads = Array.from({ length: grid.width / 4 }, (_, quad) =>
      4 * quad + 3 < j ? [] : f.getMany(this.lines, kernel.i(start + 4 * quad), 4),
    );
    const at = (c: number): Num => quads[Math.floor(c / 4)][c % 4];
    const isZero = k.compare("eq", f.size(at(j)), k.constant(f.type, 0));
    const divisor = f.select(isZero, f.one, at(j));
    this.places = this.places.map((place, r) => {
      const isTop = k.compare("eq", place, kernel.i(j));
      return k.select(isPivot[r], kernel.i(j), k.select(isTop, pivot, place));
    });
    this.values = this.values.map((line, r) => {
      const isBelow = k.compare("gt", this.places[r], kernel.i(j));
      const quotient = f.select(isBelow, f.div(line[j], divisor), f.zero);
      return line.map((value, c) => {
        if (c < j) return value;
        return c === j ? f.select(isBelow, quotient, value) : f.mulSub(quotient, at(c), value);
      });
    });
  }

  /** The place, from j on, of the row whose size is largest, the first of equal ones; NaN counts for zero. */
  private pivotPlace(j: number): Value {
    const { kernel } = this;
    const { k, f } = kernel;
    const [none, zero] = [k.constant(f.type, -1), k.constant(f.type, 0)];
    let [most, where] = [none, this.nowhere];
    for (const [r, line] of this.values.entries()) {
      const size = f.size(line[j]);
      const isLeft = k.binary("and", this.isRow[r], k.compare("ge", this.places[r], kernel.i(j)));
      const candidate = k.select(isLeft, k.select(k.compare("ge", size, zero), size, zero), none);
      const place = k.select(isLeft, this.places[r], this.nowhere);
      const isSame = k.binary("and", k.compare("eq", candidate, most), k.compare("lt", place, where));
      const isMore = k.binary("or", k.compare("gt", candidate, most), isSame);
      [most, where] = [k.select(isMore, candidate, most), k.select(isMore, place, where)];
    }
    const found = f.type === "f32" ? this.firstByKey(most, where) : this.firstBySize(most, where);
    // Beyond the matrix the row stays where it is.
    const isThere = this.isBefore(Math.min(this.m, this.n), j);
    return isThere ? k.select(isThere, found, kernel.i(j)) : found;
  }

  /** A place that no row has. */
  private get nowhere(): Value {
    return this.kernel.i(this.m + this.grid.width);
  }

  private firstBySize(most: Value, where: Value): Value {
    const { k } = this.kernel;
    const largest = k.combineLanes("max", most);
    return k.combineLanes("min", k.select(k.compare("eq", most, largest), where, this.nowhere));
  }

  /** Sizes of 32 bits and places in one word, so that lanes agree at once: larger sizes first, then smaller places. */
  private firstByKey(most: Value, where: Value): Value {
    const { k } = this.kernel;
    const last = this.nowhere;
    const isNone = k.compare("lt", most, k.constant("f32", 0));
    const size = k.convert("u64", k.bitcast("u32", k.select(isNone, k.constant("f32", 0), most)));
    const place = k.convert("u64", k.bitcast("u32", k.binary("sub", last, where)));
    const key = k.binary("or", k.binary("shl", size, k.constant("u64", 32)), place);
    const found = k.combineLanes("max", key);
    const low = k.convert("i32", k.binary("and", found, k.constant("u64", 2n ** 32n - 1n)));
    return k.binary("sub", last, low);
  }

  /** Each row with its place after the exchanges, and the place it had before. */
  eachRow(body: (row: Value, values: readonly Num[], isRow: Value, origin: Value) => void): void {
    const { kernel, first } = this;
    this.values.forEach((values, r) => {
      body(kernel.add(first, this.places[r]), values, this.isRow[r], kernel.add(first, this.own[r]));
    });
  }

  /** LAPACK's pivots. */
  storePivots(buffer: number): void {
    const { kernel, first } = this;
    const { k } = kernel;
    const least = Math.min(this.m, this.n);
    const isFirst = k.compare("eq", k.lane, kernel.i(0));
    for (const [j, pivot] of this.pivots.entries()) {
      const place = kernel.add(kernel.mul(k.row, least), kernel.add(first, j));
      k.store(buffer, place, kernel.add(first, pivot), false, this.both(isFirst, this.isBefore(least, j)));
    }
  }
}
