/**
 * Attention on plain lanes whose rows each lie in a subgroup (forward.ts says what is computed, shared-tiles.ts how).
 *
 * As on matrix units (matrix-forward.ts): keys and values are loaded a tile ahead, and sums are scaled only when a score has
 * grown by more than GROWTH beyond the one that weights are relative to. So most tiles need no word between lanes but a vote,
 * and lanes of different rows wait for each other only for keys and values. Scores are in units of log 2, and weights are the
 * device's own powers of two: Vulkan allows them an error of (3 + 2|x|) in the last place of 2^x, at most four last places of
 * the largest weight.
 */
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { SharedAttentionTile } from "../../target/tile-profile.js";
import { startForward, tileScores } from "./forward.js";
import { BEFORE_ANY, GROWTH, largerNumber, tileStart } from "./matrix-forward.js";
import type { AttentionProblem } from "./problem.js";
import { inverses, laneRows, storeLogs, storeSums } from "./row-results.js";
import { SharedTiles } from "./shared-tiles.js";
import { mostColumns, walkOver } from "./walk.js";

export function sharedForwardKernel(
  problem: AttentionProblem,
  settings: ElementSettings,
  tile: SharedAttentionTile,
): Kernel {
  const { queries, keys, depth, width, params } = problem;
  const { k, inputs, out, logs, first, visibility, rowsOfHead } = startForward(
    problem,
    tile.rows,
    "f32",
    tile.lanes[0] * tile.lanes[1],
    tile.subgroupSize,
  );
  const tiles = new SharedTiles(k, tile, "f32");
  const { start, keyStart } = rowsOfHead();
  const q = tiles.resident({ buffer: inputs.q, count: queries, width: depth });
  const key = tiles.streamed({ buffer: inputs.k, count: keys, width: depth }, false);
  const value = tiles.streamed({ buffer: inputs.v, count: keys, width }, true);
  const sums = tiles.sums(width);
  q.load(start, first);

  const rowAt = Array.from({ length: tiles.laneRows }, (_, r) => k.binary("add", first, tiles.row(r)));
  const size = rowAt.length;
  const range = visibility.keysOf(first, tile.rows);
  const most = mostColumns(tile.rows, params.left, params.right, keys);
  const load = (at: Value) => [...key.fetch(keyStart, at), ...value.fetch(keyStart, at)];
  const ofEach = (x: number) => rowAt.map(() => k.constant("f32", x));
  const initial = [...ofEach(BEFORE_ANY), ...ofEach(0), ...sums.initial];
  const begin = load(tileStart(k, range.from, tile.columns));
  const state = walkOver(k, range, tile.columns, most, [...initial, ...begin], (firstKey, carried) => {
    const numbers = carried.slice(initial.length);
    k.barrier();
    key.keep(numbers.slice(0, key.fetched));
    value.keep(numbers.slice(key.fetched));
    k.barrier();
    const next = load(k.binary("add", firstKey, k.constant("i32", tile.columns)));
    const products = tiles.products(q, key);
    const scores = tileScores(k, tiles, visibility, products, { first, firstColumn: firstKey, unit: Math.LOG2E });
    // Every lane has read the keys: weights may take their place.
    if (tile.isTight) k.barrier();
    const [largest, totals, summed] = raised(k, tiles, scores, carried.slice(0, initial.length));
    const weights = scores.map((x, at) => k.exp2(k.binary("sub", x, largest[Math.floor(at / tiles.laneColumns)])));
    const added = byRow(tiles, weights).map((own, r) => own.reduce((sum, x) => k.binary("add", sum, x), totals[r]));
    // The subgroup has read the weights of the tile before.
    k.barrier("subgroup");
    tiles.putWeights(weights);
    k.barrier("subgroup");
    return [...largest, ...added, ...sums.add(summed, null, value), ...next];
  });
  const totals = tiles.overRow("add", state.slice(size, 2 * size));
  const rows = laneRows(k, rowAt, start, queries);
  const factors = inverses(k, settings, totals, params.emptyRow);
  storeSums(k, sums, state.slice(2 * size, initial.length), rows, { buffer: out, width, factors });
  const largest = state.slice(0, size).map((x) => k.binary("mul", x, k.constant("f32", Math.LN2)));
  const isOne = k.compare("eq", tiles.column(0), k.constant("i32", 0));
  storeLogs(k, settings, logs, rows, { largest, totals, isOne });
  return k.finish();
}

const byRow = ({ laneRows, laneColumns }: SharedTiles, values: readonly Value[]): Value[][] =>
  Array.from({ length: laneRows }, (_, r) => values.slice(r * laneColumns, (r + 1) * laneColumns));

/**
 * The score that weights of each row are relative to, the totals of weights, and the sums so far: scaled if a score of the
 * subgroup has grown far. `state`: the same before.
 */
function raised(
  k: KernelBuilder,
  tiles: SharedTiles,
  scores: readonly Value[],
  state: readonly Value[],
): readonly [largest: readonly Value[], totals: readonly Value[], sums: readonly Value[]] {
  const size = tiles.laneRows;
  const [before, totals, sums] = [state.slice(0, size), state.slice(size, 2 * size), state.slice(2 * size)];
  // A NaN need not be found here: it makes its weight NaN, and with that its row, whatever the weights are relative to.
  const higher = (a: Value, b: Value) => k.select(k.compare("gt", a, b), a, b);
  const highest = byRow(tiles, scores).map((row) => row.reduce(higher));
  const growth = highest.map((x, r) => k.binary("sub", x, before[r])).reduce((a, b) => largerNumber(k, a, b));
  const isFar = k.anyLane(k.compare("gt", growth, k.constant("f32", GROWTH)));
  const perRow = sums.length / size;
  const results = k.when(
    isFar,
    () => {
      const now = tiles.overRow("max", highest).map((x, r) => higher(x, before[r]));
      const factors = now.map((x, r) => k.exp2(k.binary("sub", before[r], x)));
      return [
        ...now,
        ...totals.map((total, r) => k.binary("mul", total, factors[r])),
        ...sums.map((sum, at) => k.binary("mul", sum, factors[Math.floor(at / perRow)])),
      ];
    },
    () => state,
  );
  return [results.slice(0, size), results.slice(size, 2 * size), results.slice(2 * size)];
}
