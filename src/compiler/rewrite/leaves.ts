/**
 * First pass: placeholders for the memory a program will be given. A compilation works on copies of the leaves without
 * their memory, so that a compiled program keeps no tensor alive. Complex leaves become views of real memory, packed ones
 * views of words; the parameters of a loop's body are not packed.
 */
import { isComplex, isPacked, realDType } from "../../core/dtype.js";
import { repeatsAmong } from "../../graph/contiguous-slice.js";
import { Node } from "../../graph/node.js";
import { buffer } from "../../graph/primitives/leaf.js";
import { complexOfMemory } from "./complex.js";
import { isNumber, numberIn, packsOf } from "./given-numbers.js";
import { type Places, placeOf } from "./given-places.js";
import { packedMemory, unpacked } from "./packed.js";

interface CopiedLeaves {
  /** For each leaf of the caller's graph, the node that stands for it. */
  readonly copies: Map<Node, Node>;
  /** Where movements begin, as far as that is data. */
  readonly places: Places;
  /** Memory of the program in the order of its arguments: each part of memory once, packed numbers last. */
  readonly memory: readonly Node[];
}

/** Stands for memory that the program is given when it runs. */
const SOME_MEMORY = { byteLength: 0 };

export function copyLeaves(leaves: readonly Node[], arePacked = false): CopiedLeaves {
  const copies = new Map<Node, Node>();
  const places = new Map<Node, Map<number, Node>>();
  const repeats = repeatsAmong(leaves);
  const memory = leaves
    .filter((leaf) => !isNumber(leaf) && !repeats.has(leaf))
    .map((leaf) => {
      const copy = memoryLike(leaf, arePacked);
      copies.set(leaf, asElements(copy, leaf, arePacked));
      return copy;
    });
  for (const [leaf, first] of repeats) copies.set(leaf, copies.get(first) as Node);
  for (const { dtype, numbers } of packsOf(leaves.filter(isNumber))) {
    const together = { shape: [numbers.length], dtype, device: numbers[0].device };
    const pack = memoryLike(together, true);
    const elements = asElements(pack, together, true);
    numbers.forEach((number, i) => {
      const read = numberIn(elements, i, number.shape);
      const place = placeOf(number);
      if (!place) copies.set(number, read);
      else places.set(place.movement, (places.get(place.movement) ?? new Map()).set(place.axis, read));
    });
    memory.push(pack);
  }
  return { copies, places, memory };
}

type LeafFacts = Pick<Node, "shape" | "dtype" | "device">;

/** A leaf without its memory. Complex numbers are two real ones there, side by side. */
function memoryLike(leaf: LeafFacts, arePacked: boolean): Node {
  const { device } = leaf;
  const { shape, dtype } = inMemory(leaf, arePacked);
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
  // Nodes built on it are only inspected; nothing may start computing them.
  node.isAbstract = true;
  node.realize(SOME_MEMORY);
  return node;
}

function inMemory({ shape, dtype }: LeafFacts, arePacked: boolean): Pick<Node, "shape" | "dtype"> {
  if (isComplex(dtype)) return { shape: [...shape, 2], dtype: realDType(dtype) };
  return arePacked && isPacked(dtype) ? packedMemory(shape, dtype) : { shape, dtype };
}

function asElements(memory: Node, { shape, dtype }: LeafFacts, arePacked: boolean): Node {
  if (isComplex(dtype)) return complexOfMemory(memory);
  return arePacked && isPacked(dtype) ? unpacked(memory, shape, dtype) : memory;
}
