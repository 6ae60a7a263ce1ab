/**
 * Integrals of functions to a precision that is asked for, by a loop on the device over pieces of the range (halving.ts).
 *
 * Derivatives are those of the sum over the last pieces, or of the limit of such sums: exact for the numbers computed. Forward they run
 * through the loop. Backward the pieces are integrated once more, all at once; a `whileLoop` has no reverse derivative, so
 * `customGradient` says this.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { productOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { arange, type Tensor, where } from "../../tensor/index.js";
import { withoutClosure } from "../../transforms/closed.js";
import { customGradient } from "../../transforms/custom.js";
import { jvp, stopGradient, vjp } from "../../transforms/grad.js";
import { pieceAreas } from "./gauss-kronrod.js";
import { type HalvingSettings, halvedPieces, type Pieces, resultOf } from "./halving.js";
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

/** Pieces with the integral over them, [size]. */
interface Integrated extends Pieces {
  readonly value: Tensor;
}

const OPTIONS: OptionKinds<QuadOptions> = { rtol: "number", atol: "number", maxPieces: "number", ...RANGE };

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
  const forward = (a: Tensor, b: Tensor, captured: readonly Tensor[]): Integrated => {
    const pieces = halvedPieces(integrandWith(captured, a, b), a, size, settings);
    return { ...pieces, value: resultOf(pieces.area, pieces) };
  };
  const solve = customGradient(forward, {
    jvp: (tangents, ...args) => jvp(forward, args, tangents as typeof args)[1] as Integrated,
    vjp: (cotangent, result, a, b, captured) => {
      const pieces = stopGradient(result);
      const { from, to } = pieces;
      const moves = captured.map(({ dtype }) => dtype.startsWith("f"));
      const isMade = arange(0, from.size, 1, { dtype: "i32", device: a.device }).less(pieces.count).expandDims(1);
      const value = (a: Tensor, b: Tensor, floats: readonly Tensor[]): Tensor => {
        let next = 0;
        const whole = captured.map((each, i) => (moves[i] ? floats[next++] : each));
        const area = where(isMade, pieceAreas(integrandWith(whole, a, b), from, to).area, 0) as Tensor;
        return resultOf(area, pieces);
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
  const { value, error, limitError, status, count } = solve(...ends, open.captured);
  return {
    value: value.reshape(shape) as Tensor,
    error: where(limitError.isFinite(), limitError, error.sum()) as Tensor,
    status,
    pieces: count.add(1).floorDivide(2) as Tensor,
  };
}

function settingsOf({ rtol, atol, maxPieces = 128 }: QuadOptions, isWide: boolean): HalvingSettings {
  checkWhole("integrate.quad", "maxPieces", maxPieces, 1);
  const settings = { rtol: rtol ?? (isWide ? 1.5e-8 : 1e-5), atol: atol ?? (isWide ? 1.5e-8 : 1e-6), maxPieces };
  for (const name of ["rtol", "atol"] as const) {
    if (settings[name] >= 0 && Number.isFinite(settings[name])) continue;
    throw new ArgumentError(`integrate.quad: ${name} is ${shown(settings[name])}; it is a number, zero or more.`);
  }
  return settings;
}
