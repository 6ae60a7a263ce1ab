/**
 * Attention on matrix units (forward.ts says what is computed, matrix-tiles.ts how). Keys and values are loaded a tile ahead.
 *
 * Scores stay in the lanes that hold them as elements of fragments. Sums are scaled only when a score has grown by more than
 * GROWTH beyond the largest of its row at the last scaling: until then weights are relative to that one, and at most 2^GROWTH,
 * as in FlashAttention-4. So most tiles need no word between lanes but a vote. Scores are in units of log 2.
 */
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { MatrixAttentionTile } from "../../target/tile-profile.js";
import { startForward } from "./forward.js";
import { FragmentLanes } from "./fragment-lanes.js";
import { MatrixTiles, matrixDemands } from "./matrix-tiles.js";
import { weightPair } from "./narrow-weights.js";
import type { AttentionProblem, Visibility } from "./problem.js";
import { inverses, laneRows, storeLogs } from "./row-results.js";
import { mostColumns, walkOver } from "./walk.js";

/** Growth of a score, in powers of two, up to which sums are not scaled. */
export const GROWTH = 8;
/** The largest score of a row before any was seen. Finite: scores of -inf less it are -inf, not NaN. */
export const BEFORE_ANY = -3e38;

export function matrixForwardKernel(
  problem: AttentionProblem,
  settings: ElementSettings,
  tile: MatrixAttentionTile,
): Kernel {
  const { queries, keys, depth, width, params } = problem;
  const { lanes: workgroup } = matrixDemands(tile, problem, "forward");
  const { k, inputs, out, logs, first, visibility, rowsOfHead } = startForward(
    problem,
    tile.rows,
    "f32",
    workgroup,
    tile.subgroupSize,
  );
  const tiles = new MatrixTiles(k, problem, tile, "forward");
  const lanes = new FragmentLanes(k, tile.fragment, tiles.array, tiles.scratch);
  const { start, keyStart } = rowsOfHead();
  const q = tiles.resident({ buffer: inputs.q, count: queries, width: depth }, start, first);
  const key = tiles.streamed({ buffer: inputs.k, count: keys, width: depth }, "first");
  const value = tiles.streamed({ buffer: inputs.v, count: keys, width }, "second");
  const sums = tiles.sums(width);

  const size = lanes.rows.length;
  const own = k.binary("add", first, tiles.subgroupRow());
  const rowAt = lanes.rows.map((row) => k.binary("add", own, row));
  const range = visibility.keysOf(first, tile.rows);
  const most = mostColumns(tile.rows, params.left, params.right, keys);
  const load = (at: Value) => [...key.load(keyStart, at), ...value.load(keyStart, at)];
  const begin = tileStart(k, range.from, tile.columns);
  const [zero, lowest] = [k.constant("f32", 0), k.constant("f32", BEFORE_ANY)];
  const initial = [...rowAt.map(() => lowest), ...rowAt.map(() => zero), ...load(begin)];
  const state = walkOver(k, range, tile.columns, most, initial, (firstKey, carried) => {
    const words = carried.slice(2 * size);
    k.barrier();
    key.keep(words.slice(0, key.wordCount));
    value.keep(words.slice(key.wordCount));
    k.barrier();
    const next = load(k.binary("add", firstKey, k.constant("i32", tile.columns)));
    tiles.multiply(q, key);
    const scores = heldScores(k, tiles, tile, lanes, visibility, { rowAt, first, firstKey });
    const before = { largest: carried.slice(0, size), totals: carried.slice(size, 2 * size) };
    const { largest, totals: scaled } = raiseLargest(k, lanes, scores, before, sums);
    const { weights, totals } = weighted(k, lanes, scores, largest, scaled);
    putWeights(k, tiles, tile, lanes, weights);
    k.barrier("subgroup");
    tiles.addWeighted(0, sums, value);
    return [...largest, ...totals, ...next];
  });
  const largest = state.slice(0, size);
  const totals = lanes.overRows("add", state.slice(size, 2 * size));
  const rowsAt = (places: readonly Value[]) => laneRows(k, places, start, queries);
  storeHeld(k, sums, lanes, inverses(k, settings, totals, params.emptyRow), {
    ...{ buffer: out, width, columns: tile.fragment.columns, rows: rowsAt(rowAt) },
  });
  const ownRows = (rows: readonly Value[]) => rowsAt(rows.map((row) => k.binary("add", own, row)));
  storeLogsOf(k, settings, lanes, logs, { largest, totals, rowsAt: ownRows });
  return k.finish();
}

/** The weights of scores relative to the largest of their rows, and the totals of rows with them. */
function weighted(
  k: KernelBuilder,
  lanes: FragmentLanes,
  scores: readonly (readonly Value[])[],
  largest: readonly Value[],
  before: readonly Value[],
): { readonly weights: Value[][]; readonly totals: Value[] } {
  const weights = scores.map((fragment) =>
    fragment.map((x, at) => k.exp2(k.binary("sub", x, largest[lanes.rowOf(at)]))),
  );
  const totals = overElements(lanes, weights).map((own, row) =>
    own.reduce((sum, weight) => k.binary("add", sum, weight), before[row]),
  );
  return { weights, totals };
}

/** Stores log Σ exp of each row. `rowsAt`: the rows of the tensor that rows of a subgroup's tile are. */
function storeLogsOf(
  k: KernelBuilder,
  settings: ElementSettings,
  lanes: FragmentLanes,
  logs: number,
  state: {
    readonly largest: readonly Value[];
    readonly totals: readonly Value[];
    rowsAt(rows: readonly Value[]): ReturnType<typeof laneRows>;
  },
): void {
  const [highest, sum] = [lanes.storedRows(state.largest), lanes.storedRows(state.totals)];
  storeLogs(k, settings, logs, state.rowsAt(highest.map(({ row }) => row)), {
    largest: highest.map(({ value: x }) => k.binary("mul", x, k.constant("f32", Math.LN2))),
    totals: sum.map(({ value: x }) => x),
    isOne: lanes.isFirst ?? k.constant("bool", true),
  });
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

/** The scores that the lane holds, in units of log 2: for each fragment, those of its elements. */
function heldScores(
  k: KernelBuilder,
  { scores }: MatrixTiles,
  { rows, columns, fragment }: MatrixAttentionTile,
  lanes: FragmentLanes,
  visibility: Visibility,
  { rowAt, first, firstKey }: { rowAt: readonly Value[]; first: Value; firstKey: Value },
): Value[][] {
  const size = lanes.columns.length;
  const columnAt = lanes.columns.map((column) => k.binary("add", firstKey, column));
  const keyOf = (at: number) =>
    k.binary("add", columnAt[at % size], k.constant("i32", Math.floor(at / size) * fragment.columns));
  const sides = [
    { first, count: rows, at: (at: number) => rowAt[lanes.rowOf(at % size)] },
    { first: firstKey, count: columns, at: keyOf },
  ] as const;
  const products = scores.flatMap((sum) => k.getElements(sum));
  const values = visibility.scores(products, sides, Math.LOG2E);
  return scores.map((_, at) => values.slice(at * size, (at + 1) * size));
}

/** The elements of fragments in each row that the lane holds a part of. */
function overElements(lanes: FragmentLanes, fragments: readonly (readonly Value[])[]): Value[][] {
  return lanes.rows.map((_, row) => fragments.flatMap((values) => values.filter((_x, at) => lanes.rowOf(at) === row)));
}

/** The larger of two numbers; of a number and a NaN the number: a row that has become NaN must not hide how others grow. */
export function largerNumber(k: KernelBuilder, a: Value, b: Value): Value {
  const isFirst = k.binary("or", k.compare("gt", a, b), k.compare("ne", b, b));
  return k.select(isFirst, a, b);
}

/** The score that weights are relative to, and the totals of weights so far. If a score has grown far, sums and totals are scaled. */
function raiseLargest(
  k: KernelBuilder,
  lanes: FragmentLanes,
  scores: readonly (readonly Value[])[],
  { largest: before, totals }: { readonly largest: readonly Value[]; readonly totals: readonly Value[] },
  sums: readonly number[],
) {
  const highest = overElements(lanes, scores).map((own) => own.reduce((a, b) => k.binary("max", a, b)));
  const growth = highest.map((x, at) => k.binary("sub", x, before[at])).reduce((a, b) => largerNumber(k, a, b));
  const isFar = k.anyLane(k.compare("gt", growth, k.constant("f32", GROWTH)));
  const results = k.when(
    isFar,
    () => {
      const now = lanes.overRows("max", highest).map((x, at) => k.binary("max", x, before[at]));
      const factors = now.map((x, at) => k.exp2(k.binary("sub", before[at], x)));
      for (const sum of sums) {
        k.setElements(
          sum,
          k.getElements(sum).map((x, at) => k.binary("mul", x, factors[lanes.rowOf(at)])),
        );
      }
      return [...now, ...totals.map((total, at) => k.binary("mul", total, factors[at]))];
    },
    () => [...before, ...totals],
  );
  return { largest: results.slice(0, before.length), totals: results.slice(before.length) };
}

/** Puts weights where the subgroup loads them as operands. Lanes without pairs first exchange them for rows. */
function putWeights(
  k: KernelBuilder,
  tiles: MatrixTiles,
  { fragment }: MatrixAttentionTile,
  lanes: FragmentLanes,
  weights: readonly (readonly Value[])[],
): void {
  const pair = (low: Value, high: Value) => weightPair(k, fragment.operand, low, high);
  if (fragment.pairs) {
    // The operands of the tile before are read by then.
    k.barrier("subgroup");
    tiles.putPairs(weights, lanes, pair);
    return;
  }
  weights.forEach((values, at) => {
    k.setElements(tiles.scores[at], values);
  });
  const byRows = tiles.scoresByRows();
  k.barrier("subgroup");
  tiles.putWeights(0, byRows, pair);
}

/** Stores sums that lanes hold, times a factor for each element. */
function storeHeld(
  k: KernelBuilder,
  sums: readonly number[],
  lanes: FragmentLanes,
  factors: readonly Value[],
  out: { buffer: number; width: number; columns: number; rows: ReturnType<typeof laneRows> },
): void {
  const i = (value: number) => k.constant("i32", value);
  sums.forEach((sum, which) => {
    k.getElements(sum).forEach((x, at) => {
      const column = k.binary("add", lanes.columns[at], i(which * out.columns));
      const row = lanes.rowOf(at);
      const index = k.binary("add", k.binary("mul", out.rows.index[row], i(out.width)), column);
      const gate = k.binary("and", out.rows.isThere[row], k.compare("lt", column, i(out.width)));
      k.store(out.buffer, index, k.binary("mul", x, factors[row]), false, gate);
    });
  });
}
