/**
 * The order in memory of a product's operands, as text: a measurement holds for operands that lie alike. "n" is
 * an operand whose rows lie one after the other, "t" a transposed one, "w" with a number any other rearrangement, such as the
 * windows of a convolution.
 */
import { sizeOf } from "../../core/shape.js";
import { sourceOf } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import { paramsKey } from "../../graph/params-key.js";
import { cast } from "../../graph/primitives/elementwise.js";
import { pad } from "../../graph/primitives/movement.js";
import type { MatmulPrecision } from "../../graph/product-precision.js";
import { loadStrides, splitAxes } from "../schedule/loads.js";
import type { TileProfile } from "../target/tile-profile.js";
import { familyOf } from "./families.js";
import type { ProductShape } from "./product-shape.js";
import { isSymmetricProduct } from "./symmetric-product.js";

/**
 * The shape of a product of [batch, m, k] and [batch, k, n]; with the orders of its operands where anything depends on them.
 */
export function productShapeOf(
  [a, b]: readonly [Node, Node],
  precision: MatmulPrecision | undefined,
  {
    tuned = {},
    family,
    note,
    kind,
  }: Pick<TileProfile, "tuned" | "family" | "note"> & Partial<Pick<TileProfile, "kind">>,
): ProductShape {
  const [batch, m, k] = a.shape;
  const narrow = a.dtype === "i32" && isOfBytes(a) && isOfBytes(b) ? ("i8" as const) : undefined;
  // Panels and tiles in shared memory compute one half.
  const isPossible = kind === "panels" || kind === "shared";
  const symmetric = isPossible && isSymmetricProduct(a, b) && { isSymmetric: true };
  const shape = { batch, m, n: b.shape[2], k, dtype: a.dtype, precision, ...(narrow && { narrow }), ...symmetric };
  const isMeasured = note || Object.keys(tuned).length > 0 || Object.keys(familyOf(family).tilings).length > 0;
  return isMeasured ? { ...shape, orders: `${orderOf(a)}${orderOf(b)}` } : shape;
}

/** Whether an operand rearranges a cast of i8. Padding may be of larger numbers, so it must be of zeros. */
function isOfBytes(operand: Node): boolean {
  let node = operand;
  while (node.primitive.kind === "movement" && node.inputs.length === 1) {
    if (node.primitive === pad && Number(node.params.value) !== 0) return false;
    node = node.inputs[0];
  }
  return node.primitive === cast && node.inputs[0].dtype === "i8";
}

/** The axes of an operand along its rows and columns. */
const [ROW, COLUMN] = [1, 2];

function orderOf(operand: Node): string {
  const source = sourceOf(operand);
  const isSource = (node: Node) => node === source;
  const isWhole = sizeOf(operand.shape) === sizeOf(source.shape);
  if (isWhole && !splitAxes(operand, isSource).slice(ROW).includes(true)) {
    const [strides] = loadStrides(operand, isSource);
    if (strides[COLUMN] === 1 || operand.shape[COLUMN] === 1) return "n";
    if (strides[ROW] === 1) return "t";
  }
  return `w${numberOf(operand, source)}`;
}

/** A number for the rearrangement between an operand and its source: FNV-1a over its operations. */
function numberOf(operand: Node, source: Node): string {
  let text = "";
  for (let node = operand; node !== source; node = node.inputs[0]) {
    text += `${node.primitive.name}${paramsKey(node)}${node.shape}|`;
  }
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}
