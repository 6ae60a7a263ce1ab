/**
 * Sums that `einsum` takes before a product. Such a sum may overflow where the product with a small number would not: of
 * "ij,k->k" with 1e38 and 1e-10. It is therefore taken twice in one pass, plainly and scaled down by a power of two. If a
 * plain sum is not finite, the scaled ones are used, and the result of `einsum` is scaled up again.
 */
import { isComplex, isFloat } from "../../core/dtype.js";
import { sumNode } from "../../graph/contraction.js";
import type { Node } from "../../graph/node.js";
import { accumulatorDType } from "../../graph/primitives/dot.js";
import type { Tensor } from "../tensor.js";
import { where } from "./where.js";

interface EarlySum {
  readonly node: Node;
  /** One number, by which the result is multiplied; undefined if that is 1. */
  readonly factor?: Tensor;
}

/** `tensorOf` makes a tensor of a node. Integers wrap around, so the order of their sums makes no difference. */
export function earlySum(node: Node, axes: readonly number[], tensorOf: (node: Node) => Tensor): EarlySum {
  const terms = axes.reduce((count, axis) => count * node.shape[axis], 1);
  const sum = sumNode(node, axes);
  if (terms < 2 || !(isFloat(node.dtype) || isComplex(node.dtype))) return { node: sum };
  // A power of two as large as the number of terms: sums so scaled are no larger than their largest term.
  const scale = 2 ** Math.ceil(Math.log2(terms));
  const plain = tensorOf(sum);
  const wide = tensorOf(node).cast(accumulatorDType(node.dtype));
  const scaled = tensorOf(sumNode(wide.mul(1 / scale).node, axes)).cast(node.dtype);
  const fits = plain.isFinite().all();
  return { node: where(fits, plain, scaled).node, factor: where(fits, 1, scale) };
}

/** The result times the factors, one after the other: their product may be more than a number holds. */
export function scaledUp(result: Tensor, factors: readonly Tensor[]): Tensor {
  if (factors.length === 0) return result;
  const wide = accumulatorDType(result.dtype);
  return factors.reduce((product, factor) => product.mul(factor), result.cast(wide)).cast(result.dtype);
}
