/**
 * The elements of sum fragments that a lane holds: where they are, what others of their row hold, and how they become operands
 * of the next product. Devices choose which elements a lane holds, so the kernel asks: it loads a fragment whose elements are
 * their own positions. The forward kernel of attention on matrix units works on scores in this form, without moving them.
 */
import type { FragmentPlace, Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { FragmentShape } from "../../target/tile-profile.js";

/** Words of a vector in shared memory. */
const VECTOR = 4;
/** Words from row to row of a fragment in the subgroup's memory: a vector more than a row has, so that rows begin in other banks. */
const pitchOf = ({ columns }: FragmentShape): number => columns + VECTOR;

/** Words of memory that a subgroup needs: a fragment and a number for each row. */
export const laneWords = (fragment: FragmentShape): number => fragment.rows * pitchOf(fragment) + fragment.rows;

/** A fragment of sums whose elements lanes look at. All must be declared alike: lanes then hold the same elements of each. */
export function sumFragment(k: KernelBuilder, { rows, columns, pairs = false }: FragmentShape): number {
  return k.fragment({ use: "sum", dtype: "f32", rows, columns, pairs });
}

export class FragmentLanes {
  /** The column in the fragment of each element that the lane holds. */
  readonly columns: readonly Value[];
  /** Rows that are known to be different only when the kernel runs: one for each element, or for each pair. */
  readonly rows: readonly Value[];
  /** Elements that share a row of `rows`. */
  readonly perRow: 1 | 2;
  private readonly passing: number;
  /** The rows that the lane combines; several lanes may share one, and then do the same work. */
  private readonly ownRows: readonly Value[];
  private readonly isFirstOfRow: Value | null;

  /** `memory`: the first word of the subgroup's memory in `array`, a multiple of four. All lanes of the subgroup must be here. */
  constructor(
    private readonly k: KernelBuilder,
    private readonly shape: FragmentShape,
    private readonly array: number,
    private readonly memory: Value,
  ) {
    const { rows, columns } = shape;
    const i = (value: number) => k.constant("i32", value);
    this.passing = sumFragment(k, shape);
    const lane = k.binary("irem", k.lane, i(k.subgroupSize));
    const sharing = Math.max(1, k.subgroupSize / rows);
    const row = k.binary("idiv", lane, i(sharing));
    const perLane = Math.max(1, rows / k.subgroupSize);
    this.ownRows = Array.from({ length: perLane }, (_, at) => k.binary("add", row, i(at * k.subgroupSize)));
    this.isFirstOfRow = sharing > 1 ? k.compare("eq", k.binary("irem", lane, i(sharing)), i(0)) : null;
    this.perRow = shape.pairs ? 2 : 1;
    const positions = this.positions(lane).filter((_, at) => at % this.perRow === 0);
    this.rows = positions.map((at) => k.binary("idiv", at, i(columns)));
    const firsts = positions.map((at) => k.binary("irem", at, i(columns)));
    const parts = Array.from({ length: this.perRow }, (_, part) => part);
    this.columns = firsts.flatMap((first) => parts.map((part) => (part ? k.binary("add", first, i(part)) : first)));
  }

  /** The position in `rows` of an element's row. */
  rowOf(element: number): number {
    return Math.floor(element / this.perRow);
  }

  /** The positions, counted along rows, of the elements that the lane holds. */
  private positions(lane: Value): Value[] {
    const { k, shape, array } = this;
    const i = (value: number) => k.constant("i32", value);
    const perRow = shape.columns / VECTOR;
    const vectors = (shape.rows * perRow) / k.subgroupSize;
    for (let at = 0; at < vectors; at++) {
      const vector = k.binary("add", lane, i(at * k.subgroupSize));
      const inRow = k.binary("mul", k.binary("irem", vector, i(perRow)), i(VECTOR));
      const line = k.binary("mul", k.binary("idiv", vector, i(perRow)), i(pitchOf(shape)));
      const first = k.binary("mul", vector, i(VECTOR));
      const words = [0, 1, 2, 3].map((part) => k.bitcast("u32", k.convert("f32", k.binary("add", first, i(part)))));
      k.setMany(array, k.binary("add", this.memory, k.binary("add", line, inRow)), words);
    }
    k.barrier("subgroup");
    k.loadFragment(this.passing, this.place());
    k.barrier("subgroup");
    return k.getElements(this.passing).map((at) => k.convert("i32", at));
  }

  private place(): FragmentPlace {
    return { array: this.array, index: this.memory, pitch: pitchOf(this.shape), isByColumns: false };
  }

  /** Values of `rows` of every lane, combined for each row of the fragment: what `rows` have of it. */
  overRows(op: "max" | "add", values: readonly Value[]): Value[] {
    const { k, array, shape } = this;
    const [neutral, step] = [k.constant("f32", op === "add" ? 0 : -Infinity), this.perRow];
    // The second of a pair has nothing of its own.
    const elements = this.columns.map((_, at) => (at % step === 0 ? values[this.rowOf(at)] : neutral));
    const rows = this.readRows(elements).map((words) => words.reduce((a, b) => k.binary(op, a, b)));
    const results = k.binary("add", this.memory, k.constant("i32", shape.rows * pitchOf(shape)));
    this.ownRows.forEach((row, at) => {
      const word = k.bitcast("u32", rows[at]);
      k.setMany(array, k.binary("add", results, row), [word], this.isFirstOfRow);
    });
    k.barrier("subgroup");
    const found = this.rows.map((row) => k.bitcast("f32", k.get(array, k.binary("add", results, row))));
    k.barrier("subgroup");
    return found;
  }

  /** Values that all lanes have alike for `rows`, for the rows of the fragment that the lane stores. */
  storedRows(values: readonly Value[]): { readonly row: Value; readonly value: Value }[] {
    const rows = this.readRows(this.columns.map((_, at) => values[this.rowOf(at)]));
    return this.ownRows.map((row, at) => ({ row, value: rows[at][0] }));
  }

  /** Whether the lane is the first of those that share its rows; null where each row has one lane. */
  get isFirst(): Value | null {
    return this.isFirstOfRow;
  }

  /** The elements of the lane's rows, of a fragment that holds these values. */
  private readRows(values: readonly Value[]): Value[][] {
    const { k, array, shape } = this;
    k.setElements(this.passing, values);
    k.barrier("subgroup");
    k.storeFragment(this.passing, this.place());
    k.barrier("subgroup");
    return this.ownRows.map((row) => {
      const line = k.binary("add", this.memory, k.binary("mul", row, k.constant("i32", pitchOf(shape))));
      const words = Array.from({ length: shape.columns / VECTOR }, (_, at) =>
        k.getMany(array, k.binary("add", line, k.constant("i32", at * VECTOR)), VECTOR),
      );
      return words.flat().map((word) => k.bitcast("f32", word));
    });
  }
}
