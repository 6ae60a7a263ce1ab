/** The memory of a program's leaves: of tensors that were computed, or of contiguous slices of them. */
import type { EngineMemory } from "../engines/engine.js";
import { contiguousSliceOf, repeatsAmong } from "../graph/contiguous-slice.js";
import type { Node } from "../graph/node.js";

interface LeafMemory<M> {
  readonly memory: readonly M[];
  /** The byte offset at which each leaf begins; null if all begin at 0. */
  readonly starts: readonly number[] | null;
}

export const wholeMemory = <M extends EngineMemory>(leaves: readonly Node[]): LeafMemory<M> => ({
  memory: leaves.map(({ storage }) => storage as unknown as M),
  starts: null,
});

/** For leaves that include slices. A slice that comes twice is listed once, as in programs. */
export function slicedMemory<M extends EngineMemory>(leaves: readonly Node[]): LeafMemory<M> {
  const repeats = repeatsAmong(leaves);
  const memory: M[] = [];
  const starts: number[] = [];
  for (const leaf of leaves) {
    if (repeats.has(leaf)) continue;
    const part = leaf.storage === null ? contiguousSliceOf(leaf) : null;
    memory.push((part ? part.source : leaf).storage as unknown as M);
    starts.push(part ? part.start : 0);
  }
  return { memory, starts };
}
