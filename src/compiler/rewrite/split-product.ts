/**
 * Products of f32 on matrix units that multiply f16, at the precision "high". Rows of the left operand and columns of the right
 * one are multiplied by powers of two that bring their largest elements near the largest f16. Each number is then split into
 * two f16 parts, 22 bits together, and the kernel (tiles/matrix-product.ts) sums three products of parts. The powers of two are
 * undone afterwards, fused into the product's epilogue. Scaling is exact; what is lost is far below the largest element of a
 * row or column.
 */
import type { DType } from "../../core/dtype.js";
import { broadcastNode, castNode, derive, reshapeNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import { bitcast } from "../../graph/primitives/elementwise.js";
import * as R from "../../graph/primitives/reduce.js";
import { g } from "../../graph/vocabulary.js";

const MANTISSA_BITS = 23;
const BIAS = 127;
/** Bits of an f32's mantissa that an f16 has no room for. */
const LOST_BITS = 13;
/** The largest element of a row is brought to at least 2^14; f16 reaches to 2^16. */
const LARGEST = 14;
/** The largest power whose reciprocal is not denormal. */
const MOST = 2 * BIAS - 1;

interface SplitOperand {
  /** The upper and the lower part, in f16. */
  readonly parts: readonly [Node, Node];
  /** Powers of two that undo the scaling, as exponents, with extent 1 along the summation. */
  readonly exponents: Node;
}

/** The product of two operands in parts, computed by `multiply`, brought back to its scale. */
export function splitProduct(
  a: Node,
  b: Node,
  multiply: (a: SplitOperand["parts"], b: SplitOperand["parts"]) => Node,
): Node {
  const [left, right] = [splitAlong(a, 2), splitAlong(b, 1)];
  const product = multiply(left.parts, right.parts);
  const { shape } = product;
  const exponent = g.add(broadcastNode(left.exponents, shape), broadcastNode(right.exponents, shape));
  // In two steps, because one power of two may be beyond f32 where the result is not.
  const half = g.shiftRight(exponent, 1);
  return g.mul(g.mul(product, powerOfTwo(half)), powerOfTwo(g.sub(exponent, half)));
}

/** Scales by the largest element along an axis, and splits. */
function splitAlong(node: Node, axis: 1 | 2): SplitOperand {
  const largest = derive(R.max, g.abs(node), { axes: [axis] });
  const kept = reshapeNode(largest, node.shape.with(axis, 1));
  const exponentOfLargest = g.shiftRight(bitsAs(kept, "i32"), MANTISSA_BITS);
  const exponent = g.minimum(g.sub(2 * BIAS + LARGEST, exponentOfLargest), MOST);
  const power = bitsAs(g.shiftLeft(exponent, MANTISSA_BITS), "f32");
  const scaled = g.mul(node, broadcastNode(power, node.shape));
  // Rounded to 11 bits in integers: drivers take a conversion to f16 and back for nothing.
  const raised = g.add(bitsAs(scaled, "u32"), 1 << (LOST_BITS - 1));
  const upper = bitsAs(g.and(raised, 2 ** 32 - 2 ** LOST_BITS), "f32");
  return {
    parts: [castNode(upper, "f16"), castNode(g.sub(scaled, upper), "f16")],
    exponents: g.sub(BIAS, exponent),
  };
}

const powerOfTwo = (exponent: Node): Node => bitsAs(g.shiftLeft(g.add(exponent, BIAS), MANTISSA_BITS), "f32");

const bitsAs = (node: Node, dtype: DType): Node => derive(bitcast, node, { dtype });
