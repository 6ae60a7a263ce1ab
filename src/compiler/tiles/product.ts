/**
 * Lowers matrix products to kernels, by the kind of their tile. A product comes with its planned tile and its fused epilogue;
 * each kind of tile has a file of its own.
 */
import type { ElementSettings } from "../elements/elements.js";
import type { FusedProduct, Group, LoweredKernel } from "../schedule/group.js";
import type { Tile } from "../target/tile-profile.js";
import { lowerMatrixProduct } from "./matrix-product.js";
import { lowerPanelProduct } from "./panel-product.js";
import type { Reason } from "./plan.js";
import { describeTile } from "./product-shape.js";
import { lowerRegisterProduct } from "./register-product.js";
import { lowerSharedProduct } from "./shared-product.js";

/** The words for the reason of a tiling. */
const REASONS: Readonly<Record<Reason, string>> = {
  tuned: "measured on this device",
  table: "measured on a device of its family",
  rule: "chosen by rule",
  forced: "as wanted",
};

/** A line on the tiles of a product, and why it has them; none for other groups. */
export function describeProduct({ product }: Group): string[] {
  if (!product) return [];
  const { tile, reason = "forced" } = product.dot.params as { readonly tile: Tile; readonly reason?: Reason };
  return [`tiles: ${describeTile(tile)}, ${REASONS[reason]}`];
}

export function lowerProduct(group: Group, name: string, settings: ElementSettings): LoweredKernel {
  const { dot } = group.product as FusedProduct;
  const tile = dot.params.tile as Tile;
  const label = `${name} in ${tile.rows}×${tile.columns}`;
  switch (tile.kind) {
    case "shared":
      return lowerSharedProduct(group, tile, label, settings);
    case "matrix":
      return lowerMatrixProduct(group, tile, label, settings);
    case "registers":
      return lowerRegisterProduct(group, tile, label, settings);
    case "panels":
      return lowerPanelProduct(group, tile, label, settings);
  }
}
