/**
 * Integers narrower than a byte, at the edges of a program. A tensor of them is packed: several elements share a byte, and a
 * lane that stores one element would have to know its neighbours. So programs read packed memory as words, take the elements
 * out as they need them, and compute with one element per byte in between. At the end each lane makes whole words of results,
 * and no two lanes write to one byte. leaves.ts and compile.ts call this; core/packed.ts says how elements lie in a byte.
 */
import { packedBytes } from "../../core/bytes.js";
import { DTYPES, type DType, type PackedDType } from "../../core/dtype.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import { broadcastNode, castNode, derive, makeNode, reshapeNode, scalarNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import * as E from "../../graph/primitives/elementwise.js";
import { iota } from "../../graph/primitives/leaf.js";
import { pad, slice } from "../../graph/primitives/movement.js";
import { sum } from "../../graph/primitives/reduce.js";

/** The words that hold so many packed elements: 32 bits each where the bytes divide evenly, else bytes. */
function wordsFor(count: number, dtype: PackedDType) {
  const bytes = packedBytes(count, dtype);
  const word: "u32" | "u8" = bytes % 4 === 0 ? "u32" : "u8";
  return { word, words: bytes / DTYPES[word].bytes, perWord: DTYPES[word].bits / DTYPES[dtype].bits };
}

/** The shape and dtype of the memory of a packed tensor, as a program sees it. */
export function packedMemory(shape: Shape, dtype: PackedDType): { readonly shape: Shape; readonly dtype: DType } {
  const { word, words } = wordsFor(sizeOf(shape), dtype);
  return { shape: [words], dtype: word };
}

/** The distance of each element of a word from its lowest bit, for each of many words. */
function distances(shape: readonly [number, number], dtype: PackedDType, device: Node["device"]): Node {
  const counter = makeNode(iota, [], { shape: [shape[1]], dtype: "u32" }, device);
  const bits = scalarNode(DTYPES[dtype].bits, "u32", device, [shape[1]]);
  return broadcastNode(makeNode(E.mul, [counter, bits], {}, device), shape);
}

/** The elements of packed memory. A cast keeps the low bits of a word, and with them the sign. */
export function unpacked(memory: Node, shape: Shape, dtype: PackedDType): Node {
  const count = sizeOf(shape);
  const { words, perWord } = wordsFor(count, dtype);
  const spread = broadcastNode(reshapeNode(castNode(memory, "u32"), [words, 1]), [words, perWord]);
  const moved = makeNode(E.shiftRight, [spread, distances([words, perWord], dtype, memory.device)], {}, memory.device);
  const all = reshapeNode(castNode(moved, dtype), [words * perWord]);
  const own = words * perWord === count ? all : derive(slice, all, { start: [0], step: [1], shape: [count] });
  return reshapeNode(own, shape);
}

/** Elements as packed memory; those of the last word that do not exist are 0. */
export function packed(node: Node, dtype: PackedDType): Node {
  const { device } = node;
  const count = sizeOf(node.shape);
  const { word, words, perWord } = wordsFor(count, dtype);
  const missing = words * perWord - count;
  const flat = reshapeNode(node, [count]);
  const filled = missing === 0 ? flat : derive(pad, flat, { low: [0], high: [missing], interior: [0], value: 0 });
  const lines = castNode(reshapeNode(filled, [words, perWord]), "u32");
  const mask = scalarNode(2 ** DTYPES[dtype].bits - 1, "u32", device, lines.shape);
  const low = makeNode(E.and, [lines, mask], {}, device);
  const moved = makeNode(E.shiftLeft, [low, distances([words, perWord], dtype, device)], {}, device);
  return castNode(derive(sum, moved, { axes: [1] }), word);
}
