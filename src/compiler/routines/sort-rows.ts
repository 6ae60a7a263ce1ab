/**
 * Sorting by routines that make the keys as they read the values: the compiler substitutes it (rewrite/implementations.ts) for
 * `argsort` of `orderKey`, and for `takeAlongAxis` of those positions, where the device sorts in shared memory. No keys lie in
 * memory then, and values in order need no positions.
 */
import { type DType, isPacked } from "../../core/dtype.js";
import { productOf, sizeOf } from "../../core/shape.js";
import { makeNode } from "../../graph/build.js";
import { inputsFirst, type Node } from "../../graph/node.js";
import type { Params, RoutinePrimitive } from "../../graph/primitive.js";
import { takeAlongAxis } from "../../graph/primitives/movement.js";
import { argsort, orderKey } from "../../graph/primitives/order.js";
import { MAX_I32 } from "../ir/ir.js";
import type { SortProfile } from "../target/profile.js";
import type { Routine } from "../target/routine.js";
import { elementWords, type Sorted } from "./element-words.js";
import { rowsAsTiles } from "./radix-sort.js";
import { asVotingRows, sortBySweeps, sweptRows } from "./radix-sweep.js";
import { sortRowsKernel } from "./radix-tile-sort.js";
import { sortVotingRowsKernel } from "./ranked-tile.js";

/**
 * The rows of the last axis in order, or their positions. Params: keyed, the params of `orderKey`; result.
 * @internal for tests: they look for it in a graph
 */
export const sortRows: RoutinePrimitive = {
  name: "sortRows",
  kind: "routine",
  infer: ([{ shape, dtype }], { result }) => ({ shape, dtype: result === "values" ? dtype : "i32" }),
};

export const sortRowsRoutine: Routine = ({ inputs: [x], params }, { sort }, settings) => {
  const { shape, dtype } = x;
  const keyed = params.keyed as Params;
  const sorted: Sorted = { shape, dtype, keyed, result: params.result as Sorted["result"] };
  const words = elementWords(sorted, settings);
  const swept = sweptRows(sorted, sort);
  const tiles = rowsAsTiles(x, sort);
  if (!tiles && swept) return sortBySweeps(shape, swept, words);
  if (!tiles) throw new Error(`sortRows: rows of [${shape}] fit no tile`);
  const voting = asVotingRows(tiles, sort);
  return {
    temporaries: [],
    steps: [
      {
        kernel: voting ? sortVotingRowsKernel(voting, words) : sortRowsKernel(tiles, words),
        buffers: [{ kind: "input", index: 0 }, { kind: "result" }],
        formula: ([a, out]) => {
          const found = words.isAlone ? `${a} in order` : `argsort of ${a}`;
          return `${out} = ${found} along axis ${shape.length - 1}, each row in shared memory`;
        },
      },
    ],
  };
};

/** Whether rows of values can be sorted so. */
function canSortRows({ shape, dtype }: { shape: readonly number[]; dtype: DType }, sort: SortProfile): boolean {
  if (isPacked(dtype) || dtype === "bool" || sizeOf(shape) === 0 || productOf(shape) > MAX_I32) return false;
  return rowsAsTiles({ shape, dtype }, sort) !== null || sweptRows({ shape, dtype }, sort) !== null;
}

/** Substitutes `sortRows` in the graph behind the roots; null for nodes that stay. */
export function sortingRewriter(
  roots: readonly Node[],
  sort: SortProfile | null,
): (node: Node, inputs: readonly Node[]) => Node | null {
  let uses: Map<Node, number> | null = null;
  const isUsedOnce = (node: Node): boolean => {
    uses ??= countUses(roots);
    return uses.get(node) === 1;
  };
  return (node, inputs) => {
    if (!sort) return null;
    const [first, second] = inputs;
    if (node.primitive === argsort && first.primitive === orderKey && first.storage === null) {
      const [x] = first.inputs;
      return canSortRows(x, sort)
        ? makeNode(sortRows, [x], { keyed: first.params, result: "positions" }, node.device)
        : null;
    }
    // Positions that are needed anyway are cheaper to follow than a second sort.
    const isSorting = node.primitive === takeAlongAxis && second.primitive === sortRows && isUsedOnce(node.inputs[1]);
    if (!isSorting || second.inputs[0] !== first || node.params.axis !== first.shape.length - 1) return null;
    return makeNode(sortRows, [first], { ...second.params, result: "values" }, node.device);
  };
}

/** How often each node is an input or a root. */
function countUses(roots: readonly Node[]): Map<Node, number> {
  const uses = new Map<Node, number>();
  const use = (node: Node) => uses.set(node, (uses.get(node) ?? 0) + 1);
  roots.forEach(use);
  for (const node of inputsFirst(roots, ({ storage, inputs }) => (storage ? [] : inputs))) node.inputs.forEach(use);
  return uses;
}
