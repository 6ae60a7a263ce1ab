/**
 * Attention on matrix units (forward.ts says what is computed, matrix-tiles.ts how). Keys and values are loaded a tile ahead.
 *
 * Sums in fragments cannot be scaled where they are. They are scaled only when some row's largest score has grown by more than
 * GROWTH since they were last: until then weights are relative to an older maximum, and at most 2^GROWTH (Zadouri et al.,
 * FlashAttention-4, 2026). Scores are in units of log 2: powers of two are cheap.
 */
import { type Element, type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { MatrixAttentionTile } from "../../target/tile-profile.js";
import { MatrixTiles, matrixDemands } from "./matrix-tiles.js";
import { powerOfTwo, weightPair } from "./narrow-weights.js";
import { type AttentionProblem, declareInputs, Visibility } from "./problem.js";
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
  const held = tiles.held({ buffer: inputs.q, count: queries, width: depth }, start, first);
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
    const products = tiles.products(held, key);
    const scores = scoresOf(k, tiles, tile, visibility, products, { first, rowAt, firstKey, isTurned: false });
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
  const isRow = rowAt.map((at) => k.compare("lt", at, k.constant("i32", queries)));
  const rowIndex = rowAt.map((at) => k.binary("add", start, at));
  tiles.storeSums(sums, { buffer: out, width }, rowIndex, isRow, inverses(k, settings, totals, params.emptyRow));
  storeLogs(k, settings, tiles, logs, { rowIndex, isRow, largest: state.slice(0, rowAt.length), totals });
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
  place: { first: Value; rowAt: readonly Value[]; firstKey: Value; isTurned: boolean },
): Value[][] {
  const { first, rowAt, firstKey, isTurned } = place;
  const columnAt = tiles.columns().map((column) => k.binary("add", firstKey, column));
  const scored = (isSeen: boolean) =>
    products.flatMap((row, r) =>
      row.map((product, c) => {
        const [query, key] = isTurned ? [columnAt[c], rowAt[r]] : [rowAt[r], columnAt[c]];
        return visibility.score(product, query, key, { unit: Math.LOG2E, isSeen });
      }),
    );
  // Most tiles are seen as a whole: they need no tests for each score.
  const isSeen = isTurned
    ? visibility.seesAll(firstKey, tile.columns, first, tile.rows)
    : visibility.seesAll(first, tile.rows, firstKey, tile.columns);
  const values = isSeen
    ? k.when(
        isSeen,
        () => scored(true),
        () => scored(false),
      )
    : scored(false);
  return rowAt.map((_, r) => values.slice(r * columnAt.length, (r + 1) * columnAt.length));
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

/** 1 / total; `empty` where that is 0. */
function inverses(k: KernelBuilder, settings: ElementSettings, totals: readonly Value[], empty: number): Value[] {
  const ops = elementOps(k, settings);
  const one = k.constant("f32", 1);
  return totals.map((total) => {
    const isEmpty = k.compare("eq", total, k.constant("f32", 0));
    const divisor = { dtype: "f32", value: k.select(isEmpty, one, total) } as const;
    return k.select(isEmpty, k.constant("f32", empty), ops.div({ dtype: "f32", value: one }, divisor).value);
  });
}

interface RowResults {
  readonly rowIndex: readonly Value[];
  readonly isRow: readonly Value[];
  readonly largest: readonly Value[];
  readonly totals: readonly Value[];
}

function storeLogs(
  k: KernelBuilder,
  settings: ElementSettings,
  { aside }: MatrixTiles,
  logs: number,
  { rowIndex, isRow, largest, totals }: RowResults,
): void {
  const ops = elementOps(k, settings);
  const isFirst = k.compare("eq", aside, k.constant("i32", 0));
  totals.forEach((total, r) => {
    const isEmpty = k.compare("eq", total, k.constant("f32", 0));
    const element: Element = { dtype: "f32", value: total };
    const inLogs = k.binary("mul", largest[r], k.constant("f32", Math.LN2));
    const log = k.binary("add", inLogs, ops.math("log", element).value);
    const stored = k.select(isEmpty, k.constant("f32", -Infinity), log);
    k.store(logs, rowIndex[r], stored, false, k.binary("and", isRow[r], isFirst));
  });
}
