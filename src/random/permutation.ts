/** Random order, and drawing from given elements. Equal to JAX's for the same key, except for rounding of weights. */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { checkShape, formatShape, normalizeAxis, type Shape, sizeOf } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { apartFrom, asFloat, checkTensor, countingLike, Tensor } from "../tensor/index.js";
import { bits } from "./bits.js";
import { gumbel } from "./exponential.js";
import { checkKey, type Key, split } from "./key.js";
import { randint, uniform } from "./uniform.js";

/**
 * The number of sorts by fresh random words. Equal words leave elements in order, so one sort is not enough for many
 * elements: after 3·log n / log 2^32 rounds every pair of elements had different words in some round, except in one of n lists.
 */
const sortingRounds = (size: number): number => Math.ceil((3 * Math.log(Math.max(1, size))) / Math.log(2 ** 32 - 1));

/** 0, 1 … count - 1 in random order. */
export function permutation(key: Key, count: number): Tensor<"i32"> {
  checkCount("random.permutation", 2, arguments);
  checkKey(key, "permutation");
  const shape = checkShape([count], "random.permutation");
  let order = countingLike(key, count);
  let rest = key;
  for (let round = 0; round < sortingRounds(count); round++) {
    const [next, words] = split(rest);
    order = order.take(bits(words, shape).argsort());
    rest = next;
  }
  return order;
}

/**
 * The slices along an axis (the first) in random order. `independent` orders every line along the axis by itself.
 */
export function shuffle<T extends Tensor>(
  key: Key,
  x: T,
  options: { readonly axis?: number; readonly independent?: boolean } = {},
): T {
  checkCount("random.shuffle", 3, arguments);
  checkOptions("random.shuffle", options, { axis: "number", independent: "flag" });
  checkKey(key, "shuffle");
  checkTensor("random.shuffle", "what is shuffled", x);
  const axis = normalizeAxis(options.axis ?? 0, x.rank, "random.shuffle");
  if (!options.independent) return x.take(permutation(key, x.shape[axis]), { axis }) as T;
  let order: Tensor = x;
  let rest = key;
  for (let round = 0; round < sortingRounds(x.size); round++) {
    const [next, words] = split(rest);
    order = order.takeAlongAxis(bits(words, x.shape).argsort({ axis }), { axis });
    rest = next;
  }
  return apartFrom(x, order as T);
}

/** Options of `random.choice`. */
export interface ChoiceOptions {
  /** The shape of the draws; one draw when left out. */
  readonly shape?: Shape;
  /** Whether an element may be drawn again; true. */
  readonly replace?: boolean;
  /** A weight per element; all the same when left out. They need not add up to 1. */
  readonly p?: Tensor;
  /** The axis of `from` to draw along; 0. */
  readonly axis?: number;
}

/** Elements (slices along an axis) of a tensor drawn at random, or whole numbers below a number. */
export function choice<D extends DType = "i32">(
  key: Key,
  from: number | Tensor<D>,
  options: ChoiceOptions = {},
): Tensor<D> {
  checkCount("random.choice", 3, arguments);
  checkOptions("random.choice", options, { shape: "any", replace: "flag", p: "any", axis: "number" });
  checkKey(key, "choice");
  if (options.p !== undefined) checkTensor("random.choice", "the option p", options.p);
  const { shape = [], replace = true, p } = options;
  const axis = from instanceof Tensor ? normalizeAxis(options.axis ?? 0, from.rank, "random.choice") : 0;
  const count = from instanceof Tensor ? from.shape[axis] : from;
  const draws = sizeOf(checkShape(shape, "random.choice"));
  if (!Number.isSafeInteger(count) || count < 0 || (count === 0 && draws > 0)) {
    throw new ArgumentError(`random.choice: ${draws} draws from ${shown(count)} elements.`);
  }
  if (!replace && draws > count) {
    throw new ArgumentError(
      `random.choice: ${draws} draws from ${count} elements without replacement; draw fewer, or use { replace: true }.`,
    );
  }
  if (p && (p.rank !== 1 || p.shape[0] !== count)) {
    throw new ShapeError(`random.choice: weights p of ${formatShape(p.shape)} for ${count} elements.`);
  }
  const positions = p
    ? weightedPositions(key, asFloat("random.choice", p), shape, draws, replace)
    : replace
      ? randint(key, shape, 0, Math.max(1, count))
      : permutation(key, count).at(`0:${draws}`).reshape(shape);
  return from instanceof Tensor ? from.take(positions, { axis }) : (positions as Tensor as Tensor<D>);
}

function weightedPositions(key: Key, p: Tensor, shape: Shape, draws: number, replace: boolean): Tensor {
  if (replace) {
    const sums = p.cumsum({ axis: 0 });
    const wanted = sums.at(-1).mul(uniform(key, shape, { dtype: p.dtype }).neg().add(1));
    return sums.searchSorted(wanted);
  }
  // Largest of log p plus Gumbel noise: each next one is drawn with the weights of those left.
  const scores = gumbel(key, p.shape, { dtype: p.dtype }).neg().sub(p.log());
  return scores.argsort().at(`0:${draws}`).reshape(shape);
}
