/**
 * First pass: placeholders for the memory a program will be given. A compilation works on copies of the leaves without
 * their memory, so that a compiled program keeps no tensor alive. Complex leaves become views of real memory.
 */
import { type DType, isComplex, realDType } from "../../core/dtype.js";
import { repeatsAmong } from "../../graph/contiguous-slice.js";
import { Node } from "../../graph/node.js";
import { buffer } from "../../graph/primitives/leaf.js";
import { complexOfMemory } from "./complex.js";
import { isNumber, numberIn, packsOf } from "./given-numbers.js";

interface CopiedLeaves {
  /** For each leaf of the caller's graph, the node that stands for it. */
  readonly copies: Map<Node, Node>;
  /** Memory of the program in the order of its arguments: each part of memory once, packed numbers last. */
  readonly memory: readonly Node[];
}

/** Stands for memory that the program is given when it runs. */
const SOME_MEMORY = { byteLength: 0 };

export function copyLeaves(leaves: readonly Node[]): CopiedLeaves {
  const copies = new Map<Node, Node>();
  const repeats = repeatsAmong(leaves);
  const memory = leaves
    .filter((leaf) => !isNumber(leaf) && !repeats.has(leaf))
    .map((leaf) => {
      const copy = memoryLike(leaf);
      copies.set(leaf, asElements(copy, leaf.dtype));
      return copy;
    });
  for (const [leaf, first] of repeats) copies.set(leaf, copies.get(first) as Node);
  for (const { dtype, numbers } of packsOf(leaves.filter(isNumber))) {
    const pack = memoryLike({ shape: [numbers.length], dtype, device: numbers[0].device });
    const elements = asElements(pack, dtype);
    numbers.forEach((number, i) => {
      copies.set(number, numberIn(elements, i, number.shape));
    });
    memory.push(pack);
  }
  return { copies, memory };
}

/** A leaf without its memory. Complex numbers are two real ones there, side by side. */
function memoryLike({ shape: elements, dtype: element, device }: Pick<Node, "shape" | "dtype" | "device">): Node {
  const shape = isComplex(element) ? [...elements, 2] : elements;
  const dtype = realDType(element);
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
  // Nodes built on it are only inspected; nothing may start computing them.
  node.isAbstract = true;
  node.realize(SOME_MEMORY);
  return node;
}

const asElements = (memory: Node, dtype: DType): Node => (isComplex(dtype) ? complexOfMemory(memory) : memory);
