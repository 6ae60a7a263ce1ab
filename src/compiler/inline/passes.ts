/**
 * Writes the passes of a function of a thread: elements one by one, stretches in loops, sums side by side. inline.ts decides
 * which passes there are.
 */
import { addConstant, constantExpr, type IndexExpr, ravel, unravel } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { reductionAt } from "../../graph/reads.js";
import { reductionOf } from "../../graph/reduction.js";
import { computeType, type Element, type ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import { placesOf } from "../lower/lane-walk.js";
import { Lowering } from "../lower/lowering.js";
import type { Group, RowTiling } from "../schedule/group.js";
import { type Columns, everyElementOf, neighbourAxisOf, type Stretch, wholeOf } from "./element-survey.js";
import type { InlineContext, InlineResult } from "./inline.js";
import type { Place } from "./place.js";

/** One pass of code: elements one by one, a stretch in a loop, or all sums of a reduction side by side. */
export type Pass =
  | { readonly kind: "elements"; readonly stretches: readonly Stretch[]; readonly wide: readonly Node[] }
  | { readonly kind: "columns"; readonly stretch: Stretch }
  | { readonly kind: "sums"; readonly node: Node };

/** The decisions that the writer needs. */
interface Decisions {
  isStored(node: Node): boolean;
  isWrittenOut(reduction: Node): boolean;
  columnsOf(stretch: Stretch): Columns;
  /** The most elements of a value that are written without a loop. */
  readonly maxUnrolled: number;
}

/** Neighbouring sums that a thread holds in registers; more of them lie in memory, where vectors add to them. */
const MAX_TOTALS = 7;

export class PassWriter {
  constructor(
    private readonly context: InlineContext,
    private readonly places: ReadonlyMap<Node, Place>,
    private readonly decisions: Decisions,
  ) {}

  /** Writes a pass. What is wanted as a value is added to the values. */
  write(pass: Pass, resultOf: (node: Node) => InlineResult, values = new Map<Node, Value>()): void {
    if (pass.kind === "elements") this.writeElements(pass, resultOf, values);
    else if (pass.kind === "columns") this.writeColumns(pass.stretch);
    else this.writeSums(pass.node);
    this.context.k.barrier();
  }

  /** Elements of small results, written out one by one, and those of wide ones, which lanes share. */
  private writeElements(
    { stretches, wide }: Extract<Pass, { kind: "elements" }>,
    resultOf: (node: Node) => InlineResult,
    values: Map<Node, Value>,
  ): void {
    const { k } = this.context;
    const { elements } = everyElementOf(stretches);
    const lowering = this.lowering([...stretches.map(({ node }) => node), ...wide]);
    lowering.shareReductions(
      [
        ...elements.map(({ node, index }) => ({ node, columns: null, at: () => index })),
        ...wide.map((root) => wantedOf(lowering, wholeOf(root))),
      ],
      [constantExpr(0)],
    );
    const computed = elements.map(({ node, index }) => lowering.element(node, index).value);
    const isFirst = k.lanes > 1 ? k.compare("eq", k.lane, k.constant("i32", 0)) : null;
    elements.forEach(({ node, index }, i) => {
      const result = resultOf(node);
      if (result === "value") values.set(node, computed[i]);
      else result.store(k.constant("i32", ravel(index, node.shape).constant), computed[i], isFirst);
    });
    for (const root of wide) this.overColumns(lowering, wholeOf(root));
  }

  /** The elements of a stretch in a loop that lanes share. */
  private writeColumns(stretch: Stretch): void {
    if (stretch.count === 0) return;
    const lowering = this.lowering([stretch.node]);
    lowering.shareReductions([wantedOf(lowering, stretch)], [constantExpr(0)]);
    this.overColumns(lowering, stretch);
  }

  private overColumns(lowering: PlacedLowering, stretch: Stretch): void {
    const { node } = stretch;
    const { space } = lowering;
    const place = this.places.get(node) as Place;
    const { extents, at } = this.decisions.columnsOf(stretch);
    const write = (positions: readonly (readonly IndexExpr[])[], gate: Value | null) => {
      const writes = positions.map((position) => {
        const index = at(space, position);
        const { value } = lowering.element(node, index, gate);
        return { index: lowering.indexValue(ravel(index, node.shape)), value };
      });
      for (const { index, value } of writes) place.store(index, value, gate);
    };
    const [first, ...inner] = extents;
    if (inner.length > 0) {
      lowering.overAxes(extents, (positions) => write([positions], null));
      return;
    }
    lowering.overColumns(first, (batch, gate) => {
      const positions = placesOf(batch).map((column) => [column]);
      write(positions, gate);
    });
  }

  /**
   * Sums whose neighbours have neighbouring terms: a round takes a term of each. A few are held in registers; many are added
   * up in memory, in loops over neighbours.
   */
  private writeSums(node: Node): void {
    const lowering = this.lowering([node]);
    lowering.shareReductions([wantedOf(lowering, wholeOf(node))], [constantExpr(0)]);
    const { outer, extent } = neighbourAxisOf(node);
    if (extent <= MAX_TOTALS) lowering.overAxes(outer, (rows) => this.sumInRegisters(lowering, node, rows));
    else lowering.overAxes(outer, (rows) => this.sumInMemory(lowering, node, rows));
  }

  private sumInRegisters(lowering: PlacedLowering, node: Node, rows: readonly IndexExpr[]): void {
    if (node.primitive.kind !== "reduce") return;
    const { op } = node.primitive;
    const { extent, at } = neighbourAxisOf(node);
    const place = this.places.get(node) as Place;
    const indices = Array.from({ length: extent }, (_, i) => at(rows, constantExpr(i)));
    const totals = lowering.reduceTogether(indices.map((index) => reductionAt(lowering.space, node, op, index)));
    indices.forEach((index, i) => {
      place.store(lowering.indexValue(ravel(index, node.shape)), totals[i]);
    });
  }

  private sumInMemory(lowering: PlacedLowering, node: Node, rows: readonly IndexExpr[]): void {
    if (node.primitive.kind !== "reduce") return;
    const { k } = this.context;
    const { op } = node.primitive;
    const { extent, at } = neighbourAxisOf(node);
    const place = this.places.get(node) as Place;
    const overNeighbours = (body: (index: readonly IndexExpr[], flat: Value) => void) =>
      lowering.overAxes([extent], ([column]) => {
        const index = at(rows, column);
        body(index, lowering.indexValue(ravel(index, node.shape)));
      });
    const { combine, identity } = reductionOf(op);
    const none = k.constant(computeType(node.dtype), identity(node.dtype));
    overNeighbours((_, flat) => place.store(flat, none));
    const { extents } = reductionAt(lowering.space, node, op, at(rows, constantExpr(0)));
    lowering.overAxes(extents, (positions) =>
      overNeighbours((index, flat) => {
        const { atEach } = reductionAt(lowering.space, node, op, index);
        const { value } = lowering.element(node.inputs[0], atEach(positions));
        place.store(flat, k.binary(combine, place.load(flat), value));
      }),
    );
  }

  private lowering(results: readonly Node[]): PlacedLowering {
    const { k, settings } = this.context;
    const { isStored, isWrittenOut, maxUnrolled } = this.decisions;
    const tiling: RowTiling = { lanes: k.lanes, width: 1, unroll: 1, elementsPerLane: k.lanes > 1 ? 1 : maxUnrolled };
    const group: Group = {
      results: results.map((node) => ({ node, rowAxes: [] })),
      tiling,
      rowsPerThread: 1,
      isLoaded: isStored,
      isWrittenOut,
      isNesting: k.lanes === 1,
    };
    return new PlacedLowering(k, group, settings, this.places);
  }
}

/** The elements of a stretch, as columns of the row. */
const wantedOf = ({ space }: Lowering, { node, from, count }: Stretch) => ({
  node,
  columns: count,
  at: (_row: IndexExpr, column: IndexExpr) => unravel(space, addConstant(column, from), node.shape),
});

/** Lowering that finds what it loads in places. Nothing is written there meanwhile, so loads may move out of its loops. */
class PlacedLowering extends Lowering {
  private readonly since: number;

  constructor(
    private readonly builder: KernelBuilder,
    group: Group,
    settings: ElementSettings,
    private readonly places: ReadonlyMap<Node, Place>,
  ) {
    super(builder, group, settings);
    this.since = builder.depth;
  }

  protected override load(node: Node, index: readonly IndexExpr[], gate: Value | null): Element {
    const k = this.builder;
    const place = this.places.get(node);
    if (!place) throw new Error(`inline: ${node.primitive.name} [${node.shape}] has no place`);
    const flat = this.indexValue(ravel(index, node.shape));
    const value = place.load(gate ? k.select(gate, flat, k.constant("i32", 0)) : flat, this.since);
    if (value.type !== computeType(node.dtype)) throw new Error(`inline: ${node.dtype} is kept as ${value.type}`);
    return { dtype: node.dtype, value };
  }
}
