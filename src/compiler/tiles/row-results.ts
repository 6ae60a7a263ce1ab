/**
 * Results that are reduced from the rows of a product: the end of a shared product whose tile holds all columns of its rows.
 * Each lane reduces its own elements of a row; the lanes beside it put their parts together through shared memory, one lane to
 * a row. A reduction that needs another one, as the position of the least needs the least, comes a turn later.
 * schedule/row-products.ts finds such results.
 */
import { type IndexExpr, ravel, unravel } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import type { Reduction } from "../../graph/reads.js";
import { reductionOf } from "../../graph/reduction.js";
import { computeType } from "../elements/elements.js";
import type { IRType, Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Lowering } from "../lower/lowering.js";
import { reductionsInTurns } from "../lower/row-reductions.js";
import type { FusedProduct, Group } from "../schedule/group.js";
import { lanesOf, partPitch } from "../target/shared-tile.js";
import type { SharedTile } from "../target/tile-profile.js";
import type { ProductArithmetic } from "./arithmetic.js";

/** A lane's rows and columns of the tile, and its sums, row by row. */
interface LanePart {
  readonly atBatch: IndexExpr;
  /** Rows: counted from the first of the tile, and in the product. */
  readonly rows: readonly { readonly inTile: Value; readonly at: Value }[];
  readonly columns: readonly Value[];
  /** The number of the lane among those beside it. */
  readonly aside: Value;
  readonly sums: readonly Value[];
}

export function storeRowResults(
  k: KernelBuilder,
  lowering: Lowering,
  group: Group,
  arithmetic: ProductArithmetic,
  tile: SharedTile,
  part: LanePart,
): void {
  const { dot } = group.product as FusedProduct;
  const [{ node: result }] = group.results;
  const [batch, m, n] = dot.shape;
  const isBelow = (value: Value, step: number, extent: number) =>
    extent % step === 0 ? null : k.compare("lt", value, k.constant("i32", extent));
  const rows = part.rows.map(({ at }) => {
    const row = lowering.bind("row", m, at);
    return { row, place: ravel([part.atBatch, row], [batch, m]), isRow: isBelow(at, tile.rows, m) };
  });
  const columns = part.columns.map((at) => ({ index: lowering.index(at, n), isColumn: isBelow(at, tile.columns, n) }));
  rows.forEach(({ row }, r) => {
    columns.forEach(({ index }, c) => {
      lowering.provide(dot, [part.atBatch, row, index], arithmetic.leave(part.sums[r * columns.length + c]));
    });
  });
  const indexOf = (place: IndexExpr) => unravel(lowering.space, place, result.shape);
  const known = { space: lowering.space, isLoaded: (node: Node) => lowering.isLoaded(node) };
  const wanted = { node: result, columns: null, at: indexOf };
  const combine = new LaneCombination(k, tile, part);
  const turns = reductionsInTurns(
    known,
    [wanted],
    rows.map(({ place }) => place),
  );
  for (const turn of turns) {
    for (const found of inRows([...turn.values()].flat(), rows.length)) {
      const parts = found.map((reduction, r) => laneTotal(k, lowering, reduction, rows[r].isRow, columns));
      combine.all(found[0], parts).forEach((total, r) => {
        const { node, index } = found[r];
        lowering.provide(node, index, lowering.reduced(found[r], total));
      });
    }
  }
  const isFirst = k.compare("eq", part.aside, k.constant("i32", 0));
  const values = rows.map(({ place, isRow }) => lowering.element(result, indexOf(place), isRow).value);
  const target = lowering.slotOf(result, true);
  rows.forEach(({ place, isRow }, r) => {
    const gate = isRow ? k.binary("and", isFirst, isRow) : isFirst;
    k.store(target, lowering.indexValue(ravel(indexOf(place), result.shape)), values[r], false, gate);
  });
}

/** Reductions of a turn, those of one node together: one for each row, in order. */
function inRows(reductions: readonly Reduction[], rows: number): Reduction[][] {
  const byNode = new Map<Node, Reduction[]>();
  for (const reduction of reductions) byNode.set(reduction.node, [...(byNode.get(reduction.node) ?? []), reduction]);
  return [...byNode.values()].map((found) => {
    if (found.length !== rows) throw new Error("row results: a reduction that is not one for each row");
    return found;
  });
}

/** A lane's own part of a reduction of a row. */
function laneTotal(
  k: KernelBuilder,
  lowering: Lowering,
  { node, op, at }: Reduction,
  isRow: Value | null,
  columns: readonly { readonly index: IndexExpr; readonly isColumn: Value | null }[],
): Value {
  const { identity, combine } = reductionOf(op);
  const nothing = k.constant(computeType(node.dtype), identity(node.dtype));
  return columns
    .map(({ index, isColumn }) => {
      const gate = isRow && isColumn ? k.binary("and", isRow, isColumn) : (isRow ?? isColumn);
      const { value } = lowering.element(node.inputs[0], at(index), gate);
      return isColumn ? k.select(isColumn, value, nothing) : value;
    })
    .reduce((a, b) => k.binary(combine, a, b));
}

/** Puts the parts of lanes together that share rows of a tile. */
class LaneCombination {
  private readonly arrays = new Map<IRType, { readonly parts: number; readonly totals: number }>();

  constructor(
    private readonly k: KernelBuilder,
    private readonly tile: SharedTile,
    private readonly part: LanePart,
  ) {}

  /** The totals of the lane's rows. */
  all({ op, node }: Reduction, values: readonly Value[]): readonly Value[] {
    const { k, tile, part } = this;
    const { rows, aside } = part;
    const i = (value: number) => k.constant("i32", value);
    const pitch = partPitch(tile);
    const { parts, totals } = this.arraysOf(computeType(node.dtype));
    const rowStart = (row: Value) => k.binary("mul", row, i(pitch));
    rows.forEach(({ inTile }, r) => {
      k.set(parts, k.binary("add", rowStart(inTile), aside), values[r]);
    });
    k.barrier();
    const write = () => {
      const found = Array.from({ length: pitch - 1 }, (_, at) =>
        k.get(parts, k.binary("add", rowStart(k.lane), i(at))),
      );
      k.set(
        totals,
        k.lane,
        found.reduce((a, b) => k.binary(reductionOf(op).combine, a, b)),
      );
      return [];
    };
    if (lanesOf(tile) === tile.rows) write();
    else k.when(k.compare("lt", k.lane, i(tile.rows)), write);
    k.barrier();
    return rows.map(({ inTile }) => k.get(totals, inTile));
  }

  private arraysOf(type: IRType) {
    const { k, tile } = this;
    const known = this.arrays.get(type) ?? {
      parts: k.array(type, tile.rows * partPitch(tile)),
      totals: k.array(type, tile.rows),
    };
    this.arrays.set(type, known);
    return known;
  }
}
