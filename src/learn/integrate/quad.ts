/**
 * Integrals of functions to a precision that is asked for: the piece with the largest error is halved until the errors are small enough. A
 * loop on the device, over at most so many pieces.
 *
 * Derivatives are those of the sum over the last pieces: exact for the numbers computed. Forward they run through the loop. Backward the
 * pieces are integrated once more, all at once; a `whileLoop` has no reverse derivative, so `customGradient` says this.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { productOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { arange, full, ones, stack, type Tensor, where, zeros } from "../../tensor/index.js";
import { withoutClosure } from "../../transforms/closed.js";
import { whileLoop } from "../../transforms/control.js";
import { customGradient } from "../../transforms/custom.js";
import { jvp, stopGradient, vjp } from "../../transforms/grad.js";
import { pieceAreas } from "./gauss-kronrod.js";
import { mapped, RANGE, type RangeOptions } from "./integrand.js";

/** Options of `quad`. */
export interface QuadOptions extends RangeOptions {
  /** The allowed error, relative to the integral: 1.5e-8 unless told (1e-5 in f32). Either this or `atol` suffices. */
  readonly rtol?: number;
  /** The allowed error: 1.5e-8 unless told (1e-6 in f32). */
  readonly atol?: number;
  /** Pieces at most: 128. */
  readonly maxPieces?: number;
}

/** An integral. */
export interface Quadrature {
  /** Of the shape that the function gives. */
  readonly value: Tensor;
  /** The estimated error, of the number with the largest: a scalar. */
  readonly error: Tensor;
  /** i32: 0 the precision was reached, 1 `maxPieces` did not suffice, 2 rounding hides the rest, 3 a value was not finite. */
  readonly status: Tensor;
  /** i32: pieces that the range was cut into. */
  readonly pieces: Tensor;
}

/** How an integration ended. -1 while it runs. */
export const QUAD_STATUS = { reached: 0, tooManyPieces: 1, rounding: 2, notFinite: 3 } as const;

const OPTIONS: OptionKinds<QuadOptions> = { rtol: "number", atol: "number", maxPieces: "number", ...RANGE };

interface Settings {
  readonly rtol: number;
  readonly atol: number;
  readonly maxPieces: number;
}

/** Pieces of [0, 1], [maxPieces], of which the first `count` are in use. */
interface Pieces {
  readonly from: Tensor;
  readonly to: Tensor;
  /** [maxPieces, size]. */
  readonly area: Tensor;
  readonly error: Tensor;
  readonly count: Tensor;
  readonly status: Tensor;
}

/**
 * The integral of f between two ends, each of which may be infinite: `quad((x) => x.square().neg().exp(), 0, Infinity).value`. f takes a
 * scalar and gives a tensor of any shape.
 */
export function quad(
  f: (x: Tensor) => Tensor,
  lower: number | Tensor,
  upper: number | Tensor,
  options: QuadOptions = {},
): Quadrature {
  checkOptions("integrate.quad", options, OPTIONS);
  const { ends, at } = mapped("integrate.quad", f, lower, upper, options);
  const settings = settingsOf(options, ends[0].dtype === "f64");
  const open = withoutClosure("integrate.quad", (t, a, b) => [at(t, a, b)], [ends[0], ...ends]);
  const { shape } = at(ends[0], ...ends);
  const integrandWith =
    (captured: readonly Tensor[], a: Tensor, b: Tensor) =>
    (t: Tensor): Tensor =>
      open.apply(captured, [t, a, b])[0].reshape([-1]) as Tensor;
  const size = productOf(shape);
  const forward = (a: Tensor, b: Tensor, captured: readonly Tensor[]) =>
    halved(integrandWith(captured, a, b), a, size, settings);
  const solve = customGradient(forward, {
    jvp: (tangents, ...args) => jvp(forward, args, tangents as typeof args)[1] as Pieces & { readonly value: Tensor },
    vjp: (cotangent, result, a, b, captured) => {
      const [from, to] = [stopGradient(result.from), stopGradient(result.to)];
      const moves = captured.map(({ dtype }) => dtype.startsWith("f"));
      const isUsed = arange(0, settings.maxPieces, 1, { dtype: "i32", device: a.device })
        .less(result.count)
        .expandDims(1);
      const value = (a: Tensor, b: Tensor, floats: readonly Tensor[]): Tensor => {
        let next = 0;
        const whole = captured.map((each, i) => (moves[i] ? floats[next++] : each));
        return where(isUsed, pieceAreas(integrandWith(whole, a, b), from, to).area, 0).sum({ axis: 0 }) as Tensor;
      };
      const [, pull] = vjp(
        value,
        a,
        b,
        captured.filter((_, i) => moves[i]),
      );
      const [byA, byB, byFloats] = pull(cotangent.value) as [Tensor, Tensor, Tensor[]];
      let next = 0;
      return [byA, byB, moves.map((isMoving) => (isMoving ? byFloats[next++] : null))];
    },
  });
  const { value, error, status, count } = solve(...ends, open.captured);
  return { value: value.reshape(shape) as Tensor, error: error.sum() as Tensor, status, pieces: count };
}

/** Halves pieces until the errors are small enough. */
function halved(g: (t: Tensor) => Tensor, like: Tensor, size: number, settings: Settings) {
  const { maxPieces } = settings;
  const { dtype, device } = like;
  const [start, end] = [zeros([1], { dtype, device }), ones([1], { dtype, device })] as [Tensor, Tensor];
  const first = pieceAreas(g, start, end);
  const isFirst = arange(0, maxPieces, 1, { dtype: "i32", device }).equal(0);
  const begun: Pieces = {
    // Pieces that are not in use are the whole range, where the integrand is known to have values.
    from: zeros([maxPieces], { dtype, device }) as Tensor,
    to: ones([maxPieces], { dtype, device }) as Tensor,
    area: where(isFirst.expandDims(1), first.area, zeros([maxPieces, size], { dtype, device })) as Tensor,
    error: where(isFirst, first.error, 0) as Tensor,
    count: full([], 1, { device, dtype: "i32" }) as Tensor,
    status: full([], -1, { device, dtype: "i32" }) as Tensor,
  };
  const last = whileLoop(
    ({ status }) => status.less(0) as Tensor,
    (now) => {
      const row = now.error.argmax() as Tensor;
      const [from, to] = [now.from.take(row), now.to.take(row)];
      const middle = from.add(to).mul(0.5);
      const [starts, ends] = [stack([from, middle]), stack([middle, to])] as [Tensor, Tensor];
      const parts = pieceAreas(g, starts, ends);
      const place = arange(0, maxPieces, 1, { dtype: "i32", device });
      const put = (old: Tensor, two: Tensor): Tensor => {
        const is = (at: Tensor): Tensor => (old.rank === 1 ? place.equal(at) : place.equal(at).expandDims(1)) as Tensor;
        return where(is(row), two.at(0), where(is(now.count), two.at(1), old)) as Tensor;
      };
      const next: Pieces = {
        from: put(now.from, starts),
        to: put(now.to, ends),
        area: put(now.area, parts.area),
        error: put(now.error, parts.error),
        count: now.count.add(1) as Tensor,
        status: now.status,
      };
      return { ...next, status: statusOf(next, hidden(parts, middle as Tensor, to.sub(from) as Tensor), settings) };
    },
    { ...begun, status: statusOf(begun, first.error.lessEqual(first.rounding).all() as Tensor, settings) },
    { maxRounds: maxPieces },
  );
  return { ...last, value: last.area.sum({ axis: 0 }) as Tensor };
}

/** Whether halving a piece can no longer help: both halves have but errors of rounding, or they are next to nothing. */
function hidden({ error, rounding }: { error: Tensor; rounding: Tensor }, middle: Tensor, width: Tensor): Tensor {
  const spacing = middle.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  return error
    .lessEqual(rounding)
    .all()
    .logicalAnd(error.sum().greater(0))
    .logicalOr(width.less(middle.mul(8 * spacing))) as Tensor;
}

function statusOf({ area, error, count }: Pieces, isHidden: Tensor, { rtol, atol, maxPieces }: Settings): Tensor {
  const value = area.sum({ axis: 0 });
  const allowed = value.abs().max().mul(rtol).maximum(atol);
  const total = error.sum();
  const hasValues = value.isFinite().all().logicalAnd(total.isFinite());
  const open = where(
    isHidden,
    QUAD_STATUS.rounding,
    where(count.greaterEqual(maxPieces), QUAD_STATUS.tooManyPieces, -1),
  );
  return where(hasValues, where(total.lessEqual(allowed), QUAD_STATUS.reached, open), QUAD_STATUS.notFinite).cast(
    "i32",
  ) as Tensor;
}

function settingsOf({ rtol, atol, maxPieces = 128 }: QuadOptions, isWide: boolean): Settings {
  checkWhole("integrate.quad", "maxPieces", maxPieces, 1);
  const settings = { rtol: rtol ?? (isWide ? 1.5e-8 : 1e-5), atol: atol ?? (isWide ? 1.5e-8 : 1e-6), maxPieces };
  for (const name of ["rtol", "atol"] as const) {
    if (settings[name] >= 0 && Number.isFinite(settings[name])) continue;
    throw new ArgumentError(`integrate.quad: ${name} is ${shown(settings[name])}; it is a number, zero or more.`);
  }
  return settings;
}
