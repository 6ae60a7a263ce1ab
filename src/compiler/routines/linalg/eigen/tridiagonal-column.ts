/**
 * A column of tridiagonal.ts: the column as the reflections before leave it, and the reflection that makes it zero below what is
 * beside the diagonal. On a CPU a kernel of its own finds it. On a GPU every workgroup finds it for itself before it changes its rows
 * (tridiagonal-step.ts): that takes less time than one more kernel.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import { bytesOf, Field, type Num, type NumberKind } from "../field.js";
import { reflectionOf } from "../reflection.js";
import { arrayWorkspace, eachByLane, overLanes, type Workspace } from "../workspace.js";
import type { TridiagonalSize } from "./tridiagonal-size.js";

/** The kernel of a CPU: a thread to a matrix, which also writes w down. */
export function columnKernel(size: TridiagonalSize, kind: NumberKind, settings: ElementSettings): Kernel {
  const k = new KernelBuilder(`tridiagonal column[${size.n}]`, size.batch);
  const field = new Field(k, kind, settings);
  const step = new ColumnStep(k, field, size, k.row);
  const w = field.buffer(true);
  const found = step.find((index, beside) => field.store(w, step.at(index), beside));
  step.store(found, k.constant("bool", true));
  return k.finish();
}

/** Bytes of a line that a lane keeps in registers at most: with twice as many, a step of 2048 rows took 11.8 µs on an H200, in loops 10.3. */
const MOST_HELD = 16;

/** A position that a lane has: beyond the line it is `safe` to read another instead. */
export interface Position {
  readonly index: Value;
  readonly safe: Value;
}

/** The reflection of a column: τ, and the elements of its vector. A lane may ask for those elements that it found. */
export interface ColumnReflection {
  readonly beta: Value;
  readonly tau: Num;
  vector(index: Value): Num;
}

/**
 * Buffers, in order: the matrix; its product with the vector before, and that vector; the vector of the next step; the number of the
 * step, and of the next; the diagonal, what is beside it, the vectors, their factors; the factor before, and that of the next step.
 */
export class ColumnStep {
  readonly step: Value;
  private readonly lines: { readonly [name in "a" | "y" | "before" | "now"]: number };
  private readonly next: number;
  private readonly made: { readonly [name in "diagonal" | "beside" | "vectors" | "factors"]: number };
  /** The factor of the vector before, and the one made. */
  private readonly turns: { readonly [name in "given" | "made"]: number };
  /** Where this member's lines begin, in memory that is filled up and in results. */
  private readonly start: Value;
  private readonly own: Value;
  /** A reflection came before this one: its factor is τ. */
  private readonly isLater: Value;
  private readonly tau: Num;
  private readonly column: Workspace;
  /** The positions of a lane where they are few; null where it goes through them in loops. */
  readonly positions: readonly Position[] | null;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: TridiagonalSize,
    private readonly member: Value,
  ) {
    const { n, padded } = size;
    this.positions = this.fewPositions();
    const { type } = field;
    const [a, y, before, now] = [false, false, false, true].map((isWritten) => field.buffer(isWritten));
    this.lines = { a, y, before, now };
    const count = k.buffer("i32", false);
    this.next = k.buffer("i32", true);
    const [diagonal, beside] = [k.buffer(type, true), k.buffer(type, true)];
    this.made = { diagonal, beside, vectors: field.buffer(true), factors: field.buffer(true) };
    this.turns = { given: field.buffer(false), made: field.buffer(true) };
    this.step = k.load(count, this.i(0), "i32");
    this.start = k.binary("mul", member, this.i(padded));
    this.own = k.binary("mul", member, this.i(n));
    this.isLater = k.compare("gt", this.step, this.i(0));
    // It is among the factors, too. But where a kernel reads a buffer that it writes, barriers wait for memory.
    const known = field.load(this.turns.given, member);
    this.tau = field.select(this.isLater, known, field.zero);
    this.column = arrayWorkspace(field, Math.max(padded, (this.positions?.length ?? 0) * k.lanes));
  }

  private fewPositions(): Position[] | null {
    const { k, field, size } = this;
    const count = Math.ceil(size.n / k.lanes);
    if (k.lanes === 1 || count * bytesOf(field) > MOST_HELD) return null;
    return Array.from({ length: count }, (_, at) => {
      const index = at === 0 ? k.lane : k.binary("add", k.lane, this.i(at * k.lanes));
      return { index, safe: (at + 1) * k.lanes <= size.n ? index : k.binary("min", index, this.i(size.n - 1)) };
    });
  }

  /** A loop over the positions of a line, shared out among the lanes, that carries a number. */
  private each(initial: Num, body: (position: Position, carried: Num) => Num): Num {
    const { k, field, size, positions } = this;
    if (positions) return positions.reduce((carried, position) => body(position, carried), initial);
    const one = (index: Value, [carried]: readonly Num[]) => [body({ index, safe: index }, carried)];
    return overLanes(k, field, size.padded, [initial], one)[0];
  }

  /** Begins to load what a lane needs of its positions before the lanes meet: behind a barrier it would wait for memory again. */
  loadAhead(): void {
    for (const { safe } of this.positions ?? []) {
      this.field.load(this.lines.y, this.at(safe));
      this.before(safe);
      this.given(this.step, safe);
    }
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  /** The position of an element in lines that are filled up. */
  at(index: Value): Value {
    return this.k.binary("add", this.start, index);
  }

  /** The position of an element of the matrix. */
  place(row: Value, column: Value): Value {
    const { k } = this;
    return k.binary("add", k.binary("mul", this.at(row), this.i(this.size.padded)), column);
  }

  /** An element of the matrix as the step before left it. */
  given(row: Value, column: Value): Num {
    return this.field.load(this.lines.a, this.place(row, column));
  }

  /** An element of the vector before. */
  before(index: Value): Num {
    return this.field.select(this.isLater, this.field.load(this.lines.before, this.at(index)), this.field.zero);
  }

  private isFrom(index: Value): Value {
    const { k, step, size } = this;
    return k.binary("and", k.compare("ge", index, step), k.compare("lt", index, this.i(size.n)));
  }

  private isBelow(index: Value): Value {
    const { k, step, size } = this;
    const next = k.binary("add", step, this.i(1));
    return k.binary("and", k.compare("gt", index, next), k.compare("lt", index, this.i(size.n)));
  }

  /** x = τ A v, and w = x - ½ τ (xᴴ v) v: w at a position. */
  beside(): (index: Value) => Num {
    const { k, field, tau } = this;
    const { y, before } = this.lines;
    const sum = this.each(field.zero, ({ index, safe }, total) => {
      const x = field.conj(field.mul(tau, field.load(y, this.at(safe))));
      const product = field.mul(x, field.load(before, this.at(safe)));
      return field.add(total, field.select(this.isFrom(index), product, field.zero));
    });
    const back = field.scale(field.mul(tau, field.sumLanes(sum)), k.constant(field.type, -0.5));
    return (index) => {
      const x = field.mul(tau, field.load(y, this.at(index)));
      const made = field.add(x, field.mul(back, field.load(before, this.at(index))));
      return field.select(k.binary("and", this.isLater, this.isFrom(index)), made, field.zero);
    };
  }

  /** The reflection of this column. `tell` hears of each element of w, which `besideOf` gives. */
  find(tell: (index: Value, beside: Num) => void = () => {}, besideOf = this.beside()): ColumnReflection {
    const { k, field, step, size, column } = this;
    const [own1, own2] = [field.conj(besideOf(step)), field.conj(this.before(step))];
    const below = this.each(field.zero, ({ index, safe }, total) => {
      const beside = besideOf(safe);
      tell(index, beside);
      // Row `step`, turned around, is the column, and lies side by side.
      const given = field.conj(this.given(step, safe));
      const left = field.sub(field.sub(given, field.mul(this.before(safe), own1)), field.mul(beside, own2));
      column.set(index, left);
      return field.add(total, field.select(this.isBelow(index), field.real(field.squared(left)), field.zero));
    });
    const squares = k.combineLanes("add", below.re);
    k.barrier();
    const isLast = k.compare("ge", step, this.i(size.n - 1));
    const next = column.get(k.binary("min", k.binary("add", step, this.i(1)), this.i(size.padded - 1)));
    const { beta, tau, inverse } = reflectionOf(k, field, field.select(isLast, field.zero, next), squares);
    const vector = (index: Value): Num => {
      const isOne = k.compare("eq", index, k.binary("add", step, this.i(1)));
      const below = field.select(this.isBelow(index), field.mul(column.get(index), inverse), field.zero);
      return field.select(isLast, field.zero, field.select(isOne, field.one, below));
    };
    return { beta: beta.re, tau, vector };
  }

  /** Stores the results of the column, its vector for the next step, and the number of that step. One row of the kernel does so for a member. */
  store({ beta, tau, vector }: ColumnReflection, isOwn: Value): void {
    const { k, field, step, own, column } = this;
    const { n, padded } = this.size;
    const { diagonal, beside, vectors, factors } = this.made;
    k.when(isOwn, () => {
      const isFirst = k.compare("eq", k.lane, this.i(0));
      const to = k.binary("add", own, step);
      k.store(diagonal, to, column.get(step).re, k.lanes === 1, isFirst);
      k.store(beside, to, beta, k.lanes === 1, isFirst);
      field.store(factors, to, tau, isFirst);
      field.store(this.turns.made, this.member, tau, isFirst);
      const counts = k.binary("and", isFirst, k.compare("eq", this.member, this.i(0)));
      k.store(this.next, this.i(0), k.binary("add", step, this.i(1)), k.lanes === 1, counts);
      const place = k.binary("mul", to, this.i(n));
      eachByLane(k, padded, (index) => {
        const kept = vector(index);
        field.store(this.lines.now, this.at(index), kept);
        field.store(vectors, k.binary("add", place, index), kept, k.compare("lt", index, this.i(n)));
      });
      return [];
    });
  }
}
