/**
 * Attention in one pass over the keys (Milakov and Gimelshein 2018; Dao et al. 2022). A kernel keeps for each query the
 * largest score so far, the sum of exponentials relative to it, and the sum of values weighted by them; where a later key has a
 * larger score the sums are scaled down. Only the result and the logarithm of the sum of exponentials are stored.
 */
import { type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import { type AttentionProblem, declareInputs, type InputBuffers, Visibility } from "./problem.js";
import { inverses, laneRows, storeLogs, storeSums } from "./row-results.js";
import type { Operand, TileForm, Tiles } from "./tiles.js";
import { firstRowOf, keyHeadOf, mostColumns, placeOf, walkOver } from "./walk.js";

export function forwardKernel<O extends Operand>(
  problem: AttentionProblem,
  settings: ElementSettings,
  form: TileForm<O>,
): Kernel {
  const { queries, keys, depth, width, type, params } = problem;
  const { k, inputs, out, logs, first, visibility, rowsOfHead } = startForward(problem, form.rows, type, form.lanes);
  const tiles = form.tiles(k);
  const { start, keyStart } = rowsOfHead();
  const q = tiles.resident({ buffer: inputs.q, count: queries, width: depth });
  const key = tiles.streamed({ buffer: inputs.k, count: keys, width: depth }, false);
  const value = tiles.streamed({ buffer: inputs.v, count: keys, width }, true);
  const sums = tiles.sums(width);
  q.load(start, first);

  const rowAt = Array.from({ length: tiles.laneRows }, (_, r) => k.binary("add", first, tiles.row(r)));
  const ofEach = (x: number) => rowAt.map(() => k.constant(type, x));
  const initial = [...ofEach(-Infinity), ...ofEach(0), ...sums.initial];
  const most = mostColumns(form.rows, params.left, params.right, keys);
  const range = visibility.keysOf(first, form.rows);
  const state = walkOver(k, range, tiles.columns, most, initial, (firstKey, carried) => {
    key.load(keyStart, firstKey);
    value.load(keyStart, firstKey);
    tiles.meet();
    const scores = tileScores(k, tiles, visibility, tiles.products(q, key), { first, firstColumn: firstKey });
    const [before, totalBefore] = [carried.slice(0, rowAt.length), carried.slice(rowAt.length, 2 * rowAt.length)];
    const { largest, factors, weights, totals } = weighted(k, settings, tiles, scores, before, totalBefore);
    tiles.putWeights(weights);
    tiles.meet();
    const summed = sums.add(carried.slice(2 * rowAt.length), factors, value);
    tiles.meet();
    return [...largest, ...totals, ...summed];
  });
  const totals = tiles.overRow("add", state.slice(rowAt.length, 2 * rowAt.length));
  const rows = laneRows(k, rowAt, start, queries);
  const factors = inverses(k, settings, totals, params.emptyRow);
  storeSums(k, sums, state.slice(2 * rowAt.length), rows, { buffer: out, width, factors });
  const isOne = k.compare("eq", tiles.column(0), k.constant("i32", 0));
  storeLogs(k, settings, logs, rows, { largest: state.slice(0, rowAt.length), totals, isOne });
  return k.finish();
}

/** A forward kernel that has begun. */
interface ForwardStart {
  readonly k: KernelBuilder;
  readonly inputs: InputBuffers;
  readonly out: number;
  readonly logs: number;
  /** The first query of the tile. */
  readonly first: Value;
  readonly visibility: Visibility;
  /** The first rows of the queries' and the keys' heads. */
  rowsOfHead(): { readonly start: Value; readonly keyStart: Value };
}

/**
 * The beginning of every forward kernel: its name, buffers, the tile of queries that a workgroup has, and the keys that it may see.
 * `rowsOfHead` computes where the rows of its heads begin; kernels call it once their tiles are declared.
 */
export function startForward(
  problem: AttentionProblem,
  rows: number,
  logType: "f32" | "f64",
  ...lanes: readonly [lanes: number, subgroupSize?: number]
): ForwardStart {
  const { batch, heads, keyHeads, queries, keys, width, dtype, params } = problem;
  const count = Math.ceil(queries / rows);
  const name = `attention[${[batch, heads, queries, width].join("×")}]`;
  const k = new KernelBuilder(name, batch * heads * count, ...lanes);
  const inputs = declareInputs(k, problem);
  const [out, logs] = [k.buffer(dtype, true), k.buffer(logType, true)];
  const { member, head, first } = placeOf(k, count, rows, heads, params.right < keys);
  const visibility = new Visibility(k, problem, inputs, member, head);
  const rowsOfHead = () => ({
    start: firstRowOf(k, member, head, heads, queries),
    keyStart: firstRowOf(k, member, keyHeadOf(k, head, problem), keyHeads, keys),
  });
  return { k, inputs, out, logs, first, visibility, rowsOfHead };
}

/** A tile's first row and column; `isTurned`: rows are keys and columns queries. `unit`: a factor of all scores. */
interface TilePlace {
  readonly first: Value;
  readonly firstColumn: Value;
  readonly isTurned?: boolean;
  readonly unit?: number;
}

/** The scores of a tile of products. */
export function tileScores<O extends Operand>(
  k: KernelBuilder,
  tiles: Tiles<O>,
  visibility: Visibility,
  products: readonly Value[],
  { first, firstColumn, isTurned = false, unit = 1 }: TilePlace,
): readonly Value[] {
  const { laneColumns } = tiles;
  const row = (at: number) => k.binary("add", first, tiles.row(Math.floor(at / laneColumns)));
  const column = (at: number) => k.binary("add", firstColumn, tiles.column(at % laneColumns));
  const sides = [
    { first, count: tiles.rows, at: row },
    { first: firstColumn, count: tiles.columns, at: column },
  ] as const;
  return visibility.scores(products, isTurned ? [sides[1], sides[0]] : sides, unit);
}

/** Weights relative to the largest score so far, their totals, and the factors of what was summed before. */
function weighted<O extends Operand>(
  k: KernelBuilder,
  settings: ElementSettings,
  tiles: Tiles<O>,
  scores: readonly Value[],
  before: readonly Value[],
  totalBefore: readonly Value[],
) {
  const { laneColumns } = tiles;
  const ops = elementOps(k, settings);
  const type = scores[0].type as "f32" | "f64";
  const exp = (x: Value): Value => ops.math("exp", { dtype: type, value: x }).value;
  const byRow = (values: readonly Value[]) =>
    before.map((_, r) => values.slice(r * laneColumns, (r + 1) * laneColumns));
  const own = byRow(scores).map((row) => row.reduce((a, b) => k.binary("max", a, b)));
  const largest = tiles.overRow("max", own).map((x, r) => k.binary("max", x, before[r]));
  // Until a query sees a key its largest score is -inf, and the difference of infinities would be NaN.
  const [zero, lowest] = [k.constant(type, 0), k.constant(type, -Infinity)];
  const shift = largest.map((x) => k.select(k.compare("eq", x, lowest), zero, x));
  const factors = before.map((x, r) => exp(k.binary("sub", x, shift[r])));
  const weights = scores.map((x, at) => exp(k.binary("sub", x, shift[Math.floor(at / laneColumns)])));
  const totals = byRow(weights).map((row, r) => {
    return k.mulAdd(
      totalBefore[r],
      factors[r],
      row.reduce((a, b) => k.binary("add", a, b)),
    );
  });
  return { largest, factors, weights, totals };
}
