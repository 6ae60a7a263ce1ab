/**
 * A lane's part of reductions that are made in one loop, and of the sums that run along with them (running-sums.ts). `Lowering`
 * makes one of these for each loop, and combines the lanes' parts.
 */
import { constantExpr, type IndexExpr } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import type { Reduction } from "../../graph/reads.js";
import { reductionOf } from "../../graph/reduction.js";
import { computeType, type Element } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { KernelScope } from "./kernel-scope.js";
import { type Batch, placesOf, type Walk } from "./lane-walk.js";
import { eitherPosition, laterPosition, type PositionOfBoth, type RunningPosition } from "./running-positions.js";
import { type Arithmetic, RunningStates, type RunningSum } from "./running-sums.js";

/** The kernel that the loop is written in, and its elements. */
interface Elements
  extends Pick<KernelScope, "loop" | "overBatch" | "speculate" | "variable" | "isBelow" | "both" | "indexValue"> {
  element(node: Node, index: readonly IndexExpr[], gate: Value | null): Element;
}

/** Combines neighbours, then neighbours of those, and so on. */
export function inPairs<T>(values: readonly T[], merge: (a: T, b: T) => T): T {
  let rest = values;
  while (rest.length > 1) {
    const next: T[] = [];
    for (let i = 0; i < rest.length; i += 2) next.push(i + 1 < rest.length ? merge(rest[i], rest[i + 1]) : rest[i]);
    rest = next;
  }
  return rest[0];
}

export class LaneReductions {
  private readonly k: KernelBuilder;
  private readonly identities: readonly Value[];
  private readonly states: RunningStates;

  /** `gate`: where it is false, elements are not read, and totals mean nothing. */
  constructor(
    private readonly kernel: Elements,
    arithmetic: Arithmetic,
    private readonly reductions: readonly Reduction[],
    private readonly gate: Value | null,
    private readonly running: readonly RunningSum[] = [],
    /** Positions of extremes among the reductions; there are no running sums besides. */
    private readonly positions: readonly RunningPosition[] = [],
  ) {
    this.k = arithmetic.k;
    // If no element is more extreme than the identity, all equal it, and the first is the answer.
    this.identities = [
      ...reductions.map(({ node, op }) =>
        this.k.constant(computeType(node.dtype), reductionOf(op).identity(node.dtype)),
      ),
      ...positions.map(() => this.k.constant("i32", 0)),
    ];
    this.states = new RunningStates(arithmetic, running);
  }

  /** The totals of a walk; after them the positions, and the states of the running sums, one after another. */
  over({ extent, loops, after, bounded }: Walk): readonly Value[] {
    const { kernel, identities, states } = this;
    const { length } = identities;
    const merge = (first: readonly Value[], second: readonly Value[]) => this.merged(first, second, eitherPosition);
    const options = this.positions.length > 0 ? { merge } : {};
    let totals: readonly Value[] = [...identities, ...states.empty];
    for (const { blocks, block, rounds, round, inRound } of loops) {
      totals = kernel.loop(block, blocks, totals, (soFar) => {
        // One block goes on from the states so far; of several, each begins with empty ones.
        const before = soFar.slice(length);
        const initial = [...identities, ...(blocks === 1 ? before : states.empty)];
        const sums = kernel.loop(
          round,
          rounds,
          initial,
          (accumulators) => this.extended(accumulators, inRound),
          options,
        );
        const ran = sums.slice(length);
        return [...this.merged(soFar, sums), ...(blocks === 1 ? ran : states.joined(before, ran))];
      });
    }
    if (after.count > 0) totals = this.extended(totals, after);
    if (bounded.count > 0) {
      totals = this.extended(totals, bounded, kernel.isBelow(bounded.at(constantExpr(0)), extent));
    }
    return totals;
  }

  /** The totals of elements one by one, until they are found: see `endsBelow` in graph/primitives/reduce.ts. */
  untilFound(extent: number): readonly Value[] {
    const { k, kernel, reductions } = this;
    const position = kernel.variable("position", extent);
    const each = (soFar: readonly Value[]) => this.extended(soFar, { count: 1, at: () => position });
    const exitWhen = (next: readonly Value[]) =>
      reductions
        .map(({ node }, i) => k.compare("lt", next[i], k.constant(next[i].type, node.params.endsBelow as number)))
        .reduce((all, one) => k.binary("and", all, one));
    return kernel.loop(position, extent, this.identities, each, { exitWhen });
  }

  /** The totals over several axes, the same for all reductions, with a loop for each axis. */
  overAxes(extents: readonly number[]): readonly Value[] {
    const { kernel, reductions, identities, gate } = this;
    const over = (positions: readonly IndexExpr[]): readonly Value[] => {
      if (positions.length === extents.length) {
        const values = () =>
          reductions.map(({ node, atEach }) => kernel.element(node.inputs[0], atEach(positions), gate).value);
        return kernel.speculate(values, (computed) => computed, values);
      }
      const extent = extents[positions.length];
      const position = kernel.variable("position", extent);
      return kernel.loop(position, extent, identities, (totals) => this.merged(totals, over([...positions, position])));
    };
    return over([]);
  }

  /** Totals and states with the elements of a batch, of those for which `bound` holds. */
  private extended(totals: readonly Value[], batch: Batch, bound: Value | null = null): readonly Value[] {
    const { kernel, reductions, positions, identities, states } = this;
    const { length } = identities;
    const gate = bound ? kernel.both(this.gate, bound) : this.gate;
    const before = totals.slice(length);
    const termsAt = (position: IndexExpr) => [
      ...reductions.map((_, i) => this.termAt(i, position, gate, bound)),
      ...positions.map(() => this.k.convert("i32", kernel.indexValue(position))),
    ];
    const together = () => ({
      sums: inPairs<readonly Value[]>(placesOf(batch).map(termsAt), (a, b) => this.merged(a, b)),
      elements: this.elementsAt(placesOf(batch), gate),
    });
    const oneByOne = () =>
      kernel.overBatch(batch, [...identities, ...before], (position, soFar) => [
        ...this.merged(soFar, termsAt(position)),
        ...states.added(soFar.slice(length), this.elementsAt([position], gate), bound),
      ]);
    const sums = kernel.speculate(
      together,
      (values) => [...values.sums, ...states.added(before, values.elements, bound)],
      oneByOne,
    );
    return [...this.merged(totals, sums), ...sums.slice(length)];
  }

  /** A term of a reduction; its identity outside the bound. */
  private termAt(which: number, position: IndexExpr, gate: Value | null, bound: Value | null): Value {
    const { node, at } = this.reductions[which];
    const { value } = this.kernel.element(node.inputs[0], at(position), gate);
    return bound ? this.k.select(bound, value, this.identities[which]) : value;
  }

  /** The elements that running sums add next. */
  private elementsAt(positions: readonly IndexExpr[], gate: Value | null): readonly (readonly Value[])[] {
    return this.running.map(({ element, reduction: { at } }) =>
      positions.map((position) => this.kernel.element(element, at(position), gate).value),
    );
  }

  private merge({ op }: Reduction, a: Value, b: Value): Value {
    return this.k.binary(reductionOf(op).combine, a, b);
  }

  /** Totals with those of other elements, which come later unless told otherwise. */
  private merged(
    totals: readonly Value[],
    others: readonly Value[],
    ofBoth: PositionOfBoth = laterPosition,
  ): readonly Value[] {
    const { k, reductions, positions } = this;
    const merged = reductions.map((reduction, i) => this.merge(reduction, totals[i], others[i]));
    const places = positions.map(({ extreme }, p) => {
      const [i, at] = [reductions.indexOf(extreme), reductions.length + p];
      return ofBoth(k, reductionOf(extreme.op).combine, [totals[i], others[i]], [totals[at], others[at]]);
    });
    return [...merged, ...places];
  }
}
