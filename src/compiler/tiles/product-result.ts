/** Stores the elements of a product after its fused epilogue: the end of every product kernel. */
import { type IndexExpr, ravel, unravel } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { permute, reshape } from "../../graph/primitives/movement.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Lowering } from "../lower/lowering.js";
import type { FusedProduct, Group } from "../schedule/group.js";
import type { ProductArithmetic } from "./arithmetic.js";

/** An element of the product: its index, its sum, and a gate that is false outside the result. */
interface ProductElement {
  readonly index: readonly IndexExpr[];
  readonly sum: Value;
  readonly gate: Value | null;
}

/** Stores neighbouring elements. All values are computed before the first store, so that the stores can become one. */
export function storeElements(
  k: KernelBuilder,
  lowering: Lowering,
  group: Group,
  arithmetic: ProductArithmetic,
  elements: readonly ProductElement[],
): void {
  const { dot, path } = group.product as FusedProduct;
  const [{ node: result }] = group.results;
  const stores = elements.map(({ index, sum, gate }) => {
    const at = resultIndex(lowering, index, path);
    lowering.give(dot, () => arithmetic.leave(sum));
    const { value } = lowering.element(result, at, gate);
    return { at: lowering.indexValue(ravel(at, result.shape)), value, gate };
  });
  const target = lowering.slotOf(result, true);
  for (const { at, value, gate } of stores) k.store(target, at, value, false, gate);
}

/** The index in the result of an element of the product. */
function resultIndex(lowering: Lowering, index: readonly IndexExpr[], path: readonly Node[]): readonly IndexExpr[] {
  return path.reduce<readonly IndexExpr[]>((at, { primitive, params, shape, inputs }) => {
    if (primitive === permute) return (params.axes as readonly number[]).map((axis) => at[axis]);
    if (primitive !== reshape) return at;
    const [from] = inputs;
    return unravel(lowering.space, ravel(at, from.shape), shape);
  }, index);
}
