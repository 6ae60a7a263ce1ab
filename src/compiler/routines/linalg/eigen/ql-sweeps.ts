/**
 * Eigenvalues of a small real tridiagonal matrix by implicit QL with Wilkinson's shift (Bowdler, Martin, Reinsch and Wilkinson
 * 1968; LAPACK's steqr), and its rotations applied to the columns of Z. Every lane follows the chain of rotations of a sweep, which
 * is short of work for more than one; then each applies all of them to its rows of Z. small-eigh.ts calls it.
 */
import type { Value } from "../../../ir/ir.js";
import { type Num, valuesOf } from "../field.js";
import { eachByLane, epsilonOf } from "../workspace.js";
import type { SmallProblem } from "./small-problem.js";

/** Sweeps for each eigenvalue on average, after which the matrix is left as it is. Fewer than two are usual. */
const MOST_SWEEPS = 6;

/** Rotations of smaller squares turn by nothing: the square would have lost digits. Matrices are scaled before. */
const TINY = { f32: 2 ** -100, f64: 2 ** -900 } as const;

export function qlSweeps(problem: SmallProblem): void {
  const { k, n, field } = problem;
  if (n === 1) return;
  const [cosines, sines, diagonal, beside] = [0, 1, 2, 3].map(() => k.array(field.type, n)) as [
    number,
    number,
    number,
    number,
  ];
  const sweeps = new QlSweeps(problem, { cosines, sines, diagonal, beside });
  k.loop(
    MOST_SWEEPS * n,
    [k.constant("i32", 0)],
    (_, [done]) => {
      const first = sweeps.firstFrom(done, false);
      k.when(k.compare("lt", first, k.constant("i32", n - 1)), () => {
        const last = sweeps.firstFrom(first, true);
        sweeps.chain(first, last);
        k.barrier();
        sweeps.apply(first, last);
        return [];
      });
      k.barrier();
      return [first];
    },
    { exitWhen: ([first]) => k.compare("ge", first, k.constant("i32", n - 1)) },
  );
}

/** Arrays that a sweep fills: its rotations, and the tridiagonal matrix after it. Lanes that are behind still read the one before. */
interface Made {
  readonly cosines: number;
  readonly sines: number;
  readonly diagonal: number;
  readonly beside: number;
}

class QlSweeps {
  constructor(
    private readonly problem: SmallProblem,
    private readonly made: Made,
  ) {}

  private i(value: number): Value {
    return this.problem.k.constant("i32", value);
  }

  private real(value: number): Value {
    return this.problem.k.constant(this.problem.field.type, value);
  }

  /** The first position from `start` on whose element beside the diagonal is lost in rounding, or is not; else the last. */
  firstFrom(start: Value, isLost: boolean): Value {
    const { k, field, n, diagonal, beside, lost } = this.problem;
    const none = this.i(n - 1);
    const candidate = (at: Value): Value => {
      const safe = k.binary("min", at, this.i(n - 2));
      const [own, next] = [safe, k.binary("add", safe, this.i(1))].map((place) =>
        k.unary("abs", k.get(diagonal, place)),
      );
      const size = k.unary("abs", k.get(beside, safe));
      const limit = k.mulAdd(k.binary("add", own, next), this.real(epsilonOf(field.type)), lost);
      // NaN is lost: the sweeps end.
      const isLarge = k.compare("gt", size, limit);
      const isOne = k.binary("and", isLost ? k.unary("not", isLarge) : isLarge, k.compare("ge", at, start));
      return k.select(k.binary("and", isOne, k.compare("lt", at, none)), at, none);
    };
    const [found] = k.loop(Math.ceil((n - 1) / k.lanes), [none], (round, [before]) => {
      const at = k.binary("add", k.lane, k.binary("mul", round, this.i(k.lanes)));
      return [k.binary("min", before, candidate(at))];
    });
    return k.combineLanes("min", found);
  }

  /** The rotations of a sweep from `last` down to `first`, and the tridiagonal matrix after it. */
  chain(first: Value, last: Value): void {
    const { k, field, diagonal, beside } = this.problem;
    const [top, coupling] = [k.get(diagonal, first), k.get(beside, first)];
    const second = k.binary("add", first, this.i(1));
    const slope = field.divReal(k.binary("sub", k.get(diagonal, second), top), k.binary("add", coupling, coupling));
    const root = field.sqrtReal(k.mulAdd(slope, slope, this.real(1)));
    const signed = k.select(k.compare("lt", slope, this.real(0)), k.unary("neg", root), root);
    const tangent = field.divReal(this.real(1), k.binary("add", slope, signed));
    const moved = k.binary("mul", coupling, tangent);
    k.when(
      k.compare("eq", last, second),
      () => {
        this.pair(first, tangent, moved);
        return [];
      },
      () => {
        this.longChain(first, last, k.binary("sub", top, moved));
        return [];
      },
    );
  }

  private isWriter(): Value {
    return this.problem.k.compare("eq", this.problem.k.lane, this.i(0));
  }

  /** Two rows by themselves: one rotation makes them diagonal. */
  private pair(first: Value, tangent: Value, moved: Value): void {
    const { k, field, diagonal } = this.problem;
    const { made } = this;
    const second = k.binary("add", first, this.i(1));
    const isWriter = this.isWriter();
    const cosine = field.divReal(this.real(1), field.sqrtReal(k.mulAdd(tangent, tangent, this.real(1))));
    k.set(made.cosines, first, cosine, isWriter);
    k.set(made.sines, first, k.binary("mul", tangent, cosine), isWriter);
    k.set(made.diagonal, first, k.binary("sub", k.get(diagonal, first), moved), isWriter);
    k.set(made.diagonal, second, k.binary("add", k.get(diagonal, second), moved), isWriter);
    for (const at of [first, second]) k.set(made.beside, at, this.real(0), isWriter);
  }

  private longChain(first: Value, last: Value, shifted: Value): void {
    const { k, n, diagonal, beside } = this.problem;
    const isWriter = this.isWriter();
    const [d, e] = [(at: Value) => k.get(diagonal, at), (at: Value) => k.get(beside, at)];
    const bottom = d(last);
    const start = k.binary("sub", bottom, shifted);
    k.set(this.made.beside, last, this.real(0), isWriter);
    const initial = [k.binary("sub", last, this.i(1)), start, this.real(1), this.real(1), this.real(0), bottom];
    const [, g, , , p, lowest] = k.loop(
      n - 1,
      initial,
      (_, [at, bulge, s, c, shift, below]) => {
        const next = k.binary("add", at, this.i(1));
        const [own, between] = [d(at), e(at)];
        const [f, b] = [k.binary("mul", s, between), k.binary("mul", c, between)];
        const turned = this.rotation(bulge, f);
        k.set(this.made.beside, next, turned.length, k.binary("and", isWriter, k.compare("lt", next, last)));
        k.set(this.made.cosines, at, turned.c, isWriter);
        k.set(this.made.sines, at, turned.s, isWriter);
        const rest = k.binary("sub", below, shift);
        const twice = k.binary("mul", turned.c, k.binary("add", b, b));
        const r = k.mulAdd(k.binary("sub", own, rest), turned.s, twice);
        const more = k.binary("mul", turned.s, r);
        k.set(this.made.diagonal, next, k.binary("add", rest, more), isWriter);
        const left = k.binary("sub", k.binary("mul", turned.c, r), b);
        return [k.binary("sub", at, this.i(1)), left, turned.s, turned.c, more, own];
      },
      { exitWhen: ([at]) => k.compare("lt", at, first) },
    );
    k.set(this.made.diagonal, first, k.binary("sub", lowest, p), isWriter);
    k.set(this.made.beside, first, g, isWriter);
  }

  /** The rotation of (g, f) into (length, 0). */
  private rotation(g: Value, f: Value): { readonly c: Value; readonly s: Value; readonly length: Value } {
    const { k, field } = this.problem;
    const square = k.mulAdd(g, g, k.binary("mul", f, f));
    const isNone = k.compare("lt", square, this.real(TINY[field.type]));
    const length = field.sqrtReal(k.select(isNone, this.real(1), square));
    const inverse = field.divReal(this.real(1), length);
    return {
      c: k.select(isNone, this.real(1), k.binary("mul", g, inverse)),
      s: k.select(isNone, this.real(0), k.binary("mul", f, inverse)),
      length: k.select(isNone, g, length),
    };
  }

  /** Takes over what a sweep made, and applies its rotations to the columns of Z from `last` down to `first`. */
  apply(first: Value, last: Value): void {
    const { k, field, n, padded, z, diagonal, beside } = this.problem;
    const { cosines, sines } = this.made;
    eachByLane(k, n, (at) => {
      const isChanged = k.binary("and", k.compare("ge", at, first), k.compare("le", at, last));
      k.set(diagonal, at, k.get(this.made.diagonal, at), isChanged);
      k.set(beside, at, k.get(this.made.beside, at), isChanged);
    });
    eachByLane(k, n, (row) => {
      const place = (column: Value) => k.binary("add", k.binary("mul", column, this.i(padded)), row);
      const [, ...lowest] = k.loop(
        n - 1,
        [k.binary("sub", last, this.i(1)), ...valuesOf(z.get(place(last)))],
        (_, [at, re, im]) => {
          const [c, s] = [k.get(cosines, at), k.get(sines, at)];
          const right: Num = { re, im: im ?? null };
          const left = z.get(place(at));
          z.set(place(k.binary("add", at, this.i(1))), field.add(field.scale(left, s), field.scale(right, c)));
          const carried = field.sub(field.scale(left, c), field.scale(right, s));
          return [k.binary("sub", at, this.i(1)), ...valuesOf(carried)];
        },
        { exitWhen: ([at]) => k.compare("lt", at, first) },
      );
      z.set(place(first), { re: lowest[0], im: lowest[1] ?? null });
    });
  }
}
