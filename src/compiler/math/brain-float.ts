/**
 * Functions of bf16, which has eight bits of precision: shorter than those of f32, and still rounded correctly.
 *
 * bf16 is computed in f32 and rounded. There are 65,536 arguments, so a test goes through all of them
 * (test/compiler/math/brain-float.test.ts): the result, once rounded, is the exact value rounded once, with fused
 * multiply-adds and without them, on devices that divide inexactly, too. So all devices give the same bits, and the polynomials
 * may be as short as that allows.
 */
import { divideAny } from "./correct-rounding.js";
import { constants, withSignOf } from "./float-parts.js";
import type { ScalarOps } from "./scalar-ops.js";

export interface BrainOps<V> extends ScalarOps<V> {
  /** a·b + c, rounded once or twice as the target likes. */
  readonly mulAdd: (a: V, b: V, c: V) => V;
}

export type BrainMath = <V>(k: BrainOps<V>, x: V) => V;

/** The least normal number, of f32 and of bf16. */
const SMALLEST = 2 ** -126;

/** erf(x) / x in x² for |x| up to `end`, beyond which erf rounds to 1: right to 2^-18.2, at zero to the last bit. */
const erfOverX = {
  end: 2.203125,
  coefficients: [
    1.128379225730896, -0.3760698735713959, 0.11254900693893433, -0.026349546387791634, 0.004768837243318558,
    -0.0006284363917075098, 5.2561274060280994e-5, -2.0414681785041466e-6,
  ],
} as const;

export function erfOfBrain<V>(k: BrainOps<V>, x: V): V {
  const c = constants(k, "f32");
  const { end, coefficients } = erfOverX;
  // Of the magnitude, which has one limit; NaN is not above it.
  const magnitude = k.abs(x);
  const bounded = k.select(k.gt(magnitude, c(end)), c(end), magnitude);
  const square = k.mul(bounded, bounded);
  const polynomial = coefficients.reduceRight<V | null>(
    (sum, coefficient) => (sum === null ? c(coefficient) : k.mulAdd(sum, square, c(coefficient))),
    null,
  ) as V;
  return withSignOf(k, k.mul(bounded, polynomial), x, "f32");
}

/**
 * a / b, not rounded yet. A quotient of numbers of eight bits is at least 2^-17 of itself away from where rounding to eight
 * bits changes, so one that is off by a few units of f32 does, unless it is denormal. `divisor`: b, where that is a constant.
 * `flushesDenormals`: they are zeros to the target.
 */
export function quotientOfBrains<V>(k: ScalarOps<V>, a: V, b: V, divisor: number | null, flushesDenormals = false): V {
  const c = constants(k, "f32");
  const exactly = () => divideAny(k, a, b, "f32");
  const [low, high] = [2 ** -60, 2 ** 60];
  if (divisor !== null && Math.abs(divisor) >= low && Math.abs(divisor) <= high) {
    const quotient = k.mul(a, c(1 / divisor));
    return flushesDenormals ? quotient : k.rarely(isDenormal(k, quotient), quotient, exactly);
  }
  const quotient = k.div(a, b);
  const isBetween = (x: V, least: number, most: number) => k.and(k.ge(k.abs(x), c(least)), k.le(k.abs(x), c(most)));
  const isPlain = k.and(isBetween(b, SMALLEST, 2 ** 126), isBetween(quotient, SMALLEST, 2 ** 127));
  return k.rarely(k.not(isPlain), quotient, exactly);
}

/** The few operations that `isDenormal` takes. */
interface DenormalOps<V> extends Pick<ScalarOps<V>, "and" | "lt" | "ne" | "abs"> {
  readonly constant: (type: "f32", value: number) => V;
}

/** Whether a float of f32 is denormal, and not zero. Where denormals are flushed it is false, and they are zero anyway. */
export const isDenormal = <V>(k: DenormalOps<V>, x: V): V =>
  k.and(k.lt(k.abs(x), k.constant("f32", SMALLEST)), k.ne(x, k.constant("f32", 0)));
