/**
 * Attention on matrix units, for f16 and bf16 (forward.ts says what is computed). A workgroup has a tile of queries; each
 * subgroup has as many of them as a fragment has rows, holds them as fragments, and holds the sums of weighted values as
 * fragments too. Keys and values go through registers into shared memory, a tile ahead. Scores go from fragments to lanes
 * through memory of the subgroup, and the weights back the same way; so subgroups wait for one another only for keys.
 *
 * Sums in fragments cannot be scaled where they are. They are scaled only when some row's largest score has grown by more than
 * GROWTH since they were last: until then weights are relative to an older maximum, and at most 2^GROWTH (Zadouri et al.,
 * FlashAttention-4, 2026). Scores are in units of log 2: powers of two are cheap.
 */

import { type Element, type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { FragmentShape, MatrixAttentionTile } from "../../target/tile-profile.js";
import { MatrixRows, UNIT, wordPitch } from "./matrix-rows.js";
import { packedPair, powerOfTwo } from "./narrow-weights.js";
import { type AttentionProblem, declareInputs, Visibility } from "./problem.js";
import { firstRowOf, keyHeadOf, mostColumns, placeOf, walkOver } from "./walk.js";

/** Growth of the largest score, in powers of two, up to which sums are not scaled. */
const GROWTH = 8;
/** Numbers that a lane reads at once. */
const VECTOR = 4;

const whole = (extent: number, step: number): number => Math.ceil(extent / step) * step;

/** The layout of the shared memory, in words: keys, values, and the scores of each subgroup; queries pass through first. */
function layoutOf({ rows, columns, fragment }: MatrixAttentionTile, depth: number, width: number) {
  const [d, e] = [whole(depth, fragment.depth), whole(width, fragment.columns)];
  const values = columns * wordPitch(d);
  const scores = values + columns * wordPitch(e);
  const scorePitch = columns + 2 * VECTOR;
  return { d, e, values, scores, scorePitch, words: Math.max(scores + rows * scorePitch, rows * wordPitch(d)) };
}

/** Whether a tile can compute an attention, and its lanes and bytes of shared memory. */
export function matrixDemands(tile: MatrixAttentionTile, { depth, width, dtype }: AttentionProblem) {
  const { rows, columns, fragment, subgroupSize } = tile;
  const lanes = (rows / fragment.rows) * subgroupSize;
  const perRow = Math.max(1, subgroupSize / fragment.rows);
  const isDivided =
    depth % UNIT === 0 &&
    width % UNIT === 0 &&
    columns % fragment.columns === 0 &&
    columns % fragment.depth === 0 &&
    columns % (UNIT * perRow) === 0 &&
    fragment.operand === dtype;
  return { isDivided, lanes, bytes: 4 * (layoutOf(tile, depth, width).words + 2 * lanes) };
}

/** A kernel in the making. */
interface MatrixAttention {
  readonly k: KernelBuilder;
  readonly problem: AttentionProblem;
  readonly tile: MatrixAttentionTile;
  readonly layout: ReturnType<typeof layoutOf>;
  readonly array: number;
  /** Numbers that the lanes of a subgroup tell one another. */
  readonly exchange: number;
  /** The subgroup's memory of scores: its first word. */
  readonly scratch: Value;
  /** The lane's rows in the subgroup's part of the tile, the number of lanes that share each, and the lane among them. */
  readonly rows: readonly Value[];
  readonly sharing: number;
  readonly aside: Value;
  /** The first lane of the subgroup. */
  readonly firstLane: Value;
  /** Fragments of queries, of scores, and of the sums. */
  readonly queries: readonly number[];
  readonly scores: readonly number[];
  readonly sums: readonly number[];
  readonly left: number;
  readonly right: number;
}

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
  const kernel = declare(k, problem, tile);
  const { layout, array, rows } = kernel;
  const start = firstRowOf(k, member, head, heads, queries);
  const keyStart = firstRowOf(k, member, keyHeadOf(k, head, problem), keyHeads, keys);
  loadQueries(
    kernel,
    new MatrixRows(k, array, 0, { buffer: inputs.q, count: queries, width: depth }, tile.rows, layout.d),
    start,
    first,
  );
  const key = new MatrixRows(k, array, 0, { buffer: inputs.k, count: keys, width: depth }, tile.columns, layout.d);
  const value = new MatrixRows(
    k,
    array,
    layout.values,
    { buffer: inputs.v, count: keys, width },
    tile.columns,
    layout.e,
  );
  for (const sum of kernel.sums) k.fillFragment(sum, 0);

  const rowAt = rows.map((row) => k.binary("add", k.binary("add", first, subgroupRow(kernel)), row));
  const range = visibility.keysOf(first, tile.rows);
  const most = mostColumns(tile.rows, params.left, params.right, keys);
  const load = (at: Value) => [...key.load(keyStart, at), ...value.load(keyStart, at)];
  const begin = k.binary(
    "mul",
    k.binary("idiv", range.from, k.constant("i32", tile.columns)),
    k.constant("i32", tile.columns),
  );
  const [zero, lowest] = [k.constant("f32", 0), k.constant("f32", -Infinity)];
  const initial = [...rows.map(() => lowest), ...rows.map(() => zero), ...load(begin)];
  const state = walkOver(k, range, tile.columns, most, initial, (firstKey, carried) => {
    const words = carried.slice(2 * rows.length);
    k.barrier();
    key.keep(words.slice(0, key.wordCount));
    value.keep(words.slice(key.wordCount));
    k.barrier();
    const next = load(k.binary("add", firstKey, k.constant("i32", tile.columns)));
    multiplyKeys(kernel, key);
    const scores = readScores(kernel, visibility, first, rowAt, firstKey);
    const before = carried.slice(0, rows.length);
    const { largest, factors } = raiseLargest(kernel, scores, before);
    const weights = scores.map((row, r) => {
      const shift = k.select(k.compare("eq", largest[r], lowest), zero, largest[r]);
      return row.map((x) => powerOfTwo(k, k.binary("sub", x, shift)));
    });
    const totals = weights.map((row, r) => {
      const sum = row.reduce((a, b) => k.binary("add", a, b));
      return k.mulAdd(carried[rows.length + r], factors[r], sum);
    });
    writeWeights(kernel, weights);
    multiplyValues(kernel, value);
    return [...largest, ...totals, ...next];
  });
  const largest = state.slice(0, rows.length);
  const totals = shared(kernel, "add", state.slice(rows.length, 2 * rows.length));
  store(kernel, settings, { out, logs, start, rowAt, largest, totals });
  return k.finish();
}

function declare(k: KernelBuilder, problem: AttentionProblem, tile: MatrixAttentionTile): MatrixAttention {
  const { fragment, subgroupSize, columns } = tile;
  const i = (value: number) => k.constant("i32", value);
  const layout = layoutOf(tile, problem.depth, problem.width);
  const sharing = Math.max(1, subgroupSize / fragment.rows);
  const perLane = Math.max(1, fragment.rows / subgroupSize);
  const subgroup = k.binary("idiv", k.lane, i(subgroupSize));
  const inSubgroup = k.binary("irem", k.lane, i(subgroupSize));
  const row = k.binary("idiv", inSubgroup, i(sharing));
  const many = (count: number, use: "left" | "right" | "sum") =>
    Array.from({ length: count }, () => fragmentOf(k, fragment, use));
  return {
    ...{ k, problem, tile, layout, sharing },
    array: k.array("u32", layout.words),
    exchange: k.array("f32", k.lanes * perLane),
    scratch: k.binary("add", k.binary("mul", subgroup, i(fragment.rows * layout.scorePitch)), i(layout.scores)),
    rows: Array.from({ length: perLane }, (_, at) => k.binary("add", row, i((at * subgroupSize) / sharing))),
    aside: k.binary("irem", inSubgroup, i(sharing)),
    firstLane: k.binary("mul", subgroup, i(subgroupSize)),
    queries: many(layout.d / fragment.depth, "left"),
    scores: many(columns / fragment.columns, "sum"),
    sums: many(layout.e / fragment.columns, "sum"),
    left: fragmentOf(k, fragment, "left"),
    right: fragmentOf(k, fragment, "right"),
  };
}

function fragmentOf(
  k: KernelBuilder,
  { operand, rows, columns, depth }: FragmentShape,
  use: "left" | "right" | "sum",
): number {
  if (use === "sum") return k.fragment({ use, dtype: "f32", rows, columns });
  return k.fragment({ use, dtype: operand, ...(use === "left" ? { rows, columns: depth } : { rows: depth, columns }) });
}

/** The first row of the subgroup in the tile. */
function subgroupRow({ k, tile }: MatrixAttention): Value {
  const subgroup = k.binary("idiv", k.lane, k.constant("i32", tile.subgroupSize));
  return k.binary("mul", subgroup, k.constant("i32", tile.fragment.rows));
}

function loadQueries(kernel: MatrixAttention, rows: MatrixRows, start: Value, first: Value): void {
  const { k, queries, tile } = kernel;
  rows.keep(rows.load(start, first));
  k.barrier();
  queries.forEach((fragment, at) => {
    k.loadFragment(fragment, rows.fragment(subgroupRow(kernel), at * tile.fragment.depth, false));
  });
}

/** Scores of the tile of keys, from fragments into the subgroup's memory. */
function multiplyKeys(
  { k, tile, queries, scores, right, array, layout, scratch }: MatrixAttention,
  key: MatrixRows,
): void {
  const { fragment } = tile;
  scores.forEach((sum, at) => {
    k.fillFragment(sum, 0);
    queries.forEach((query, d) => {
      k.loadFragment(right, key.fragment(k.constant("i32", at * fragment.columns), d * fragment.depth, true));
      k.multiplyFragments(query, right, sum);
    });
  });
  scores.forEach((sum, at) => {
    const index = k.binary("add", scratch, k.constant("i32", at * fragment.columns));
    k.storeFragment(sum, { array, index, pitch: layout.scorePitch, isByColumns: false });
  });
  k.barrier("subgroup");
}

/** The first columns of the units that a lane has of its rows. Lanes that share a row take units in turn. */
function unitColumns({ k, sharing, aside }: MatrixAttention, columns: number, unit: number): Value[] {
  return Array.from({ length: columns / unit / sharing }, (_, at) => {
    const which = k.binary("add", aside, k.constant("i32", at * sharing));
    return k.binary("mul", which, k.constant("i32", unit));
  });
}

/** The scores of the lane, row by row, in units of log 2. */
function readScores(
  kernel: MatrixAttention,
  visibility: Visibility,
  first: Value,
  rowAt: readonly Value[],
  firstKey: Value,
): Value[][] {
  const { k, tile, array, layout, scratch, rows } = kernel;
  const i = (value: number) => k.constant("i32", value);
  const units = unitColumns(kernel, tile.columns, UNIT);
  const found = rows.map((row) => {
    const line = k.binary("add", scratch, k.binary("mul", row, i(layout.scorePitch)));
    return units.flatMap((unit) =>
      [0, VECTOR].flatMap((part) => k.getMany(array, k.binary("add", k.binary("add", line, unit), i(part)), VECTOR)),
    );
  });
  const scored = (isSeen: boolean) =>
    found.flatMap((row, r) =>
      row.map((word, at) => {
        const column = k.binary("add", k.binary("add", firstKey, units[Math.floor(at / UNIT)]), i(at % UNIT));
        return visibility.score(k.bitcast("f32", word), rowAt[r], column, { unit: Math.LOG2E, isSeen });
      }),
    );
  const isSeen = visibility.seesAll(first, tile.rows, firstKey, tile.columns);
  const values = isSeen
    ? k.when(
        isSeen,
        () => scored(true),
        () => scored(false),
      )
    : scored(false);
  const perRow = units.length * UNIT;
  return rows.map((_, r) => values.slice(r * perRow, (r + 1) * perRow));
}

/** A value for each of the lane's rows, combined over the lanes that share the row. */
function shared(
  { k, exchange, sharing, aside }: MatrixAttention,
  op: "max" | "add",
  values: readonly Value[],
): Value[] {
  if (sharing === 1) return [...values];
  // Lanes share a row only where they have one each.
  const [own] = values;
  k.barrier("subgroup");
  k.set(exchange, k.lane, own);
  k.barrier("subgroup");
  const first = k.binary("sub", k.lane, aside);
  const parts = Array.from({ length: sharing }, (_, at) =>
    k.get(exchange, k.binary("add", first, k.constant("i32", at))),
  );
  return [parts.reduce((a, b) => k.binary(op, a, b))];
}

/** The maximum that weights are relative to, and the factors of what was summed before. Scales the sums where it rises far. */
function raiseLargest(kernel: MatrixAttention, scores: readonly (readonly Value[])[], before: readonly Value[]) {
  const { k, exchange, tile, firstLane } = kernel;
  const [zero, lowest] = [k.constant("f32", 0), k.constant("f32", -Infinity)];
  const own = scores.map((row) => row.reduce((a, b) => k.binary("max", a, b)));
  const now = shared(kernel, "max", own).map((x, r) => k.binary("max", x, before[r]));
  const isFirst = before.map((x) => k.compare("eq", x, lowest));
  const growth = now
    .map((x, r) => k.select(isFirst[r], zero, k.binary("sub", x, before[r])))
    .reduce((a, b) => k.binary("max", a, b));
  k.barrier("subgroup");
  k.set(exchange, k.lane, growth);
  k.barrier("subgroup");
  const all = Array.from({ length: tile.subgroupSize / VECTOR }, (_, at) =>
    k.getMany(exchange, k.binary("add", firstLane, k.constant("i32", at * VECTOR)), VECTOR),
  ).flat();
  const isFar = k.compare(
    "gt",
    all.reduce((a, b) => k.binary("max", a, b)),
    k.constant("f32", GROWTH),
  );
  const largest = now.map((x, r) => k.select(k.binary("or", isFar, isFirst[r]), x, before[r]));
  const factors = k.when(
    isFar,
    () => {
      const made = now.map((x, r) => k.select(isFirst[r], zero, powerOfTwo(k, k.binary("sub", before[r], x))));
      throughScratch(kernel, (fragments, read) => {
        read((at, r, words) => {
          const scaled = words.map((word) => k.bitcast("u32", k.binary("mul", k.bitcast("f32", word), made[r])));
          k.setMany(kernel.array, at, scaled);
        });
        k.barrier("subgroup");
        for (const { fragment, place } of fragments) k.loadFragment(fragment, place);
        k.barrier("subgroup");
      });
      return made;
    },
    () => now.map(() => k.constant("f32", 1)),
  );
  return { largest, factors };
}

interface ScratchPlace {
  readonly array: number;
  readonly index: Value;
  readonly pitch: number;
  readonly isByColumns: boolean;
}

/** Brings the sums into the subgroup's memory, as many columns at a time as it holds, where lanes read vectors of their rows. */
function throughScratch(
  kernel: MatrixAttention,
  visit: (
    fragments: readonly { readonly fragment: number; readonly place: ScratchPlace }[],
    read: (use: (at: Value, row: number, words: readonly Value[], column: Value) => void) => void,
  ) => void,
): void {
  const { k, tile, sums, array, layout, scratch, rows } = kernel;
  const { columns } = tile.fragment;
  const i = (value: number) => k.constant("i32", value);
  const perChunk = tile.columns / columns;
  for (let first = 0; first < sums.length; first += perChunk) {
    const fragments = sums.slice(first, first + perChunk).map((fragment, at) => {
      const index = k.binary("add", scratch, i(at * columns));
      return { fragment, place: { array, index, pitch: layout.scorePitch, isByColumns: false } };
    });
    k.barrier("subgroup");
    for (const { fragment, place } of fragments) k.storeFragment(fragment, place);
    k.barrier("subgroup");
    visit(fragments, (use) => {
      const units = Math.ceil((fragments.length * columns) / VECTOR / kernel.sharing);
      rows.forEach((row, r) => {
        const line = k.binary("add", scratch, k.binary("mul", row, i(layout.scorePitch)));
        for (const unit of unitColumns(kernel, units * VECTOR * kernel.sharing, VECTOR)) {
          const at = k.binary("add", line, unit);
          use(at, r, k.getMany(array, at, VECTOR), k.binary("add", unit, i(first * columns)));
        }
      });
    });
  }
}

/** The weights, in the dtype of the values, into the subgroup's memory. */
function writeWeights(kernel: MatrixAttention, weights: readonly (readonly Value[])[]): void {
  const { k, tile, array, scratch, rows, problem } = kernel;
  const units = unitColumns(kernel, tile.columns, UNIT);
  weights.forEach((row, r) => {
    const line = k.binary("add", scratch, k.binary("mul", rows[r], k.constant("i32", wordPitch(tile.columns))));
    units.forEach((unit, at) => {
      const words = [0, 2, 4, 6].map((part) =>
        packedPair(k, problem.dtype, row[at * UNIT + part], row[at * UNIT + part + 1]),
      );
      k.setMany(array, k.binary("add", line, k.binary("idiv", unit, k.constant("i32", 2))), words);
    });
  });
  k.barrier("subgroup");
}

/** Adds the weights times the tile of values to the sums. */
function multiplyValues({ k, tile, sums, left, right, array, scratch }: MatrixAttention, value: MatrixRows): void {
  const { fragment, columns } = tile;
  for (let at = 0; at < columns / fragment.depth; at++) {
    const index = k.binary("add", scratch, k.constant("i32", (at * fragment.depth) / 2));
    k.loadFragment(left, { array, index, pitch: wordPitch(columns), isByColumns: false });
    sums.forEach((sum, column) => {
      k.loadFragment(right, value.fragment(k.constant("i32", at * fragment.depth), column * fragment.columns, false));
      k.multiplyFragments(left, right, sum);
    });
  }
}

interface Results {
  readonly out: number;
  readonly logs: number;
  /** The number of the head's first row, and the places of the lane's rows in the head. */
  readonly start: Value;
  readonly rowAt: readonly Value[];
  readonly largest: readonly Value[];
  readonly totals: readonly Value[];
}

function store(kernel: MatrixAttention, settings: ElementSettings, results: Results): void {
  const { k, problem, aside } = kernel;
  const { start, rowAt, largest, totals, out, logs } = results;
  const i = (value: number) => k.constant("i32", value);
  const ops = elementOps(k, settings);
  const element = (value: Value): Element => ({ dtype: "f32", value });
  const [zero, one] = [k.constant("f32", 0), k.constant("f32", 1)];
  const inverse = totals.map((total) => {
    const isEmpty = k.compare("eq", total, zero);
    const empty = k.constant("f32", problem.params.emptyRow);
    return k.select(isEmpty, empty, ops.div(element(one), element(k.select(isEmpty, one, total))).value);
  });
  const isRow = rowAt.map((at) => k.compare("lt", at, i(problem.queries)));
  const rowIndex = rowAt.map((at) => k.binary("add", start, at));
  throughScratch(kernel, (_, read) => {
    read((_at, r, words, column) => {
      const index = k.binary("add", k.binary("mul", rowIndex[r], i(problem.width)), column);
      const gate = k.binary("and", isRow[r], k.compare("lt", column, i(problem.width)));
      const values = words.map((word) => k.binary("mul", k.bitcast("f32", word), inverse[r]));
      const places = values.map((_value, part) => k.binary("add", index, i(part)));
      for (const [part, value] of values.entries()) k.store(out, places[part], value, false, gate);
    });
  });
  const isFirst = k.compare("eq", aside, i(0));
  totals.forEach((total, r) => {
    const isEmpty = k.compare("eq", total, zero);
    const inLogs = k.binary("mul", largest[r], k.constant("f32", Math.LN2));
    const log = k.binary("add", inLogs, ops.math("log", element(total)).value);
    const stored = k.select(isEmpty, k.constant("f32", -Infinity), log);
    k.store(logs, rowIndex[r], stored, false, k.binary("and", isRow[r], isFirst));
  });
}
