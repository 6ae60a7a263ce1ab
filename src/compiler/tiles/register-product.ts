/**
 * A matrix product for targets where barriers cost more than they save, such as software Vulkan drivers: each thread computes
 * a small tile of the result in registers, straight from memory.
 */
import { unravel } from "../../core/index-expr.js";
import type { ElementSettings } from "../elements/elements.js";
import type { Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { Lowering } from "../lower/lowering.js";
import type { FusedProduct, Group, LoweredKernel } from "../schedule/group.js";
import type { RegisterTile } from "../target/tile-profile.js";
import { productArithmetic } from "./arithmetic.js";
import { storeElements } from "./product-result.js";

export function lowerRegisterProduct(
  group: Group,
  tile: RegisterTile,
  name: string,
  settings: ElementSettings,
): LoweredKernel {
  const { dot } = group.product as FusedProduct;
  const [a, b] = dot.inputs;
  const [batch, m, depth] = a.shape;
  const n = b.shape[2];
  const [rowTiles, columnTiles] = [Math.ceil(m / tile.rows), Math.ceil(n / tile.columns)];
  const k = new KernelBuilder(name, batch * rowTiles * columnTiles);
  const lowering = new Lowering(k, group, settings);
  const arithmetic = productArithmetic(k, lowering, dot.dtype);
  const i = (value: number) => k.constant("i32", value);

  const row = lowering.bind("row", k.rows, k.row);
  const [atBatch, tileRow, tileColumn] = unravel(lowering.space, row, [batch, rowTiles, columnTiles]);
  const places = (from: Value, count: number, extent: number) =>
    Array.from({ length: count }, (_, c) => {
      const at = k.binary("add", k.binary("mul", from, i(count)), i(c));
      return {
        index: lowering.index(at, extent),
        gate: extent % count === 0 ? null : k.compare("lt", at, i(extent)),
      };
    });
  const rows = places(lowering.indexValue(tileRow), tile.rows, m);
  const columns = places(lowering.indexValue(tileColumn), tile.columns, n);

  const at = lowering.variable("k", depth);
  const sums = lowering.loop(
    at,
    depth,
    new Array<Value>(tile.rows * tile.columns).fill(arithmetic.zero),
    (accumulators) => {
      const left = rows.map(({ index, gate }) => arithmetic.enter(lowering.element(a, [atBatch, index, at], gate)));
      const right = columns.map(({ index, gate }) => arithmetic.enter(lowering.element(b, [atBatch, at, index], gate)));
      return accumulators.map((sum, place) => {
        const [r, c] = [Math.floor(place / tile.columns), place % tile.columns];
        return arithmetic.step(left[r], right[c], sum);
      });
    },
  );
  rows.forEach(({ index: rowIndex, gate: isRow }, r) => {
    const elements = columns.map(({ index, gate: isColumn }, c) => ({
      index: [atBatch, rowIndex, index],
      sum: sums[r * tile.columns + c],
      gate: isRow && isColumn ? k.binary("and", isRow, isColumn) : (isRow ?? isColumn),
    }));
    storeElements(k, lowering, group, arithmetic, elements);
  });
  return { kernel: k.finish(), buffers: lowering.buffers };
}
