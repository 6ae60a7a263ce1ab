/**
 * Chooses between ways to compute the same thing: products of matrices in tiles or as plain sums, long concatenations by a
 * routine that copies, scans whose bodies broadcast captured values themselves, selection and sorting by values instead of keys,
 * short reductions inside others written out, sums that pick one element as reads of it.
 */
import { isPacked } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import { makeNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import { scan } from "../../graph/primitives/control/scan.js";
import { dot } from "../../graph/primitives/dot.js";
import { concat } from "../../graph/primitives/movement.js";
import { argsortAt, orderKey } from "../../graph/primitives/order.js";
import { g } from "../../graph/vocabulary.js";
import { MAX_I32 } from "../ir/ir.js";
import { join, MAX_FUSED_INPUTS } from "../routines/join.js";
import { sortingRewriter } from "../routines/sort-rows.js";
import type { SortProfile } from "../target/profile.js";
import type { TileProfile } from "../target/tile-profile.js";
import { repeatingInside } from "./captured-broadcasts.js";
import { pickedElement } from "./picked-elements.js";
import { productRewriter } from "./products.js";
import { rewriteNodes } from "./rewriter.js";
import { shortReductions, writtenOut } from "./short-reductions.js";
import { simpler } from "./simplify.js";

interface ChosenImplementations {
  readonly roots: readonly Node[];
  /** Nodes to be computed into memory before a product loads them. */
  readonly stored: ReadonlySet<Node>;
}

/** `sort`: how the device sorts; null where no routine can run. */
export function chooseImplementations(
  roots: readonly Node[],
  tiles: TileProfile,
  sort: SortProfile | null = null,
): ChosenImplementations {
  const sorting = sortingRewriter(roots, sort);
  const products = productRewriter(tiles);
  // Functions inside larger kernels decide by themselves what they write out.
  const short = tiles.kind === "none" ? new Set() : shortReductions(roots);
  const chosen = rewriteNodes(roots, new Map(), (node, inputs) => {
    if (short.has(node)) return writtenOut(node, inputs[0]);
    if (node.primitive === scan) return repeatingInside(node, inputs);
    // A function inside a larger kernel (tiles "none") cannot run a routine.
    const isJoined = node.primitive === concat && inputs.length > MAX_FUSED_INPUTS && tiles.kind !== "none";
    if (isJoined && isCountable([node])) return makeNode(join, inputs, node.params, node.device);
    // Selection makes its keys as it reads the values, which need no memory then.
    const [keys, ...ranks] = inputs;
    if (node.primitive === argsortAt && keys.primitive === orderKey && canMakeKeys(keys)) {
      return makeNode(argsortAt, [...keys.inputs, ...ranks], { ...node.params, keyed: keys.params }, node.device);
    }
    if (node.primitive !== dot) {
      const picked = () => (tiles.kind === "none" ? pickedElement(node, inputs[0]) : null);
      return sorting(node, inputs) ?? simpler(node, inputs) ?? picked();
    }
    return (
      (isCountable([node, ...inputs]) ? products.rewrite(node.params, inputs) : null) ?? dot.expand(g, node, inputs)
    );
  });
  return { roots: chosen, stored: products.stored };
}

/** Whether a kernel that selects can make these keys of the values it loads. */
const canMakeKeys = ({ dtype, storage, inputs: [values] }: Node): boolean =>
  dtype === "u32" && storage === null && !isPacked(values.dtype);

/** Tiles and routines count in 32 bits. */
const isCountable = (nodes: readonly Node[]): boolean => nodes.every(({ shape }) => productOf(shape) <= MAX_I32);
