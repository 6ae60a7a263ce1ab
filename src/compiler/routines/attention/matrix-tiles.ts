/**
 * Tiles of attention on matrix units, for f16 and bf16. A workgroup has a tile of scores; each subgroup has as many of its rows
 * as a fragment has, and holds them as fragments. Streamed rows lie in shared memory. Scores go from fragments to lanes through
 * memory of the subgroup, and weights back the same way, so that subgroups wait for one another only for streamed rows.
 */
import type { FragmentPlace, Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { MatrixAttentionTile } from "../../target/tile-profile.js";
import { type FragmentLanes, laneWords, sumFragment } from "./fragment-lanes.js";
import { MatrixRows, UNIT, wordPitch } from "./matrix-rows.js";
import type { AttentionProblem } from "./problem.js";
import type { LaneRows } from "./row-results.js";
import type { Rows } from "./tiles.js";

/** Numbers that a lane reads at once. */
const VECTOR = 4;

const whole = (extent: number, step: number): number => Math.ceil(extent / step) * step;

/** The forward kernel leaves scores in the lanes that hold them (fragment-lanes.ts); the others move them to lanes by rows. */
type Direction = "forward" | "back";

/**
 * The layout of the shared memory, in words: streamed rows of `depth` and of `width` numbers, and memory of each subgroup for
 * its scores and weights. Rows that stay pass through it first.
 */
function layoutOf({ rows, columns, fragment }: MatrixAttentionTile, depth: number, width: number, pass: Direction) {
  const step = Math.max(fragment.depth, fragment.columns);
  const [d, e] = [whole(depth, step), whole(width, step)];
  const second = columns * wordPitch(d);
  const scratch = second + columns * wordPitch(e);
  const scorePitch = columns + 2 * VECTOR;
  const isInPlace = pass === "forward" && fragment.pairs === true;
  const weights = fragment.rows * wordPitch(columns);
  const perSubgroup = isInPlace ? Math.max(weights, laneWords(fragment)) : fragment.rows * scorePitch;
  const residentWords = rows * Math.max(wordPitch(d), wordPitch(e));
  const words = Math.max(scratch + (rows / fragment.rows) * perSubgroup, residentWords);
  return { d, e, second, scratch, scorePitch, perSubgroup, words };
}

/** Whether a tile can compute an attention, and its lanes and bytes of shared memory. */
export function matrixDemands(tile: MatrixAttentionTile, { depth, width, dtype }: AttentionProblem, pass: Direction) {
  const { rows, columns, fragment, subgroupSize } = tile;
  const lanes = (rows / fragment.rows) * subgroupSize;
  const sharing = Math.max(1, subgroupSize / fragment.rows);
  const isDivided =
    depth % UNIT === 0 &&
    width % UNIT === 0 &&
    columns % fragment.columns === 0 &&
    columns % fragment.depth === 0 &&
    columns % (UNIT * sharing) === 0 &&
    fragment.operand === dtype;
  const numbers = pass === "back" ? 2 * columns : 0;
  return { isDivided, lanes, bytes: 4 * (layoutOf(tile, depth, width, pass).words + numbers) };
}

export class MatrixTiles {
  private readonly layout: ReturnType<typeof layoutOf>;
  readonly array: number;
  /** The subgroup's memory for scores and weights: its first word. */
  readonly scratch: Value;
  /** The lane's rows in the tile, the number of lanes that share each, and the lane among them. */
  readonly rows: readonly Value[];
  private readonly rowsInSubgroup: readonly Value[];
  readonly sharing: number;
  readonly aside: Value;
  /** The products of resident and streamed rows. */
  readonly scores: readonly number[];
  private readonly left: number;
  private readonly right: number;

  constructor(
    private readonly k: KernelBuilder,
    problem: AttentionProblem,
    private readonly tile: MatrixAttentionTile,
    pass: Direction,
  ) {
    const { fragment, subgroupSize, columns } = tile;
    const i = (value: number) => k.constant("i32", value);
    this.layout = layoutOf(tile, problem.depth, problem.width, pass);
    this.sharing = Math.max(1, subgroupSize / fragment.rows);
    const perLane = Math.max(1, fragment.rows / subgroupSize);
    this.array = k.array("u32", this.layout.words);
    const subgroup = k.binary("idiv", k.lane, i(subgroupSize));
    const inSubgroup = k.binary("irem", k.lane, i(subgroupSize));
    const row = k.binary("idiv", inSubgroup, i(this.sharing));
    this.rowsInSubgroup = Array.from({ length: perLane }, (_, at) =>
      k.binary("add", row, i((at * subgroupSize) / this.sharing)),
    );
    this.rows = this.rowsInSubgroup.map((at) => k.binary("add", at, this.subgroupRow()));
    this.aside = k.binary("irem", inSubgroup, i(this.sharing));
    const before = k.binary("mul", subgroup, i(this.layout.perSubgroup));
    this.scratch = k.binary("add", before, i(this.layout.scratch));
    this.scores = Array.from({ length: columns / fragment.columns }, () => sumFragment(k, fragment));
    const { operand: dtype, rows, depth, columns: aside } = fragment;
    this.left = k.fragment({ use: "left", dtype, rows, columns: depth });
    this.right = k.fragment({ use: "right", dtype, rows: depth, columns: aside });
  }

  /** The first row of the subgroup in the tile. */
  subgroupRow(): Value {
    const { k, tile } = this;
    const subgroup = k.binary("idiv", k.lane, k.constant("i32", tile.subgroupSize));
    return k.binary("mul", subgroup, k.constant("i32", tile.fragment.rows));
  }

  /** Rows that stay, as fragments: those of the subgroup, from `first` on. All lanes meet before and after. */
  resident(rows: Rows, start: Value, first: Value): readonly number[] {
    const { k, tile } = this;
    const { operand: dtype, rows: count, depth } = tile.fragment;
    const padded = whole(rows.width, Math.max(depth, tile.fragment.columns));
    const staged = new MatrixRows(k, this.array, 0, rows, tile.rows, padded);
    k.barrier();
    staged.keep(staged.load(start, first));
    k.barrier();
    return Array.from({ length: padded / depth }, (_, at) => {
      const fragment = k.fragment({ use: "left", dtype, rows: count, columns: depth });
      k.loadFragment(fragment, staged.fragment(this.subgroupRow(), at * depth, false));
      return fragment;
    });
  }

  /** Streamed rows: the first operand of `depth` numbers, or the second of `width`. */
  streamed(rows: Rows, which: "first" | "second"): MatrixRows {
    const { d, e, second } = this.layout;
    const [place, padded] = which === "first" ? [0, d] : [second, e];
    return new MatrixRows(this.k, this.array, place, rows, this.tile.columns, padded);
  }

  /** Fragments for sums over rows of so many numbers, with zeros in them. */
  sums(width: number): readonly number[] {
    const { depth, columns } = this.tile.fragment;
    const made = Array.from({ length: whole(width, Math.max(depth, columns)) / columns }, () =>
      sumFragment(this.k, this.tile.fragment),
    );
    for (const sum of made) this.k.fillFragment(sum, 0);
    return made;
  }

  /** Multiplies resident and streamed rows; the products are in the fragments of `scores`. */
  multiply(resident: readonly number[], streamed: MatrixRows): void {
    const { k, tile, scores, right } = this;
    const { fragment } = tile;
    const i = (value: number) => k.constant("i32", value);
    scores.forEach((sum, at) => {
      k.fillFragment(sum, 0);
      resident.forEach((own, d) => {
        k.loadFragment(right, streamed.fragment(i(at * fragment.columns), d * fragment.depth, true));
        k.multiplyFragments(own, right, sum);
      });
    });
  }

  /** The products of resident and streamed rows, row by row of the lane, in the order of `columns`. */
  products(resident: readonly number[], streamed: MatrixRows): Value[][] {
    this.multiply(resident, streamed);
    return this.scoresByRows();
  }

  /** Moves scores to lanes, each of which gets columns of its rows. */
  scoresByRows(): Value[][] {
    const { k, tile, scores, array, layout } = this;
    const { fragment } = tile;
    const i = (value: number) => k.constant("i32", value);
    k.barrier("subgroup");
    scores.forEach((sum, at) => {
      k.storeFragment(sum, this.scorePlace(at * fragment.columns));
    });
    k.barrier("subgroup");
    const units = this.units(tile.columns, UNIT);
    return this.rowsInSubgroup.map((row) => {
      const line = k.binary("add", this.scratch, k.binary("mul", row, i(layout.scorePitch)));
      const words = units.flatMap((unit) =>
        [0, VECTOR].flatMap((part) => k.getMany(array, k.binary("add", k.binary("add", line, unit), i(part)), VECTOR)),
      );
      return words.map((word) => k.bitcast("f32", word));
    });
  }

  /** The columns of the lane's scores in the tile. */
  columns(): Value[] {
    const { k } = this;
    return this.units(this.tile.columns, UNIT).flatMap((unit) =>
      Array.from({ length: UNIT }, (_, at) => k.binary("add", unit, k.constant("i32", at))),
    );
  }

  /** Numbers for each column of the tile, from an array that has them in order: those of the lane's columns. */
  columnNumbers(array: number, first: number): Value[] {
    const { k } = this;
    return this.units(this.tile.columns, UNIT).flatMap((unit) =>
      [0, VECTOR].flatMap((part) => k.getMany(array, k.binary("add", unit, k.constant("i32", first + part)), VECTOR)),
    );
  }

  private scorePlace(column: number): FragmentPlace {
    const index = this.k.binary("add", this.scratch, this.k.constant("i32", column));
    return { array: this.array, index, pitch: this.layout.scorePitch, isByColumns: false };
  }

  /** The first columns of the units that a lane has of its rows. Lanes that share a row take units in turn. */
  private units(columns: number, unit: number): Value[] {
    const { k, sharing, aside } = this;
    return Array.from({ length: columns / unit / sharing }, (_, at) => {
      const which = k.binary("add", aside, k.constant("i32", at * sharing));
      return k.binary("mul", which, k.constant("i32", unit));
    });
  }

  /** Keeps weights, as pairs in words, in place 0 or 1 of the subgroup's memory, where the scores were. */
  putWeights(place: 0 | 1, weights: readonly (readonly Value[])[], pair: (low: Value, high: Value) => Value): void {
    const { k, tile, array } = this;
    const i = (value: number) => k.constant("i32", value);
    const units = this.units(tile.columns, UNIT);
    weights.forEach((row, r) => {
      const inPlace = k.binary("mul", this.rowsInSubgroup[r], i(wordPitch(tile.columns)));
      const line = k.binary("add", this.weightStart(place), inPlace);
      units.forEach((unit, at) => {
        const words = [0, 2, 4, 6].map((part) => pair(row[at * UNIT + part], row[at * UNIT + part + 1]));
        k.setMany(array, k.binary("add", line, k.binary("idiv", unit, i(2))), words);
      });
    });
  }

  private weightStart(place: 0 | 1): Value {
    const { k, tile } = this;
    return k.binary("add", this.scratch, k.constant("i32", place * tile.fragment.rows * wordPitch(tile.columns)));
  }

  /** Keeps weights in place 0, as the forward kernel's lanes have them: for each fragment of scores, pairs of neighbours. */
  putPairs(
    weights: readonly (readonly Value[])[],
    lanes: FragmentLanes,
    pair: (low: Value, high: Value) => Value,
  ): void {
    const { k, tile } = this;
    const i = (value: number) => k.constant("i32", value);
    for (const [which, row] of lanes.rows.entries()) {
      const at = which * lanes.perRow;
      const line = k.binary("mul", row, i(wordPitch(tile.columns)));
      const inRow = k.binary("shr", k.bitcast("u32", lanes.columns[at]), k.constant("u32", 1));
      const first = k.binary("add", k.binary("add", this.weightStart(0), line), k.bitcast("i32", inRow));
      weights.forEach((fragment, aside) => {
        const place = k.binary("add", first, i((aside * tile.fragment.columns) / 2));
        k.set(this.array, place, pair(fragment[at], fragment[at + 1]));
      });
    }
  }

  /** Adds weights times streamed rows to sums. */
  addWeighted(place: 0 | 1, sums: readonly number[], streamed: MatrixRows): void {
    const { k, tile, left, right, array } = this;
    const { fragment, columns } = tile;
    for (let at = 0; at < columns / fragment.depth; at++) {
      const index = k.binary("add", this.weightStart(place), k.constant("i32", (at * fragment.depth) / 2));
      k.loadFragment(left, { array, index, pitch: wordPitch(columns), isByColumns: false });
      sums.forEach((sum, column) => {
        const row = k.constant("i32", at * fragment.depth);
        k.loadFragment(right, streamed.fragment(row, column * fragment.columns, false));
        k.multiplyFragments(left, right, sum);
      });
    }
  }

  /** Stores sums times a factor for each row as rows of a buffer. */
  storeSums(
    sums: readonly number[],
    out: { readonly buffer: number; readonly width: number },
    { index: rowIndex, isThere }: LaneRows,
    factors: readonly Value[],
  ): void {
    const { k } = this;
    const i = (value: number) => k.constant("i32", value);
    this.throughScratch(sums, (_, vectors) => {
      for (const { row, words, column } of vectors()) {
        const index = k.binary("add", k.binary("mul", rowIndex[row], i(out.width)), column);
        const gate = k.binary("and", isThere[row], k.compare("lt", column, i(out.width)));
        const values = words.map((word) => k.binary("mul", k.bitcast("f32", word), factors[row]));
        const places = values.map((_value, part) => k.binary("add", index, i(part)));
        for (const [part, value] of values.entries()) k.store(out.buffer, places[part], value, false, gate);
      }
    });
  }

  /** Brings sums into the subgroup's memory, as many columns at a time as it holds, where lanes read vectors of their rows. */
  private throughScratch(
    sums: readonly number[],
    visit: (
      fragments: readonly { readonly fragment: number; readonly place: FragmentPlace }[],
      vectors: () => Iterable<{ at: Value; row: number; words: readonly Value[]; column: Value }>,
    ) => void,
  ): void {
    const { k, tile, array, layout } = this;
    const { columns } = tile.fragment;
    const i = (value: number) => k.constant("i32", value);
    const perChunk = tile.columns / columns;
    for (let first = 0; first < sums.length; first += perChunk) {
      const fragments = sums.slice(first, first + perChunk).map((fragment, at) => {
        return { fragment, place: this.scorePlace(at * columns) };
      });
      k.barrier("subgroup");
      for (const { fragment, place } of fragments) k.storeFragment(fragment, place);
      k.barrier("subgroup");
      const units = this.units(fragments.length * columns, VECTOR);
      visit(fragments, () =>
        this.rowsInSubgroup.flatMap((inSubgroup, row) => {
          const line = k.binary("add", this.scratch, k.binary("mul", inSubgroup, i(layout.scorePitch)));
          return units.map((unit) => {
            const at = k.binary("add", line, unit);
            return { at, row, words: k.getMany(array, at, VECTOR), column: k.binary("add", unit, i(first * columns)) };
          });
        }),
      );
    }
  }
}
