/**
 * Tiles of attention on a CPU. A thread has a few rows; its four lanes are a vector. Operands are read where they are: products
 * go along rows in vectors and are added up at the end, each lane then has the scores of its columns. Sums of weighted rows are
 * kept in an array, four columns in a vector.
 */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Operand, Rows, Sums, Tiles } from "./tiles.js";

/** Lanes of a kernel, which are one vector. */
export const VECTOR_LANES = 4;
/** Rows of a tile: streamed rows come from afar once for all of them. And those of them that are in registers at once. */
export const VECTOR_ROWS = 16;
const GROUP = 4;
/** Vectors of columns. */
const COLUMN_VECTORS = 2;
/** Vectors of sums that are added to at once. */
const SUM_VECTORS = 2;

/** Rows in memory, from one on. */
class RowsInMemory implements Operand {
  private starts: readonly Value[] = [];

  constructor(
    private readonly k: KernelBuilder,
    readonly rows: Rows,
    private readonly count: number,
    private readonly type: "f32" | "f64",
  ) {}

  load(start: Value, first: Value): void {
    const { k, rows } = this;
    const i = (value: number) => k.constant("i32", value);
    this.starts = Array.from({ length: this.count }, (_, at) => {
      const row = k.binary("min", k.binary("add", first, i(at)), i(rows.count - 1));
      return k.binary("mul", k.binary("add", start, row), i(rows.width));
    });
  }

  /** The numbers of a row from a column on, one for each lane. `isLast`: the row may end among them; zeros follow. */
  vector(row: number, column: Value, isLast: boolean): Value {
    const { k, rows, type } = this;
    const start = this.starts[row];
    const at = k.binary("add", column, k.lane);
    if (!isLast) return k.load(rows.buffer, k.binary("add", start, at), type);
    const isInside = k.compare("lt", at, k.constant("i32", rows.width));
    const index = k.binary("add", start, k.binary("min", at, k.constant("i32", rows.width - 1)));
    return k.select(isInside, k.load(rows.buffer, index, type), k.constant(type, 0));
  }
}

export class VectorTiles implements Tiles<RowsInMemory> {
  readonly rows = VECTOR_ROWS;
  readonly columns = COLUMN_VECTORS * VECTOR_LANES;
  readonly laneRows = VECTOR_ROWS;
  readonly laneColumns = COLUMN_VECTORS;
  private readonly weights: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly type: "f32" | "f64",
  ) {
    this.weights = k.array(type, this.rows * this.columns);
  }

  row(at: number): Value {
    return this.k.constant("i32", at);
  }

  column(at: number): Value {
    return this.k.binary("add", this.k.lane, this.k.constant("i32", at * VECTOR_LANES));
  }

  resident(rows: Rows): RowsInMemory {
    return new RowsInMemory(this.k, rows, this.rows, this.type);
  }

  streamed(rows: Rows): RowsInMemory {
    return new RowsInMemory(this.k, rows, this.columns, this.type);
  }

  products(resident: RowsInMemory, streamed: RowsInMemory): readonly Value[] {
    const groups = Array.from({ length: this.rows / GROUP }, (_, group) => group * GROUP);
    return groups.flatMap((first) => {
      const byVector = Array.from({ length: COLUMN_VECTORS }, (_, c) => this.productsOf(resident, first, streamed, c));
      return Array.from({ length: GROUP }, (_, r) => byVector.map((vector) => vector[r])).flat();
    });
  }

  /** The products of the rows of a group, from `first` on, with the columns of one vector. */
  private productsOf(resident: RowsInMemory, first: number, streamed: RowsInMemory, vector: number): readonly Value[] {
    const { k, type } = this;
    const { width } = resident.rows;
    const step = (column: Value, sums: readonly Value[], isLast: boolean) => {
      const left = Array.from({ length: GROUP }, (_, r) => resident.vector(first + r, column, isLast));
      const right = Array.from({ length: VECTOR_LANES }, (_, c) =>
        streamed.vector(vector * VECTOR_LANES + c, column, isLast),
      );
      return sums.map((sum, at) => k.mulAdd(left[Math.floor(at / VECTOR_LANES)], right[at % VECTOR_LANES], sum));
    };
    const whole = Math.floor(width / VECTOR_LANES);
    const zeros = new Array<Value>(GROUP * VECTOR_LANES).fill(k.constant(type, 0));
    const most = k.loop(whole, zeros, (round, sums) =>
      step(k.binary("mul", round, k.constant("i32", VECTOR_LANES)), sums, false),
    );
    const sums = width % VECTOR_LANES === 0 ? most : step(k.constant("i32", whole * VECTOR_LANES), most, true);
    const added = sums.map((sum) => k.combineLanes("add", sum));
    return Array.from({ length: GROUP }, (_, r) =>
      added
        .slice(r * VECTOR_LANES, (r + 1) * VECTOR_LANES)
        .reduce((others, own, c) => k.select(k.compare("eq", k.lane, k.constant("i32", c)), own, others)),
    );
  }

  overRow(op: "max" | "add", values: readonly Value[]): readonly Value[] {
    return values.map((value) => this.k.combineLanes(op, value));
  }

  putWeights(values: readonly Value[]): void {
    const { k, columns, laneColumns } = this;
    values.forEach((value, at) => {
      const first = Math.floor(at / laneColumns) * columns + (at % laneColumns) * VECTOR_LANES;
      k.set(this.weights, k.binary("add", k.lane, k.constant("i32", first)), value);
    });
  }

  sums(width: number): Sums<RowsInMemory> {
    return new VectorSums(this.k, this, this.weights, this.type, width);
  }

  meet(): void {}
}

/** Sums of weighted rows, `width` numbers for each row of the tile, in an array of whole vectors. */
class VectorSums implements Sums<RowsInMemory> {
  readonly initial: readonly Value[] = [];
  private readonly pitch: number;
  private readonly vectors: number;
  private readonly array: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly tile: { readonly rows: number; readonly columns: number },
    private readonly weights: number,
    type: "f32" | "f64",
    private readonly width: number,
  ) {
    this.vectors = Math.ceil(width / VECTOR_LANES);
    this.pitch = this.vectors * VECTOR_LANES;
    this.array = k.array(type, tile.rows * this.pitch);
    this.eachVector((column) => {
      for (let r = 0; r < tile.rows; r++) k.set(this.array, this.place(r, column), k.constant(type, 0));
    });
  }

  add(_: readonly Value[], factors: readonly Value[] | null, streamed: RowsInMemory): readonly Value[] {
    const { k, tile, width, vectors } = this;
    const full = Math.floor(width / VECTOR_LANES);
    const turns = Math.floor(full / SUM_VECTORS);
    const step = SUM_VECTORS * VECTOR_LANES;
    for (let first = 0; first < tile.rows; first += GROUP) {
      const group = Array.from({ length: GROUP }, (_, r) => first + r);
      k.loop(turns, [], (turn) => {
        this.addTo(group, k.binary("mul", turn, this.i(step)), SUM_VECTORS, factors, streamed, false);
        return [];
      });
      for (let v = turns * SUM_VECTORS; v < vectors; v++) {
        this.addTo(group, this.i(v * VECTOR_LANES), 1, factors, streamed, v >= full);
      }
    }
    return [];
  }

  each(_: readonly Value[], visit: Parameters<Sums<RowsInMemory>["each"]>[1]): void {
    const { k, tile, array } = this;
    this.eachVector((column) => {
      for (let r = 0; r < tile.rows; r++) {
        visit(r, k.binary("add", column, k.lane), [k.get(array, this.place(r, column))]);
      }
    });
  }

  /** Adds to some vectors of the rows of a group. */
  private addTo(
    group: readonly number[],
    first: Value,
    count: number,
    factors: readonly Value[] | null,
    streamed: RowsInMemory,
    isLast: boolean,
  ): void {
    const { k, array } = this;
    const { columns } = this.tile;
    const at = Array.from({ length: count }, (_, v) => k.binary("add", first, this.i(v * VECTOR_LANES)));
    let sums = at.map((column) =>
      group.map((r) => {
        const sum = k.get(array, this.place(r, column));
        return factors ? k.binary("mul", sum, factors[r]) : sum;
      }),
    );
    for (let c = 0; c < columns; c++) {
      const values = at.map((column) => streamed.vector(c, column, isLast));
      const weights = group.map((r) => k.get(this.weights, this.i(r * columns + c)));
      sums = sums.map((own, v) => own.map((sum, r) => k.mulAdd(weights[r], values[v], sum)));
    }
    sums.forEach((own, v) => {
      own.forEach((sum, r) => {
        k.set(array, this.place(group[r], at[v]), sum);
      });
    });
  }

  private eachVector(visit: (column: Value) => void): void {
    const { k } = this;
    k.loop(this.vectors, [], (at) => {
      visit(k.binary("mul", at, this.i(VECTOR_LANES)));
      return [];
    });
  }

  /** The lane's place in the array, in the vector of a row that begins at a column. */
  private place(r: number, column: Value): Value {
    const { k } = this;
    return k.binary("add", k.binary("add", column, this.i(r * this.pitch)), k.lane);
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }
}
