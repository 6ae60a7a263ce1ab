/**
 * The reductions of a group that depend on the row alone, found before anything is computed: all lanes of the row work on
 * them together, once, ahead of the columns. `Lowering` computes what is found here.
 */
import { type Atom, atomsOf, constantExpr, type IndexExpr, type IndexSpace } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { forEachRead, indexKey, type Reduction, reductionAt } from "../../graph/reads.js";
import type { Group } from "../schedule/group.js";

/** A result of the kernel: where its elements are in terms of the row and, if it has any, the column. */
export interface Wanted {
  readonly node: Node;
  readonly columns: number | null;
  at(row: IndexExpr, column: IndexExpr): readonly IndexExpr[];
}

/** The parts of a group that the search needs. */
interface Known extends Pick<Group, "isLoaded" | "isWrittenOut"> {
  readonly space: IndexSpace;
}

/**
 * Reductions that depend on the row alone, in turns, such that each needs only those of earlier turns; those of a turn by
 * extent, because they share a loop.
 */
export function reductionsInTurns(
  { space, isLoaded, isWrittenOut }: Known,
  results: readonly Wanted[],
  rows: readonly IndexExpr[],
): readonly ReadonlyMap<number, readonly Reduction[]>[] {
  const turns: Map<number, Reduction[]>[] = [];
  const seen = new Map<Node, Map<string, number>>();
  /** The turn after which an element can be computed. */
  const visit = (node: Node, at: readonly IndexExpr[], inner: ReadonlySet<Atom>): number => {
    if (isLoaded(node)) return 0;
    const byIndex = seen.get(node) ?? new Map<string, number>();
    seen.set(node, byIndex);
    const key = indexKey(at);
    const known = byIndex.get(key);
    if (known !== undefined) return known;
    const { primitive } = node;
    let turn = 0;
    const need = (input: Node, index: readonly IndexExpr[], within = inner) => {
      turn = Math.max(turn, visit(input, index, within));
    };
    forEachRead(space, node, at, (input, index) => need(input, index));
    if (primitive.kind === "reduce" && isWrittenOut?.(node)) {
      const { extent, at: indexAt } = reductionAt(space, node, primitive.op, at);
      for (let i = 0; i < extent; i++) need(node.inputs[0], indexAt(constantExpr(i)));
    } else if (primitive.kind === "reduce") {
      // An index that is read from memory is known only when it has been read, after this.
      const isKnown = (atom: Atom) => atom.kind !== "computed" && !inner.has(atom);
      const isOfRow = at.every((expression) => [...atomsOf(expression)].every(isKnown));
      const reduction = reductionAt(space, node, primitive.op, at);
      const position = space.variable("position", reduction.extent);
      need(node.inputs[0], reduction.at(position), new Set([...inner, ...atomsOf(position)]));
      if (isOfRow) {
        turns[turn] ??= new Map();
        const alike = turns[turn].get(reduction.extent) ?? [];
        turns[turn].set(reduction.extent, alike);
        alike.push(reduction);
        turn++;
      }
    }
    byIndex.set(key, turn);
    return turn;
  };
  for (const { node, columns, at } of results) {
    const column = space.variable("column", columns ?? 1);
    for (const row of rows) visit(node, at(row, column), atomsOf(column));
  }
  return turns;
}
