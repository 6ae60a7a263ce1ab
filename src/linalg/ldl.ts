/** Factors of symmetric and Hermitian matrices that need not be positive definite. Leading axes are batches. */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isComplex } from "../core/dtype.js";
import { arange, computedTogether, eye, type FloatOf, type Tensor, where, zeros } from "../tensor/index.js";
import { scan } from "../transforms/control.js";
import { vmap } from "../transforms/vmap.js";
import { checkSquare, workDTypes } from "./arguments.js";
import { type HermitianOptions, wholeOf } from "./eigh.js";

/** a is l·d·lᴴ. */
export interface LdlFactors<D extends DType> {
  /** Unit lower triangular with its rows in another order, [.., n, n]. */
  readonly l: Tensor<D>;
  /** Blocks of one or two rows on the diagonal, [.., n, n]; Hermitian. */
  readonly d: Tensor<D>;
  /** The rows of l in this order are unit lower triangular; i32 [.., n]. */
  readonly order: Tensor<"i32">;
}

/** The share of the largest element that an element of the diagonal must have to be a pivot alone: growth is least there. */
const SHARE = (1 + Math.sqrt(17)) / 8;

/**
 * Factors of symmetric or Hermitian matrices [.., n, n], of which the lower half is read: a is l·d·lᴴ, in the form of
 * SciPy's `ldl`. Pivots are the largest elements (Bunch and Parlett 1971), alone or in pairs, so no number of l is large. A matrix
 * without an inverse has a block of d without one; nothing is NaN.
 */
export function ldl<D extends DType>(a: Tensor<D>, options: HermitianOptions = {}): LdlFactors<FloatOf<D>> {
  checkCount("linalg.ldl", 2, arguments);
  checkOptions("linalg.ldl", options, { upper: "flag" });
  checkSquare("ldl", a);
  const { work, result } = workDTypes(a.dtype);
  const n = a.shape.at(-1) as number;
  const given = wholeOf(a.cast(work), options.upper === true);
  const parts = a.size === 0 ? empty(given) : vmap(factors)(given.reshape([a.size / (n * n), n, n]));
  const shaped = (x: Tensor) => x.reshape([...a.shape.slice(0, -2), ...x.shape.slice(1)]);
  const { l, d, order } = parts;
  return computedTogether({ l: shaped(l).cast(result), d: shaped(d).cast(result), order: shaped(order) }) as LdlFactors<
    FloatOf<D>
  >;
}

interface Parts {
  readonly l: Tensor;
  readonly d: Tensor;
  readonly order: Tensor;
}

function empty(a: Tensor): Parts {
  const [n, { device }] = [a.shape.at(-1) as number, a];
  const flat = zeros([0, n, n], { dtype: a.dtype, device });
  return { l: flat, d: flat, order: zeros([0, n], { dtype: "i32", device }) };
}

/** The rest of the matrix, with its rows and columns exchanged, and the factors so far. */
interface State extends Parts {
  readonly rest: Tensor;
  /** Whether this row was the second of a pair. */
  readonly isSecond: Tensor;
}

/** The factors of one matrix [n, n]. */
function factors(a: Tensor): Parts {
  const n = a.shape[0];
  const { dtype, device } = a;
  const none = zeros([n, n], { dtype, device });
  const places = arange(n, { device });
  const start: State = { rest: a, l: none, d: none, order: places, isSecond: places.at(0).less(0) };
  const [{ l, d, order }] = scan(
    (state: State, k: Tensor) => {
      const next = eliminated(state, k, places);
      const kept = (now: Tensor, then: Tensor) => where(state.isSecond, now, then).cast(now.dtype);
      const made: State = {
        rest: kept(state.rest, next.rest),
        l: kept(state.l, next.l),
        d: kept(state.d, next.d),
        order: kept(state.order, next.order),
        isSecond: state.isSecond.logicalNot().logicalAnd(next.isSecond),
      };
      return [made, null] as const;
    },
    start,
    places,
  );
  // Back to the rows of a.
  return { l: l.add(eye(n, { dtype, device })).take(order.argsort(), { axis: 0 }), d, order };
}

/** The pivot among the rows from k on: one row, or two. */
function pivotOf(rest: Tensor, k: Tensor, places: Tensor) {
  const n = rest.shape[0];
  const isLeft = places.greaterEqual(k);
  const sizes = where(isLeft.expandDims(1).logicalAnd(isLeft), rest.abs(), -1);
  const diagonal = sizes.diagonal();
  const place = sizes.reshape([-1]).argmax();
  const [row, column] = [place.floorDivide(n), place.remainder(n)];
  const isPair = diagonal.max().less(sizes.max().mul(SHARE));
  return {
    isPair,
    first: where(isPair, row.minimum(column), diagonal.argmax()).cast("i32"),
    second: row.maximum(column),
  };
}

/** The next one or two columns. Products of vectors do what a column or two of multipliers do to the rest. */
function eliminated({ rest, l, d, order }: State, k: Tensor, places: Tensor): State {
  const { dtype } = rest;
  const next = k.add(1);
  const { isPair, first, second } = pivotOf(rest, k, places);
  const exchange = (i: Tensor, j: Tensor) => where(places.equal(i), j, where(places.equal(j), i, places)).cast("i32");
  const pair = where(isPair, exchange(next, second), places).cast("i32");
  const turned = exchange(k, first).take(pair);
  const a = rest.take(turned, { axis: 0 }).take(turned, { axis: 1 });
  const column = (j: Tensor) => where(places.equal(j), a, 0).sum({ axis: 1 }).cast(dtype);
  const element = (x: Tensor, i: Tensor) => where(places.equal(i), x, 0).sum().cast(dtype);
  const [one, other] = [column(k), column(next)];
  // The diagonal of a Hermitian matrix is real; rounding would leave imaginary parts.
  const real = (x: Tensor) => (isComplex(dtype) ? x.real().cast(dtype) : x) as Tensor;
  const [top, between, bottom] = [real(element(one, k)), element(one, next), real(element(other, next))];
  const isBelow = places.greater(where(isPair, next, k));
  const below = (x: Tensor) => where(isBelow, x, 0).cast(dtype);
  const [u, v] = [below(one), below(other)];
  // Below the least normal number the inverse would overflow, and nothing is left to eliminate.
  const tiny = dtype === "f64" || dtype === "c128" ? 2 ** -1022 : 2 ** -126;
  const inverse = (x: Tensor) => {
    const isNone = x.abs().less(tiny);
    return where(isNone, 0, where(isNone, 1, x).cast(dtype).reciprocal()).cast(dtype);
  };
  // A block of two rows is divided by its largest number first: its determinant would vanish before it does.
  const scale = inverse(top.abs().maximum(between.abs()).maximum(bottom.abs()).cast(dtype));
  const [t, e, w] = [top, between, bottom].map((x) => x.mul(scale)) as [Tensor, Tensor, Tensor];
  const value = inverse(t.mul(w).sub(e.mul(e.conj())));
  const [p, q] = [u.mul(scale), v.mul(scale)];
  const left = where(isPair, p.mul(w).sub(q.mul(e)).mul(value), u.mul(inverse(top))).cast(dtype);
  const right = where(isPair, q.mul(t).sub(p.mul(e.conj())).mul(value), 0).cast(dtype);
  const outer = (x: Tensor, y: Tensor) => x.expandDims(1).mul(y.conj());
  const isAt = (i: Tensor, j: Tensor) => places.equal(i).expandDims(1).logicalAnd(places.equal(j));
  const inColumn = (j: Tensor, x: Tensor, base: Tensor) => where(places.equal(j), x.expandDims(1), base).cast(dtype);
  const alone = where(isAt(k, k), top, d).cast(dtype);
  const both = where(
    isAt(next, next),
    bottom,
    where(isAt(next, k), between, where(isAt(k, next), between.conj(), alone)),
  );
  const lower = inColumn(k, left, l.take(turned, { axis: 0 }));
  return {
    rest: a.sub(outer(left, u)).sub(outer(right, v)),
    l: where(isPair, inColumn(next, right, lower), lower).cast(dtype),
    d: where(isPair, both, alone).cast(dtype),
    order: order.take(turned),
    isSecond: isPair,
  };
}
