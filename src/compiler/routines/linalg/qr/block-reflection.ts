/**
 * A panel of Householder reflections, I - V T Vᴴ, applied to the rest of a matrix, or to the columns of Q so far: stepped-qr.ts. A workgroup has a
 * strip of columns, from the first row of the panel down. It goes through them twice: for the products with V, which the
 * triangle T then turns into multiples of its columns, and to subtract these.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Num } from "../field.js";
import { countOn, stepNumber } from "../grid.js";
import type { MatrixKernel } from "../matrix-kernel.js";
import { STRIP } from "../panel.js";
import type { QrShape } from "./qr-panel.js";

/** Rows and columns of a lane's tile. */
const TILE = 4;

/** rest: the columns behind the panel, with Tᴴ. basis: columns of Q, with T; the identity where none was written before. */
type Reflected = "rest" | "basis";

/** Strips of the columns, at most. */
export const stripsOf = (columns: number): number => Math.ceil(columns / STRIP);

/**
 * Buffers: the matrices so far [.., m, columns]; vectors; triangles; what becomes of them; of the rest also R, whose rows the panel
 * finishes; the step, and the next.
 */
export function blockReflectionKernel(kernel: MatrixKernel, shape: QrShape, columns: number, what: Reflected): Kernel {
  return new BlockReflection(kernel, shape, columns, what).write();
}

class BlockReflection {
  private readonly buffers;
  private readonly step: Value;
  private readonly first: Value;
  private readonly next: Value;
  private readonly matrix: Value;
  private readonly left: Value;
  private readonly partial;
  private readonly products;
  private readonly multiples;
  private readonly triangle;
  /** Lanes that share the products of a strip with V, and groups of such lanes. */
  private readonly share: number;
  private readonly groups: number;

  constructor(
    private readonly kernel: MatrixKernel,
    private readonly shape: QrShape,
    private readonly columns: number,
    private readonly what: Reflected,
  ) {
    const { k, f } = kernel;
    const { width } = shape.grid;
    const strips = stripsOf(columns);
    const [from, vectors, triangles, to] = [f.buffer(false), f.buffer(false), f.buffer(false), f.buffer(true)];
    this.buffers = { from, vectors, triangles, to, r: what === "rest" ? f.buffer(true) : -1 };
    const count = stepNumber(kernel);
    countOn(kernel, count);
    this.step = what === "rest" ? count : k.binary("sub", kernel.i(shape.panels - 1), count);
    this.first = kernel.mul(this.step, width);
    this.next = kernel.add(this.first, width);
    this.matrix = k.binary("idiv", k.row, kernel.i(strips));
    const strip = kernel.mul(k.binary("irem", k.row, kernel.i(strips)), STRIP);
    this.left = kernel.add(what === "rest" ? this.next : this.first, strip);
    this.share = (width / TILE) * (STRIP / TILE);
    this.groups = k.lanes / this.share;
    this.partial = f.array((Math.max(2, this.groups) / 2) * width * STRIP);
    this.products = f.array(width * STRIP);
    this.multiples = f.array(width * STRIP);
    this.triangle = f.array(width * width);
  }

  write(): Kernel {
    const { kernel } = this;
    const { k } = kernel;
    kernel.when(kernel.less(this.left, this.columns), () => {
      this.loadTriangle();
      this.sumUp(this.productSums());
      this.turn();
      this.subtract();
    });
    return k.finish();
  }

  /** An element of the panel's vectors. */
  private inVectors(row: Value, column: Value | number): Value {
    const { kernel } = this;
    const { m, panels, grid } = this.shape;
    const line = kernel.add(kernel.mul(kernel.add(kernel.mul(this.matrix, panels), this.step), m), row);
    return kernel.add(kernel.mul(line, grid.width), column);
  }

  private loadTriangle(): void {
    const { kernel } = this;
    const { f } = kernel;
    const { panels, grid } = this.shape;
    const size = grid.width * grid.width;
    const start = kernel.mul(kernel.add(kernel.mul(this.matrix, panels), this.step), size);
    kernel.spread(size, (each) => f.set(this.triangle, each, f.load(this.buffers.triangles, kernel.add(start, each))));
  }

  /** Elements of a row of the matrices, from a column on: TILE of them. */
  private elements(row: Value, isRow: Value, column: Value): { values: Num[]; gates: Value[] } {
    const { kernel, columns } = this;
    const { k, f } = kernel;
    const isWhole = columns % TILE === 0;
    const line = kernel.mul(kernel.add(kernel.mul(this.matrix, this.shape.m), row), columns);
    const isKnown = this.what === "basis" ? this.isKnown(row, column) : null;
    const gates = Array.from({ length: TILE }, (_, c) =>
      k.binary("and", isRow, kernel.less(isWhole ? column : kernel.add(column, c), columns)),
    );
    const values = gates.map((gate, c) => {
      const isRead = isKnown ? k.binary("and", gate, isKnown) : gate;
      const place = kernel.add(kernel.add(line, column), c);
      const value = f.load(this.buffers.from, k.select(isRead, place, kernel.i(0)));
      const unit = isKnown ? f.select(k.compare("eq", row, kernel.add(column, c)), f.one, f.zero) : f.zero;
      return f.select(isRead, value, unit);
    });
    return { values, gates };
  }

  /** Whether a part of Q was written before: behind the panel, once there was another. Panels are whole tiles wide. */
  private isKnown(row: Value, column: Value): Value {
    const { kernel } = this;
    const { k } = kernel;
    const isBehind = k.binary("and", k.compare("ge", row, this.next), k.compare("ge", column, this.next));
    return k.binary("and", isBehind, kernel.less(this.step, this.shape.panels - 1));
  }

  /** The lane's part of Vᴴ A: TILE rows and columns of it, over some of the rows of A. */
  private productSums(): Num[] {
    const { kernel, groups } = this;
    const { k, f } = kernel;
    const { m } = this.shape;
    const { group, down, across } = this.place();
    const flat = (numbers: readonly Num[]) => numbers.flatMap(({ re, im }) => (im ? [re, im] : [re]));
    const unflat = (values: readonly Value[]): Num[] =>
      Array.from({ length: TILE * TILE }, (_, i) =>
        f.isComplex ? { re: values[2 * i], im: values[2 * i + 1] } : { re: values[i], im: null },
      );
    const zeros = Array.from({ length: TILE * TILE }, () => f.zero);
    const rowsAtOnce = 2;
    const [, ...sums] = k.loop(
      Math.ceil(m / (groups * rowsAtOnce)),
      [kernel.add(this.first, group), ...flat(zeros)],
      (_, [from, ...before]) => {
        let now = unflat(before);
        for (let turn = 0; turn < rowsAtOnce; turn++) {
          const at = kernel.add(from, turn * groups);
          const isRow = kernel.less(at, m);
          const { values } = this.elements(at, isRow, kernel.add(this.left, kernel.mul(across, TILE)));
          const v = Array.from({ length: TILE }, (__, i) => {
            const place = this.inVectors(at, kernel.add(kernel.mul(down, TILE), i));
            return f.select(isRow, f.load(this.buffers.vectors, k.select(isRow, place, kernel.i(0))), f.zero);
          });
          now = now.map((sum, i) => f.mulAdd(f.conj(v[Math.floor(i / TILE)]), values[i % TILE], sum));
        }
        return [kernel.add(from, groups * rowsAtOnce), ...flat(now)];
      },
      // The same for all lanes: the first group's next row.
      { exitWhen: ([next]) => k.compare("ge", k.binary("sub", next, group), kernel.i(m)) },
    );
    return unflat(sums);
  }

  /** The group of the lane, and its tile among those of the products. */
  private place(): { readonly group: Value; readonly down: Value; readonly across: Value } {
    const { kernel, share } = this;
    const { k } = kernel;
    const within = k.binary("irem", k.lane, kernel.i(share));
    const side = kernel.i(STRIP / TILE);
    return {
      group: k.binary("idiv", k.lane, kernel.i(share)),
      down: k.binary("idiv", within, side),
      across: k.binary("irem", within, side),
    };
  }

  /** The products from the parts of all groups. Half of the groups hand theirs over to the others first. */
  private sumUp(sums: readonly Num[]): void {
    const { kernel, groups } = this;
    const { k, f } = kernel;
    const size = this.shape.grid.width * STRIP;
    const half = Math.max(1, groups / 2);
    const { group, down, across } = this.place();
    const slot = kernel.mul(groups > 1 ? k.binary("irem", group, kernel.i(half)) : kernel.i(0), size);
    const lines = Array.from({ length: TILE }, (_, r) => ({
      values: sums.slice(r * TILE, (r + 1) * TILE),
      at: kernel.add(
        slot,
        kernel.add(kernel.mul(kernel.add(kernel.mul(down, TILE), r), STRIP), kernel.mul(across, TILE)),
      ),
    }));
    if (groups > 1) {
      kernel.when(k.compare("ge", group, kernel.i(half)), () => {
        for (const { values, at } of lines) f.setMany(this.partial, at, values);
      });
      k.barrier();
    }
    kernel.when(kernel.less(group, half), () => {
      for (const { values, at } of lines) {
        const others = groups > 1 ? f.getMany(this.partial, at, TILE) : values.map(() => f.zero);
        f.setMany(
          this.partial,
          at,
          values.map((value, c) => f.add(value, others[c])),
        );
      }
    });
    k.barrier();
    kernel.spread(size, (each) => {
      const parts = Array.from({ length: half }, (_, g) => f.get(this.partial, kernel.add(each, g * size)));
      f.set(
        this.products,
        each,
        parts.reduce((x, y) => f.add(x, y)),
      );
    });
    k.barrier();
  }

  /** Multiples of the vectors: the triangle, or its adjoint, times the products. */
  private turn(): void {
    const { kernel } = this;
    const { k, f } = kernel;
    const { width } = this.shape.grid;
    kernel.spread(width * STRIP, (each) => {
      const [row, column] = [k.binary("idiv", each, kernel.i(STRIP)), k.binary("irem", each, kernel.i(STRIP))];
      let sum = f.zero;
      for (let l = 0; l < width; l++) {
        const t =
          this.what === "rest"
            ? f.conj(f.get(this.triangle, kernel.add(row, l * width)))
            : f.get(this.triangle, kernel.add(kernel.mul(row, width), l));
        sum = f.mulAdd(t, f.get(this.products, kernel.add(column, l * STRIP)), sum);
      }
      f.set(this.multiples, each, sum);
    });
    k.barrier();
  }

  /** Subtracts the multiples of the vectors, TILE rows and columns of the strip at once. */
  private subtract(): void {
    const { kernel } = this;
    const { k } = kernel;
    const { m } = this.shape;
    const aside = STRIP / TILE;
    const high = k.lanes / aside;
    const [down, across] = [k.binary("idiv", k.lane, kernel.i(aside)), k.binary("irem", k.lane, kernel.i(aside))];
    const column = kernel.mul(across, TILE);
    k.loop(
      Math.ceil(m / (high * TILE)),
      [kernel.add(this.first, down)],
      (_, [top]) => {
        const rows = Array.from({ length: TILE }, (__, r) => kernel.add(top, r * high));
        this.subtractRows(rows, column);
        return [kernel.add(top, high * TILE)];
      },
      { exitWhen: ([next]) => k.compare("ge", next, kernel.i(m)) },
    );
  }

  private subtractRows(rows: readonly Value[], column: Value): void {
    const { kernel } = this;
    const { k, f } = kernel;
    const { m, grid } = this.shape;
    const isRow = rows.map((row) => kernel.less(row, m));
    const place = kernel.add(this.left, column);
    const own = rows.map((row, r) => this.elements(row, isRow[r], place));
    let sums = own.map(({ values }) => values);
    for (let at = 0; at < grid.width; at += TILE) {
      const v = rows.map((row, r) =>
        Array.from({ length: TILE }, (_, d) =>
          f.load(this.buffers.vectors, k.select(isRow[r], this.inVectors(row, at + d), kernel.i(0))),
        ),
      );
      for (let d = 0; d < TILE; d++) {
        const multiples = f.getMany(this.multiples, kernel.add(column, (at + d) * STRIP), TILE);
        sums = sums.map((line, r) => line.map((value, c) => f.mulSub(v[r][d], multiples[c], value)));
      }
    }
    for (const [r, row] of rows.entries()) this.store(row, place, sums[r], own[r].gates);
  }

  /** Rows of the panel are finished: those of the rest are rows of R. */
  private store(row: Value, column: Value, values: readonly Num[], gates: readonly Value[]): void {
    const { kernel, columns, buffers } = this;
    const { k, f } = kernel;
    const { m } = this.shape;
    const line = (height: number) => kernel.mul(kernel.add(kernel.mul(this.matrix, height), row), columns);
    const write = (buffer: number, height: number) => {
      f.storeMany(buffer, kernel.add(line(height), column), values, gates);
    };
    if (this.what === "basis") {
      write(buffers.to, m);
      return;
    }
    const isDone = kernel.less(row, this.next);
    kernel.when(isDone, () => write(buffers.r, Math.min(m, columns)));
    kernel.when(k.unary("not", isDone), () => write(buffers.to, m));
  }
}
