/**
 * The last columns of tridiagonal.ts in one kernel, or all of a matrix that is small enough: the rest of a matrix stays in the registers
 * of one workgroup, instead of being read and written by a kernel to each column, which would take longer to start than to compute.
 *
 * Some neighbouring lanes, a team, share some rows, and each has a few columns of every row: four neighbours, then four further on, so
 * that what is left of the matrix is shared out evenly to the end. Vectors lie in shared memory, where a lane reads four at once and
 * uses them for all of its rows. tridiagonal-share.ts shares them out.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { Field, type Num, type NumberKind, valuesOf } from "../field.js";
import { quickDivision } from "../panel.js";
import { reflectionOf } from "../reflection.js";
import { eachByLane, overLanes } from "../workspace.js";
import { QUAD, type Share, shareOf } from "./tridiagonal-share.js";
import type { TridiagonalSize } from "./tridiagonal-size.js";

/**
 * Buffers: the matrix; the product of the vector before, that vector and its factor, unless the rest is the whole matrix, which is not
 * filled up with zeros then. The diagonal, what is beside it, the vectors, their factors.
 */
export function endKernel(
  size: TridiagonalSize,
  rows: number,
  kind: NumberKind,
  profile: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const share = shareOf(rows, profile);
  const k = new KernelBuilder(`tridiagonal end[${size.n}]`, size.batch, share.lanes);
  return new End(k, new Field(k, kind, quickDivision(settings, profile)), size, rows, share).write();
}

type NumArray = ReturnType<Field["array"]>;

/** The vector of a reflection and its product with the matrix at a column. */
interface Across {
  readonly v: Num;
  readonly y: Num;
}

/** A row's elements of the vector and of the product; a column's are called y and v. */
interface Own {
  readonly ofY: Num;
  readonly ofV: Num;
}

/** The elements of a lane, row by row. */
type Elements = readonly (readonly Num[])[];

class End {
  private readonly start: number;
  private readonly isWhole: boolean;
  private readonly matrix: number;
  /** The product of the vector before, that vector, and its factor. */
  private readonly earlier: readonly number[];
  private readonly results: readonly number[];
  private readonly vectors: number;
  private readonly factors: number;
  /** The column, its vector v, and y = A v. */
  private readonly x: NumArray;
  private readonly v: NumArray;
  private readonly y: NumArray;
  /** The factor of the reflection. */
  private readonly tau: NumArray;
  /** Parts of the sum of squares of the column, and of vᴴ y. */
  private readonly squares: number;
  private readonly dots: number;
  private readonly place: Value;
  private readonly slot: Value;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: TridiagonalSize,
    private readonly rows: number,
    private readonly share: Share,
  ) {
    this.start = size.n - rows;
    this.isWhole = this.start === 0;
    this.matrix = field.buffer(false);
    this.earlier = this.isWhole ? [] : [0, 1, 2].map(() => field.buffer(false));
    this.results = [k.buffer(field.type, true), k.buffer(field.type, true)];
    [this.vectors, this.factors] = [field.buffer(true), field.buffer(true)];
    [this.x, this.v, this.y] = [0, 1, 2].map(() => field.array(share.padded)) as [NumArray, NumArray, NumArray];
    this.tau = field.array(1);
    this.squares = k.array(field.type, share.team);
    this.dots = k.array(field.type, share.lanes / share.near);
    this.place = k.binary("irem", k.lane, this.i(share.team));
    this.slot = k.binary("idiv", k.lane, this.i(share.team));
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private add(a: Value, b: Value | number): Value {
    return this.k.binary("add", a, typeof b === "number" ? this.i(b) : b);
  }

  private mul(a: Value, by: number): Value {
    return this.k.binary("mul", a, this.i(by));
  }

  write(): Kernel {
    const { k, rows } = this;
    this.keepZeros();
    let elements = this.given();
    if (rows > 1) {
      const last = k.loop(rows - 1, this.flat(elements), (column, registers) =>
        this.flat(this.step(column, this.unflat(registers))),
      );
      elements = this.unflat(last);
    }
    this.finish(elements);
    return k.finish();
  }

  // ------------------------------------------------------------------------------------------------ elements

  private flat(elements: Elements): Value[] {
    return elements.flat().flatMap(valuesOf);
  }

  /** `length`: numbers of a row. */
  private unflat(values: readonly Value[], length = this.share.quads * QUAD): Elements {
    const { isComplex } = this.field;
    const width = isComplex ? 2 : 1;
    return Array.from({ length: values.length / width / length }, (_, row) =>
      Array.from({ length }, (__, at): Num => {
        const which = (row * length + at) * width;
        return { re: values[which], im: isComplex ? values[which + 1] : null };
      }),
    );
  }

  private row(held: number): Value {
    return this.add(this.slot, held * this.share.teams);
  }

  /** The first column of a quad. */
  private quad(quad: number): Value {
    return this.add(this.mul(this.place, QUAD), quad * QUAD * this.share.team);
  }

  private isInside(at: Value): Value {
    return this.k.compare("lt", at, this.i(this.rows));
  }

  /** The rest of the matrix: changed by the reflection before, unless it is whole. Zeros beyond. */
  private given(): Elements {
    const { k, field, size, start } = this;
    const before = this.reflectionBefore();
    const pitch = this.isWhole ? size.n : size.padded;
    const first = this.add(this.mul(k.row, pitch), start);
    return Array.from({ length: this.share.held }, (_, held) =>
      Array.from({ length: this.share.quads * QUAD }, (__, at) => {
        const [row, column] = [this.row(held), this.add(this.quad(Math.floor(at / QUAD)), at % QUAD)];
        const isThere = k.binary("and", this.isInside(row), this.isInside(column));
        const index = this.add(this.mul(this.add(first, row), pitch), this.add(column, start));
        const loaded = field.load(this.matrix, k.select(isThere, index, this.i(0)));
        const found = field.select(isThere, loaded, field.zero);
        return before ? this.changed(found, before.own[held], before.across[at]) : found;
      }),
    );
  }

  /** x - v wᴴ - w vᴴ at a row and a column. */
  private changed(x: Num, row: Own, column: Across): Num {
    const { field } = this;
    return field.mulSub(row.ofV, field.conj(column.v), field.mulSub(row.ofY, field.conj(column.y), x));
  }

  /**
   * The factors of a lane's rows. With w = τ y - ½ |τ|² q v, where q = vᴴ y is real, v wᴴ + w vᴴ = (conj(τ) v) yᴴ + (τ y - |τ|² q v) vᴴ:
   * only rows have to be multiplied by anything.
   */
  private coefficients(tau: Num, v: readonly Num[], y: readonly Num[], q: Value): Own[] {
    const { k, field } = this;
    const back = k.unary("neg", k.binary("mul", field.squared(tau), q));
    const turned = field.conj(tau);
    return v.map((each, held) => ({
      ofY: field.mul(turned, each),
      ofV: field.add(field.mul(tau, y[held]), field.scale(each, back)),
    }));
  }

  /** v and y at the columns of a quad. */
  private pairsOf(quad: number): Across[] {
    const { field } = this;
    const [v, y] = [this.v, this.y].map((array) => field.getMany(array, this.quad(quad), QUAD));
    return v.map((each, at) => ({ v: each, y: y[at] }));
  }

  /** The reflection before, by which the rest is to be changed. */
  private reflectionBefore() {
    const { k, field, size, start, share } = this;
    if (this.isWhole) return null;
    const [product, vector, factor] = this.earlier;
    const line = this.add(this.mul(k.row, size.padded), start);
    const [sum] = overLanes(k, field, share.padded, [field.zero], (row, [total]) => {
      const isThere = this.isInside(row);
      const at = this.add(line, k.select(isThere, row, this.i(0)));
      const [v, y] = [vector, product].map((from) => field.select(isThere, field.load(from, at), field.zero));
      field.set(this.v, row, v);
      field.set(this.y, row, y);
      return [field.mulAdd(field.conj(v), y, total)];
    });
    const q = field.sumLanes(sum).re;
    k.barrier();
    const [v, y] = [this.v, this.y].map((array) =>
      Array.from({ length: share.held }, (_, held) => field.get(array, this.row(held))),
    );
    return {
      own: this.coefficients(field.load(factor, k.row), v, y, q),
      across: Array.from({ length: share.quads }, (_, quad) => this.pairsOf(quad)).flat(),
    };
  }

  // ------------------------------------------------------------------------------------------------ a column

  /** The elements after a column's reflection. Lanes wait three times: for the column, for its vector, and for its product. */
  private step(column: Value, elements: Elements): Elements {
    const { k } = this;
    const next = this.add(column, 1);
    this.spread(column, elements);
    k.barrier();
    this.reflect(column, next);
    k.barrier();
    return this.reflected(next, elements);
  }

  /** The team that has the row of this number writes it, turned around: the column. Each of its lanes adds squares of what it wrote. */
  private spread(column: Value, elements: Elements): void {
    const { k, field, share } = this;
    const [held, slot] = [k.binary("idiv", column, this.i(share.teams)), k.binary("irem", column, this.i(share.teams))];
    const next = this.add(column, 1);
    const zero = k.constant(field.type, 0);
    const write = (row: readonly Num[]): void => {
      let squares = zero;
      for (let quad = 0; quad < share.quads; quad++) {
        const values = row.slice(quad * QUAD, (quad + 1) * QUAD).map((x) => field.conj(x));
        field.setMany(this.x, this.quad(quad), values);
        values.forEach((value, at) => {
          const isBelow = k.compare("gt", this.add(this.quad(quad), at), next);
          squares = k.binary("add", squares, k.select(isBelow, field.squared(value), zero));
        });
      }
      k.set(this.squares, this.place, squares);
    };
    const isOwn = k.compare("eq", this.slot, slot);
    elements.forEach((row, at) => {
      k.when(k.binary("and", isOwn, k.compare("eq", held, this.i(at))), () => {
        write(row);
        return [];
      });
    });
  }

  /** The reflection of the column that was spread; its vector goes to the lanes, and all of it to the results. */
  private reflect(column: Value, next: Value): void {
    const { k, field, share, size, start, rows } = this;
    const line = this.add(this.mul(k.row, size.n), this.add(column, start));
    // Lanes without a row would only keep the others from their turns.
    k.when(k.compare("lt", k.lane, this.i(share.padded)), () => {
      const squares = this.sum(this.squares, share.team);
      const { beta, tau, inverse } = reflectionOf(k, field, field.get(this.x, next), squares);
      // A rest that counts as zero has no part in the vector: the reflection of a complex head would not be unitary with it.
      const isSome = k.compare("gt", squares, k.constant(field.type, 0));
      eachByLane(k, share.padded, (row) => {
        const isBelow = k.binary("and", isSome, k.compare("gt", row, next));
        const below = field.select(isBelow, field.mul(field.get(this.x, row), inverse), field.zero);
        const element = field.select(k.compare("eq", row, next), field.one, below);
        field.set(this.v, row, element);
        const to = this.add(this.mul(line, size.n), this.add(row, start));
        field.store(this.vectors, to, element, share.padded === rows ? null : this.isInside(row));
      });
      field.set(this.tau, this.i(0), tau, this.isFirstOf(share.lanes));
      k.store(this.results[0], line, field.get(this.x, column).re, true);
      k.store(this.results[1], line, beta.re, true);
      field.store(this.factors, line, tau, null, true);
      return [];
    });
  }

  /** The sum of the first numbers of a shared array, real, in pairs, so that additions do not wait for one another. */
  private sum(array: number, count: number): Value {
    const { k } = this;
    const width = Math.min(QUAD, count);
    let terms = Array.from({ length: count / width }, (_, at) => k.getMany(array, this.i(at * width), width)).flat();
    while (terms.length > 1) terms = terms.flatMap((x, at) => (at % 2 ? [] : [k.binary("add", x, terms[at + 1])]));
    return terms[0];
  }

  /** The vectors have zeros before the rest, and the last is nothing. */
  private keepZeros(): void {
    const { k, field, size, start, rows } = this;
    const first = this.add(this.mul(k.row, size.n), start);
    eachByLane(k, rows * start, (at) => {
      const [row, column] = [k.binary("idiv", at, this.i(start)), k.binary("irem", at, this.i(start))];
      field.store(this.vectors, this.add(this.mul(this.add(first, row), size.n), column), field.zero);
    });
    const last = this.add(this.mul(this.add(first, rows - 1), size.n), start);
    eachByLane(k, rows, (at) => field.store(this.vectors, this.add(last, at), field.zero));
  }

  /** A - v wᴴ - w vᴴ. */
  private reflected(next: Value, elements: Elements): Elements {
    const { k, field, share } = this;
    const sums = this.productsOfRows(next, elements);
    // Lanes of a team have different columns, so that their parts, times v, are all there is of vᴴ A v.
    const v = sums.map((_, held) => field.get(this.v, this.row(held)));
    const parts = sums.map((sum, held) => field.mul(field.conj(v[held]), sum).re);
    const near = k.combineLanes(
      "add",
      parts.reduce((a, b) => k.binary("add", a, b)),
      share.near,
    );
    k.set(this.dots, k.binary("idiv", k.lane, this.i(share.near)), near, this.isFirstOf(share.near));
    const y = sums.map((sum, held) => {
      const whole = field.sumLanes(sum, share.team);
      return field.select(k.compare("ge", this.row(held), next), whole, field.zero);
    });
    y.forEach((each, held) => {
      field.set(this.y, this.row(held), each, this.isFirstOf(share.team));
    });
    k.barrier();
    const own = this.coefficients(field.get(this.tau, this.i(0)), v, y, this.sum(this.dots, share.lanes / share.near));
    const quads = Array.from({ length: share.quads }, (_, quad) => {
      const given = elements.map((row) => row.slice(quad * QUAD, (quad + 1) * QUAD));
      const found = k.when(
        this.isLeft(quad, next),
        () => {
          const across = this.pairsOf(quad);
          return this.flat(given.map((row, held) => row.map((x, at) => this.changed(x, own[held], across[at]))));
        },
        () => this.flat(given),
      );
      return this.unflat(found, QUAD);
    });
    return elements.map((_, held) => quads.flatMap((quad) => quad[held]));
  }

  private isFirstOf(group: number): Value {
    return this.k.compare("eq", this.k.binary("irem", this.k.lane, this.i(group)), this.i(0));
  }

  /** A lane's part of its rows' products with the vector. */
  private productsOfRows(next: Value, elements: Elements): readonly Num[] {
    const { k, field, share } = this;
    let sums: readonly Num[] = elements.map(() => field.zero);
    for (let quad = 0; quad < share.quads; quad++) {
      const before = sums;
      const found = k.when(
        this.isLeft(quad, next),
        () => {
          const v = field.getMany(this.v, this.quad(quad), QUAD);
          const sum = (row: readonly Num[], first: Num) =>
            v.reduce((total, each, at) => field.mulAdd(row[quad * QUAD + at], each, total), first);
          return this.flat([elements.map((row, held) => sum(row, before[held]))]);
        },
        () => this.flat([before]),
      );
      sums = this.unflat(found, share.held)[0];
    }
    return sums;
  }

  /** Whether some columns of a quad are still to be reduced. */
  private isLeft(quad: number, next: Value): Value {
    return this.k.compare("lt", next, this.i((quad + 1) * QUAD * this.share.team));
  }

  // ------------------------------------------------------------------------------------------------ the end

  /** The last element of the diagonal, beside which there is nothing, and which has no reflection. */
  private finish(elements: Elements): void {
    const { k, field, rows, size, share } = this;
    const last = rows - 1;
    const [slot, held] = [last % share.teams, Math.floor(last / share.teams)];
    const [quad, place] = [Math.floor(last / (QUAD * share.team)), Math.floor(last / QUAD) % share.team];
    const isOwn = k.binary("and", k.compare("eq", this.slot, this.i(slot)), k.compare("eq", this.place, this.i(place)));
    const to = this.add(this.mul(k.row, size.n), size.n - 1);
    k.store(this.results[0], to, elements[held][quad * QUAD + (last % QUAD)].re, false, isOwn);
    k.store(this.results[1], to, k.constant(field.type, 0), true);
    field.store(this.factors, to, field.zero, null, true);
  }
}
