/**
 * The last columns of tridiagonal.ts in one kernel, or all of a matrix that is small enough: the rest of a matrix stays in the registers
 * of one workgroup, instead of being read and written by a kernel to each column, which would take longer to start than to compute.
 *
 * Some neighbouring lanes, a team, share some rows, and each has a few columns of every row: four neighbours, then four further on, so
 * that what is left of the matrix is shared out evenly to the end. Vectors lie in shared memory, where a lane reads four at once and
 * uses them for all of its rows.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { bytesOf, Field, type Num, type NumberKind, valuesOf } from "../field.js";
import { quickDivision } from "../panel.js";
import { reflectionOf } from "../reflection.js";
import { arrayBytes, eachByLane, overLanes } from "../workspace.js";
import type { TridiagonalSize } from "./tridiagonal-size.js";

/** Lanes of a workgroup; fewer where software takes their turns. */
const [LANES, SOFTWARE_LANES] = [512, 128];
/** Lanes of a team, at most. */
const TEAM = 8;
/** Columns of a lane that are neighbours. */
const QUAD = 4;
/** Registers of a lane that hold the matrix: a GPU has 128 for each of 512 lanes. Software takes seconds to compile as many. */
const [REGISTERS, SOFTWARE_REGISTERS] = [72, 32];
/** Shared numbers between the parts of one lane of a team and those of the next, so that they lie in different banks. */
const GAP = 4;

/** The work of a lane: `held` rows, every `teams`-th, and in each `quads` times four columns. */
interface Share {
  readonly lanes: number;
  readonly team: number;
  readonly teams: number;
  readonly held: number;
  readonly quads: number;
  /** Rows and columns that all lanes have, with those of zeros beyond the rest. */
  readonly padded: number;
}

function shareOf(rows: number, { hasSlowBarriers, tiles }: TargetProfile): Share {
  const lanes = 2 ** Math.floor(Math.log2(Math.min(tiles.maxLanes, hasSlowBarriers ? SOFTWARE_LANES : LANES)));
  const team = Math.max(1, Math.min(TEAM, lanes / QUAD));
  const teams = lanes / team;
  const unit = Math.max(teams, QUAD * team);
  const padded = Math.max(1, Math.ceil(rows / unit)) * unit;
  return { lanes, team, teams, held: padded / teams, quads: padded / (QUAD * team), padded };
}

/** Rows of the rest that one kernel reduces; 0 where there is none. */
export function endRows(n: number, kind: NumberKind, profile: TargetProfile): number {
  if (profile.maxLanes === 1) return 0;
  const unit = shareOf(1, profile).padded;
  let most = 0;
  while (isPossible(most + unit, kind, profile)) most += unit;
  return Math.min(n, most);
}

function isPossible(rows: number, kind: NumberKind, profile: TargetProfile): boolean {
  const { held, quads, padded, team } = shareOf(rows, profile);
  const registers = (held * quads * QUAD * bytesOf(kind)) / 4;
  return (
    registers <= (profile.hasSlowBarriers ? SOFTWARE_REGISTERS : REGISTERS) &&
    (3 * padded + team * (padded + GAP)) * bytesOf(kind) <= arrayBytes(profile)
  );
}

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

/** The vector of a reflection and w at a row or column. */
interface Pair {
  readonly v: Num;
  readonly w: Num;
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
  /** The column, its vector and w; the parts of rows times the vector. */
  private readonly x: NumArray;
  private readonly v: NumArray;
  private readonly w: NumArray;
  private readonly parts: NumArray;
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
    [this.x, this.v, this.w] = [0, 1, 2].map(() => field.array(share.padded)) as [NumArray, NumArray, NumArray];
    this.parts = field.array(share.team * (share.padded + GAP));
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
  private changed(x: Num, row: Pair, column: Pair): Num {
    const { field } = this;
    return field.mulSub(row.w, field.conj(column.v), field.mulSub(row.v, field.conj(column.w), x));
  }

  /** v and w at the rows of the lane. */
  private ownPairs(): Pair[] {
    return Array.from({ length: this.share.held }, (_, held) => {
      const row = this.row(held);
      return { v: this.field.get(this.v, row), w: this.field.get(this.w, row) };
    });
  }

  /** The same at the columns of a quad. */ private pairsOf(quad: number): Pair[] {
    const { field } = this;
    const [v, w] = [this.v, this.w].map((array) => field.getMany(array, this.quad(quad), QUAD));
    return v.map((each, at) => ({ v: each, w: w[at] }));
  }

  /** v and w of the reflection before, by which the rest is to be changed. */
  private reflectionBefore() {
    const { k, field, size, start } = this;
    if (this.isWhole) return null;
    const [y, vector, factor] = this.earlier;
    const tau = field.load(factor, k.row);
    const line = this.add(this.mul(k.row, size.padded), start);
    this.setBeside(tau, (row) => {
      const isThere = this.isInside(row);
      const at = this.add(line, k.select(isThere, row, this.i(0)));
      field.set(this.v, row, field.select(isThere, field.load(vector, at), field.zero));
      return field.select(isThere, field.load(y, at), field.zero);
    });
    return {
      own: this.ownPairs(),
      across: Array.from({ length: this.share.quads }, (_, quad) => this.pairsOf(quad)).flat(),
    };
  }

  // ------------------------------------------------------------------------------------------------ a column

  /** The elements after a column's reflection. */
  private step(column: Value, elements: Elements): Elements {
    const { k, field, share } = this;
    const next = this.add(column, 1);
    this.spread(column, elements);
    k.barrier();
    const zero = k.constant(field.type, 0);
    const [sum] = overLanes(k, field, share.padded, [field.zero], (row, [before]) => {
      const square = k.select(k.compare("gt", row, next), field.squared(field.get(this.x, row)), zero);
      return [field.add(before, field.real(square))];
    });
    const squares = k.combineLanes("add", sum.re);
    const { beta, tau, inverse } = reflectionOf(k, field, field.get(this.x, next), squares);
    // A rest that counts as zero has no part in the vector: the reflection of a complex head would not be unitary with it.
    const isSome = k.compare("gt", squares, zero);
    eachByLane(k, share.padded, (row) => {
      const isBelow = k.binary("and", isSome, k.compare("gt", row, next));
      const below = field.select(isBelow, field.mul(field.get(this.x, row), inverse), field.zero);
      field.set(this.v, row, field.select(k.compare("eq", row, next), field.one, below));
    });
    this.keep(column, field.get(this.x, column).re, beta.re, tau);
    k.barrier();
    this.keepVector(column);
    // Most matrices that are diagonal or tridiagonal already have nothing to reflect.
    const isNone = k.binary("and", this.isZero(tau.re), tau.im ? this.isZero(tau.im) : k.constant("bool", true));
    const given = this.flat(elements);
    const found = k.when(
      isNone,
      () => given,
      () => this.flat(this.reflected(next, tau, elements)),
    );
    return this.unflat(found);
  }

  private isZero(x: Value): Value {
    return this.k.compare("eq", x, this.k.constant(this.field.type, 0));
  }

  /** The team that has the row of this number writes it, turned around: the column. */
  private spread(column: Value, elements: Elements): void {
    const { k, field, share } = this;
    const [held, slot] = [k.binary("idiv", column, this.i(share.teams)), k.binary("irem", column, this.i(share.teams))];
    k.when(k.compare("eq", this.slot, slot), () => {
      for (let quad = 0; quad < share.quads; quad++) {
        const values = Array.from({ length: QUAD }, (_, at) =>
          elements
            .map((row) => row[quad * QUAD + at])
            .reduce((chosen, x, which) => field.select(k.compare("eq", held, this.i(which)), x, chosen)),
        );
        field.setMany(
          this.x,
          this.quad(quad),
          values.map((value) => field.conj(value)),
        );
      }
      return [];
    });
  }

  private keep(column: Value, diagonal: Value, beside: Value, tau: Num): void {
    const { k, field, size, start } = this;
    const to = this.add(this.mul(k.row, size.n), this.add(column, start));
    k.store(this.results[0], to, diagonal, true);
    k.store(this.results[1], to, beside, true);
    field.store(this.factors, to, tau, null, true);
  }

  /** A column's vector, with zeros before the rest. */
  private keepVector(column: Value | null): void {
    const { k, field, size, start, rows } = this;
    const line = this.add(this.mul(k.row, size.n), this.add(column ?? this.i(rows - 1), start));
    eachByLane(k, size.n, (at) => {
      const row = k.binary("sub", at, this.i(start));
      const element = column ? field.get(this.v, k.binary("max", row, this.i(0))) : field.zero;
      const isRest = k.compare("ge", row, this.i(0));
      field.store(this.vectors, this.add(this.mul(line, size.n), at), field.select(isRest, element, field.zero));
    });
  }

  /** A - v wᴴ - w vᴴ. Zeros of v and w leave what is done as it is. */
  private reflected(next: Value, tau: Num, elements: Elements): Elements {
    const { k, field, share } = this;
    const pitch = share.padded + GAP;
    this.productsOfRows(next, elements).forEach((sum, held) => {
      field.set(this.parts, this.add(this.mul(this.place, pitch), this.row(held)), sum);
    });
    k.barrier();
    this.setBeside(tau, (row) => {
      const terms = Array.from({ length: share.team }, (_, lane) => field.get(this.parts, this.add(row, lane * pitch)));
      const sum = terms.reduce((a, b) => field.add(a, b));
      return field.select(k.compare("ge", row, next), sum, field.zero);
    });
    const own = this.ownPairs();
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

  /** w = x - ½ τ (xᴴ v) v, with x = τ A v, from rows of A v. */
  private setBeside(tau: Num, productOf: (row: Value) => Num): void {
    const { k, field, share } = this;
    const [sum] = overLanes(k, field, share.padded, [field.zero], (row, [total]) => {
      const x = field.mul(tau, productOf(row));
      field.set(this.w, row, x);
      return [field.mulAdd(field.conj(x), field.get(this.v, row), total)];
    });
    const back = field.scale(field.mul(tau, field.sumLanes(sum)), k.constant(field.type, -0.5));
    eachByLane(k, share.padded, (row) => {
      field.set(this.w, row, field.mulAdd(back, field.get(this.v, row), field.get(this.w, row)));
    });
    k.barrier();
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
    this.keepVector(null);
  }
}
