/** Random words as tensors, and other nodes that only `random` makes. */
import type { Node } from "../graph/node.js";
import { stored } from "../graph/primitives/movement.js";
import { type ThreefryWord, threefry2x32, threefryWords } from "../graph/primitives/threefry.js";
import type { Backend } from "../runtime/backend.js";
import { backendOf, derive, makeNode, meet, storedNode } from "./build.js";
import { where } from "./methods/where.js";
import { firstBelow } from "./reduce-node.js";
import { Tensor } from "./tensor.js";

/** A word as a u32 tensor, or as a number that is part of the program. */
export type Word = Tensor | number;

/** The counter scrambled under the key; operands broadcast. */
export function threefry(
  key: readonly [Tensor, Tensor],
  counter: readonly [Word, Word],
  word: ThreefryWord,
): Tensor<"u32"> {
  const operands = [...key, ...counter].map((value) => (value instanceof Tensor ? value.node : value));
  const inputs: Node[] = meet("random", operands, "u32");
  return new Tensor<"u32">(makeNode(threefry2x32, inputs, { word }, backendOf(inputs[0])));
}

/** Two words of a key. */
type Words = readonly [number, number];

/** The words of keys that were made of numbers. */
const known = new WeakMap<Node, Words>();

/** A key of words that are numbers. Its memory is on the device, so that programs are the same for all of them. */
export function keyOfWords(backend: Backend, words: Words): Tensor<"u32"> {
  const node = storedNode(backend, new Uint8Array(Uint32Array.from(words).buffer), [2], "u32");
  known.set(node, words);
  return new Tensor<"u32">(node);
}

/** The key for a number under a key of known words; null where they are not known. */
export function keyUnderKnown({ node }: Tensor, number: number): Tensor<"u32"> | null {
  const words = known.get(node);
  return words ? keyOfWords(backendOf(node), threefryWords(words, [0, number])) : null;
}

/** The same tensor, computed once by a kernel of its own instead of at every use. */
export function storedTensor<T extends Tensor>(x: T): T {
  return new Tensor(derive(stored, x.node, {})) as T;
}

/** For each element, the first round along the first axis whose condition holds; the last one where none does. */
export function firstRound(conditions: Tensor, rounds: Tensor): Tensor {
  const last = rounds.size - 1;
  return new Tensor(firstBelow(where(conditions, rounds, last).node, last));
}
