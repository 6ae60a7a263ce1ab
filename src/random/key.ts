/**
 * Keys: the state of random numbers, held by the user. A key is two u32 words. Drawing from a key twice gives the same
 * numbers; `split` makes new keys whose numbers have nothing to do with each other. The words are those of JAX's
 * `jax.random.key` with its default generator (threefry2x32, partitionable).
 *
 * The words of a key that was made of numbers are known without the device, and so are those of the keys made from it with
 * numbers: a loop that folds in its step makes one key of eight bytes a round, and no kernel.
 */

import { checkOptions, checkWhole } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { checkShape, formatShape, type Shape, sizeOf } from "../core/shape.js";
import { remedyForTensor, shown } from "../core/shown.js";
import {
  backendFor,
  countingLike,
  keyOfWords,
  keyUnderKnown,
  stack,
  storedTensor,
  Tensor,
  tensor,
  threefry,
} from "../tensor/index.js";

/** A key of random numbers: equal keys give equal numbers. `random.key` makes one, `random.split` makes more. */
export type Key = Tensor<"u32">;

const WORD = 2n ** 32n;

/** A key from a whole number of up to 64 bits. On the default device unless told; random tensors go where their key is. */
export function key(seed: number | bigint, options: { readonly device?: string } = {}): Key {
  checkCount("random.key", 2, arguments);
  checkOptions("random.key", options, { device: "text" });
  if (typeof seed !== "bigint" && !Number.isSafeInteger(seed)) {
    throw new ArgumentError(
      `random.key: the seed ${shown(seed)} is no whole number below 2^53; use a bigint for more.${remedyForTensor(seed)}`,
    );
  }
  const bits = BigInt.asUintN(64, BigInt(seed));
  const words = [Number(bits / WORD), Number(bits % WORD)] as const;
  return keyOfWords(backendFor(options.device, "random.key"), words);
}

/**
 * `count` keys that are independent of each other and of the numbers that the given key draws; do not use that one again.
 * With a shape, as in `split(key, [1000])`, the same keys come as one tensor `[...shape, 2]`, for `vmap` and `scan`.
 */
export function split(from: Key, count?: number): Key[];
export function split(from: Key, shape: Shape): Tensor<"u32">;
export function split(from: Key, counts: number | Shape = 2): Key[] | Tensor<"u32"> {
  checkCount("random.split", 2, arguments);
  checkKey(from, "split");
  if (typeof counts === "object") {
    const size = sizeOf(checkShape(counts, "random.split"));
    return keyUnder(keyWords(from, "split"), countingLike(from, size).cast("u32").reshape(counts));
  }
  checkWhole("random.split", "the count of keys", counts, 0);
  return Array.from(
    { length: counts },
    (_, i) => keyUnderKnown(from, i) ?? keyUnder(keyWords(from, "split"), numberOn(from, i)),
  );
}

/** A key for a number: the step of a loop, the index of a worker. Those of 0 and 1 are the keys `split` gives. */
export function foldIn(from: Key, data: number | Tensor): Key {
  checkCount("random.foldIn", 2, arguments);
  checkKey(from, "foldIn");
  if (!(data instanceof Tensor) && !(Number.isInteger(data) && data >= 0 && data < 2 ** 32)) {
    throw new ArgumentError(`random.foldIn: ${shown(data)} is no whole number from 0 to 2^32 - 1.`);
  }
  const known = data instanceof Tensor ? null : keyUnderKnown(from, data);
  if (known) return known;
  const number = data instanceof Tensor ? data.cast("u32") : numberOn(from, data);
  if (number.rank !== 0) {
    throw new ShapeError(`random.foldIn: a tensor of shape ${formatShape(number.shape)}; give a scalar.`);
  }
  return keyUnder(keyWords(from, "foldIn"), number);
}

/** Stored, because a kernel that draws many numbers would otherwise make the key again for each of them. */
function keyUnder(words: readonly [Tensor, Tensor], number: Tensor): Key {
  const counter = [0, number] as const;
  const both = [threefry(words, counter, "first"), threefry(words, counter, "second")];
  return storedTensor(stack(both, { axis: -1 })) as Key;
}

/** Numbers kept on each device: a key's number is read from memory, so that programs are the same for all of them. */
const numbers = new WeakMap<object, Tensor[]>();
const MAX_NUMBERS = 256;

function numberOn(from: Key, number: number): Tensor {
  const { device } = from.node;
  const cached = numbers.get(device) ?? [];
  numbers.set(device, cached);
  const known = cached[number] ?? tensor(number, { dtype: "u32", device: from.device });
  if (number < MAX_NUMBERS) cached[number] = known;
  return known;
}

/** The two words of a key, as scalars. */
export function keyWords(from: Key, operation: string): [Tensor, Tensor] {
  checkKey(from, operation);
  return [from.at(0), from.at(1)];
}

export function checkKey(from: Key, operation: string, namespace = "random.", what = "the first argument"): void {
  if (from instanceof Tensor && from.dtype === "u32" && from.rank === 1 && from.shape[0] === 2) return;
  const given = from instanceof Tensor ? `${from.dtype} of shape ${formatShape(from.shape)}` : shown(from);
  throw new ArgumentError(
    `${namespace}${operation}: ${what} is a key, as random.key(seed) makes, not ${given}.${remedyForKeys(from)}`,
  );
}

/** The error for several keys in the place of one. */
function remedyForKeys(given: unknown): string {
  if (Array.isArray(given)) return " random.split(key, [n]) has its keys in one tensor, for vmap to go along.";
  const isBatch = given instanceof Tensor && given.dtype === "u32" && given.rank > 1 && given.shape.at(-1) === 2;
  return isBatch ? " Draw with each of these keys by vmap((key) => …)(keys)." : "";
}
