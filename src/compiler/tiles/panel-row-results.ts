/**
 * Results that are reduced from the rows of a product on a CPU: the nearest of some points, the largest of some scores. panel-product.ts
 * computes the transpose, so that the lanes of a vector are neighbouring rows of the product. The sums of one panel of vectors
 * over all columns stay in a small array, which the reductions go over at once: the product is never stored, no lane needs
 * another's part, and all of it happens in the nearest cache. schedule/row-products.ts finds such results.
 */
import { constantExpr, type IndexExpr, add as plus, ravel, unravel } from "../../core/index-expr.js";
import { indexKey } from "../../graph/reads.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Lowering } from "../lower/lowering.js";
import type { FusedProduct, Group } from "../schedule/group.js";
import type { ProductArithmetic } from "./arithmetic.js";

/** The kernel that the rows are reduced in. */
interface RowKernel {
  readonly k: KernelBuilder;
  readonly lowering: Lowering;
  readonly group: Group;
  readonly arithmetic: ProductArithmetic;
  readonly atBatch: IndexExpr;
  readonly lane: IndexExpr;
}

/** The sums of a few vectors of rows, column after column. */
export class RowSums {
  private readonly array: number;

  /** Of a product with so many columns. */
  constructor(
    private readonly kernel: RowKernel,
    columns: number,
    private readonly vectors: number,
  ) {
    const { k, arithmetic } = kernel;
    this.array = k.array(arithmetic.type, columns * vectors * k.lanes);
  }

  /** Keeps the sums of some columns from one on, vector by vector. */
  keep(firstColumn: IndexExpr, sums: readonly Value[]): void {
    const { k, lowering } = this.kernel;
    const from = this.placeOf(lowering.indexValue(firstColumn));
    sums.forEach((sum, at) => {
      k.set(this.array, k.binary("add", this.vectorAt(from, at), k.lane), sum);
    });
  }

  /** Reduces the rows of the vectors, the first of which begin at a row, and stores the results. */
  reduce(firstRow: IndexExpr): void {
    const { k, lowering, group, arithmetic, atBatch, lane } = this.kernel;
    const { dot } = group.product as FusedProduct;
    const [{ node: result }] = group.results;
    const [batch, m] = dot.shape;
    const rows = Array.from({ length: this.vectors }, (_, v) => {
      const at = plus(firstRow, plus(constantExpr(v * k.lanes), lane));
      return lowering.bind("row", m, lowering.indexValue(at));
    });
    const vectorOf = new Map(rows.map((row, v) => [indexKey([row]), v]));
    lowering.give(dot, ([, row, column]) => {
      const vector = vectorOf.get(indexKey([row]));
      if (vector === undefined) throw new Error("panel product: a row that is not one of its vectors");
      const from = this.placeOf(lowering.indexValue(column));
      return arithmetic.leave(k.get(this.array, k.binary("add", this.vectorAt(from, vector), k.lane)));
    });
    const places = rows.map((row) => ravel([atBatch, row], [batch, m]));
    const indexOf = (place: IndexExpr) => unravel(lowering.space, place, result.shape);
    lowering.shareReductions([{ node: result, columns: null, at: indexOf }], places);
    const slot = lowering.slotOf(result, true);
    const stores = places.map((place) => {
      const index = indexOf(place);
      return { at: lowering.indexValue(ravel(index, result.shape)), value: lowering.element(result, index).value };
    });
    for (const { at, value } of stores) k.store(slot, at, value, false);
  }

  private placeOf(column: Value): Value {
    const { k } = this.kernel;
    return k.binary("mul", column, k.constant("i32", this.vectors * k.lanes));
  }

  private vectorAt(place: Value, vector: number): Value {
    const { k } = this.kernel;
    return k.binary("add", place, k.constant("i32", vector * k.lanes));
  }
}
