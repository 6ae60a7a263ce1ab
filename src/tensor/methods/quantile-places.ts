/**
 * The position of a quantile among n sorted elements, by the rules of Hyndman and Fan (1996) and of NumPy: between the elements
 * `below` and `below + 1`, at a weight from 0 to 1 between them. Rules are written once, over plain numbers or tensors.
 */
import type { Tensor } from "../tensor.js";
import { where } from "./where.js";

/** The arithmetic that the rules need. */
interface Arithmetic<T> {
  add(a: T, b: T | number): T;
  mul(a: T, b: T | number): T;
  floor(a: T): T;
  ceil(a: T): T;
  /** Halves go to the even neighbour. */
  round(a: T): T;
  ifZero(test: T, yes: T | number, no: T | number): T;
}

export const numbers: Arithmetic<number> = {
  add: (a, b) => a + b,
  mul: (a, b) => a * b,
  floor: Math.floor,
  ceil: Math.ceil,
  round: (a) => {
    const floor = Math.floor(a);
    return a - floor === 0.5 ? floor + (floor % 2) : Math.round(a);
  },
  ifZero: (test, yes, no) => (test === 0 ? yes : no),
};

export const tensors: Arithmetic<Tensor> = {
  add: (a, b) => a.add(b),
  mul: (a, b) => a.mul(b),
  floor: (a) => a.floor(),
  ceil: (a) => a.ceil(),
  round: (a) => a.round(),
  ifZero: (test, yes, no) => where(test.equal(0), yes, no).cast(test.dtype),
};

export interface QuantilePosition<T> {
  /** The element below; from -1 to n - 1. */
  readonly below: T;
  readonly weight: T;
}

type Rule = <T>(k: Arithmetic<T>, n: T, q: T) => QuantilePosition<T>;

/** Between elements: the fraction is the weight. */
const between = <T>(
  k: Arithmetic<T>,
  index: T,
  weight: (fraction: T) => T = (fraction) => fraction,
): QuantilePosition<T> => {
  const below = k.floor(index);
  return { below, weight: weight(k.add(index, k.mul(below, -1))) };
};

/** One element alone. */
const at = <T>(k: Arithmetic<T>, below: T): QuantilePosition<T> => ({ below, weight: k.mul(below, 0) });

/** n·q - 1. */
const rank = <T>(k: Arithmetic<T>, n: T, q: T): T => k.add(k.mul(n, q), -1);

/** (n - 1)·q. */
const share = <T>(k: Arithmetic<T>, n: T, q: T): T => k.mul(k.add(n, -1), q);

/** n·q + α + q·(1 - α - β) - 1. */
const continuous =
  (alpha: number, beta: number): Rule =>
  (k, n, q) =>
    between(k, k.add(k.add(k.mul(n, q), k.add(k.mul(q, 1 - alpha - beta), alpha)), -1));

const RULES = {
  linear: (k, n, q) => between(k, share(k, n, q)),
  lower: (k, n, q) => at(k, k.floor(share(k, n, q))),
  higher: (k, n, q) => at(k, k.ceil(share(k, n, q))),
  nearest: (k, n, q) => at(k, k.round(share(k, n, q))),
  midpoint: (k, n, q) => between(k, share(k, n, q), (fraction) => k.ifZero(fraction, 0, 0.5)),
  invertedCdf: (k, n, q) => at(k, k.ceil(rank(k, n, q))),
  averagedInvertedCdf: (k, n, q) => between(k, rank(k, n, q), (fraction) => k.ifZero(fraction, 0.5, 1)),
  // To the nearest element, of two to the one with an even number counted from 1.
  closestObservation: (k, n, q) => {
    const index = k.add(rank(k, n, q), -0.5);
    const floor = k.floor(index);
    const isEven = k.add(floor, k.mul(k.floor(k.mul(floor, 0.5)), -2));
    const inTie = k.add(floor, k.ifZero(isEven, 1, 0));
    return at(k, k.ifZero(k.add(index, k.mul(floor, -1)), inTie, k.add(floor, 1)));
  },
  interpolatedInvertedCdf: continuous(0, 1),
  hazen: continuous(0.5, 0.5),
  weibull: continuous(0, 0),
  medianUnbiased: continuous(1 / 3, 1 / 3),
  normalUnbiased: continuous(3 / 8, 3 / 8),
} as const satisfies Record<string, Rule>;

/** The rule for a quantile between two elements. */
export type QuantileMethod = keyof typeof RULES;

export const quantileMethods = Object.keys(RULES) as QuantileMethod[];

/** The position of the quantile q among n elements. */
export const placeOf = <T>(k: Arithmetic<T>, method: QuantileMethod, n: T, q: T): QuantilePosition<T> =>
  (RULES[method] as Rule)(k, n, q);
