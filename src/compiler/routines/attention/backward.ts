/**
 * The way back through attention, without stored scores: two kernels compute them again, tile by tile. With P the weights,
 * from the scores and the logarithms of their sums, and D the sum over each row of the cotangent times the output,
 * dV = Pᵀ·dO, dS = P ∘ (dO·Vᵀ - D), dQ = dS·K, dK = dSᵀ·Q (Dao et al. 2022). One kernel walks over the keys for a tile of
 * queries, the other over the queries for a tile of keys, so that no sum is shared between workgroups.
 */
import { type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import { tileScores } from "./forward.js";
import { type AttentionProblem, declareInputs, declareRest, Visibility } from "./problem.js";
import { laneRows, storeSums } from "./row-results.js";
import type { Operand, TileForm, Tiles } from "./tiles.js";
import { firstRowOf, keyHeadOf, mostColumns, overHeads, placeOf, walkOver } from "./walk.js";

/** The weight of a score, and the cotangent of the score. */
function weigh(
  k: KernelBuilder,
  settings: ElementSettings,
  { type }: AttentionProblem,
  { score, log, product, delta }: { score: Value; log: Value; product: Value; delta: Value },
) {
  const isUnseen = k.compare("eq", score, k.constant(type, -Infinity));
  const power = elementOps(k, settings).math("exp", { dtype: type, value: k.binary("sub", score, log) }).value;
  // A query that sees no key has a logarithm of -inf, too: the difference is NaN.
  const weight = k.select(isUnseen, k.constant(type, 0), power);
  return { weight, ofScore: k.binary("mul", weight, k.binary("sub", product, delta)) };
}

/** The cotangents of queries: a tile of them, over the keys they see. */
export function queryKernel<O extends Operand>(
  problem: AttentionProblem,
  settings: ElementSettings,
  form: TileForm<O>,
): Kernel {
  const { batch, heads, keyHeads, queries, keys, depth, width, type, params } = problem;
  const count = Math.ceil(queries / form.rows);
  const name = `attention, gradient of q[${[batch, heads, queries, depth].join("×")}]`;
  const k = new KernelBuilder(name, batch * heads * count, form.lanes);
  const inputs = declareInputs(k, problem);
  const rest = declareRest(k, problem);
  const out = k.buffer(problem.dtype, true);
  const { member, head, first } = placeOf(k, count, form.rows, heads, params.right < keys);
  const visibility = new Visibility(k, problem, inputs, member, head);
  const tiles = form.tiles(k);
  const start = firstRowOf(k, member, head, heads, queries);
  const keyStart = firstRowOf(k, member, keyHeadOf(k, head, problem), keyHeads, keys);
  const q = tiles.resident({ buffer: inputs.q, count: queries, width: depth });
  const ct = tiles.resident({ buffer: rest.ct, count: queries, width });
  const key = tiles.streamed({ buffer: inputs.k, count: keys, width: depth }, true);
  const value = tiles.streamed({ buffer: inputs.v, count: keys, width }, false);
  const sums = tiles.sums(depth);
  q.load(start, first);
  ct.load(start, first);

  const { laneColumns } = tiles;
  const i = (at: number) => k.constant("i32", at);
  const rowAt = Array.from({ length: tiles.laneRows }, (_, r) => k.binary("add", first, tiles.row(r)));
  const loaded = (buffer: number) =>
    rowAt.map((at) => k.load(buffer, k.binary("add", start, k.binary("min", at, i(queries - 1))), type));
  const [logs, deltas] = [loaded(rest.logs), loaded(rest.delta)];
  const most = mostColumns(form.rows, params.left, params.right, keys);
  const range = visibility.keysOf(first, form.rows);
  const state = walkOver(k, range, tiles.columns, most, sums.initial, (firstKey, carried) => {
    key.load(keyStart, firstKey);
    value.load(keyStart, firstKey);
    tiles.meet();
    const products = tiles.products(ct, value);
    const scores = tileScores(k, tiles, visibility, tiles.products(q, key), { first, firstColumn: firstKey });
    const ofScores = scores.map((score, at) => {
      const r = Math.floor(at / laneColumns);
      return weigh(k, settings, problem, { score, log: logs[r], product: products[at], delta: deltas[r] }).ofScore;
    });
    tiles.putWeights(ofScores);
    tiles.meet();
    const summed = sums.add(carried, null, key);
    tiles.meet();
    return summed;
  });
  const factors = rowAt.map(() => k.constant(type, params.scale));
  storeSums(k, sums, state, laneRows(k, rowAt, start, queries), { buffer: out, width: depth, factors });
  return k.finish();
}

/** The cotangents of keys and values: a tile of them, over the queries that see them, of every head that shares them. */
export function keyKernel<O extends Operand>(
  problem: AttentionProblem,
  settings: ElementSettings,
  form: TileForm<O>,
): Kernel {
  const { batch, heads, keyHeads, queries, keys, depth, width, type, params } = problem;
  const count = Math.ceil(keys / form.rows);
  const name = `attention, gradients of k and v[${[batch, keyHeads, keys, depth].join("×")}]`;
  const k = new KernelBuilder(name, batch * keyHeads * count, form.lanes);
  const inputs = declareInputs(k, problem);
  const rest = declareRest(k, problem);
  const [outOfKeys, outOfValues] = [k.buffer(problem.dtype, true), k.buffer(problem.dtype, true)];
  const { member, head: keyHead, first } = placeOf(k, count, form.rows, keyHeads, false);
  const tiles = form.tiles(k);
  const start = firstRowOf(k, member, keyHead, keyHeads, keys);
  const key = tiles.resident({ buffer: inputs.k, count: keys, width: depth });
  const value = tiles.resident({ buffer: inputs.v, count: keys, width });
  const q = tiles.streamed({ buffer: inputs.q, count: queries, width: depth }, true);
  const ct = tiles.streamed({ buffer: rest.ct, count: queries, width }, true);
  const [ofKeys, ofValues] = [tiles.sums(depth), tiles.sums(width)];
  key.load(start, first);
  value.load(start, first);

  const rowAt = Array.from({ length: tiles.laneRows }, (_, r) => k.binary("add", first, tiles.row(r)));
  const most = mostColumns(form.rows, params.right, params.left, queries);
  const cut = ofKeys.initial.length;
  const overHead = (head: Value, before: readonly Value[]): readonly Value[] => {
    const visibility = new Visibility(k, problem, inputs, member, head);
    const queryStart = firstRowOf(k, member, head, heads, queries);
    const range = visibility.queriesOf(first, form.rows);
    return walkOver(k, range, tiles.columns, most, before, (firstQuery, carried) => {
      q.load(queryStart, firstQuery);
      ct.load(queryStart, firstQuery);
      tiles.meet();
      const [logs, deltas] = columnNumbers(k, tiles, problem, [rest.logs, rest.delta], queryStart, firstQuery);
      const products = tiles.products(value, ct);
      const place = { first, firstColumn: firstQuery, isTurned: true };
      const found = tileScores(k, tiles, visibility, tiles.products(key, q), place).map((score, at) => {
        const c = at % tiles.laneColumns;
        return weigh(k, settings, problem, { score, log: logs[c], product: products[at], delta: deltas[c] });
      });
      tiles.putWeights(found.map(({ weight }) => weight));
      tiles.meet();
      const values = ofValues.add(carried.slice(cut), null, ct);
      tiles.meet();
      tiles.putWeights(found.map(({ ofScore }) => ofScore));
      tiles.meet();
      const summed = ofKeys.add(carried.slice(0, cut), null, q);
      tiles.meet();
      return [...summed, ...values];
    });
  };
  const state = overHeads(k, keyHead, problem, [...ofKeys.initial, ...ofValues.initial], overHead);
  const rows = laneRows(k, rowAt, start, keys);
  const all = (factor: number) => rowAt.map(() => k.constant(type, factor));
  storeSums(k, ofKeys, state.slice(0, cut), rows, { buffer: outOfKeys, width: depth, factors: all(params.scale) });
  storeSums(k, ofValues, state.slice(cut), rows, { buffer: outOfValues, width, factors: all(1) });
  return k.finish();
}

/** Numbers that buffers have for each query, of the queries in the columns of a lane. */
function columnNumbers<O extends Operand>(
  k: KernelBuilder,
  tiles: Tiles<O>,
  { queries, type }: AttentionProblem,
  buffers: readonly number[],
  start: Value,
  first: Value,
): readonly (readonly Value[])[] {
  const columnAt = Array.from({ length: tiles.laneColumns }, (_, c) => k.binary("add", first, tiles.column(c)));
  const last = (): Value => k.constant("i32", queries - 1);
  return buffers.map((buffer) =>
    columnAt.map((at) => k.load(buffer, k.binary("add", start, k.binary("min", at, last())), type)),
  );
}
