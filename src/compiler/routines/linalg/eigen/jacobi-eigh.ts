/**
 * Eigenvalues and eigenvectors of small Hermitian matrices by Jacobi's method, one matrix to a workgroup, in shared memory:
 * thousands at a time. In each turn half as many rotations as rows are found and then applied from both sides; lanes take
 * 2 × 2 blocks, which have no elements in common. Rows of `V` are the eigenvectors, so that lanes read along them.
 *
 * A sweep without rotations ends the loop. What lies off the diagonal is then below ε times the norm (Golub and Van Loan,
 * Matrix Computations, 8.5).
 */
import { productOf } from "../../../../core/shape.js";
import type { Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine } from "../../../target/routine.js";
import { bytesOf, Field, kindOf, shapeOf } from "../field.js";
import {
  arrayBytes,
  arrayWorkspace,
  bufferWorkspace,
  eachByLane,
  epsilonOf,
  powerOfTwo,
  type Workspace,
} from "../workspace.js";
import { MOST_SWEEPS, pairAt, type Rotation, rotated, rotationOf } from "./jacobi-pairs.js";

/** Inputs: Hermitian matrices [.., n, n]. Results: eigenvalues [.., n], rising, and eigenvectors, [.., n, n], as rows. */
export const jacobiEighRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const n = shape.at(-1) as number;
  const batch = productOf(shape.slice(0, -2));
  const players = n + (n % 2);
  const words = players * (players + 1);
  const room = arrayBytes(profile) - players * bytesOf(kind) * 8;
  const fitting = Math.floor(room / (words * bytesOf(kind)));
  const k = new KernelBuilder(`jacobiEigh[${shape.join("×")}]`, n === 0 ? 0 : batch, lanesFor(players, profile));
  const field = new Field(k, kind, settings);
  const source = field.buffer(false);
  const [values, vectors] = [k.buffer(kind.type, true), field.buffer(true)];
  // Arrays that do not fit go to buffers: the vectors first.
  const outside = Array.from({ length: Math.max(0, 2 - fitting) }, () => field.buffer(true));
  const place = (which: number): Workspace => {
    const buffer = which < fitting ? undefined : outside[which - fitting];
    if (buffer === undefined) return arrayWorkspace(field, words);
    return bufferWorkspace(k, field, buffer, k.binary("mul", k.row, k.constant("i32", words)));
  };
  new JacobiEigh(k, field, n, place(0), place(1)).write(source, values, vectors);
  const parts = kind.isComplex ? [2] : [];
  return {
    temporaries: outside.map(() => ({ dtype: kind.type, shape: [batch, words, ...parts] })),
    steps: [
      {
        kernel: k.finish(),
        buffers: [
          { kind: "input", index: 0 },
          { kind: "result", part: 0 },
          { kind: "result", part: 1 },
          ...outside.map((_, index) => ({ kind: "temporary", index }) as const),
        ],
        formula: ([a, w, v]) => `${w}, ${v} = eigenvalues of ${a} and their vectors, by Jacobi rotations`,
      },
    ],
  };
};

/** A lane has about four blocks of two by two. */
function lanesFor(players: number, { maxLanes }: TargetProfile): number {
  return Math.min(maxLanes, Math.max(32, powerOfTwo((players * players) / 16)));
}

class JacobiEigh {
  private readonly players: number;
  private readonly pitch: number;
  private readonly pairs: number;
  private readonly halves: number;
  private readonly sines: number;
  private readonly phases: Workspace | null;
  private readonly shifts: number;
  private readonly active: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly n: number,
    private readonly a: Workspace,
    private readonly v: Workspace,
  ) {
    this.players = n + (n % 2);
    // An odd pitch: neighbouring rows lie in different banks.
    this.pitch = this.players + 1;
    this.pairs = this.players / 2;
    const { type } = field;
    this.halves = k.array(type, this.pairs);
    this.sines = k.array(type, this.pairs);
    this.phases = field.isComplex ? arrayWorkspace(field, this.pairs) : null;
    this.shifts = k.array(type, this.pairs);
    this.active = k.array("i32", 2);
  }

  write(source: number, values: number, vectors: number): void {
    const { k, field, n, players } = this;
    const i = (value: number) => k.constant("i32", value);
    const first = k.binary("mul", k.row, i(n * n));
    const total = k.combineLanes("add", this.load(source, first));
    const limit = k.binary("mul", total, k.constant(field.type, (epsilonOf(field.type) / (8 * n)) ** 2));
    k.barrier();
    if (players > 1 && n > 1) this.sweeps(limit);
    this.store(first, values, vectors);
  }

  private at(row: Value, column: Value): Value {
    return this.k.binary("add", this.k.binary("mul", row, this.k.constant("i32", this.pitch)), column);
  }

  /** Fills both matrices; a player too many has zeros. The sum of squares of the elements of this lane. */
  private load(source: number, first: Value): Value {
    const { k, field, n, players } = this;
    const i = (value: number) => k.constant("i32", value);
    const count = players * players;
    const zero = k.constant(field.type, 0);
    const [sum] = k.loop(Math.ceil(count / k.lanes), [zero], (round, [before]) => {
      const item = k.binary("min", k.binary("add", k.lane, k.binary("mul", round, i(k.lanes))), i(count - 1));
      const isNew = k.compare("lt", k.binary("add", k.lane, k.binary("mul", round, i(k.lanes))), i(count));
      const [row, column] = [k.binary("idiv", item, i(players)), k.binary("irem", item, i(players))];
      const isThere = k.binary("and", k.compare("lt", row, i(n)), k.compare("lt", column, i(n)));
      const place = k.select(isThere, k.binary("add", k.binary("mul", row, i(n)), column), i(0));
      const loaded = field.load(source, k.binary("add", first, place));
      const isDiagonal = k.compare("eq", row, column);
      const x = field.select(isThere, field.select(isDiagonal, field.real(loaded.re), loaded), field.zero);
      this.a.set(this.at(row, column), x);
      this.v.set(this.at(row, column), field.select(isDiagonal, field.one, field.zero));
      return [k.binary("add", before, k.select(isNew, field.squared(x), zero))];
    });
    return sum;
  }

  private sweeps(limit: Value): void {
    const { k, players, pairs } = this;
    const i = (value: number) => k.constant("i32", value);
    k.loop(
      MOST_SWEEPS,
      [i(1)],
      () => {
        k.set(this.active, i(0), i(0), k.compare("eq", k.lane, i(0)));
        k.barrier();
        k.loop(players - 1, [], (turn) => {
          eachByLane(k, pairs, (pair) => this.find(turn, pair, limit));
          k.barrier();
          this.apply(turn);
          k.barrier();
          return [];
        });
        const found = k.get(this.active, i(0));
        k.barrier();
        return [found];
      },
      { exitWhen: ([found]) => k.compare("eq", found, i(0)) },
    );
  }

  /** The rotation of a pair. */
  private find(turn: Value, pair: Value, limit: Value): void {
    const { k, field, players } = this;
    const [p, q] = pairAt(k, players, turn, pair);
    const between = this.a.get(this.at(p, q));
    const [first, second] = [this.a.get(this.at(p, p)).re, this.a.get(this.at(q, q)).re];
    const square = field.squared(between);
    const isActive = k.compare("gt", square, limit);
    const { s, half, phase, shift } = rotationOf(k, field, [first, second], between, isActive);
    k.set(this.halves, pair, half);
    k.set(this.sines, pair, s);
    if (phase) this.phases?.set(pair, phase);
    k.set(this.shifts, pair, shift);
    k.set(this.active, k.constant("i32", 0), k.constant("i32", 1), isActive);
  }

  private rotation(pair: Value): Rotation {
    const { k } = this;
    const [half, s] = [k.get(this.halves, pair), k.get(this.sines, pair)];
    return { s, half, phase: this.phases?.get(pair) ?? null, shift: k.get(this.shifts, pair) };
  }

  private apply(turn: Value): void {
    const { k, field, n, players, pairs } = this;
    const i = (value: number) => k.constant("i32", value);
    eachByLane(k, pairs * pairs, (item) => {
      const [one, other] = [k.binary("idiv", item, i(pairs)), k.binary("irem", item, i(pairs))];
      const [p, q] = pairAt(k, players, turn, one);
      const [u, w] = pairAt(k, players, turn, other);
      this.block([p, q], [u, w], this.rotation(one), this.rotation(other), k.compare("eq", one, other));
    });
    eachByLane(k, pairs * n, (item) => {
      const [pair, column] = [k.binary("idiv", item, i(n)), k.binary("irem", item, i(n))];
      const [p, q] = pairAt(k, players, turn, pair);
      const [x, y] = [this.v.get(this.at(p, column)), this.v.get(this.at(q, column))];
      const [left, right] = rotated(k, field, x, y, this.rotation(pair));
      this.v.set(this.at(p, column), left);
      this.v.set(this.at(q, column), right);
    });
  }

  /** A block of two by two, from both sides. */
  private block(
    [p, q]: readonly [Value, Value],
    [u, w]: readonly [Value, Value],
    left: Rotation,
    right: Rotation,
    isDiagonal: Value,
  ): void {
    const { k, field, a } = this;
    const places = [this.at(p, u), this.at(p, w), this.at(q, u), this.at(q, w)];
    const [pu, pw, qu, qw] = places.map((place) => a.get(place));
    const [up, uq] = rotated(k, field, pu, qu, left);
    const [wp, wq] = rotated(k, field, pw, qw, left);
    const top = rotated(k, field, up, wp, right, true);
    const bottom = rotated(k, field, uq, wq, right, true);
    const exact = [
      field.real(k.binary("sub", pu.re, left.shift)),
      field.zero,
      field.zero,
      field.real(k.binary("add", qw.re, left.shift)),
    ];
    [...top, ...bottom].forEach((x, at) => {
      a.set(places[at], field.select(isDiagonal, exact[at], x));
    });
  }

  /** Writes values and vectors in rising order. */
  private store(first: Value, values: number, vectors: number): void {
    const { k, field, n } = this;
    const i = (value: number) => k.constant("i32", value);
    const order = k.array("i32", n);
    eachByLane(k, n, (which) => {
      const own = this.a.get(this.at(which, which)).re;
      const [rank] = k.loop(n, [i(0)], (other, [before]) => {
        const its = this.a.get(this.at(other, other)).re;
        const isSame = k.binary("and", k.unary("not", k.compare("lt", own, its)), k.compare("lt", other, which));
        const isBefore = k.binary("or", k.compare("lt", its, own), isSame);
        return [k.binary("add", before, k.select(isBefore, i(1), i(0)))];
      });
      k.set(order, which, rank);
      k.store(values, k.binary("add", k.binary("mul", k.row, i(n)), rank), own, k.lanes === 1);
    });
    k.barrier();
    eachByLane(k, n * n, (item) => {
      const [row, column] = [k.binary("idiv", item, i(n)), k.binary("irem", item, i(n))];
      const to = k.binary("add", k.binary("mul", k.get(order, row), i(n)), column);
      field.store(vectors, k.binary("add", first, to), field.conj(this.v.get(this.at(row, column))));
    });
  }
}
