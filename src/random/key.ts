/**
 * Keys: the state of random numbers, held by the user. A key is two u32 words. Drawing from a key twice gives the same
 * numbers; `split` makes new keys whose numbers have nothing to do with each other. The words are those of JAX's
 * `jax.random.key` with its default generator (threefry2x32, partitionable).
 */
import { ArgumentError, ShapeError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { stack, tensor } from "../tensor/creation.js";
import { countingLike } from "../tensor/methods/operands.js";
import { Tensor } from "../tensor/tensor.js";
import { storedTensor, threefry } from "../tensor/threefry.js";

export type Key = Tensor<"u32">;

const WORD = 2n ** 32n;

/** A key from a whole number of up to 64 bits. On the default device unless told; random tensors go where their key is. */
export function key(seed: number | bigint, options: { readonly device?: string } = {}): Key {
  if (typeof seed === "number" && !Number.isSafeInteger(seed)) {
    throw new ArgumentError(`random.key: the seed ${seed} is no whole number below 2^53; use a bigint for more.`);
  }
  const bits = BigInt.asUintN(64, BigInt(seed));
  return tensor([bits / WORD, bits % WORD].map(Number), { dtype: "u32", device: options.device });
}

/** `count` keys that are independent of each other and of what the given key draws. Do not use that one again. */
export function split(from: Key, count = 2): Key[] {
  if (!Number.isInteger(count) || count < 0) throw new ArgumentError(`random.split: ${count} keys; give a count.`);
  if (count === 0) return [];
  const words = keyWords(from, "split");
  const counter = [0, countingLike(from, count).cast("u32")] as const;
  const pairs = [threefry(words, counter, "first"), threefry(words, counter, "second")];
  const keys = storedTensor(stack(pairs, { axis: 1 })) as Key;
  return Array.from({ length: count }, (_, i) => keys.at(i));
}

/** A key for a number: the step of a loop, the index of a worker. */
export function foldIn(from: Key, data: number | Tensor): Key {
  const words = keyWords(from, "foldIn");
  if (!(data instanceof Tensor) && !(Number.isInteger(data) && data >= 0 && data < 2 ** 32)) {
    throw new ArgumentError(`random.foldIn: ${data} is no whole number from 0 to 2^32 - 1.`);
  }
  // Uploaded rather than written into the program, which would be another one for every number.
  const number = data instanceof Tensor ? data.cast("u32") : tensor(data, { dtype: "u32", device: from.device });
  if (number.rank !== 0)
    throw new ShapeError(`random.foldIn: a tensor of shape ${formatShape(number.shape)}; give a scalar.`);
  const counter = [0, number] as const;
  return storedTensor(stack([threefry(words, counter, "first"), threefry(words, counter, "second")])) as Key;
}

/** The two words of a key, as scalars. */
export function keyWords(from: Key, operation: string): [Tensor, Tensor] {
  if (!(from instanceof Tensor) || from.dtype !== "u32" || from.rank !== 1 || from.shape[0] !== 2) {
    const what = from instanceof Tensor ? `${from.dtype} of shape ${formatShape(from.shape)}` : typeof from;
    throw new ArgumentError(
      `random.${operation}: the first argument is a key, as random.key(seed) makes, not ${what}.`,
    );
  }
  return [from.at(0), from.at(1)];
}
