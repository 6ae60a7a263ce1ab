/**
 * The way back through attention on matrix units (backward.ts says what is computed, matrix-tiles.ts how). Weights and the
 * cotangents of scores are rounded to the dtype of the operands before they are multiplied.
 */
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { MatrixAttentionTile } from "../../target/tile-profile.js";
import { scoresOf, tileStart } from "./matrix-forward.js";
import { MatrixTiles, matrixDemands } from "./matrix-tiles.js";
import { narrowPair, narrowPowerOfTwo, weightPair } from "./narrow-weights.js";
import { type AttentionProblem, declareInputs, declareRest, Visibility } from "./problem.js";
import { laneRows } from "./row-results.js";
import { firstRowOf, keyHeadOf, mostColumns, overHeads, placeOf, walkOver } from "./walk.js";

/** The weight of a score, and the cotangent of the score; both are in units of log 2, the logarithm too. */
function weigh(k: KernelBuilder, score: Value, log: Value, product: Value, delta: Value) {
  const isUnseen = k.compare("eq", score, k.constant("f32", -Infinity));
  // A query that sees no key has a logarithm of -inf, too: the difference is NaN.
  const weight = k.select(isUnseen, k.constant("f32", 0), narrowPowerOfTwo(k, k.binary("sub", score, log)));
  return { weight, ofScore: k.binary("mul", weight, k.binary("sub", product, delta)) };
}

/** The cotangents of queries: a tile of them, over the keys they see. */
export function matrixQueryKernel(problem: AttentionProblem, tile: MatrixAttentionTile): Kernel {
  const { batch, heads, keyHeads, queries, keys, depth, width, dtype, params } = problem;
  const count = Math.ceil(queries / tile.rows);
  const name = `attention, gradient of q[${[batch, heads, queries, depth].join("×")}]`;
  const { lanes } = matrixDemands(tile, problem, "back");
  const k = new KernelBuilder(name, batch * heads * count, lanes, tile.subgroupSize);
  const i = (at: number) => k.constant("i32", at);
  const inputs = declareInputs(k, problem);
  const rest = declareRest(k, problem);
  const out = k.buffer(dtype, true);
  const { member, head, first } = placeOf(k, count, tile.rows, heads, params.right < keys);
  const visibility = new Visibility(k, problem, inputs, member, head);
  const tiles = new MatrixTiles(k, problem, tile, "back");
  const start = firstRowOf(k, member, head, heads, queries);
  const keyStart = firstRowOf(k, member, keyHeadOf(k, head, problem), keyHeads, keys);
  const q = tiles.resident({ buffer: inputs.q, count: queries, width: depth }, start, first);
  const ct = tiles.resident({ buffer: rest.ct, count: queries, width }, start, first);
  const key = tiles.streamed({ buffer: inputs.k, count: keys, width: depth }, "first");
  const value = tiles.streamed({ buffer: inputs.v, count: keys, width }, "second");
  const sums = tiles.sums(depth);

  const rowAt = tiles.rows.map((row) => k.binary("add", first, row));
  const loaded = (buffer: number) =>
    rowAt.map((at) => k.load(buffer, k.binary("add", start, k.binary("min", at, i(queries - 1))), "f32"));
  const logs = loaded(rest.logs).map((log) => k.binary("mul", log, k.constant("f32", Math.LOG2E)));
  const deltas = loaded(rest.delta);
  const range = visibility.keysOf(first, tile.rows);
  const most = mostColumns(tile.rows, params.left, params.right, keys);
  const load = (at: Value) => [...key.load(keyStart, at), ...value.load(keyStart, at)];
  const ahead = load(tileStart(k, range.from, tile.columns));
  walkOver(k, range, tile.columns, most, ahead, (firstKey, words) => {
    k.barrier();
    key.keep(words.slice(0, key.wordCount));
    value.keep(words.slice(key.wordCount));
    k.barrier();
    const next = load(k.binary("add", firstKey, i(tile.columns)));
    const scores = scoresOf(k, tiles, tile, visibility, tiles.products(q, key), { first, firstColumn: firstKey });
    const products = tiles.products(ct, value);
    const ofScores = scores.map((row, r) =>
      row.map((score, c) => weigh(k, score, logs[r], products[r][c], deltas[r]).ofScore),
    );
    k.barrier("subgroup");
    tiles.putWeights(0, ofScores, (low, high) => narrowPair(k, dtype, low, high));
    k.barrier("subgroup");
    tiles.addWeighted(0, sums, key);
    return next;
  });
  const scales = rowAt.map(() => k.constant("f32", params.scale));
  tiles.storeSums(sums, { buffer: out, width: depth }, laneRows(k, rowAt, start, queries), scales);
  return k.finish();
}

/** The cotangents of keys and values: a tile of them, over the queries that see them, of every head that shares them. */
export function matrixKeyKernel(problem: AttentionProblem, tile: MatrixAttentionTile): Kernel {
  const { batch, heads, keyHeads, queries, keys, depth, width, dtype, params } = problem;
  const count = Math.ceil(keys / tile.rows);
  const name = `attention, gradients of k and v[${[batch, keyHeads, keys, depth].join("×")}]`;
  const { lanes } = matrixDemands(tile, problem, "back");
  const k = new KernelBuilder(name, batch * keyHeads * count, lanes, tile.subgroupSize);
  const i = (at: number) => k.constant("i32", at);
  const inputs = declareInputs(k, problem);
  const rest = declareRest(k, problem);
  const [outOfKeys, outOfValues] = [k.buffer(dtype, true), k.buffer(dtype, true)];
  const { member, head: keyHead, first } = placeOf(k, count, tile.rows, keyHeads, false);
  const tiles = new MatrixTiles(k, problem, tile, "back");
  const start = firstRowOf(k, member, keyHead, keyHeads, keys);
  const key = tiles.resident({ buffer: inputs.k, count: keys, width: depth }, start, first);
  const value = tiles.resident({ buffer: inputs.v, count: keys, width }, start, first);
  const q = tiles.streamed({ buffer: inputs.q, count: queries, width: depth }, "first");
  const ct = tiles.streamed({ buffer: rest.ct, count: queries, width }, "second");
  const rowNumbers = k.array("f32", 2 * tile.columns);
  const [ofKeys, ofValues] = [tiles.sums(depth), tiles.sums(width)];
  const rowAt = tiles.rows.map((row) => k.binary("add", first, row));
  const most = mostColumns(tile.rows, params.right, params.left, queries);

  const overHead = (head: Value): readonly Value[] => {
    const visibility = new Visibility(k, problem, inputs, member, head);
    const queryStart = firstRowOf(k, member, head, heads, queries);
    const range = visibility.queriesOf(first, tile.rows);
    const load = (at: Value) => [...q.load(queryStart, at), ...ct.load(queryStart, at)];
    const ahead = load(tileStart(k, range.from, tile.columns));
    walkOver(k, range, tile.columns, most, ahead, (firstQuery, words) => {
      k.barrier();
      q.keep(words.slice(0, q.wordCount));
      ct.keep(words.slice(q.wordCount));
      keepRowNumbers(k, rowNumbers, tile, [rest.logs, rest.delta], queryStart, firstQuery, queries);
      k.barrier();
      const next = load(k.binary("add", firstQuery, i(tile.columns)));
      const place = { first, firstColumn: firstQuery, isTurned: true };
      const scores = scoresOf(k, tiles, tile, visibility, tiles.products(key, q), place);
      const products = tiles.products(value, ct);
      putBothWeights(k, tiles, tile, rowNumbers, { scores, products, dtype });
      tiles.addWeighted(0, ofValues, ct);
      tiles.addWeighted(1, ofKeys, q);
      return next;
    });
    return [];
  };
  overHeads(k, keyHead, problem, [], overHead);
  const rows = laneRows(k, rowAt, start, keys);
  const all = (factor: number) => rowAt.map(() => k.constant("f32", factor));
  tiles.storeSums(ofKeys, { buffer: outOfKeys, width: depth }, rows, all(params.scale));
  tiles.storeSums(ofValues, { buffer: outOfValues, width }, rows, all(1));
  return k.finish();
}

/** Puts the weights of scores, and the cotangents of the scores, where the lanes of a subgroup find them. */
function putBothWeights(
  k: KernelBuilder,
  tiles: MatrixTiles,
  { columns }: MatrixAttentionTile,
  rowNumbers: number,
  { scores, products, dtype }: { scores: Value[][]; products: Value[][]; dtype: AttentionProblem["dtype"] },
): void {
  const logs = tiles.columnNumbers(rowNumbers, 0);
  const deltas = tiles.columnNumbers(rowNumbers, columns);
  const found = scores.map((row, r) => row.map((score, c) => weigh(k, score, logs[c], products[r][c], deltas[c])));
  k.barrier("subgroup");
  const weights = found.map((row) => row.map(({ weight }) => weight));
  tiles.putWeights(0, weights, (low, high) => weightPair(k, dtype, low, high));
  const ofScores = found.map((row) => row.map(({ ofScore }) => ofScore));
  tiles.putWeights(1, ofScores, (low, high) => narrowPair(k, dtype, low, high));
  k.barrier("subgroup");
}

/** A logarithm, in units of log 2, and a sum for each query of the tile, where all lanes find them. */
function keepRowNumbers(
  k: KernelBuilder,
  rowNumbers: number,
  { columns }: MatrixAttentionTile,
  buffers: readonly [logs: number, delta: number],
  start: Value,
  first: Value,
  count: number,
): void {
  const i = (at: number) => k.constant("i32", at);
  for (let done = 0; done < columns; done += k.lanes) {
    const column = k.binary("add", k.lane, i(done));
    const isThere = done + k.lanes <= columns ? null : k.compare("lt", column, i(columns));
    const own = isThere ? k.select(isThere, column, i(0)) : column;
    const index = k.binary("add", start, k.binary("min", k.binary("add", first, own), i(count - 1)));
    const [log, delta] = buffers.map((buffer) => k.load(buffer, index, "f32"));
    k.set(rowNumbers, column, k.binary("mul", log, k.constant("f32", Math.LOG2E)), isThere);
    k.set(rowNumbers, k.binary("add", column, i(columns)), delta, isThere);
  }
}
