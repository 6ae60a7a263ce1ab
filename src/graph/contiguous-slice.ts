/**
 * Contiguous slices of computed tensors. The elements of such a slice lie side by side in memory, so the slice needs no
 * kernel: a program takes it as a leaf and gets its start when it runs. Minibatches at a hundred positions are one program,
 * and a slice that is asked for is a view. The program table, the compiler and the backends call this.
 */
import { tensorBytes } from "../core/bytes.js";
import { DTYPES, isPacked } from "../core/dtype.js";
import { sameShape, sizeOf } from "../core/shape.js";
import type { Node } from "./node.js";

/** A contiguous part of the memory of a node. */
export interface ContiguousSlice {
  readonly source: Node;
  /** In bytes. */
  readonly start: number;
}

/** The memory in which a node's elements lie side by side, in their order; null if there is none. */
export function contiguousSliceOf(node: Node): ContiguousSlice | null {
  let source = node;
  let start = 0;
  while (source.storage === null) {
    const { primitive } = source;
    const begin = primitive.kind === "movement" && primitive.beginsAt ? primitive.beginsAt(source) : null;
    if (begin === null) return null;
    start += begin;
    [source] = source.inputs;
  }
  const bytes = (start * DTYPES[node.dtype].bits) / 8;
  // Packed elements are read by words of 32 bits.
  return isPacked(node.dtype) && bytes % 4 !== 0 ? null : { source, start: bytes };
}

/**
 * Whether a pending node is a proper part of a computed tensor's memory. A reshape of the whole tensor is not: a kernel that
 * reads it beside the tensor should read one buffer.
 */
export function isPartOfMemory(node: Node): boolean {
  const { storage, primitive, shape, inputs } = node;
  // Called for every node of every graph; these tests are cheap and rule out most.
  if (storage !== null || inputs.length !== 1) return false;
  if (primitive.kind !== "movement" || !primitive.beginsAt) return false;
  return sizeOf(shape) < sizeOf(inputs[0].shape) && contiguousSliceOf(node) !== null;
}

/** Whether a leaf of a program is such a slice, and not a tensor of its own. */
const isPart = ({ storage, primitive }: Node): boolean => storage === null && primitive.kind === "movement";

/** Whether a leaf starts off the alignment of vector loads. A leaf shorter than a vector does not count. */
export function isUnaligned(leaf: Node, alignment: number): boolean {
  if (!isPart(leaf) || tensorBytes(leaf) < alignment) return false;
  return (contiguousSliceOf(leaf) as ContiguousSlice).start % alignment !== 0;
}

const NONE: ReadonlyMap<Node, Node> = new Map();

/** Leaves that are the same slice as an earlier leaf, mapped to that one: a program reads it once. */
export function repeatsAmong(leaves: readonly Node[]): ReadonlyMap<Node, Node> {
  const parts = leaves.filter(isPart);
  if (parts.length < 2) return NONE;
  const repeats = new Map<Node, Node>();
  const places = parts.map((part) => contiguousSliceOf(part) as ContiguousSlice);
  parts.forEach((part, i) => {
    const { source, start } = places[i];
    const isSame = (other: Node, j: number) =>
      places[j].source === source && places[j].start === start && sameShape(other.shape, part.shape);
    const first = parts.findIndex(isSame);
    if (first < i) repeats.set(part, parts[first]);
  });
  return repeats;
}

/**
 * The facts about slices among the leaves that a program depends on: which are unaligned, and which are equal. Null if no
 * leaf is a slice.
 */
export function partsKey(leaves: readonly Node[], alignment: number): string | null {
  if (!leaves.some(isPart)) return null;
  const repeats = repeatsAmong(leaves);
  const words = leaves.flatMap((leaf, i) => {
    const first = repeats.get(leaf);
    if (first) return [`${i}=${leaves.indexOf(first)}`];
    return isUnaligned(leaf, alignment) ? [`${i}~`] : [];
  });
  return words.join(" ");
}
