/**
 * The loop below `quad`: the piece with the largest error is halved until the errors are small enough. Where that piece is among the
 * shortest, the longer ones are halved first, as far as they need it; then the sum over all pieces is remembered, and the limit of such
 * sums may be precise enough long before a singular end is cut off by halving alone (as in QUADPACK's QAGS, Piessens and others 1983).
 */
import { arange, concat, full, ones, stack, type Tensor, where, zeros } from "../../tensor/index.js";
import { cond, whileLoop } from "../../transforms/control.js";
import { limitOf, REMEMBERED } from "./acceleration.js";
import { type PieceAreas, pieceAreas } from "./gauss-kronrod.js";

/** How an integration ended. -1 while it runs. */
export const QUAD_STATUS = { reached: 0, tooManyPieces: 1, rounding: 2, notFinite: 3 } as const;

export interface HalvingSettings {
  readonly rtol: number;
  readonly atol: number;
  readonly maxPieces: number;
}

/** All pieces of [0, 1] there ever were, [2 · maxPieces - 1], of which the first `count` are made. Halved ones stay, and have no error. */
export interface Pieces {
  readonly from: Tensor;
  readonly to: Tensor;
  /** [2 · maxPieces - 1, size]. */
  readonly area: Tensor;
  readonly error: Tensor;
  readonly rounding: Tensor;
  /** 1 for pieces that are not halved, else 0. */
  readonly isLeaf: Tensor;
  readonly count: Tensor;
  /** The leaves of remembered sums, [REMEMBERED, 2 · maxPieces - 1], the newest first, and how many were remembered. */
  readonly leaves: Tensor;
  readonly remembered: Tensor;
  /** Pieces that are at most this long are among the shortest. */
  readonly short: Tensor;
  /** The error of the limit, where it is the result; else infinite. */
  readonly limitError: Tensor;
  readonly status: Tensor;
}

/** The result from the areas of all pieces: the limit of the remembered sums where it was precise enough, else the sum over the leaves. */
export function resultOf(area: Tensor, { isLeaf, leaves, remembered, limitError }: Pieces): Tensor {
  const limit = limitOf(leaves.matmul(area) as Tensor, remembered).value;
  return where(limitError.isFinite(), limit, isLeaf.matmul(area)) as Tensor;
}

const spacingOf = ({ dtype }: Tensor): number => (dtype === "f64" ? 2 ** -52 : 2 ** -23);

/** Halves pieces until the errors are small enough. g gives vectors of so many numbers. */
export function halvedPieces(g: (t: Tensor) => Tensor, like: Tensor, size: number, settings: HalvingSettings): Pieces {
  const { maxPieces } = settings;
  const { dtype, device } = like;
  const room = 2 * maxPieces - 1;
  const place = arange(0, room, 1, { dtype: "i32", device }) as Tensor;
  const first = pieceAreas(g, zeros([1], { dtype, device }) as Tensor, ones([1], { dtype, device }) as Tensor);
  const isFirst = place.equal(0);
  const none = zeros([room], { dtype, device });
  const count = (value: number): Tensor => full([], value, { device, dtype: "i32" }) as Tensor;
  const number = (value: number): Tensor => full([], value, { device, dtype }) as Tensor;
  const begun: Pieces = {
    // Pieces that are not made are the whole range, where the integrand is known to have values.
    from: none as Tensor,
    to: ones([room], { dtype, device }) as Tensor,
    area: where(isFirst.expandDims(1), first.area, zeros([room, size], { dtype, device })) as Tensor,
    error: where(isFirst, first.error, none) as Tensor,
    rounding: where(isFirst, first.rounding, none) as Tensor,
    isLeaf: isFirst.cast(dtype) as Tensor,
    count: count(1),
    leaves: zeros([REMEMBERED, room], { dtype, device }) as Tensor,
    remembered: count(0),
    // The whole and its halves are never among the shortest.
    short: number(0.3),
    limitError: number(Number.POSITIVE_INFINITY),
    status: count(-1),
  };
  return whileLoop(
    ({ status }) => status.less(0) as Tensor,
    (now) => roundOf(g, now, place, settings),
    { ...begun, status: statusOf(begun, settings) },
    { maxRounds: maxPieces },
  );
}

/** One piece halved; before that, perhaps, a sum remembered. */
function roundOf(g: (t: Tensor) => Tensor, now: Pieces, place: Tensor, settings: HalvingSettings): Pieces {
  const sum = now.isLeaf.matmul(now.area) as Tensor;
  const allowed = allowedError(sum, settings);
  const longError = where(now.to.sub(now.from).greater(now.short), now.error, 0) as Tensor;
  const worst = now.error.argmax() as Tensor;
  const isShort = now.to.take(worst).sub(now.from.take(worst)).lessEqual(now.short);
  const needsLonger = isShort.logicalAnd(longError.sum().greater(allowed));
  const remembers = isShort.logicalAnd(needsLonger.logicalNot()) as Tensor;
  const leaves = where(
    remembers,
    concat([now.isLeaf.expandDims(0), now.leaves.at(":-1")], { axis: 0 }),
    now.leaves,
  ) as Tensor;
  // Amid the range, pieces around a singularity come to no end of it by one share, and their sums to no limit.
  const isAtEnd = now.from.take(worst).equal(0).logicalOr(now.to.take(worst).equal(1));
  const remembered = where(remembers, where(isAtEnd, now.remembered.add(1), 0), now.remembered).cast("i32") as Tensor;
  const limit = cond(
    remembers,
    () => limitOf(leaves.matmul(now.area) as Tensor, remembered),
    () => ({ value: sum, error: now.limitError }),
  );
  const limitError = limit.error.add(longError.sum()) as Tensor;
  const isPrecise = remembers.logicalAnd(limitError.lessEqual(allowedError(limit.value, settings)));

  const row = where(needsLonger, longError.argmax(), worst) as Tensor;
  const [from, to] = [now.from.take(row), now.to.take(row)] as [Tensor, Tensor];
  const middle = from.add(to).mul(0.5);
  const [starts, ends] = [stack([from, middle]), stack([middle, to])] as [Tensor, Tensor];
  const parts = pieceAreas(g, starts, ends);
  const put = (old: Tensor, two: Tensor, halved: Tensor): Tensor => {
    const is = (at: Tensor): Tensor => (old.rank === 1 ? place.equal(at) : place.equal(at).expandDims(1)) as Tensor;
    const made = where(is(now.count), two.at(0), where(is(now.count.add(1) as Tensor), two.at(1), old));
    return where(is(row), halved, made) as Tensor;
  };
  const nothing = now.short.mul(0) as Tensor;
  const next: Pieces = {
    from: put(now.from, starts, from),
    to: put(now.to, ends, to),
    area: put(now.area, parts.area, now.area.take(row, { axis: 0 }) as Tensor),
    error: put(now.error, parts.error, nothing),
    rounding: put(now.rounding, parts.rounding, nothing),
    isLeaf: put(now.isLeaf, ones([2], { dtype: nothing.dtype as "f32", device: nothing.device }) as Tensor, nothing),
    count: now.count.add(2) as Tensor,
    leaves,
    remembered,
    short: where(remembers, now.short.mul(0.5), now.short) as Tensor,
    limitError: where(isPrecise, limitError, now.limitError) as Tensor,
    status: now.status,
  };
  const status = where(isPrecise, QUAD_STATUS.reached, statusOf(next, settings)).cast("i32");
  return keptWhereTooShort(now, { ...next, status: status as Tensor }, parts, to.sub(from) as Tensor, isPrecise);
}

/** Places in a piece of a few roundings fall on its ends, where the function may be infinite: such a piece is not halved. */
function keptWhereTooShort(now: Pieces, next: Pieces, parts: PieceAreas, width: Tensor, isPrecise: Tensor): Pieces {
  const isLost = parts.area.isFinite().all().logicalAnd(parts.error.isFinite().all()).logicalNot();
  const isTooShort = isLost
    .logicalAnd(width.lessEqual(2 ** 11 * spacingOf(width)))
    .logicalAnd(isPrecise.logicalNot()) as Tensor;
  const pick = (before: Tensor, after: Tensor): Tensor => where(isTooShort, before, after) as Tensor;
  return {
    from: pick(now.from, next.from),
    to: pick(now.to, next.to),
    area: pick(now.area, next.area),
    error: pick(now.error, next.error),
    rounding: pick(now.rounding, next.rounding),
    isLeaf: pick(now.isLeaf, next.isLeaf),
    count: pick(now.count, next.count),
    leaves: next.leaves,
    remembered: next.remembered,
    short: next.short,
    limitError: next.limitError,
    status: where(isTooShort, QUAD_STATUS.rounding, next.status).cast("i32") as Tensor,
  };
}

const allowedError = (value: Tensor, { rtol, atol }: HalvingSettings): Tensor =>
  value.abs().max().mul(rtol).maximum(atol) as Tensor;

function statusOf(pieces: Pieces, settings: HalvingSettings): Tensor {
  const { from, to, area, error, rounding, isLeaf, count } = pieces;
  const value = isLeaf.matmul(area) as Tensor;
  const total = error.sum();
  const worst = error.argmax();
  const middle = from.add(to).mul(0.5).take(worst);
  // Halving no longer helps where the largest error is one of rounding, or the piece next to nothing.
  const isHidden = error
    .take(worst)
    .lessEqual(rounding.take(worst))
    .logicalOr(
      to
        .sub(from)
        .take(worst)
        .less(middle.mul(8 * spacingOf(value))),
    );
  const open = where(
    isHidden,
    QUAD_STATUS.rounding,
    where(count.greaterEqual(2 * settings.maxPieces - 1), QUAD_STATUS.tooManyPieces, -1),
  );
  const hasValues = value.isFinite().all().logicalAnd(total.isFinite());
  return where(
    hasValues,
    where(total.lessEqual(allowedError(value, settings)), QUAD_STATUS.reached, open),
    QUAD_STATUS.notFinite,
  ).cast("i32") as Tensor;
}
