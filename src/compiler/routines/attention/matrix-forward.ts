/**
 * Attention on matrix units (forward.ts says what is computed, matrix-tiles.ts how). Keys and values are loaded a tile ahead.
 *
 * Sums in fragments cannot be scaled where they are. They are scaled only when some row's largest score has grown by more than
 * GROWTH since they were last: until then weights are relative to an older maximum, and at most 2^GROWTH, as in
 * FlashAttention-4. Scores are in units of log 2: powers of two are cheap.
 */
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { MatrixAttentionTile } from "../../target/tile-profile.js";
import { MatrixTiles, matrixDemands } from "./matrix-tiles.js";
import { powerOfTwo, weightPair } from "./narrow-weights.js";
import { type AttentionProblem, declareInputs, Visibility } from "./problem.js";
import { inverses, laneRows, storeLogs } from "./row-results.js";
import { firstRowOf, keyHeadOf, mostColumns, placeOf, walkOver } from "./walk.js";

/** Growth of the largest score, in powers of two, up to which sums are not scaled. */
const GROWTH = 8;
/** Numbers that a lane reads at once. */
const VECTOR = 4;

export function matrixForwardKernel(
  problem: AttentionProblem,
  settings: ElementSettings,
  tile: MatrixAttentionTile,
): Kernel {
  const { batch, heads, keyHeads, queries, keys, depth, width, params } = problem;
  const count = Math.ceil(queries / tile.rows);
  const name = `attention[${[batch, heads, queries, width].join("×")}]`;
  const { lanes } = matrixDemands(tile, problem);
  const k = new KernelBuilder(name, batch * heads * count, lanes, tile.subgroupSize);
  const inputs = declareInputs(k, problem);
  const [out, logs] = [k.buffer(problem.dtype, true), k.buffer("f32", true)];
  const { member, head, first } = placeOf(k, count, tile.rows, heads, params.right < keys);
  const visibility = new Visibility(k, problem, inputs, member, head);
  const tiles = new MatrixTiles(k, problem, tile);
  const start = firstRowOf(k, member, head, heads, queries);
  const keyStart = firstRowOf(k, member, keyHeadOf(k, head, problem), keyHeads, keys);
  const q = tiles.resident({ buffer: inputs.q, count: queries, width: depth }, start, first);
  const key = tiles.streamed({ buffer: inputs.k, count: keys, width: depth }, "first");
  const value = tiles.streamed({ buffer: inputs.v, count: keys, width }, "second");
  const sums = tiles.sums(width);

  const rowAt = tiles.rows.map((row) => k.binary("add", first, row));
  const range = visibility.keysOf(first, tile.rows);
  const most = mostColumns(tile.rows, params.left, params.right, keys);
  const load = (at: Value) => [...key.load(keyStart, at), ...value.load(keyStart, at)];
  const [zero, lowest] = [k.constant("f32", 0), k.constant("f32", -Infinity)];
  const begin = tileStart(k, range.from, tile.columns);
  const initial = [...rowAt.map(() => lowest), ...rowAt.map(() => zero), ...load(begin)];
  const state = walkOver(k, range, tile.columns, most, initial, (firstKey, carried) => {
    const words = carried.slice(2 * rowAt.length);
    k.barrier();
    key.keep(words.slice(0, key.wordCount));
    value.keep(words.slice(key.wordCount));
    k.barrier();
    const next = load(k.binary("add", firstKey, k.constant("i32", tile.columns)));
    const products = tiles.products(q, key);
    const scores = scoresOf(k, tiles, tile, visibility, products, { first, firstColumn: firstKey });
    const { largest, factors } = raiseLargest(k, tiles, tile, scores, carried.slice(0, rowAt.length), sums);
    const weights = scores.map((row, r) => {
      const shift = k.select(k.compare("eq", largest[r], lowest), zero, largest[r]);
      return row.map((x) => powerOfTwo(k, k.binary("sub", x, shift)));
    });
    const totals = weights.map((row, r) => {
      const sum = row.reduce((a, b) => k.binary("add", a, b));
      return k.mulAdd(carried[rowAt.length + r], factors[r], sum);
    });
    tiles.putWeights(0, weights, (low, high) => weightPair(k, problem.dtype, low, high));
    k.barrier("subgroup");
    tiles.addWeighted(0, sums, value);
    return [...largest, ...totals, ...next];
  });
  const totals = tiles.overRow("add", state.slice(rowAt.length, 2 * rowAt.length));
  const rows = laneRows(k, rowAt, start, queries);
  tiles.storeSums(sums, { buffer: out, width }, rows, inverses(k, settings, totals, params.emptyRow));
  const largest = state.slice(0, rowAt.length).map((x) => k.binary("mul", x, k.constant("f32", Math.LN2)));
  storeLogs(k, settings, logs, rows, { largest, totals, isOne: k.compare("eq", tiles.aside, k.constant("i32", 0)) });
  return k.finish();
}

/** The first column of the tile that a column is in. */
export function tileStart(k: KernelBuilder, column: Value, columns: number): Value {
  return k.binary("mul", k.binary("idiv", column, k.constant("i32", columns)), k.constant("i32", columns));
}

/** Products as scores in units of log 2. `isTurned`: rows are keys and columns queries. */
export function scoresOf(
  k: KernelBuilder,
  tiles: MatrixTiles,
  tile: MatrixAttentionTile,
  visibility: Visibility,
  products: readonly (readonly Value[])[],
  { first, firstColumn, isTurned = false }: { first: Value; firstColumn: Value; isTurned?: boolean },
): Value[][] {
  const rowAt = tiles.rows.map((row) => k.binary("add", first, row));
  const columnAt = tiles.columns().map((column) => k.binary("add", firstColumn, column));
  const perRow = columnAt.length;
  const sides = [
    { first, count: tile.rows, at: (at: number) => rowAt[Math.floor(at / perRow)] },
    { first: firstColumn, count: tile.columns, at: (at: number) => columnAt[at % perRow] },
  ] as const;
  const values = visibility.scores(products.flat(), isTurned ? [sides[1], sides[0]] : sides, Math.LOG2E);
  return rowAt.map((_, r) => values.slice(r * perRow, (r + 1) * perRow));
}

/** The maximum that weights are relative to, and the factors of what was summed before. Scales the sums where it rises far. */
function raiseLargest(
  k: KernelBuilder,
  tiles: MatrixTiles,
  tile: MatrixAttentionTile,
  scores: readonly (readonly Value[])[],
  before: readonly Value[],
  sums: readonly number[],
) {
  const [zero, lowest] = [k.constant("f32", 0), k.constant("f32", -Infinity)];
  const own = scores.map((row) => row.reduce((a, b) => k.binary("max", a, b)));
  const now = tiles.overRow("max", own).map((x, r) => k.binary("max", x, before[r]));
  const isFirst = before.map((x) => k.compare("eq", x, lowest));
  const growth = now
    .map((x, r) => k.select(isFirst[r], zero, k.binary("sub", x, before[r])))
    .reduce((a, b) => k.binary("max", a, b));
  k.barrier("subgroup");
  k.set(tiles.exchange, k.lane, growth);
  k.barrier("subgroup");
  const all = Array.from({ length: tile.subgroupSize / VECTOR }, (_, at) =>
    k.getMany(tiles.exchange, k.binary("add", tiles.firstLane, k.constant("i32", at * VECTOR)), VECTOR),
  ).flat();
  const most = all.reduce((a, b) => k.binary("max", a, b));
  const isFar = k.compare("gt", most, k.constant("f32", GROWTH));
  const largest = now.map((x, r) => k.select(k.binary("or", isFar, isFirst[r]), x, before[r]));
  const factors = k.when(
    isFar,
    () => {
      const made = now.map((x, r) => k.select(isFirst[r], zero, powerOfTwo(k, k.binary("sub", before[r], x))));
      tiles.scaleSums(sums, made);
      return made;
    },
    () => now.map(() => k.constant("f32", 1)),
  );
  return { largest, factors };
}
