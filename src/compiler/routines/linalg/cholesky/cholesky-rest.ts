/**
 * The rest of a matrix after some columns of its Cholesky factor: stepped-cholesky.ts. Each workgroup has a tile of it, and
 * subtracts the product of the new columns and their adjoint. Tiles above the diagonal are left alone.
 */
import type { Node } from "../../../../graph/node.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { countOn, type Grid, stepNumber } from "../grid.js";
import { MatrixKernel } from "../matrix-kernel.js";
import { RestTile, TILE_COLUMNS, tileRows } from "../rest-tile.js";

/** Neighbours that a lane loads at once. */
const QUAD = 4;

/** Buffers: the matrices so far, the factor, the rest; the step, the next step. */
export function choleskyRestKernel(
  name: string,
  batch: number,
  n: number,
  { side, block: width }: Grid,
  node: Node,
  settings: ElementSettings,
): Kernel {
  const height = tileRows(node, side * side);
  const [high, wide] = [Math.ceil(n / height), Math.ceil(n / TILE_COLUMNS)];
  const kernel = new MatrixKernel(name, batch * high * wide, side * side, node, settings);
  const { k, f } = kernel;
  const [from, factor, to] = [f.buffer(false), f.buffer(false), f.buffer(true)];
  const step = stepNumber(kernel);
  countOn(kernel, step);
  const matrix = kernel.mul(k.binary("idiv", k.row, kernel.i(high * wide)), n);
  const which = k.binary("irem", k.row, kernel.i(high * wide));
  const [i, j] = [k.binary("idiv", which, kernel.i(wide)), k.binary("irem", which, kernel.i(wide))];
  const first = kernel.mul(step, width);
  const next = kernel.add(first, width);
  const [top, left] = [kernel.add(next, kernel.mul(i, height)), kernel.add(next, kernel.mul(j, TILE_COLUMNS))];
  const isLower = kernel.less(left, kernel.add(top, height));
  kernel.when(k.binary("and", isLower, k.binary("and", kernel.less(top, n), kernel.less(left, n))), () => {
    const line = (row: Value) => kernel.mul(kernel.add(matrix, row), n);
    const tile = new RestTile(kernel, [n, n], [top, left], height, width);
    const rest = tile.load(from, line);
    const others = f.array(width * TILE_COLUMNS);
    kernel.spread((width / QUAD) * TILE_COLUMNS, (each) => {
      const column = k.binary("irem", each, kernel.i(TILE_COLUMNS));
      const at = kernel.mul(k.binary("idiv", each, kernel.i(TILE_COLUMNS)), QUAD);
      const row = kernel.add(left, column);
      const isRow = kernel.less(row, n);
      const start = kernel.add(line(row), kernel.add(first, at));
      for (let d = 0; d < QUAD; d++) {
        const value = f.load(factor, k.select(isRow, kernel.add(start, d), kernel.i(0)));
        f.set(others, kernel.add(kernel.mul(kernel.add(at, d), TILE_COLUMNS), column), f.conj(value));
      }
    });
    k.barrier();
    tile.store(
      to,
      line,
      tile.less(rest, width, factor, (row) => kernel.add(line(row), first), others),
    );
  });
  return k.finish();
}
