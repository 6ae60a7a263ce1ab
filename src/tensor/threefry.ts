/** Random words as tensors, and other nodes that only `random` makes. */
import type { Node } from "../graph/node.js";
import { stored } from "../graph/primitives/movement.js";
import { type ThreefryWord, threefry2x32 } from "../graph/primitives/threefry.js";
import { backendOf, derive, makeNode, meet } from "./build.js";
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

/** The same tensor, computed once by a kernel of its own instead of at every use. */
export function storedTensor<T extends Tensor>(x: T): T {
  return new Tensor(derive(stored, x.node, {})) as T;
}

/** For each element, the first round along the first axis whose condition holds; the last one where none does. */
export function firstRound(conditions: Tensor, rounds: Tensor): Tensor {
  const last = rounds.size - 1;
  return new Tensor(firstBelow(where(conditions, rounds, last).node, last));
}
