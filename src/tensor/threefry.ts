/** Random words as tensors, and other nodes that only `random` makes. */
import { viewBytes } from "../core/storage.js";
import { GraphFunction, makePlaceholder } from "../graph/function.js";
import type { Node } from "../graph/node.js";
import { drawNode } from "../graph/primitives/draw.js";
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

/** The words of a key that was made of numbers; its node carries them. */
class KnownWords {
  constructor(readonly words: Words) {}
}

const SHAPE = [2];

/** Words on their way to a device. */
const scratch = new Uint32Array(2);
const scratchBytes = viewBytes(scratch);

/** A key of words that are numbers. Its memory is on the device, so that programs are the same for all of them. */
export function keyOfWords(backend: Backend, words: Words): Tensor<"u32"> {
  scratch.set(words);
  const node = storedNode(backend, scratchBytes, SHAPE, "u32");
  node.attachment = new KnownWords(words);
  return new Tensor<"u32">(node);
}

/** The key for a number under a key of known words; null where they are not known. */
export function keyUnderKnown({ node }: Tensor, number: number): Tensor<"u32"> | null {
  const { attachment } = node;
  if (!(attachment instanceof KnownWords)) return null;
  return keyOfWords(backendOf(node), threefryWords(attachment.words, [0, number]));
}

/** Draws of each device by name; the oldest goes first. */
const draws = new WeakMap<object, Map<string, GraphFunction>>();
const MAX_DRAWS = 256;

/**
 * Numbers drawn with a key, as one node. `name` says all that `draw` depends on besides the key. Inside of a traced function
 * the graph is made once anyway, and stays as it is.
 */
export function drawn(key: Tensor, name: string, draw: (key: Tensor) => Tensor): Tensor {
  const { node } = key;
  if (node.isAbstract || node.trace) return draw(key);
  const known = draws.get(node.device) ?? new Map<string, GraphFunction>();
  draws.set(node.device, known);
  const body = known.get(name) ?? bodyOf(node, draw);
  if (!known.has(name)) {
    known.set(name, body);
    if (known.size > MAX_DRAWS) known.delete(known.keys().next().value as string);
  }
  return new Tensor(drawNode(body, node));
}

function bodyOf(key: Node, draw: (key: Tensor) => Tensor): GraphFunction {
  const parameter = makePlaceholder(key);
  return new GraphFunction([parameter], [draw(new Tensor(parameter)).node]);
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
