/**
 * Folds constants, choices by constants, quotients by powers of two, and reductions of repeated values. Reductions need no loop: the sum of a constant is the constant
 * times the count, the sum of a tensor that was repeated along an axis is a multiple of the tensor. Gradients are full of
 * both.
 */
import { castScalar } from "../../core/cast.js";
import { DTYPES, type Scalar } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import { derive, scalarNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import type { Primitive } from "../../graph/primitive.js";
import { cast, div, greater, greaterEqual, less, lessEqual, where } from "../../graph/primitives/elementwise.js";
import { constant } from "../../graph/primitives/leaf.js";
import { expand, reshape } from "../../graph/primitives/movement.js";
import { type PlainScalar, type ReductionEntry, reductionOf } from "../../graph/reduction.js";
import { g } from "../../graph/vocabulary.js";

/** A node that computes the same as `node` does of its inputs, or null where there is nothing better. */
export function simpler(node: Node, inputs: readonly Node[]): Node | null {
  const { primitive, params, dtype, shape, device } = node;
  const x = inputs[0] as Node | undefined;
  const chosen = decided(node, inputs) ?? ofQuotient(node, inputs);
  if (chosen) return chosen;
  if (!x || DTYPES[dtype].kind === "complex" || DTYPES[x.dtype].kind === "complex") return null;
  if (primitive === cast && x.primitive === constant) {
    return scalarNode(castScalar(heldValue(x), x.dtype, dtype), dtype, device, shape);
  }
  if (primitive.kind !== "reduce") return null;
  const axes = params.axes as readonly number[];
  const entry = reductionOf(primitive.op);
  if (x.primitive === constant) {
    const count = productOf(axes.map((axis) => x.shape[axis]));
    const { copies, identity } = entry;
    return scalarNode(count === 0 ? identity(dtype) : copies.ofValue(heldValue(x), count, dtype), dtype, device, shape);
  }
  return x.primitive === expand ? ofRepeated(node, entry, x) : null;
}

const comparisons = new Map<Primitive, (a: PlainScalar, b: PlainScalar) => boolean>([
  [less, (a, b) => a < b],
  [lessEqual, (a, b) => a <= b],
  [greater, (a, b) => a > b],
  [greaterEqual, (a, b) => a >= b],
]);

/**
 * A comparison of constants, or the side that a constant condition takes: what the other side needs is not computed. The
 * parameter of a distribution is often a number, and decides which of two formulas holds.
 */
function decided({ primitive, dtype, device, shape }: Node, [a, b, c]: readonly Node[]): Node | null {
  const compare = comparisons.get(primitive);
  if (primitive !== where && !compare) return null;
  const [x, y] = [repeated(a), repeated(b)];
  if (!compare) return x.primitive === constant ? (heldValue(x) ? b : c) : null;
  const areConstant = x.primitive === constant && y.primitive === constant && DTYPES[x.dtype].kind !== "complex";
  return areConstant ? scalarNode(compare(heldValue(x), heldValue(y)), dtype, device, shape) : null;
}

/** Exponents of powers of two whose reciprocals all floating-point dtypes hold with every digit. */
const MAX_EXPONENT = 14;
/** The same of f32, which the constants of wide means and gradients are. */
const MAX_EXPONENT_F32 = 126;

/**
 * A quotient of constants, or by a power of two: the product with the reciprocal is the same number, and a fraction of the code.
 * Means and their gradients divide by the count.
 */
function ofQuotient({ primitive, dtype, device, shape }: Node, [a, b]: readonly Node[]): Node | null {
  if (primitive !== div || DTYPES[dtype].kind !== "float") return null;
  const [x, y] = [repeated(a), repeated(b)];
  if (y.primitive !== constant || x.dtype !== dtype || y.dtype !== dtype) return null;
  const by = Number(heldValue(y));
  const isWide = dtype === "f32" || dtype === "f64";
  // Of wide dtypes JavaScript divides once and rounds once more, which changes nothing.
  if (isWide && x.primitive === constant) return scalarNode(Number(heldValue(x)) / by, dtype, device, shape);
  const exponent = Math.log2(Math.abs(by));
  const most = isWide ? MAX_EXPONENT_F32 : MAX_EXPONENT;
  if (!Number.isInteger(exponent) || Math.abs(exponent) > most) return null;
  return g.mul(a, scalarNode(1 / by, dtype, device, shape));
}

/** The node whose elements another repeats or rearranges: a constant stays one. */
function repeated(node: Node): Node {
  let at = node;
  while (at.storage === null && (at.primitive === expand || at.primitive === reshape)) [at] = at.inputs;
  return at.storage === null ? at : node;
}

/** A constant as its dtype holds it. */
const heldValue = ({ params, dtype }: Node) => castScalar(params.value as Scalar, dtype, dtype) as PlainScalar;

/** Axes along which the input was repeated are reduced without repeating it. */
function ofRepeated(node: Node, { copies }: ReductionEntry, x: Node): Node | null {
  const [source] = x.inputs;
  const axes = node.params.axes as readonly number[];
  const repeated = axes.filter((axis) => source.shape[axis] === 1 && x.shape[axis] !== 1);
  const count = productOf(repeated.map((axis) => x.shape[axis]));
  const ofAll = repeated.length === 0 || count === 0 ? null : copies.ofResult(count, node.dtype);
  if (!ofAll) return null;
  const once = x.shape.map((extent, axis) => (repeated.includes(axis) ? 1 : extent));
  const isAsBefore = once.every((extent, axis) => extent === source.shape[axis]);
  return ofAll(g, derive(node.primitive, isAsBefore ? source : derive(expand, source, { shape: once }), { axes }));
}
