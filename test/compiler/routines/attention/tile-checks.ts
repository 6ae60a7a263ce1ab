/** What every form of tiles of attention must do, on small numbers: products, rows over lanes, sums. Against plain loops. */
import assert from "node:assert/strict";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import type { Operand, Tiles } from "../../../../src/compiler/routines/attention/tiles.js";
import { VectorTiles } from "../../../../src/compiler/routines/attention/vector-tiles.js";
import { dataOf, encodeValues } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { randomFrom } from "../../../support/random.js";

/** Lanes of a vector are in step, so they need not wait for each other. The interpreter's do: here they wait where lanes meet. */
export class WaitingTiles extends VectorTiles {
  constructor(private readonly builder: KernelBuilder) {
    super(builder, "f32");
  }

  override meet(): void {
    this.builder.barrier();
  }
}

/** Small whole numbers, of which f32 loses nothing. */
function numbers(count: number, seed: number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => random.below(9) - 4);
}

interface Extents {
  /** Rows in memory: residents and streamed ones, of which a tile takes those from `first` on. */
  readonly counts: readonly [number, number];
  readonly first: readonly [number, number];
  /** Numbers of a row whose products are taken, and of one that is summed. */
  readonly widths: readonly [number, number];
}

/** The products of a tile, the largest of each row, and the sums of products times streamed rows, added twice. */
export function checkTiles<O extends Operand>(
  lanes: number,
  tilesOf: (k: KernelBuilder) => Tiles<O>,
  { counts, first, widths }: Extents,
): void {
  const k = new KernelBuilder("tile", 1, lanes);
  const i = (value: number) => k.constant("i32", value);
  const [a, b, c] = [0, 1, 2].map(() => k.buffer("f32", false)) as [number, number, number];
  const [products, largest, sums] = [0, 1, 2].map(() => k.buffer("f32", true)) as [number, number, number];
  const tiles = tilesOf(k);
  const resident = tiles.resident({ buffer: a, count: counts[0], width: widths[0] });
  const streamed = tiles.streamed({ buffer: b, count: counts[1], width: widths[0] }, false);
  const summed = tiles.streamed({ buffer: c, count: counts[1], width: widths[1] }, true);
  const totals = tiles.sums(widths[1]);
  resident.load(i(0), i(first[0]));
  streamed.load(i(0), i(first[1]));
  summed.load(i(0), i(first[1]));
  tiles.meet();
  const made = tiles.products(resident, streamed);
  const rows = Array.from({ length: tiles.laneRows }, (_, r) => tiles.row(r));
  const columns = Array.from({ length: tiles.laneColumns }, (_, at) => tiles.column(at));
  rows.forEach((row, r) => {
    columns.forEach((column, at) => {
      const place = k.binary("add", k.binary("mul", row, i(tiles.columns)), column);
      k.store(products, place, made[r * tiles.laneColumns + at]!, false);
    });
  });
  const most = tiles.overRow(
    "max",
    rows.map((_, r) =>
      made.slice(r * tiles.laneColumns, (r + 1) * tiles.laneColumns).reduce((x, y) => k.binary("max", x, y)),
    ),
  );
  rows.forEach((row, r) => {
    k.store(largest, row, most[r]!, false);
  });
  tiles.putWeights(made);
  tiles.meet();
  const factors = rows.map((row) => k.convert("f32", row));
  const twice = totals.add(totals.add(totals.initial, null, summed), factors, summed);
  totals.each(twice, (r, column, values) => {
    values.forEach((value, part) => {
      const place = k.binary("add", column, i(part));
      const index = k.binary("add", k.binary("mul", rows[r]!, i(widths[1])), place);
      k.store(sums, index, value, false, k.compare("lt", place, i(widths[1])));
    });
  });

  const given = [
    numbers(counts[0] * widths[0], 1),
    numbers(counts[1] * widths[0], 2),
    numbers(counts[1] * widths[1], 3),
  ];
  const sizes = [tiles.rows * tiles.columns, tiles.rows, tiles.rows * widths[1]];
  const results = sizes.map((size) => encodeValues(new Array(size).fill(Number.NaN), "f32", "test"));
  interpretKernel(k.finish(), [...given.map((values) => encodeValues(values, "f32", "test")), ...results]);
  const want = plainTile(given, tiles, { counts, first, widths });
  const names = ["products", "largest of a row", "sums"];
  results.forEach((bytes, at) => {
    assert.deepEqual(
      [...dataOf(bytes, "f32")].map((x) => x + 0),
      want[at],
      names[at],
    );
  });
}

/** The same in loops. Rows beyond the last are that one again. */
function plainTile(
  given: readonly (readonly number[])[],
  { rows, columns }: { readonly rows: number; readonly columns: number },
  { counts, first, widths }: Extents,
): number[][] {
  const line = (which: number, at: number, side: number, width: number) => {
    const row = Math.min(first[side]! + at, counts[side]! - 1);
    return given[which]!.slice(row * width, (row + 1) * width);
  };
  const list = (count: number) => Array.from({ length: count }, (_, at) => at);
  const products = list(rows).map((r) =>
    list(columns).map((c) => {
      const other = line(1, c, 1, widths[0]);
      return line(0, r, 0, widths[0]).reduce((sum, x, at) => sum + x * other[at]!, 0);
    }),
  );
  const sums = products.map((weights, r) =>
    list(widths[1]).map((at) => {
      const once = weights.reduce((sum, w, c) => sum + w * line(2, c, 1, widths[1])[at]!, 0);
      return once * r + once + 0;
    }),
  );
  return [products.flat().map((x) => x + 0), products.map((row) => Math.max(...row) + 0), sums.flat()];
}
