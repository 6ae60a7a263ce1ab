/**
 * The rest of a matrix after a panel of its LU factors: stepped-lu.ts. Each workgroup has a tile of it. It solves for its
 * columns of the new rows of U, as its neighbours above and below do, and subtracts their product with its rows of the panel.
 */
import type { Node } from "../../../../graph/node.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Num } from "../field.js";
import { countOn, stepNumber } from "../grid.js";
import { MatrixKernel } from "../matrix-kernel.js";
import { RestTile, TILE_COLUMNS, tileRows } from "../rest-tile.js";
import { type LuShape, panelOf } from "./lu-panel.js";

export function luRestKernel(
  name: string,
  batch: number,
  shape: LuShape,
  node: Node,
  settings: ElementSettings,
): Kernel {
  const { m, n } = shape;
  const height = tileRows(node, shape.grid.tileLanes);
  const [high, wide] = [Math.max(1, Math.ceil(m / height)), Math.ceil(n / TILE_COLUMNS)];
  const kernel = new MatrixKernel(name, batch * high * wide, shape.grid.tileLanes, node, settings);
  return new LuRest(kernel, shape, height, high, wide).write();
}

class LuRest {
  private readonly buffers;
  private readonly step: Value;
  /** The first row and column of the panel, and of the rest. */
  private readonly first: Value;
  private readonly next: Value;
  private readonly matrix: Value;

  constructor(
    private readonly kernel: MatrixKernel,
    private readonly shape: LuShape,
    private readonly height: number,
    private readonly high: number,
    private readonly wide: number,
  ) {
    const { k, f } = kernel;
    const [from, columns, orders] = [f.buffer(false), f.buffer(false), k.buffer("i32", false)];
    const [lu, to] = [f.buffer(true), f.buffer(true)];
    this.buffers = { from, columns, orders, lu, to };
    this.step = stepNumber(kernel);
    countOn(kernel, this.step);
    this.first = kernel.mul(this.step, shape.grid.width);
    this.next = kernel.add(this.first, shape.grid.width);
    this.matrix = k.binary("idiv", k.row, kernel.i(high * wide));
  }

  /** Buffers: the matrices so far, the panels, their orders of rows; the factors, the rest; the step, the next step. */
  write(): Kernel {
    const { kernel, wide, high, height } = this;
    const { k } = kernel;
    const which = k.binary("irem", k.row, kernel.i(high * wide));
    const [i, j] = [k.binary("idiv", which, kernel.i(wide)), k.binary("irem", which, kernel.i(wide))];
    const top = kernel.add(this.next, kernel.mul(i, height));
    const left = kernel.add(this.next, kernel.mul(j, TILE_COLUMNS));
    const isTop = k.compare("eq", i, kernel.i(0));
    // The first tiles write the new rows of U even where no rows are left below.
    const hasWork = k.binary(
      "and",
      k.binary("or", isTop, kernel.less(top, this.shape.m)),
      kernel.less(left, this.shape.n),
    );
    kernel.when(hasWork, () => this.tile(top, left, isTop));
    return k.finish();
  }

  private tile(top: Value, left: Value, isTop: Value): void {
    const { kernel, buffers } = this;
    const { m, n, grid } = this.shape;
    const tile = new RestTile(kernel, [m, n], [top, left], this.height, grid.width);
    const rest = tile.load(buffers.from, (row, r) => this.lineOf(row, tile.isRow[r]));
    const upper = this.upperRows(left, isTop);
    const found = tile.less(rest, grid.width, buffers.columns, (row) => this.inPanel(row, kernel.i(0)), upper);
    tile.store(buffers.to, (row) => kernel.mul(kernel.add(kernel.mul(this.matrix, m), row), n), found);
  }

  /** The place where the row begins that the panel's order has at `row`. */
  private lineOf(row: Value, gate: Value | null): Value {
    const { kernel } = this;
    const { k } = kernel;
    const { m, n } = this.shape;
    const place = kernel.add(kernel.mul(panelOf(kernel, this.matrix, this.step, this.shape), m), row);
    const source = k.load(this.buffers.orders, gate ? k.select(gate, place, kernel.i(0)) : place, "i32");
    return kernel.mul(kernel.add(kernel.mul(this.matrix, m), source), n);
  }

  /** Whether a row of the panel lies in the matrix; null where all do. */
  private rowGate(row: Value): Value | null {
    const { m, grid } = this.shape;
    return m % grid.width === 0 ? null : this.kernel.less(this.kernel.add(this.first, row), m);
  }

  /** An element of the panel. */
  private inPanel(row: Value, column: Value): Value {
    const { kernel } = this;
    const { m, grid } = this.shape;
    const line = kernel.add(kernel.mul(panelOf(kernel, this.matrix, this.step, this.shape), m), row);
    return kernel.add(kernel.mul(line, grid.width), column);
  }

  /** Solves for the new rows of U, a column for each lane, into shared memory. */
  private upperRows(left: Value, isTop: Value): ReturnType<MatrixKernel["f"]["array"]> {
    const { kernel } = this;
    const { k, f } = kernel;
    const { m, n, grid } = this.shape;
    const { width } = grid;
    const [triangle, upper] = [f.array(width * width), f.array(width * TILE_COLUMNS)];
    kernel.spread(width * width, (each) => {
      const [row, column] = [k.binary("idiv", each, kernel.i(width)), k.binary("irem", each, kernel.i(width))];
      const place = this.inPanel(kernel.add(this.first, row), column);
      const gate = this.rowGate(row);
      f.set(triangle, each, f.load(this.buffers.columns, gate ? k.select(gate, place, kernel.i(0)) : place));
    });
    k.barrier();
    kernel.spread(TILE_COLUMNS, (own) => {
      const column = kernel.add(left, own);
      const isThere = kernel.less(column, n);
      const known: Num[] = [];
      for (let i = 0; i < width; i++) {
        const row = kernel.add(this.first, i);
        const gate = this.rowGate(kernel.i(i));
        const place = kernel.add(this.lineOf(row, gate), column);
        let value = f.load(this.buffers.from, k.select(isThere, place, kernel.i(0)));
        known.forEach((x, j) => {
          value = f.mulSub(f.get(triangle, kernel.i(i * width + j)), x, value);
        });
        known.push(value);
        f.set(upper, kernel.add(own, i * TILE_COLUMNS), value);
      }
      kernel.when(k.binary("and", isTop, isThere), () => {
        known.forEach((value, i) => {
          const row = kernel.add(kernel.mul(this.matrix, m), kernel.add(this.first, i));
          f.store(this.buffers.lu, kernel.add(kernel.mul(row, n), column), value, this.rowGate(kernel.i(i)));
        });
      });
    });
    k.barrier();
    return upper;
  }
}
