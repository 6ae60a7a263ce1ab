/**
 * Functions of complex numbers made of real ones: inverse trigonometric and hyperbolic functions after Kahan ("Branch cuts
 * for complex elementary functions", 1987), logarithms and exponentials near 0, the sign. The methods of functions.ts and
 * `sign` call them; exp, log, sqrt, sin … have rules of their own in the compiler.
 */
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, makeNode } from "../build.js";
import type { Tensor } from "../tensor.js";
import { scalarLike } from "./operands.js";
import { where } from "./where.js";

/** A function of complex tensors. */
type ComplexFunction = (z: Tensor) => Tensor;

const complexOf = (re: Tensor, im: Tensor): Tensor =>
  re.tensorOf(makeNode(E.complex, [re.node, im.node], {}, backendOf(re.node)));

/** i·z, exactly: the parts change places. */
const timesI: ComplexFunction = (z) => complexOf(z.imag().neg(), z.real());
const timesMinusI: ComplexFunction = (z) => complexOf(z.imag(), z.real().neg());

/** A multiple, part by part: a product of complex numbers would make NaN of an infinite part. */
const scaled = (z: Tensor, factor: number): Tensor => complexOf(z.real().mul(factor), z.imag().mul(factor));

/** √(1 - z) and √(1 + z). The imaginary part keeps the sign of its zero, which says on which side of a cut z lies. */
function roots(z: Tensor): { minus: Tensor; plus: Tensor } {
  const [re, im] = [z.real(), z.imag()];
  return { minus: complexOf(re.neg().add(1), im.neg()).sqrt(), plus: complexOf(re.add(1), im).sqrt() };
}

/** Im(conj(a)·b). */
const crossed = (a: Tensor, b: Tensor): Tensor => a.real().mul(b.imag()).sub(a.imag().mul(b.real()));

/** Re(a·b). */
const realProduct = (a: Tensor, b: Tensor): Tensor => a.real().mul(b.real()).sub(a.imag().mul(b.imag()));

const asin: ComplexFunction = (z) => {
  const { minus, plus } = roots(z);
  return complexOf(z.real().atan2(realProduct(minus, plus)), crossed(minus, plus).asinh());
};

const acos: ComplexFunction = (z) => {
  const { minus, plus } = roots(z);
  return complexOf(minus.real().atan2(plus.real()).mul(2), crossed(plus, minus).asinh());
};

const acosh: ComplexFunction = (z) => {
  const [re, im] = [z.real(), z.imag()];
  const minus = complexOf(re.sub(1), im).sqrt();
  const plus = complexOf(re.add(1), im).sqrt();
  const size = minus.real().mul(plus.real()).add(minus.imag().mul(plus.imag()));
  return complexOf(size.asinh(), minus.imag().atan2(plus.real()).mul(2));
};

const atanh: ComplexFunction = (z) => {
  const [x, y] = [z.real(), z.imag()];
  // The function is odd: on the side of -1 the logarithm would lose its digits.
  const side = where(x.less(0), scalarLike(x, -1), scalarLike(x, 1));
  const size = x.mul(side);
  const beside = size.neg().add(1);
  const re = size.mul(4).div(beside.square().add(y.square())).log1p().mul(side).mul(0.25);
  const im = y.mul(2).atan2(beside.mul(size.add(1)).sub(y.square()));
  return complexOf(re, im.mul(0.5));
};

/** Near -1 + 0i the two squares nearly cancel 1; there the logarithm is taken of the size itself. */
const log1p: ComplexFunction = (z) => {
  const [x, y] = [z.real(), z.imag()];
  const re = x.mul(x.add(2)).add(y.square()).log1p().mul(0.5);
  const beside = x.add(1);
  const isFar = z.abs().greater(0.5);
  return complexOf(where(isFar, beside.hypot(y).log(), re), y.atan2(beside));
};

/** eˣ·cos y - 1 = (eˣ - 1)·cos y - 2·sin²(y/2). */
const expm1: ComplexFunction = (z) => {
  const [x, y] = [z.real(), z.imag()];
  const re = x.expm1().mul(y.cos()).sub(y.mul(0.5).sin().square().mul(2));
  return complexOf(re, x.exp().mul(y.sin()));
};

/**
 * The first digits of ln 2, so few that products with the halves of a float are exact; how to halve a float; and the largest
 * number for which that helps.
 */
const LN2_PARTS = {
  f32: { first: 0x0b17 / 2 ** 12, halving: 2 ** 12 + 1, largest: 2 ** 12 },
  f64: { first: 0x2c5c85f / 2 ** 26, halving: 2 ** 27 + 1, largest: 2 ** 26 },
} as const;
/** The digits of ln 2 behind those of Math.LN2. */
const LN2_BEHIND = 2.3190468138462996e-17;

/** y·ln 2 as a sum of two floats, the second small: a large angle that is rounded to one float is wrong by its last digit. */
function timesLn2(y: Tensor): { angle: Tensor; rest: Tensor } {
  const { first, halving, largest } = LN2_PARTS[y.dtype as "f32" | "f64"];
  const isLarge = y.abs().greater(largest);
  const small = where(isLarge, scalarLike(y, 0), y);
  const times = small.mul(halving);
  const high = times.sub(times.sub(small));
  const low = small.sub(high);
  const product = high.mul(first);
  const others = low.mul(first).add(small.mul(Math.LN2 - first).add(small.mul(LN2_BEHIND)));
  const sum = product.add(others);
  return { angle: where(isLarge, y.mul(Math.LN2), sum), rest: others.sub(sum.sub(product)) };
}

/** 2ˣ·(cos + i·sin)(y·ln 2). Infinite parts and NaN are left to exp. */
const exp2: ComplexFunction = (z) => {
  const [x, y] = [z.real(), z.imag()];
  const { angle, rest } = timesLn2(y);
  const [cos, sin] = [angle.cos(), angle.sin()];
  // A power that overflows may still have a small cosine: what is too much for it is multiplied last.
  const most = x.minimum(x.dtype === "f64" ? 1023 : 127);
  const [size, more] = [most.exp2(), x.sub(most).exp2()];
  const re = cos.sub(rest.mul(sin)).mul(size).mul(more);
  const im = sin.add(rest.mul(cos)).mul(size).mul(more);
  const finite = complexOf(re, where(y.equal(0), y, im));
  return where(z.isFinite(), finite, scaled(z, Math.LN2).exp());
};

/** z / |z|; zero is its own. */
const sign: ComplexFunction = (z) => {
  const size = z.abs();
  const isZero = size.equal(0);
  return where(isZero, z, z.div(where(isZero, 1, size).cast(z.dtype)));
};

const scaledLog =
  (base: number): ComplexFunction =>
  (z) =>
    scaled(z.log(), 1 / Math.log(base));

export const complexFunctions = {
  sign,
  asin,
  acos,
  atan: (z) => timesMinusI(atanh(timesI(z))),
  asinh: (z) => timesMinusI(asin(timesI(z))),
  acosh,
  atanh,
  log1p,
  expm1,
  exp2,
  log2: scaledLog(2),
  log10: scaledLog(10),
} as const satisfies Record<string, ComplexFunction>;
