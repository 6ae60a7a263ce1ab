/**
 * Slices of memory that is there: where the elements of a slice lie side by side in the memory of a tensor that has been
 * computed, nothing has to be computed to have them. A program takes such a slice for a leaf and is told where it begins
 * when it runs, so that minibatches at a hundred places are one program; a slice that is wanted itself is that memory. The
 * forms of programs (form.ts), their compilation and the backends ask here.
 */
import { bytesOf } from "../core/bytes.js";
import { DTYPES } from "../core/dtype.js";
import { sameShape, sizeOf } from "../core/shape.js";
import type { Node } from "./node.js";

/** Where in the memory of a node another one's elements lie. */
interface Stretch {
  readonly source: Node;
  /** In bytes. */
  readonly start: number;
}

/** Where in memory a node's elements lie side by side, in their order; null if they lie nowhere so. */
export function stretchOf(node: Node): Stretch | null {
  let source = node;
  let start = 0;
  while (source.storage === null) {
    const { primitive } = source;
    const begin = primitive.kind === "movement" && primitive.beginsAt ? primitive.beginsAt(source) : null;
    if (begin === null) return null;
    start += begin;
    [source] = source.inputs;
  }
  return { source, start: start * DTYPES[node.dtype].bytes };
}

/**
 * Whether a node that has not run is a proper part of memory. Other arrangements of the whole are none: they are the same
 * everywhere, and what reads them beside the whole is to read one tensor.
 */
export function isPartOfMemory(node: Node): boolean {
  const { storage, primitive, shape, inputs } = node;
  // Asked of every node whenever something is computed: most are out at once.
  if (storage !== null || inputs.length !== 1) return false;
  if (primitive.kind !== "movement" || !primitive.beginsAt) return false;
  return sizeOf(shape) < sizeOf(inputs[0].shape) && stretchOf(node) !== null;
}

/** Whether a leaf is a part of memory, and not memory of its own or given in another way. */
const isPart = ({ storage, primitive }: Node): boolean => storage === null && primitive.kind === "movement";

/** Whether a leaf begins between the vectors of so many bytes that kernels read. One that is shorter has none. */
export function isUnaligned(leaf: Node, alignment: number): boolean {
  if (!isPart(leaf) || bytesOf(leaf) < alignment) return false;
  return (stretchOf(leaf) as Stretch).start % alignment !== 0;
}

const NONE: ReadonlyMap<Node, Node> = new Map();

/** Leaves that are the same part of memory as one before them, and that one: what is written twice is one to a program. */
export function repeatsAmong(leaves: readonly Node[]): ReadonlyMap<Node, Node> {
  const parts = leaves.filter(isPart);
  if (parts.length < 2) return NONE;
  const repeats = new Map<Node, Node>();
  const places = parts.map((part) => stretchOf(part) as Stretch);
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
 * What a program depends on of the parts of memory among its leaves: which are unaligned, and which are the same. Null if
 * there are none.
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
