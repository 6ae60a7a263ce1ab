/**
 * Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011): 64 bits
 * of counter scrambled under 64 bits of key. It is the generator of JAX and the source of all our random numbers. As an
 * elementwise primitive it fuses into the kernels that use the numbers, so they need no memory.
 */
import { DTypeError, ShapeError } from "../../core/errors.js";
import type { ElementOps } from "../element-ops.js";
import type { ElementwisePrimitive } from "../primitive.js";

const ROTATIONS = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;
const PARITY = 0x1bd11bda;

/** One of the two words of the result, or both folded into one. */
export type ThreefryWord = "first" | "second" | "folded";

/** Inputs: two words of key, two words of counter, all u32. Params: word. */
export const threefry2x32: ElementwisePrimitive = {
  name: "threefry2x32",
  kind: "elementwise",
  cost: 100,
  infer: (inputs) => {
    const [{ shape }] = inputs;
    for (const input of inputs) {
      if (input.dtype !== "u32") throw new DTypeError(`threefry2x32: words are u32, not ${input.dtype}.`);
      if (input.shape.length !== shape.length || input.shape.some((extent, axis) => extent !== shape[axis])) {
        throw new ShapeError(`threefry2x32: words of [${shape}] and [${input.shape}].`);
      }
    }
    return { shape, dtype: "u32" };
  },
  lower: (k, [key0, key1, counter0, counter1], params) => {
    const [first, second] = scramble(k, [key0, key1], [counter0, counter1]);
    const word = params.word as ThreefryWord;
    return word === "first" ? first : word === "second" ? second : k.xor(first, second);
  },
};

/** The arithmetic that it takes, on u32. */
type WordOps<V> = Pick<ElementOps<V>, "constant" | "xor" | "or" | "shift" | "add">;

const NUMBERS: WordOps<number> = {
  constant: (_, value) => value as number,
  xor: (x, y) => (x ^ y) >>> 0,
  or: (x, y) => (x | y) >>> 0,
  shift: (direction, x, distance) => (direction === "left" ? x << distance : x >>> distance) >>> 0,
  add: (x, y) => (x + y) >>> 0,
};

/** Both words of a counter under a key, computed here: for keys that are made of numbers. */
export const threefryWords = (
  key: readonly [number, number],
  counter: readonly [number, number],
): readonly [number, number] => scramble(NUMBERS, key, counter);

function scramble<V>(k: WordOps<V>, [key0, key1]: readonly [V, V], counter: readonly [V, V]): [V, V] {
  const u32 = (value: number) => k.constant("u32", value);
  const keys = [key0, key1, k.xor(k.xor(key0, key1), u32(PARITY))];
  const rotate = (x: V, distance: number) =>
    k.or(k.shift("left", x, u32(distance)), k.shift("right", x, u32(32 - distance)));
  let a = k.add(counter[0], key0);
  let b = k.add(counter[1], key1);
  for (let block = 0; block < 5; block++) {
    for (const distance of ROTATIONS[block % 2]) {
      a = k.add(a, b);
      b = k.xor(rotate(b, distance), a);
    }
    a = k.add(a, keys[(block + 1) % 3]);
    b = k.add(b, k.add(keys[(block + 2) % 3], u32(block + 1)));
  }
  return [a, b];
}
