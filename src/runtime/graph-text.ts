/**
 * A graph as text. Two graphs have the same text exactly if they compile to the same program, also in two processes. The key
 * of a program on disk is a hash of this text. Memory is no part of it.
 */

import { isNumber } from "../compiler/rewrite/given-numbers.js";
import { beginningOf, placeOf } from "../compiler/rewrite/given-places.js";
import type { Node } from "../graph/node.js";
import { pendingInOrder } from "../graph/node.js";
import { paramsKey } from "../graph/params-key.js";
import type { Beginning } from "../graph/primitive.js";

/**
 * The operations behind the roots in order, each with the positions of its inputs. Leaves and constants that are data appear
 * without their values.
 */
export function graphText(roots: readonly Node[], leaves: readonly Node[]): string {
  const numbers = new Map(leaves.map((leaf, i) => [leaf, i]));
  const parts = leaves.map((leaf) => (isNumber(leaf) ? `number ${typeText(leaf)}` : typeText(leaf)));
  const places = placesAmong(leaves);
  for (const node of pendingInOrder(roots, (at) => at.storage !== null || numbers.has(at))) {
    const leaf = numbers.get(node);
    parts.push(leaf === undefined ? operationText(node, places.get(node)) : `#${leaf}`);
  }
  return `${parts.join("|")}→${roots.map(({ position }) => position)}`;
}

/** The leaves that say where movements begin: the axis and the position among the leaves, by movement. */
function placesAmong(leaves: readonly Node[]): Map<Node, Map<number, number>> {
  const places = new Map<Node, Map<number, number>>();
  leaves.forEach((leaf, i) => {
    const place = placeOf(leaf);
    if (place) places.set(place.movement, (places.get(place.movement) ?? new Map()).set(place.axis, i));
  });
  return places;
}

const typeText = ({ dtype, shape, isWeak }: Node): string => `${dtype}[${shape}]${isWeak ? "~" : ""}`;

function operationText(node: Node, given?: ReadonlyMap<number, number>): string {
  let inputs = "";
  for (const { position } of node.inputs) inputs += `${position},`;
  return `${node.primitive.name}(${inputs})${given ? placedKey(node, given) : paramsKey(node)}${typeText(node)}`;
}

/** The parameters of a movement that begins where leaves say along some axes. */
function placedKey(node: Node, given: ReadonlyMap<number, number>): string {
  const { params, at } = beginningOf(node) as Beginning;
  const others = Object.entries(node.params).filter(([name]) => !params.includes(name));
  const begins = node.shape.map((_, axis) => (given.has(axis) ? `#${given.get(axis)}` : at(node, axis)));
  return paramsKey({ params: { ...Object.fromEntries(others), begins } });
}
