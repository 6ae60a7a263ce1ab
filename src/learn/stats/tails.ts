/**
 * Distribution functions and survival functions, which p values come from: of the normal, Student's t, χ², F and Kolmogorov's
 * distribution. A survival function keeps its digits where 1 - cdf would have none. They are functions of tensors: they broadcast,
 * trace and have gradients. NaN arguments, and degrees of freedom that are not above zero, give NaN.
 */
import { checkOptions } from "../../core/arguments.js";
import { type Tensor, where } from "../../tensor/index.js";
import { PLACE, type PlaceOptions, type Quantity, quantitiesOf } from "./operands.js";
import { betaTails, gammaTails, type Tails } from "./tail-integrals.js";

function given<N extends readonly Quantity[]>(operation: string, quantities: N, options: PlaceOptions) {
  checkOptions(operation, options, PLACE);
  return quantitiesOf(operation, quantities, options);
}

/** The share of a standard normal distribution above x. */
export function normalSf(x: Quantity, options: PlaceOptions = {}): Tensor {
  const [at] = given("stats.normalSf", [x] as const, options);
  return normalUpper(at);
}

/** The share of a standard normal distribution below x. */
export function normalCdf(x: Quantity, options: PlaceOptions = {}): Tensor {
  const [at] = given("stats.normalCdf", [x] as const, options);
  return normalUpper(at.neg());
}

export const normalUpper = (x: Tensor): Tensor => x.mul(Math.SQRT1_2).erfc().mul(0.5);

/** The share of Student's t distribution above x. */
export function tSf(x: Quantity, degrees: Quantity, options: PlaceOptions = {}): Tensor {
  const [at, df] = given("stats.tSf", [x, degrees] as const, options);
  return tUpper(at, df);
}

/** The share of Student's t distribution below x. */
export function tCdf(x: Quantity, degrees: Quantity, options: PlaceOptions = {}): Tensor {
  const [at, df] = given("stats.tCdf", [x, degrees] as const, options);
  return tUpper(at.neg(), df);
}

export function tUpper(x: Tensor, df: Tensor): Tensor {
  const half = tBeyond(x, df).mul(0.5);
  return where(x.less(0), half.neg().add(1), half) as Tensor;
}

/** The share of Student's t distribution that is further from zero than x. */
export const tBeyond = (x: Tensor, df: Tensor): Tensor =>
  ratioTails(x.div(df.sqrt()).square(), half(df, 1), half(df)).upper;

/** Half of the degrees of freedom; or half of `fixed`, like them. */
const half = (df: Tensor, fixed?: number): Tensor => (fixed === undefined ? df.mul(0.5) : df.mul(0).add(fixed / 2));

/** Tails of the odds of a beta number. */
function ratioTails(odds: Tensor, a: Tensor, b: Tensor): Tails {
  const inverse = odds.reciprocal();
  const [x, rest] = [inverse.add(1).reciprocal(), odds.add(1).reciprocal()];
  const excess = where(odds.less(1), rest.mul(b.mul(odds).sub(a)), x.mul(b.sub(a.mul(inverse)))) as Tensor;
  return betaTails(a, b, { x, rest, excess });
}

/** The share of the χ² distribution above x. */
export function chiSquareSf(x: Quantity, degrees: Quantity, options: PlaceOptions = {}): Tensor {
  const [at, df] = given("stats.chiSquareSf", [x, degrees] as const, options);
  return chiSquareUpper(at, df);
}

/** The share of the χ² distribution below x. */
export function chiSquareCdf(x: Quantity, degrees: Quantity, options: PlaceOptions = {}): Tensor {
  const [at, df] = given("stats.chiSquareCdf", [x, degrees] as const, options);
  return gammaTails(half(df), at.maximum(0).mul(0.5)).lower;
}

export const chiSquareUpper = (x: Tensor, df: Tensor): Tensor => gammaTails(half(df), x.maximum(0).mul(0.5)).upper;

/** The share of the F distribution above x, by the degrees of freedom of numerator and denominator. */
export function fSf(x: Quantity, numerator: Quantity, denominator: Quantity, options: PlaceOptions = {}): Tensor {
  const [at, above, below] = given("stats.fSf", [x, numerator, denominator] as const, options);
  return fTails(at, above, below).upper;
}

/** The share of the F distribution below x, by the degrees of freedom of numerator and denominator. */
export function fCdf(x: Quantity, numerator: Quantity, denominator: Quantity, options: PlaceOptions = {}): Tensor {
  const [at, above, below] = given("stats.fCdf", [x, numerator, denominator] as const, options);
  return fTails(at, above, below).lower;
}

export const fTails = (x: Tensor, above: Tensor, below: Tensor): Tails =>
  ratioTails(x.maximum(0).mul(above.div(below)), half(above), half(below));

/** Either series of Kolmogorov's distribution is good to the last digit on its side of this. */
const MIDDLE = 0.82;

/** The share of Kolmogorov's distribution above x: of √n times the largest distance of an empirical distribution function, n large. */
export function kolmogorovSf(x: Quantity, options: PlaceOptions = {}): Tensor {
  const [at] = given("stats.kolmogorovSf", [x] as const, options);
  return kolmogorovUpper(at);
}

/** The share of Kolmogorov's distribution below x. */
export function kolmogorovCdf(x: Quantity, options: PlaceOptions = {}): Tensor {
  const [at] = given("stats.kolmogorovCdf", [x] as const, options);
  return kolmogorovTails(at).lower;
}

export const kolmogorovUpper = (x: Tensor): Tensor => kolmogorovTails(x).upper;

function kolmogorovTails(x: Tensor): Tails {
  const isLarge = x.greater(MIDDLE);
  const large = (where(isLarge, x, MIDDLE) as Tensor).square();
  const positive = where(isLarge.logicalOr(x.lessEqual(0)), MIDDLE, x) as Tensor;
  const terms = [1, 2, 3, 4, 5];
  const above = terms
    .map((k) =>
      large
        .mul(-2 * k * k)
        .exp()
        .mul(k % 2 === 1 ? 2 : -2),
    )
    .reduce((sum, term) => sum.add(term));
  const below = terms
    .map((k) =>
      positive
        .square()
        .reciprocal()
        .mul(-(((2 * k - 1) * Math.PI) ** 2) / 8)
        .exp(),
    )
    .reduce((sum, term) => sum.add(term))
    .mul(Math.sqrt(2 * Math.PI))
    .div(positive);
  const lower = where(x.lessEqual(0), 0, where(isLarge, above.neg().add(1), below)) as Tensor;
  const upper = where(x.lessEqual(0), 1, where(isLarge, above, below.neg().add(1))) as Tensor;
  const isNone = x.isNaN();
  return { lower: where(isNone, Number.NaN, lower) as Tensor, upper: where(isNone, Number.NaN, upper) as Tensor };
}

/** P(a, x), the regularised lower incomplete gamma function. */
export function gammainc(a: Quantity, x: Quantity, options: PlaceOptions = {}): Tensor {
  const [shape, at] = given("stats.gammainc", [a, x] as const, options);
  return gammaTails(shape, at).lower;
}

/** Q(a, x) = 1 - P(a, x), the regularised upper incomplete gamma function. */
export function gammaincc(a: Quantity, x: Quantity, options: PlaceOptions = {}): Tensor {
  const [shape, at] = given("stats.gammaincc", [a, x] as const, options);
  return gammaTails(shape, at).upper;
}

/** I_x(a, b), the regularised incomplete beta function. */
export function betainc(a: Quantity, b: Quantity, x: Quantity, options: PlaceOptions = {}): Tensor {
  const [first, second, at] = given("stats.betainc", [a, b, x] as const, options);
  const rest = at.neg().add(1);
  return betaTails(first, second, { x: at, rest, excess: second.mul(at).sub(first.mul(rest)) }).lower;
}
