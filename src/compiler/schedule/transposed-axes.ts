/**
 * Finds results whose neighbours come from far apart in memory: transposed copies. The scheduler marks their groups, and
 * tiles/transpose.ts computes them square by square.
 */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { reshape, stored } from "../../graph/primitives/movement.js";
import type { TileProfile } from "../target/tile-profile.js";
import type { TransposedAxes } from "./group.js";
import { loadStrides } from "./loads.js";

/** Lanes of a workgroup that moves a square through shared memory. */
export const SQUARE_LANES = 256;
/** Shorter axes are not worth a square. */
const LEAST_EXTENT = 16;
/** Results of fewer elements are in the cache anyway. */
const LEAST_SIZE = 1 << 14;
/** Neighbours that are this far apart share no vector and no cache line. */
export const FAR = 8;

/** The node that has the elements of a result in the same order, before they were given another shape. */
function unshaped(result: Node, isLoaded: (node: Node) => boolean): Node {
  let node = result;
  while ((node.primitive === reshape || node.primitive === stored) && !isLoaded(node.inputs[0])) node = node.inputs[0];
  return node;
}

/** The axis along which the source of a result is contiguous, and the one along which the result is, if they differ. */
export function transposedAxes(
  whole: Node,
  isLoaded: (node: Node) => boolean,
  { kind, sharedBytes, maxLanes }: TileProfile,
): TransposedAxes | null {
  const result = unshaped(whole, isLoaded);
  const { shape } = result;
  const last = shape.findLastIndex((extent) => extent > 1);
  if (kind === "registers" || (kind === "shared" && maxLanes < SQUARE_LANES)) return null;
  if (productOf(shape) < LEAST_SIZE || shape[last] < LEAST_EXTENT) return null;
  const strides = loadStrides(result, isLoaded);
  const axes = strides.map((each) => {
    if (Math.abs(each[last]) < FAR) return -1;
    return each.findIndex((stride, axis) => Math.abs(stride) === 1 && shape[axis] >= LEAST_EXTENT);
  });
  const from = axes.find((axis) => axis >= 0);
  if (from === undefined) return null;
  return { node: result, from, to: last, sharedBytes: kind === "shared" ? sharedBytes : null };
}
