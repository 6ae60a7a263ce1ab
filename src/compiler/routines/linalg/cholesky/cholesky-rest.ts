/**
 * The rest of a matrix after some columns of its Cholesky factor: stepped-cholesky.ts. Each workgroup has a tile of it, and
 * subtracts the product of the new columns and their adjoint. Tiles above the diagonal have no workgroup: lines of tiles are taken in
 * pairs, a short one from the top and a long one from the bottom, so that all pairs have about as many.
 */
import type { Node } from "../../../../graph/node.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { countOn, type Grid, stepNumber } from "../grid.js";
import { MatrixKernel } from "../matrix-kernel.js";
import { RestTile, TILE_COLUMNS, tileRows } from "../rest-tile.js";

/** Neighbours that a lane loads at once. */
const QUAD = 4;

/** The order of the matrices, and the rows of the largest rest that the kernel serves: of none it has more tiles. */
interface RestSize {
  readonly n: number;
  readonly rest: number;
}

/** Tiles of a rest on and below the diagonal; one row of tiles is `height` rows high. */
export const restTiles = (rest: number, height: number): number => {
  const high = Math.ceil(rest / height);
  return Array.from({ length: high }, (_, i) => tilesOfLine(i, height)).reduce((sum, count) => sum + count, 0);
};

const tilesOfLine = (line: number, height: number): number => Math.ceil(((line + 1) * height) / TILE_COLUMNS);

/** Buffers: the matrices so far, the factor, the rest; the step, the next step. */
export function choleskyRestKernel(
  name: string,
  batch: number,
  { n, rest: most }: RestSize,
  { side, block: width, staged }: Grid,
  node: Node,
  settings: ElementSettings,
): Kernel {
  const height = tileRows(node, side * side);
  const high = Math.ceil(most / height);
  const pairs = Math.ceil(high / 2);
  const perPair = Math.max(
    ...Array.from({ length: pairs }, (_, p) => tilesOfLine(p, height) + tilesOfLine(high - 1 - p, height)),
  );
  const kernel = new MatrixKernel(name, batch * pairs * perPair, side * side, node, settings);
  const { k, f } = kernel;
  const [from, factor, to] = [f.buffer(false), f.buffer(false), f.buffer(true)];
  const step = stepNumber(kernel);
  countOn(kernel, step);
  const matrix = kernel.mul(k.binary("idiv", k.row, kernel.i(pairs * perPair)), n);
  const which = k.binary("irem", k.row, kernel.i(pairs * perPair));
  const [pair, at] = [k.binary("idiv", which, kernel.i(perPair)), k.binary("irem", which, kernel.i(perPair))];
  const ofShort = kernel.add(kernel.mul(kernel.add(pair, 1), height), TILE_COLUMNS - 1);
  const short = k.binary("idiv", ofShort, kernel.i(TILE_COLUMNS));
  const isShort = kernel.less(at, short);
  const long = k.binary("sub", kernel.i(high - 1), pair);
  const [i, j] = [k.select(isShort, pair, long), k.select(isShort, at, k.binary("sub", at, short))];
  // The line in the middle has no other.
  const isTaken = k.binary("or", isShort, k.compare("gt", long, pair));
  const first = kernel.mul(step, width);
  const next = kernel.add(first, width);
  const [top, left] = [kernel.add(next, kernel.mul(i, height)), kernel.add(next, kernel.mul(j, TILE_COLUMNS))];
  const isLower = k.binary("and", isTaken, kernel.less(left, kernel.add(top, height)));
  kernel.when(k.binary("and", isLower, k.binary("and", kernel.less(top, n), kernel.less(left, n))), () => {
    const line = (row: Value) => kernel.mul(kernel.add(matrix, row), n);
    const tile = new RestTile(kernel, [n, n], [top, left], height, width);
    const rest = tile.load(from, line);
    const others = f.array(width * TILE_COLUMNS);
    kernel.spread((width / QUAD) * TILE_COLUMNS, (each) => {
      const column = k.binary("irem", each, kernel.i(TILE_COLUMNS));
      const depth = kernel.mul(k.binary("idiv", each, kernel.i(TILE_COLUMNS)), QUAD);
      const row = kernel.add(left, column);
      const isRow = kernel.less(row, n);
      const start = kernel.add(line(row), kernel.add(first, depth));
      for (let d = 0; d < QUAD; d++) {
        const value = f.load(factor, k.select(isRow, kernel.add(start, d), kernel.i(0)));
        f.set(others, kernel.add(kernel.mul(kernel.add(depth, d), TILE_COLUMNS), column), f.conj(value));
      }
    });
    k.barrier();
    const place = (row: Value) => kernel.add(line(row), first);
    const found =
      staged > 0
        ? tile.lessStaged(rest, width, factor, place, others, staged)
        : tile.less(rest, width, factor, place, others);
    tile.store(to, line, found);
  });
  return k.finish();
}
