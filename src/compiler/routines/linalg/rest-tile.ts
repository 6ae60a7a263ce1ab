/**
 * Tiles of the rest of a matrix that is factored in steps, on a GPU: what lu-rest.ts and cholesky-rest.ts share. A workgroup has
 * a tile in registers, from which it subtracts the product of some columns and some rows. The rows lie in shared memory; of the
 * columns lanes load what they need, or, where there are many, all lanes bring them there a few at a time (`staged`).
 */
import type { Node } from "../../../graph/node.js";
import type { Value } from "../../ir/ir.js";
import { bytesOf, kindOf, type Num, type NumberKind } from "./field.js";
import type { MatrixKernel } from "./matrix-kernel.js";

/** Lanes of a workgroup side by side, and neighbouring columns of each. */
const ASIDE = 16;
const COLUMNS = 4;
/** Steps of the summation that a lane takes at once. */
const DEPTH = 4;

/** Columns of a tile. */
export const TILE_COLUMNS = ASIDE * COLUMNS;

/** Rows of a tile of so many lanes: each has as many as its registers hold. */
export const tileRows = (node: Node, lanes: number): number => rowsOfLanes(kindOf(node), lanes);

/** The same for a kind of numbers. */
export const rowsOfLanes = (kind: NumberKind, lanes: number): number =>
  (lanes / ASIDE) * Math.max(1, 32 / bytesOf(kind));

/** Numbers between a row of staged columns and the next: rows lie in different banks. */
const GAP = 4;

/** Shared memory of staged columns. */
export const stagedBytes = (rows: number, staged: number, kind: NumberKind): number =>
  rows * (staged + GAP) * bytesOf(kind);

/** A tile of matrices of m rows and n columns, whose first row and column are multiples of `aligned`. */
export class RestTile {
  readonly rows: readonly Value[];
  readonly isRow: readonly Value[];
  /** The lane's first column of the tile, and of the matrix. */
  readonly aside: Value;
  readonly column: Value;
  readonly isColumn: readonly Value[];

  constructor(
    private readonly kernel: MatrixKernel,
    private readonly extents: readonly [number, number],
    private readonly corner: readonly [Value, Value],
    private readonly height: number,
    aligned: number,
  ) {
    const { k } = kernel;
    const [[m, n], [top, left]] = [extents, corner];
    const high = k.lanes / ASIDE;
    const [across, down] = [k.binary("irem", k.lane, kernel.i(ASIDE)), k.binary("idiv", k.lane, kernel.i(ASIDE))];
    this.rows = Array.from({ length: height / high }, (_, r) => kernel.add(top, kernel.add(down, r * high)));
    this.isRow = this.rows.map((row) => kernel.less(row, m));
    this.aside = kernel.mul(across, COLUMNS);
    this.column = kernel.add(left, this.aside);
    // One condition for all columns of a lane where vectors do not cross the matrix's edge.
    const isWhole = n % COLUMNS === 0 && aligned % COLUMNS === 0;
    this.isColumn = Array.from({ length: COLUMNS }, (_, c) =>
      kernel.less(isWhole ? this.column : kernel.add(this.column, c), n),
    );
  }

  /** Loads the tile. `line`: the place in the buffer where the matrix's row begins, the `r`-th of the lane. */
  load(buffer: number, line: (row: Value, r: number) => Value): Num[][] {
    const { kernel } = this;
    const { k, f } = kernel;
    return this.rows.map((row, r) => {
      const start = kernel.add(line(row, r), this.column);
      return this.gates(r).map((gate, c) => f.load(buffer, k.select(gate, kernel.add(start, c), kernel.i(0))));
    });
  }

  store(buffer: number, line: (row: Value) => Value, values: readonly (readonly Num[])[]): void {
    this.rows.forEach((row, r) => {
      this.kernel.f.storeMany(buffer, this.kernel.add(line(row), this.column), values[r], this.gates(r));
    });
  }

  private gates(r: number): Value[] {
    return this.isColumn.map((isThere) => this.kernel.k.binary("and", this.isRow[r], isThere));
  }

  /**
   * The tile less a product. `place`: that of a row's factors in their buffer, where neighbours follow each other. `others`: an array
   * [depth, TILE_COLUMNS].
   */
  less(
    tile: readonly (readonly Num[])[],
    depth: number,
    factors: number,
    place: (row: Value) => Value,
    others: ReturnType<MatrixKernel["f"]["array"]>,
  ): Num[][] {
    const { kernel, rows, isRow } = this;
    const { k, f } = kernel;
    const starts = rows.map(place);
    let sums = tile.map((line) => [...line]);
    for (let at = 0; at < depth; at += DEPTH) {
      const own = starts.map((start, r) =>
        Array.from({ length: DEPTH }, (_, d) =>
          f.load(factors, k.select(isRow[r], kernel.add(start, at + d), kernel.i(0))),
        ),
      );
      sums = this.lessSome(sums, own, at, others);
    }
    return sums;
  }

  /** The same; the factors go through shared memory, so many columns at once. While these are multiplied, lanes load the next. */
  lessStaged(
    tile: readonly (readonly Num[])[],
    depth: number,
    factors: number,
    place: (row: Value) => Value,
    others: ReturnType<MatrixKernel["f"]["array"]>,
    staged: number,
  ): Num[][] {
    const { kernel, height, corner, extents } = this;
    const { k, f } = kernel;
    const pitch = staged + GAP;
    const array = f.array(height * pitch);
    const perRow = staged / DEPTH;
    const quads = height * perRow;
    const own = Array.from({ length: Math.ceil(quads / k.lanes) }, (_, turn) => {
      const item = turn === 0 ? k.lane : kernel.add(k.lane, turn * k.lanes);
      const isItem = (turn + 1) * k.lanes <= quads ? null : kernel.less(item, quads);
      const [row, at] = [
        k.binary("idiv", item, kernel.i(perRow)),
        kernel.mul(k.binary("irem", item, kernel.i(perRow)), DEPTH),
      ];
      const isRow = kernel.less(kernel.add(corner[0], row), extents[0]);
      const gate = isItem ? k.binary("and", isItem, isRow) : isRow;
      return {
        gate,
        isItem,
        from: kernel.add(place(kernel.add(corner[0], row)), at),
        to: kernel.add(kernel.mul(row, pitch), at),
      };
    });
    const load = (first: number) =>
      own.map(({ gate, from }) =>
        Array.from({ length: DEPTH }, (_, d) =>
          f.load(factors, k.select(gate, kernel.add(from, first + d), kernel.i(0))),
        ),
      );
    const keep = (loaded: readonly (readonly Num[])[]) => {
      own.forEach(({ isItem, to }, turn) => {
        if (isItem) kernel.when(isItem, () => f.setMany(array, to, loaded[turn]));
        else f.setMany(array, to, loaded[turn]);
      });
    };
    const down = k.binary("idiv", k.lane, kernel.i(ASIDE));
    const lines = this.rows.map((_, r) => kernel.mul(kernel.add(down, r * (k.lanes / ASIDE)), pitch));
    let sums = tile.map((line) => [...line]);
    let next = load(0);
    for (let first = 0; first < depth; first += staged) {
      if (first > 0) k.barrier();
      keep(next);
      k.barrier();
      if (first + staged < depth) next = load(first + staged);
      for (let at = 0; at < staged; at += DEPTH) {
        const factorsOf = lines.map((line) => f.getMany(array, kernel.add(line, at), DEPTH));
        sums = this.lessSome(sums, factorsOf, first + at, others);
      }
    }
    return sums;
  }

  /** Less the products of a few steps from `at` on, of which a lane has its rows' factors. */
  private lessSome(
    sums: readonly (readonly Num[])[],
    own: readonly (readonly Num[])[],
    at: number,
    others: ReturnType<MatrixKernel["f"]["array"]>,
  ): Num[][] {
    const { kernel } = this;
    const { f } = kernel;
    let left = sums.map((line) => [...line]);
    for (let d = 0; d < DEPTH; d++) {
      const line = f.getMany(others, kernel.add(this.aside, (at + d) * TILE_COLUMNS), COLUMNS);
      left = left.map((values, r) => values.map((sum, c) => f.mulSub(own[r][d], line[c], sum)));
    }
    return left;
  }
}
