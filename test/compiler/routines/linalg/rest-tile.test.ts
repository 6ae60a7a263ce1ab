/** Tiles of the rest of a matrix, interpreted: less a product, at the edges of the matrix and inside. */
import { test } from "node:test";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { MatrixKernel } from "../../../../src/compiler/routines/linalg/matrix-kernel.js";
import { RestTile, TILE_COLUMNS, tileRows } from "../../../../src/compiler/routines/linalg/rest-tile.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { assertNear, bytesFor, decoded, encoded, KINDS, minus, product, randomMatrix, routineNode, settings } from "./matrices.js"; // biome-ignore format: one line

test("a tile from row 2 and column 4 on, less a product of depth 8", () => {
  const depth = 8;
  for (const kind of [KINDS.f64, KINDS.c64]) {
    for (const [m, n] of [
      [5, 68],
      [20, 30],
      [5, 7],
    ] as const) {
      // biome-ignore format: a table
      const node = routineNode("lu", kind, [[m, n]]);
      const kernel = new MatrixKernel("tile", 1, 16, node, settings);
      const { k, f } = kernel;
      const [from, factors, rows, to] = [f.buffer(false), f.buffer(false), f.buffer(false), f.buffer(true)];
      const others = f.array(depth * TILE_COLUMNS);
      kernel.spread(depth * TILE_COLUMNS, (at) => f.set(others, at, f.load(rows, at)));
      k.barrier();
      const [top, left] = [2, 4];
      const height = tileRows(node, 16);
      const tile = new RestTile(kernel, [m, n], [kernel.i(top), kernel.i(left)], height, 4);
      const line = (row: Value) => kernel.mul(row, n);
      const own = tile.load(from, line);
      tile.store(
        to,
        line,
        tile.less(own, depth, factors, (row) => kernel.mul(row, depth), others),
      );
      const [a, x, y] = [randomMatrix(m, n, kind, 1), randomMatrix(m, depth, kind, 2), randomMatrix(depth, TILE_COLUMNS, kind, 3)]; // biome-ignore format: one line
      const result = undefinedBytes(bytesFor(m * n, kind));
      interpretKernel(k.finish(), [encoded([a], kind), encoded([x], kind), encoded([y], kind), result]);
      const change = product(x, y);
      const last = Math.min(m, top + height);
      const expected = a
        .slice(top, last)
        .map((row, i) => row.slice(left).map((value, j) => minus(value, change[top + i]![j]!)));
      const found = decoded(result, kind, m, n)[0]!.slice(top, last).map((row) => row.slice(left)); // biome-ignore format: one line
      assertNear(found, expected, kind, `[${m}, ${n}]`, 100);
    }
  }
});
