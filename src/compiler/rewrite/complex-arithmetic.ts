/**
 * Complex numbers, an element at a time: how the two parts of a result follow from the parts of the operands. Written in
 * the arithmetic of real elements, so that both engines have it and give the same bits. complex.ts makes kernels of it.
 *
 * Nothing overflows or underflows on the way: where squares are formed, operands are scaled by powers of two first.
 * Errors are small against the absolute value of the result, not always against its smaller part. Products are the plain
 * formula, as NumPy's; for the rest infinities, NaNs and signed zeros are treated as in C99, annex G, where branch cuts
 * take the side that the sign of a zero says.
 */
import type { ElementOps } from "../../graph/element-ops.js";
import { hypotScales } from "../math/roots.js";

export interface Complex<V> {
  readonly re: V;
  readonly im: V;
}

/** The parts of a result, made when asked for: what nobody asks for is not written into the kernel. */
interface Parts<V> {
  re(): V;
  im(): V;
}

export type ComplexFunction = <V>(k: ElementOps<V>, ...operands: readonly Complex<V>[]) => Parts<V>;
export type RealFunction = <V>(k: ElementOps<V>, ...operands: readonly Complex<V>[]) => V;

export interface Rule<F> {
  /** Rough cost of a part, in additions. */
  readonly cost: number;
  readonly apply: F;
}

const both = <V>({ re, im }: Parts<V>): Complex<V> => ({ re: re(), im: im() });

/** Constants of the type that the parts of a number have. */
const constantsLike =
  <V>(k: ElementOps<V>, { re }: Complex<V>) =>
  (value: number): V =>
    k.constant(k.dtypeOf(re), value);

const isInfinite = <V>(k: ElementOps<V>, x: V): V => k.compare("eq", k.abs(x), k.constant(k.dtypeOf(x), Infinity));
const isNan = <V>(k: ElementOps<V>, x: V): V => k.compare("ne", x, x);
const isUnbounded = <V>(k: ElementOps<V>, x: V): V => k.or(isInfinite(k, x), isNan(k, x));
const isZero = <V>(k: ElementOps<V>, x: V): V => k.compare("eq", x, k.constant(k.dtypeOf(x), 0));

// ------------------------------------------------------------------------------------------------ scaling

interface Scaled<V> extends Complex<V> {
  /** The square roots of the factor and of its inverse. All four are powers of two. */
  readonly root: V;
  readonly inverseRoot: V;
  /** The logarithm of the inverse. */
  readonly logarithm: V;
}

/** A number brought into the range where its square and products of two such neither overflow nor lose bits. */
function scaled<V>(k: ElementOps<V>, z: Complex<V>): Scaled<V> {
  const c = constantsLike(k, z);
  const { large, down, small, up } = hypotScales[k.dtypeOf(z.re) === "f64" ? "f64" : "f32"];
  const larger = k.max(k.abs(z.re), k.abs(z.im));
  const isLarge = k.compare("gt", larger, c(large));
  const isSmall = k.compare("lt", larger, c(small));
  const choose = (whenLarge: number, whenSmall: number, otherwise: number) =>
    k.select(isLarge, c(whenLarge), k.select(isSmall, c(whenSmall), c(otherwise)));
  const factor = choose(down, up, 1);
  return {
    re: k.mul(z.re, factor),
    im: k.mul(z.im, factor),
    root: choose(Math.sqrt(down), Math.sqrt(up), 1),
    inverseRoot: choose(1 / Math.sqrt(down), 1 / Math.sqrt(up), 1),
    logarithm: choose(-Math.log(down), -Math.log(up), 0),
  };
}

const sumOfSquares = <V>(k: ElementOps<V>, { re, im }: Complex<V>): V => k.add(k.mul(re, re), k.mul(im, im));

// ------------------------------------------------------------------------------------------------ arithmetic

const multiply: ComplexFunction = (k, a, b) => ({
  re: () => k.sub(k.mul(a.re, b.re), k.mul(a.im, b.im)),
  im: () => k.add(k.mul(a.re, b.im), k.mul(a.im, b.re)),
});

/**
 * The shared part of divisions by a complex number. The inverse is conj(z) / |z|² of the scaled number. The quotient is
 * multiplied twice by the root of the scale factor, because the factor may overflow where the quotient does not. An infinite
 * divisor is replaced by its direction, and the factor by 0.
 */
function divisorOf<V>(k: ElementOps<V>, z: Complex<V>) {
  const c = constantsLike(k, z);
  const isEndless = k.or(isInfinite(k, z.re), isInfinite(k, z.im));
  const inside = scaled(k, z);
  const direction = (x: V) => k.withSign(k.select(isInfinite(k, x), c(1), c(0)), x);
  const [re, im] = [k.select(isEndless, direction(z.re), inside.re), k.select(isEndless, direction(z.im), inside.im)];
  const isNothing = k.and(isZero(k, z.re), isZero(k, z.im));
  return {
    re,
    im,
    root: k.select(isEndless, c(0), inside.root),
    isNothing,
    /** |z|²; of zero the real part, which has a sign. */
    square: k.select(isNothing, re, sumOfSquares(k, { re, im })),
  };
}

/** By zero it is the quotient of each part and the real zero. */
const divide: ComplexFunction = (k, a, b) => {
  const { re, im, root, square, isNothing } = divisorOf(k, b);
  const dividend = scaled(k, a);
  const factor = k.mul(dividend.inverseRoot, root);
  const part = (product: typeof root, byZero: typeof root) =>
    k.mul(k.mul(k.div(k.select(isNothing, byZero, product), square), factor), factor);
  return {
    re: () => part(k.add(k.mul(dividend.re, re), k.mul(dividend.im, im)), dividend.re),
    im: () => part(k.sub(k.mul(dividend.im, re), k.mul(dividend.re, im)), dividend.im),
  };
};

const reciprocal: ComplexFunction = (k, z) => {
  const c = constantsLike(k, z);
  const { re, im, root, square, isNothing } = divisorOf(k, z);
  const part = (x: typeof root) => k.mul(k.mul(k.div(x, square), root), root);
  return {
    re: () => part(k.select(isNothing, c(1), re)),
    im: () => part(k.neg(im)),
  };
};

/** Kahan's: the root of the half sum of |z| and |re z| is one part, and gives the other without cancellation. */
const squareRoot: ComplexFunction = (k, z) => {
  const c = constantsLike(k, z);
  const inside = scaled(k, z);
  const isEndless = k.or(isInfinite(k, z.re), isInfinite(k, z.im));
  const size = k.select(isEndless, c(Infinity), k.sqrt(sumOfSquares(k, inside)));
  const larger = k.sqrt(k.mul(k.add(k.abs(inside.re), size), c(0.5)));
  const smaller = k.div(k.abs(inside.im), k.add(larger, larger));
  const isRight = k.compare("ge", z.re, c(0));
  const isUpright = isInfinite(k, z.im);
  // The root of zero is zero, not zero by zero.
  const part = (x: typeof z.re) => {
    const finite = k.mul(k.select(isZero(k, larger), c(0), x), inside.inverseRoot);
    return k.select(isUpright, c(Infinity), finite);
  };
  return {
    re: () => part(k.select(isRight, larger, smaller)),
    im: () => k.withSign(part(k.select(isRight, smaller, larger)), z.im),
  };
};

// ------------------------------------------------------------------------------------------------ exp and log

/** From where on exp(x) may overflow although exp(x) times a sine does not: there it is squared from exp(x / 2). */
const LARGE_EXPONENT = { f32: 88, f64: 709 } as const;

/** exp(x) as the product of two factors, the second of which is 1 where the first does not overflow. */
function exponential<V>(k: ElementOps<V>, x: V): { readonly first: V; readonly second: V } {
  const dtype = k.dtypeOf(x);
  const limit = k.constant(dtype, LARGE_EXPONENT[dtype === "f64" ? "f64" : "f32"]);
  const isLarge = k.compare("gt", x, limit);
  const first = k.math("exp", k.select(isLarge, k.mul(x, k.constant(dtype, 0.5)), x));
  return { first, second: k.select(isLarge, first, k.constant(dtype, 1)) };
}

const exp: ComplexFunction = (k, z) => {
  const c = constantsLike(k, z);
  const { first, second } = exponential(k, z.re);
  const size = (angle: typeof z.re) => k.mul(k.mul(first, angle), second);
  // Infinite with no direction to go to, and zero whatever the direction.
  const isAstray = k.and(isInfinite(k, z.re), isUnbounded(k, z.im));
  return {
    re: () => size(k.select(isAstray, c(1), k.math("cos", z.im))),
    im: () => {
      const isNothing = k.and(isAstray, k.compare("lt", z.re, c(0)));
      const sine = k.select(isNothing, c(0), k.math("sin", z.im));
      return k.select(isZero(k, z.im), z.im, size(sine));
    },
  };
};

const phase: RealFunction = (k, z) => k.math("atan2", z.im, z.re);

const log: ComplexFunction = (k, z) => {
  const c = constantsLike(k, z);
  const half = c(0.5);
  return {
    re: () => {
      const [x, y] = [k.abs(z.re), k.abs(z.im)];
      const [larger, smaller] = [k.max(x, y), k.min(x, y)];
      const inside = scaled(k, z);
      const far = k.add(k.mul(k.math("log", sumOfSquares(k, inside)), half), inside.logarithm);
      // Next to the unit circle the logarithm is small, and |z|² - 1 has more digits than |z|².
      const excess = k.add(k.mul(k.sub(larger, c(1)), k.add(larger, c(1))), k.mul(smaller, smaller));
      const near = k.mul(k.math("log1p", excess), half);
      const isNear = k.compare("lt", k.abs(excess), c(0.75));
      const isEndless = k.or(isInfinite(k, x), isInfinite(k, y));
      return k.select(isEndless, c(Infinity), k.select(isNear, near, far));
    },
    im: () => phase(k, z),
  };
};

/** Zero to a power with a positive real part is zero, to others undefined; anything to the power of zero is one. */
const pow: ComplexFunction = (k, z, exponent) => {
  const c = constantsLike(k, z);
  const power = exp(k, both(multiply(k, exponent, both(log(k, z)))));
  const isOfZero = k.and(isZero(k, z.re), isZero(k, z.im));
  const ofZero = k.select(k.compare("gt", exponent.re, c(0)), c(0), c(Number.NaN));
  const isToZero = k.and(isZero(k, exponent.re), isZero(k, exponent.im));
  const part = (value: typeof z.re, toZero: number) => k.select(isToZero, c(toZero), k.select(isOfZero, ofZero, value));
  return { re: () => part(power.re(), 1), im: () => part(power.im(), 0) };
};

/** A whole power by repeated squaring; exact if the products are. */
export function wholePower<V>(k: ElementOps<V>, z: Complex<V>, exponent: number): Parts<V> {
  if (exponent < 0) return reciprocal(k, both(wholePower(k, z, -exponent)));
  const c = constantsLike(k, z);
  if (exponent === 0) return { re: () => c(1), im: () => c(0) };
  if (exponent === 1) return { re: () => z.re, im: () => z.im };
  const half = both(wholePower(k, z, Math.floor(exponent / 2)));
  const square = multiply(k, half, half);
  return exponent % 2 === 0 ? square : multiply(k, both(square), z);
}

// ------------------------------------------------------------------------------------------------ hyperbolic

/** From here on tanh is ±1 to the last bit of an f64. */
const FLAT_TANH = 20;

/** sinh x and cosh x, times an angle's sine or cosine that keeps them from overflowing. */
function hyperbolic<V>(k: ElementOps<V>, x: V) {
  const dtype = k.dtypeOf(x);
  const size = k.abs(x);
  const isLarge = k.compare("gt", size, k.constant(dtype, LARGE_EXPONENT[dtype === "f64" ? "f64" : "f32"]));
  const root = k.math("exp", k.mul(size, k.constant(dtype, 0.5)));
  const half = k.mul(root, k.constant(dtype, 0.5));
  const large = (angle: V) => k.mul(k.mul(half, angle), root);
  return {
    sinh: (angle: V) =>
      k.select(isLarge, large(k.mul(k.withSign(k.constant(dtype, 1), x), angle)), k.mul(k.math("sinh", x), angle)),
    cosh: (angle: V) => k.select(isLarge, large(angle), k.mul(k.math("cosh", x), angle)),
  };
}

const sinh: ComplexFunction = (k, z) => {
  const c = constantsLike(k, z);
  const { sinh: real, cosh: imaginary } = hyperbolic(k, z.re);
  return {
    re: () => {
      const isPlain = k.or(isZero(k, z.re), isInfinite(k, z.re));
      const isAstray = k.and(isPlain, isUnbounded(k, z.im));
      return real(k.select(isAstray, c(1), k.math("cos", z.im)));
    },
    im: () => k.select(isZero(k, z.im), z.im, imaginary(k.math("sin", z.im))),
  };
};

const cosh: ComplexFunction = (k, z) => {
  const c = constantsLike(k, z);
  const { sinh: imaginary, cosh: real } = hyperbolic(k, z.re);
  return {
    re: () => {
      const isAstray = k.and(isInfinite(k, z.re), isUnbounded(k, z.im));
      return real(k.select(isAstray, c(1), k.math("cos", z.im)));
    },
    im: () => {
      // Zero times what is infinite or undefined is zero here.
      const isAstray = k.and(isZero(k, z.re), isUnbounded(k, z.im));
      const part = k.select(isAstray, c(0), imaginary(k.math("sin", z.im)));
      return k.select(isZero(k, z.im), k.mul(k.withSign(c(1), z.re), z.im), part);
    },
  };
};

/** sinh·cosh of the real part and sin·cos of the imaginary, over sinh² + cos²: nothing cancels. */
const tanh: ComplexFunction = (k, z) => {
  const c = constantsLike(k, z);
  const size = k.abs(z.re);
  const isFlat = k.compare("gt", size, c(FLAT_TANH));
  const [sine, cosine] = [k.math("sin", z.im), k.math("cos", z.im)];
  const x = k.select(isFlat, c(FLAT_TANH), z.re);
  const hyperbolicSine = k.math("sinh", x);
  const below = k.add(k.mul(hyperbolicSine, hyperbolicSine), k.mul(cosine, cosine));
  return {
    re: () => {
      const curved = k.div(k.mul(hyperbolicSine, k.math("cosh", x)), below);
      const isOne = k.and(isFlat, k.or(isInfinite(k, size), k.not(isUnbounded(k, z.im))));
      return k.select(isOne, k.withSign(c(1), z.re), k.select(isZero(k, z.re), z.re, curved));
    },
    im: () => {
      const product = k.mul(sine, cosine);
      const flat = k.mul(k.mul(product, c(4)), k.math("exp", k.mul(size, c(-2))));
      const isAstray = k.and(isInfinite(k, size), isUnbounded(k, z.im));
      const anywhere = k.select(isFlat, k.select(isAstray, k.withSign(c(0), z.im), flat), k.div(product, below));
      return k.select(isZero(k, z.im), z.im, anywhere);
    },
  };
};

/** f(z) = -i·g(iz), which is how C99 defines sin and tan by sinh and tanh. */
const turned =
  (g: ComplexFunction): ComplexFunction =>
  (k, z) => {
    const { re, im } = g(k, { re: k.neg(z.im), im: z.re });
    return { re: im, im: () => k.neg(re()) };
  };

// ------------------------------------------------------------------------------------------------ the tables

const rule = <F>(cost: number, apply: F): Rule<F> => ({ cost, apply });

/** By the name of the primitive: those with complex results that are not made part by part. */
export const complexRules: Readonly<Record<string, Rule<ComplexFunction>>> = {
  mul: rule(3, multiply),
  square: rule(3, (k, z) => multiply(k, z, z)),
  div: rule(25, divide),
  reciprocal: rule(25, reciprocal),
  sqrt: rule(25, squareRoot),
  exp: rule(70, exp),
  log: rule(70, log),
  pow: rule(150, pow),
  sin: rule(90, turned(sinh)),
  cos: rule(90, (k, z) => cosh(k, { re: k.neg(z.im), im: z.re })),
  tan: rule(120, turned(tanh)),
  sinh: rule(90, sinh),
  cosh: rule(90, cosh),
  tanh: rule(120, tanh),
};

/** Functions of complex numbers with real results. */
export const realRules: Readonly<Record<string, Rule<RealFunction>>> = {
  abs: rule(30, (k, z) => k.math("hypot", z.re, z.im)),
  phase: rule(60, phase),
  equal: rule(3, (k, a, b) => k.and(k.compare("eq", a.re, b.re), k.compare("eq", a.im, b.im))),
  notEqual: rule(3, (k, a, b) => k.or(k.compare("ne", a.re, b.re), k.compare("ne", a.im, b.im))),
  isNan: rule(3, (k, z) => k.or(isNan(k, z.re), isNan(k, z.im))),
  isInf: rule(3, (k, z) => k.or(isInfinite(k, z.re), isInfinite(k, z.im))),
};
