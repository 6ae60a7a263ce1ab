/**
 * Attention in one pass over the keys (Milakov and Gimelshein 2018; Dao et al. 2022). A kernel keeps for each query the
 * largest score so far, the sum of exponentials relative to it, and the sum of values weighted by them; where a later key has a
 * larger score the sums are scaled down. Only the result and the logarithm of the sum of exponentials are stored.
 */
import { type Element, type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import { type AttentionProblem, declareInputs, Visibility } from "./problem.js";
import type { Operand, Tiles } from "./tiles.js";
import { firstRowOf, keyHeadOf, mostColumns, placeOf, walkOver } from "./walk.js";

export function forwardKernel<O extends Operand>(
  problem: AttentionProblem,
  settings: ElementSettings,
  form: { readonly rows: number; readonly lanes: number; tiles(k: KernelBuilder): Tiles<O> },
): Kernel {
  const { batch, heads, keyHeads, queries, keys, depth, width, type, params } = problem;
  const count = Math.ceil(queries / form.rows);
  const k = new KernelBuilder(
    `attention[${[batch, heads, queries, width].join("×")}]`,
    batch * heads * count,
    form.lanes,
  );
  const inputs = declareInputs(k, problem);
  const out = k.buffer(problem.dtype, true);
  const logs = k.buffer(type, true);
  const { member, head, first } = placeOf(k, count, form.rows, heads, params.right < keys);
  const visibility = new Visibility(k, problem, inputs, member, head);
  const tiles = form.tiles(k);
  const [start, keyStart] = [
    firstRowOf(k, member, head, heads, queries),
    firstRowOf(k, member, keyHeadOf(k, head, problem), keyHeads, keys),
  ];
  const q = tiles.resident({ buffer: inputs.q, count: queries, width: depth });
  const key = tiles.streamed({ buffer: inputs.k, count: keys, width: depth }, false);
  const value = tiles.streamed({ buffer: inputs.v, count: keys, width }, true);
  const sums = tiles.sums(width);
  q.load(start, first);

  const { laneRows, laneColumns } = tiles;
  const rowAt = Array.from({ length: laneRows }, (_, r) => k.binary("add", first, tiles.row(r)));
  const rowsOfLane = (values: readonly Value[]) =>
    rowAt.map((_, r) => values.slice(r * laneColumns, (r + 1) * laneColumns));
  const ops = elementOps(k, settings);
  const exp = (x: Value): Value => ops.math("exp", { dtype: type, value: x }).value;
  const [zero, lowest] = [k.constant(type, 0), k.constant(type, -Infinity)];
  const initial = [...rowAt.map(() => lowest), ...rowAt.map(() => zero), ...sums.initial];
  const most = mostColumns(form.rows, params.left, params.right, keys);
  const range = visibility.keysOf(first, form.rows);
  const state = walkOver(k, range, tiles.columns, most, initial, (firstKey, carried) => {
    const before = carried.slice(0, laneRows);
    key.load(keyStart, firstKey);
    value.load(keyStart, firstKey);
    tiles.meet();
    const columnAt = Array.from({ length: laneColumns }, (_, c) => k.binary("add", firstKey, tiles.column(c)));
    const scores = tiles.products(q, key).map((product, at) => {
      return visibility.score(product, rowAt[Math.floor(at / laneColumns)], columnAt[at % laneColumns]);
    });
    const own = rowsOfLane(scores).map((row) => row.reduce((a, b) => k.binary("max", a, b)));
    const largest = tiles.overRow("max", own).map((x, r) => k.binary("max", x, before[r]));
    // Until a query sees a key its largest score is -inf, and the difference of infinities would be NaN.
    const shift = largest.map((x) => k.select(k.compare("eq", x, lowest), zero, x));
    const factors = before.map((x, r) => exp(k.binary("sub", x, shift[r])));
    const weights = scores.map((x, at) => exp(k.binary("sub", x, shift[Math.floor(at / laneColumns)])));
    tiles.putWeights(weights);
    const totals = rowsOfLane(weights).map((row, r) => {
      const sum = row.reduce((a, b) => k.binary("add", a, b));
      return k.mulAdd(carried[laneRows + r], factors[r], sum);
    });
    tiles.meet();
    const summed = sums.add(carried.slice(2 * laneRows), factors, value);
    tiles.meet();
    return [...largest, ...totals, ...summed];
  });

  const totals = tiles.overRow("add", state.slice(laneRows, 2 * laneRows));
  const element = (x: Value): Element => ({ dtype: type, value: x });
  const one = k.constant(type, 1);
  const inverse = totals.map((total) => {
    const isEmpty = k.compare("eq", total, zero);
    const empty = k.constant(type, params.emptyRow);
    return k.select(isEmpty, empty, ops.div(element(one), element(k.select(isEmpty, one, total))).value);
  });
  const rowIndex = rowAt.map((at) => k.binary("add", start, at));
  const isRow = rowAt.map((at) => k.compare("lt", at, k.constant("i32", queries)));
  storeSums(k, sums, state.slice(2 * laneRows), { out, width, rowIndex, isRow, factors: inverse });
  const isFirst = k.compare("eq", tiles.column(0), k.constant("i32", 0));
  rowAt.forEach((_, r) => {
    const log = ops.math("log", element(totals[r])).value;
    // -inf plus the logarithm of 0, where no key is seen, is -inf.
    k.store(logs, rowIndex[r], k.binary("add", state[r], log), false, k.binary("and", isRow[r], isFirst));
  });
  return k.finish();
}

/** Where sums go, and the factors of each row. */
interface Stored {
  readonly out: number;
  readonly width: number;
  readonly rowIndex: readonly Value[];
  readonly isRow: readonly Value[];
  readonly factors: readonly Value[];
}

export function storeSums<O extends Operand>(
  k: KernelBuilder,
  sums: ReturnType<Tiles<O>["sums"]>,
  state: readonly Value[],
  { out, width, rowIndex, isRow, factors }: Stored,
): void {
  const i = (value: number) => k.constant("i32", value);
  sums.each(state, (r, column, values) => {
    const start = k.binary("add", k.binary("mul", rowIndex[r], i(width)), column);
    const isVector = width % values.length === 0;
    const isWhole = k.binary("and", isRow[r], k.compare("lt", column, i(width)));
    const stored = values.map((sum, part) => {
      const place = k.binary("add", column, i(part));
      const gate = isVector ? isWhole : k.binary("and", isRow[r], k.compare("lt", place, i(width)));
      return { index: k.binary("add", start, i(part)), value: k.binary("mul", sum, factors[r]), gate };
    });
    // One after another, they may be written at once.
    for (const { index, value, gate } of stored) k.store(out, index, value, false, gate);
  });
}
