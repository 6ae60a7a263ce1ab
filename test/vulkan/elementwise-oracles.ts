/**
 * What the seeds' elementwise op codes mean, told independently of the catalogue: by JavaScript's arithmetic, and by
 * `exact-math` where that would be a rounding off.
 */
import * as exact from "../support/exact-math.js";
import { type FloatType, isDenormal, type Real, randomFloats, rounded, smallestNormal } from "../support/floats.js";

export interface Oracle {
  readonly name: string;
  /** The true result; for f32 arguments it may be a double, which is near enough to the truth. */
  readonly value: (type: FloatType, ...args: number[]) => number | Real;
  /** Units of the last place the result may be off; 0: it is the true result, rounded. */
  readonly ulps: number;
  /** Random arguments from where the function does something. */
  readonly draw: (type: FloatType, seed: number) => () => number[];
  /** Where two zeros differ only in sign, either is right. */
  readonly anyZero?: boolean;
}

type Draw = ReturnType<typeof randomFloats>;

const drawing = (one: (r: Draw, type: FloatType) => number[]) => (type: FloatType, seed: number) => {
  const random = randomFloats(type, seed);
  return () => one(random, type);
};

/** All exponents, and numbers of everyday size: half of the time the latter. */
const everyday = (r: Draw) => (r.below(2) ? r.between(-100, 100) : r.any());
const one = drawing((r) => [everyday(r)]);
/** Two of unlike size, or of like size so that sums and quotients round in interesting ways. */
const two = drawing((r, type) => {
  const x = everyday(r);
  return r.below(2) ? [x, everyday(r)] : [x, rounded(type, x * r.between(-2, 2))];
});

/** Math's function for f32, the slow one for f64. */
const transcendental =
  (quick: (...args: number[]) => number, slow: (...args: [number, number]) => Real) =>
  (type: FloatType, ...args: number[]) =>
    type === "f32" ? quick(...args) : slow(...(args as [number, number]));

const plain =
  (f: (...args: number[]) => number) =>
  (_: FloatType, ...args: number[]) =>
    f(...args);

/** NumPy's maximum and minimum: NaN wins. JavaScript's do the same. */
const { max, min, sqrt, abs, ceil, floor, sign } = Math;

/** C's pow: 1 to any power is 1, also NaN, and so is -1 to an infinite one. JavaScript disagrees. */
const cPow = (x: number, y: number): number => (x === 1 || (x === -1 && abs(y) === Infinity) ? 1 : x ** y);

const range = (f32: number, f64: number) => drawing((r, type) => [r.between(-1, 1) * (type === "f32" ? f32 : f64)]);

/** In the order of the seeds' op codes. */
export const binaryOracles: readonly Oracle[] = [
  { name: "add", ulps: 0, value: plain((x, y) => x + y), draw: two },
  { name: "mul", ulps: 0, value: plain((x, y) => x * y), draw: two },
  { name: "sub", ulps: 0, value: plain((x, y) => x - y), draw: two },
  { name: "div", ulps: 0, value: plain((x, y) => x / y), draw: two },
  {
    name: "pow",
    ulps: 2,
    value: transcendental(cPow as never, exact.pow),
    draw: drawing((r, type) => {
      const x = r.scaled(type === "f32" ? -20 : -160, type === "f32" ? 20 : 160);
      // Every other base near 1 with a large exponent, every third exponent whole.
      const base = r.below(2) ? abs(x) : abs(rounded(type, 1 + r.scaled(-12, -3)));
      const y = rounded(type, r.between(-1, 1) * abs((type === "f32" ? 90 : 720) / Math.log(base)));
      return r.below(3) ? [base, y] : [x, r.below(21) - 10];
    }),
  },
  { name: "max", ulps: 0, value: plain(max), draw: two, anyZero: true },
  { name: "min", ulps: 0, value: plain(min), draw: two, anyZero: true },
];

export const unaryOracles: readonly Oracle[] = [
  { name: "exp", ulps: 2, value: transcendental(Math.exp, exact.exp), draw: range(105, 750) },
  {
    name: "log",
    ulps: 2,
    value: transcendental(Math.log, exact.log),
    draw: drawing((r) => [r.below(3) ? abs(r.any()) : r.between(0.5, 2)]),
  },
  { name: "sqrt", ulps: 0, value: plain(sqrt), draw: drawing((r) => [abs(everyday(r))]) },
  { name: "abs", ulps: 0, value: plain(abs), draw: one },
  { name: "neg", ulps: 0, value: plain((x) => -x), draw: one },
  {
    name: "sigmoid",
    ulps: 2,
    value: transcendental((x) => 1 / (1 + Math.exp(-x)), exact.sigmoid),
    draw: drawing((r, type) => [r.below(2) ? r.between(-20, 20) : r.between(-1, 1) * (type === "f32" ? 105 : 750)]),
  },
  {
    name: "tanh",
    ulps: 2,
    value: transcendental(Math.tanh, exact.tanh),
    draw: drawing((r) => [r.below(2) ? r.between(-25, 25) : r.scaled(-100, 1)]),
  },
  { name: "relu", ulps: 0, value: plain((x) => (x < 0 ? 0 : x)), draw: one, anyZero: true },
  { name: "ceil", ulps: 0, value: plain(ceil), draw: one },
  { name: "floor", ulps: 0, value: plain(floor), draw: one },
  { name: "sign", ulps: 0, value: plain(sign), draw: one },
  { name: "reciprocal", ulps: 0, value: plain((x) => 1 / x), draw: one },
  { name: "square", ulps: 0, value: plain((x) => x * x), draw: drawing((r) => [r.scaled(-80, 70)]) },
];

/** One result that counts as right. */
export interface Accepted {
  readonly value: Real;
  /** It comes from a denormal that was flushed, whose zero may have either sign. */
  readonly isFlushed: boolean;
}

/**
 * The results a device may give. Vulkan lets a device flush denormal arguments and results to zero (and most
 * do, in f32) unless a kernel asks otherwise, which not every device offers: so for a denormal both readings are right.
 */
export function acceptedResults(oracle: Oracle, type: FloatType, args: readonly number[]): Accepted[] {
  let readings: number[][] = [[]];
  for (const arg of args) {
    const values = isDenormal(type, arg) ? [arg, arg * 0] : [arg];
    readings = readings.flatMap((reading) => values.map((value) => [...reading, value]));
  }
  return readings.flatMap((reading) => {
    const result = oracle.value(type, ...reading);
    const value = typeof result === "number" ? { high: result, low: 0 } : result;
    const isFlushed = reading.some((arg, i) => !Object.is(arg, args[i]));
    // A result just below the normal range may round up into it, or be flushed before it is rounded.
    const mayFlush = value.high !== 0 && Math.abs(value.high) <= smallestNormal[type];
    const zero = { value: { high: 0, low: 0 }, isFlushed: true };
    if (mayFlush) return [{ value, isFlushed }, zero];
    // What compares as zero may be handed on as it is: the larger of 0 and a denormal is either.
    const handedOn = isFlushed && value.high === 0 ? args.filter((arg) => isDenormal(type, arg)) : [];
    return [{ value, isFlushed }, ...handedOn.map((high) => ({ value: { high, low: 0 }, isFlushed }))];
  });
}
