/**
 * Sums and products that keep their rounding error, as a pair of floats whose exact sum is the true value
 * (Dekker 1971; Knuth, TAOCP 2, 4.2.2; Muller et al., Handbook of Floating-Point Arithmetic, ch. 4). None uses a fused
 * multiply-add.
 */
import { leadingPart } from "./float-parts.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** An unevaluated sum `high + low` with `low` at most about an ulp of `high`. */
export interface Pair<V> {
  readonly high: V;
  readonly low: V;
}

/** a + b exactly, when |a| >= |b| or a = 0. */
export function fastTwoSum<V>(k: ScalarOps<V>, a: V, b: V): Pair<V> {
  const high = k.add(a, b);
  return { high, low: k.sub(b, k.sub(high, a)) };
}

/** a + b exactly, in any order of magnitude. */
export function twoSum<V>(k: ScalarOps<V>, a: V, b: V): Pair<V> {
  const high = k.add(a, b);
  const fromB = k.sub(high, a);
  const fromA = k.sub(high, fromB);
  return { high, low: k.add(k.sub(a, fromA), k.sub(b, fromB)) };
}

/**
 * a * b as a pair. Exact for f32; for f64 the low part carries an error of about 2^-95 of the product, because the
 * cheap split (a word each) leaves 32 bits in the lower half. Operands must be far enough from overflow and underflow.
 */
export function twoProduct<V>(k: ScalarOps<V>, a: V, b: V, type: FloatType): Pair<V> {
  const a1 = leadingPart(k, a, type);
  const b1 = leadingPart(k, b, type);
  const a2 = k.sub(a, a1);
  const b2 = k.sub(b, b1);
  const high = k.mul(a, b);
  const rest = k.add(k.add(k.sub(k.mul(a1, b1), high), k.mul(a1, b2)), k.mul(a2, b1));
  return { high, low: k.add(rest, k.mul(a2, b2)) };
}
