/**
 * A small Hermitian matrix reduced to real tridiagonal form by the lanes of a workgroup, A = Z T Zᴴ: a Householder reflection for
 * each column, applied from both sides, as in LAPACK. A lane has whole rows of A and Z. small-eigh.ts calls it.
 */
import type { Value } from "../../../ir/ir.js";
import type { Num } from "../field.js";
import { reflectionOf } from "../reflection.js";
import { eachByLane, overLanes } from "../workspace.js";
import type { SmallProblem } from "./small-problem.js";

/** Columns that a lane works on at once: it reads as many neighbours of a vector. */
export const AT_ONCE = 4;

/** Fills the diagonal and what is beside it, and multiplies Z, the identity before, by the reflections. */
export function smallTridiagonal(problem: SmallProblem): void {
  const { k, n, a, diagonal, beside } = problem;
  const step = new Step(problem);
  if (n > 1) {
    k.loop(n - 1, [], (column) => {
      step.write(column);
      return [];
    });
  }
  const last = k.constant("i32", n - 1);
  const isFirst = k.compare("eq", k.lane, k.constant("i32", 0));
  k.set(diagonal, last, a.get(step.at(last, last)).re, isFirst);
  k.set(beside, last, k.constant(problem.field.type, 0), isFirst);
  k.barrier();
}

type NumArray = ReturnType<SmallProblem["field"]["array"]>;

class Step {
  private readonly v: NumArray;
  private readonly w: NumArray;
  /** Rows of Z times the vector. */
  private readonly products: NumArray;

  constructor(private readonly problem: SmallProblem) {
    const { field, padded } = problem;
    [this.v, this.w, this.products] = [0, 1, 2].map(() => field.array(padded)) as [NumArray, NumArray, NumArray];
  }

  private i(value: number): Value {
    return this.problem.k.constant("i32", value);
  }

  at(row: Value, column: Value): Value {
    const { k, padded } = this.problem;
    return k.binary("add", k.binary("mul", column, this.i(padded)), row);
  }

  write(column: Value): void {
    const { k, field, padded, diagonal, beside, a } = this.problem;
    const next = k.binary("add", column, this.i(1));
    const squares = this.squaresBelow(next, column);
    const { beta, tau, inverse } = reflectionOf(k, field, a.get(this.at(next, column)), squares);
    // What counts as zero for the reflection has no part in its vector: the reflection of a complex head would not be unitary.
    const isSome = k.compare("gt", squares, k.constant(field.type, 0));
    const isFirst = k.compare("eq", k.lane, this.i(0));
    k.set(diagonal, column, a.get(this.at(column, column)).re, isFirst);
    k.set(beside, column, beta.re, isFirst);
    eachByLane(k, padded, (row) => {
      const below = field.select(
        k.binary("and", isSome, k.compare("gt", row, next)),
        field.mul(a.get(this.at(row, column)), inverse),
        field.zero,
      );
      field.set(this.v, row, field.select(k.compare("eq", row, next), field.one, below));
    });
    k.barrier();
    // Most matrices that are diagonal or tridiagonal already have nothing to reflect.
    const isNone = k.binary("and", this.isZero(tau.re), tau.im ? this.isZero(tau.im) : k.constant("bool", true));
    k.when(k.unary("not", isNone), () => {
      this.reflect(next, tau);
      return [];
    });
    k.barrier();
  }

  private isZero(x: Value): Value {
    return this.problem.k.compare("eq", x, this.problem.k.constant(this.problem.field.type, 0));
  }

  /** Σ |x|² of a column below row `next`; nothing where that is lost in rounding. */
  private squaresBelow(next: Value, column: Value): Value {
    const { k, field, n, a, lost } = this.problem;
    const [sum] = overLanes(k, field, n, [field.zero], (row, [before]) => {
      const square = field.real(field.squared(a.get(this.at(row, column))));
      return [field.add(before, field.select(k.compare("gt", row, next), square, field.zero))];
    });
    const squares = k.combineLanes("add", sum.re);
    const isLost = k.compare("lt", squares, k.binary("mul", lost, lost));
    return k.select(isLost, k.constant(field.type, 0), squares);
  }

  /** A - v wᴴ - w vᴴ with w = x - ½ τ (xᴴ v) v, x = τ A v; and Z - τ (Z v) vᴴ. Zeros of v leave what is done as it is. */
  private reflect(next: Value, tau: Num): void {
    const { k, field, n, a, z } = this.problem;
    const [along] = overLanes(k, field, n, [field.zero], (row, [before]) => {
      const [y, product] = this.chunks(next, [this.v], [field.zero, field.zero], (column, [sum, other], [v]) => {
        const place = this.at(row, column);
        return [field.mulAdd(a.get(place), v, sum), field.mulAdd(z.get(place), v, other)];
      });
      const x = field.select(k.compare("ge", row, next), field.mul(tau, y), field.zero);
      field.set(this.w, row, x);
      field.set(this.products, row, field.mul(tau, product));
      return [field.mulAdd(field.conj(x), field.get(this.v, row), before)];
    });
    const half = k.constant(field.type, -0.5);
    const back = field.scale(field.mul(tau, field.sumLanes(along)), half);
    eachByLane(k, this.problem.padded, (row) => {
      const x = field.select(k.compare("lt", row, this.i(n)), field.get(this.w, row), field.zero);
      field.set(this.w, row, field.mulAdd(back, field.get(this.v, row), x));
    });
    k.barrier();
    eachByLane(k, n, (row) => {
      const [own, ownW] = [this.v, this.w].map((array) => field.get(array, row));
      const product = field.get(this.products, row);
      this.chunks(next, [this.v, this.w], [], (column, _, [v, w]) => {
        const place = this.at(row, column);
        const less = field.mulSub(ownW, field.conj(v), field.mulSub(own, field.conj(w), a.get(place)));
        a.set(place, less);
        z.set(place, field.mulSub(product, field.conj(v), z.get(place)));
        return [];
      });
    });
  }

  /** Columns from the one with `next` on, and the elements of some vectors there. */
  private chunks(
    next: Value,
    vectors: readonly NumArray[],
    initial: readonly Num[],
    body: (column: Value, carried: readonly Num[], elements: readonly Num[]) => readonly Num[],
  ): Num[] {
    const { k, field, padded } = this.problem;
    const count = padded / AT_ONCE;
    const skipped = k.binary("idiv", next, this.i(AT_ONCE));
    const isLast = (turn: Value) =>
      k.compare("ge", k.binary("add", k.binary("add", skipped, turn), this.i(1)), this.i(count));
    const some = (turn: Value, given: readonly Num[]) => {
      const start = k.binary("mul", k.binary("add", skipped, turn), this.i(AT_ONCE));
      const read = vectors.map((array) => field.getMany(array, start, AT_ONCE));
      let carried = given;
      for (let at = 0; at < AT_ONCE; at++) {
        carried = body(
          k.binary("add", start, this.i(at)),
          carried,
          read.map((each) => each[at]),
        );
      }
      return carried;
    };
    return field.loop(count, initial, some, { exitAfter: isLast });
  }
}
