/**
 * Lowers matrix products to kernels, by the kind of their tile. A product comes with its planned tile and its fused epilogue;
 * each kind of tile has a file of its own.
 */
import type { ElementSettings } from "../elements/elements.js";
import type { FusedProduct, Group, LoweredKernel } from "../schedule/group.js";
import type { Tile } from "../target/tile-profile.js";
import { lowerMatrixProduct } from "./matrix-product.js";
import { lowerPanelProduct } from "./panel-product.js";
import { lowerRegisterProduct } from "./register-product.js";
import { lowerSharedProduct } from "./shared-product.js";

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
