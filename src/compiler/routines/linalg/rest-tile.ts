/**
 * Tiles of the rest of a matrix that is factored in steps, on a GPU: what lu-rest.ts and cholesky-rest.ts share. A workgroup has
 * a tile in registers, from which it subtracts the product of some columns, which lanes load, and some rows in shared memory.
 */
import type { Node } from "../../../graph/node.js";
import type { Value } from "../../ir/ir.js";
import { bytesOf, kindOf, type Num } from "./field.js";
import type { MatrixKernel } from "./matrix-kernel.js";

/** Lanes of a workgroup side by side, and neighbouring columns of each. */
const ASIDE = 16;
const COLUMNS = 4;
/** Steps of the summation that a lane takes at once. */
const DEPTH = 4;

/** Columns of a tile. */
export const TILE_COLUMNS = ASIDE * COLUMNS;

/** Rows of a tile of so many lanes: each has as many as its registers hold. */
export const tileRows = (node: Node, lanes: number): number =>
  (lanes / ASIDE) * Math.max(1, 32 / bytesOf(kindOf(node)));

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
    [m, n]: readonly [number, number],
    [top, left]: readonly [Value, Value],
    height: number,
    aligned: number,
  ) {
    const { k } = kernel;
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
      for (let d = 0; d < DEPTH; d++) {
        const line = f.getMany(others, kernel.add(this.aside, (at + d) * TILE_COLUMNS), COLUMNS);
        sums = sums.map((values, r) => values.map((sum, c) => f.mulSub(own[r][d], line[c], sum)));
      }
    }
    return sums;
  }
}
