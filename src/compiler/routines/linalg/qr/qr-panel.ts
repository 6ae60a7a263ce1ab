/**
 * The Householder reflections of a panel, in the registers of one workgroup, and the triangle of their compact form I - V T Vᴴ
 * (Schreiber and Van Loan 1989): stepped-qr.ts. A lane has whole rows of the panel.
 *
 * For each column, lanes sum up its products with all columns at once: with itself and those behind it, from which the
 * reflection and its effect follow, and with the vectors before it, which the triangle needs.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Num } from "../field.js";
import { stepNumber } from "../grid.js";
import { LaneTotals } from "../lane-totals.js";
import type { MatrixKernel } from "../matrix-kernel.js";
import type { PanelGrid } from "../panel.js";
import { reflectionOf } from "../reflection.js";

/** The extents of the matrices, and of the panels they are cut into. */
export interface QrShape {
  readonly m: number;
  readonly n: number;
  readonly panels: number;
  readonly grid: PanelGrid;
}

/** Buffers: the matrices so far; the vectors [.., panels, m, width], the triangles [.., panels, width, width], R; the step. */
export function qrPanelKernel(kernel: MatrixKernel, shape: QrShape): Kernel {
  const { k, f } = kernel;
  const { m, n, panels, grid } = shape;
  const [from, vectors, triangles, r] = [f.buffer(false), f.buffer(true), f.buffer(true), f.buffer(true)];
  const first = kernel.mul(stepNumber(kernel), grid.width);
  const own = Array.from({ length: grid.perLane }, (_, i) => kernel.add(k.lane, i * grid.lanes));
  const rows = own.map((at) => kernel.add(first, at));
  const isRow = rows.map((row) => kernel.less(row, m));
  const isColumn = Array.from({ length: grid.width }, (_, c) =>
    n % grid.width === 0 ? null : kernel.less(kernel.add(first, c), n),
  );
  const both = (a: Value, b: Value | null) => (b ? k.binary("and", a, b) : a);
  const values = rows.map((row, i) =>
    isColumn.map((isThere, c) => {
      const gate = both(isRow[i], isThere);
      const place = kernel.add(kernel.add(kernel.mul(kernel.add(kernel.mul(k.row, m), row), n), first), c);
      return f.select(gate, f.load(from, k.select(gate, place, kernel.i(0))), f.zero);
    }),
  );
  const panel = new QrPanel(kernel, shape, own, values);
  for (let j = 0; j < grid.width; j++) panel.reflect(j);
  const which = kernel.add(kernel.mul(k.row, panels), k.binary("idiv", first, kernel.i(grid.width)));
  const height = Math.min(m, n);
  rows.forEach((row, i) => {
    const isBelow = Array.from({ length: grid.width }, (_, c) =>
      i === 0 ? k.compare("gt", k.lane, kernel.i(c)) : null,
    );
    const v = panel.values[i].map((value, c) => {
      const unit = f.select(k.compare("eq", k.lane, kernel.i(c)), f.one, f.zero);
      return isBelow[c] ? f.select(isBelow[c], value, unit) : value;
    });
    const line = kernel.add(kernel.mul(which, m), row);
    f.storeMany(
      vectors,
      kernel.mul(line, grid.width),
      v,
      v.map(() => isRow[i]),
    );
    const upper = panel.values[i].map((value, c) => (isBelow[c] ? f.select(isBelow[c], f.zero, value) : f.zero));
    const isHigh = kernel.less(row, height);
    const place = kernel.add(kernel.mul(kernel.add(kernel.mul(k.row, height), row), n), first);
    f.storeMany(
      r,
      place,
      upper,
      isColumn.map((isThere) => both(isHigh, isThere)),
    );
  });
  panel.storeTriangle(triangles, kernel.mul(which, grid.width * grid.width));
  return k.finish();
}

class QrPanel {
  readonly values: Num[][];
  private readonly taus: Num[] = [];
  private readonly totals: LaneTotals;
  /** The row on the diagonal, of two columns by turns. */
  private readonly heads;
  /** Products of each vector with those before it. */
  private readonly products;

  constructor(
    private readonly kernel: MatrixKernel,
    private readonly shape: QrShape,
    private readonly own: readonly Value[],
    values: readonly Num[][],
  ) {
    const { width } = shape.grid;
    this.values = [...values];
    this.totals = new LaneTotals(kernel, width);
    this.heads = kernel.f.array(2 * width);
    this.products = kernel.f.array(width * width);
  }

  reflect(j: number): void {
    const { kernel, own } = this;
    const { k, f } = kernel;
    const { width } = this.shape.grid;
    const start = (j % 2) * width;
    const [isHead, isBelow] = [k.compare("eq", own[0], kernel.i(j)), k.compare("gt", own[0], kernel.i(j))];
    kernel.when(isHead, () => {
      for (const [c, value] of this.values[0].entries()) f.set(this.heads, kernel.i(start + c), value);
    });
    const x = this.values.map((line, r) => (r === 0 ? f.select(isBelow, line[j], f.zero) : line[j]));
    const parts = Array.from({ length: width }, (_, c) =>
      this.values.reduce((sum, line, r) => f.mulAdd(f.conj(x[r]), r === 0 && c === j ? x[r] : line[c], sum), f.zero),
    );
    const totals = this.totals.of(parts);
    const tops = Array.from({ length: width / 4 }, (_, quad) =>
      f.getMany(this.heads, kernel.i(start + 4 * quad), 4),
    ).flat();
    const { beta, tau, inverse } = reflectionOf(k, f, tops[j], totals[j].re);
    this.taus.push(tau);
    const along = totals.map((total, c) => f.add(tops[c], f.mul(f.conj(inverse), total)));
    const isFirst = k.compare("eq", k.lane, kernel.i(0));
    for (let c = 0; c < j; c++) f.set(this.products, kernel.i(j * width + c), along[c], isFirst);
    const changes = along.map((value) => f.mul(f.conj(tau), value));
    for (const [r, line] of this.values.entries()) {
      const v = f.mul(x[r], inverse);
      const whole = r === 0 ? f.select(isHead, f.one, v) : v;
      this.values[r] = line.map((value, c) => {
        if (c < j) return value;
        if (c > j) return f.mulSub(changes[c], whole, value);
        return r === 0 ? f.select(isHead, beta, f.select(isBelow, v, value)) : v;
      });
    }
  }

  /** A lane for each row of the triangle. */
  storeTriangle(buffer: number, start: Value): void {
    const { kernel } = this;
    const { k, f } = kernel;
    const { width } = this.shape.grid;
    k.barrier();
    kernel.when(kernel.less(k.lane, width), () => {
      const row: Num[] = [];
      for (const [j, tau] of this.taus.entries()) {
        const sum = row.reduce(
          (total, t, l) => f.mulAdd(t, f.conj(f.get(this.products, kernel.i(j * width + l))), total),
          f.zero,
        );
        const isDiagonal = k.compare("eq", k.lane, kernel.i(j));
        const before = f.select(kernel.less(k.lane, j), f.neg(f.mul(tau, sum)), f.zero);
        row.push(f.select(isDiagonal, tau, before));
      }
      for (const [j, value] of row.entries()) {
        f.store(buffer, kernel.add(start, kernel.add(kernel.mul(k.lane, width), j)), value);
      }
    });
  }
}
