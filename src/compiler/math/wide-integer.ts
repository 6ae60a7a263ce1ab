/**
 * 32-bit unsigned arithmetic with the parts that do not fit in a word: the upper half of a product, the carry of a sum.
 * GPUs may lack 64-bit integers, so both are built from 16-bit halves and comparisons.
 */
import type { ScalarOps } from "./scalar-ops.js";

/** A u32 together with its halves, so that a word used in several products is split once. */
interface SplitWord<V> {
  readonly word: V;
  readonly low: V;
  readonly high: V;
}

export function splitWord<V>(k: ScalarOps<V>, word: V): SplitWord<V> {
  return { word, low: k.and(word, k.constant("u32", 0xffff)), high: k.shr(word, k.constant("u32", 16)) };
}

/** The upper 32 bits of the 64-bit product a * b. */
export function mulHigh<V>(k: ScalarOps<V>, a: SplitWord<V>, b: SplitWord<V>): V {
  const { add, mul, shr } = k;
  const sixteen = k.constant("u32", 16);
  const outer = mul(a.low, b.high);
  // At most (2^16 - 1)² + 2 (2^16 - 1) = 2^32 - 1: no carry is lost.
  const middle = add(add(shr(mul(a.low, b.low), sixteen), k.and(outer, k.constant("u32", 0xffff))), mul(a.high, b.low));
  return add(add(mul(a.high, b.high), shr(outer, sixteen)), shr(middle, sixteen));
}

/**
 * Sums each column of u32 words, most significant column first, carrying into the next; the carry out of the first column is
 * dropped.
 */
export function addColumns<V>(k: ScalarOps<V>, columns: readonly (readonly V[])[]): V[] {
  const [zero, one] = [k.constant("u32", 0), k.constant("u32", 1)];
  const sums: V[] = [];
  let carry: V | undefined;
  for (let c = columns.length - 1; c >= 0; c--) {
    const terms = carry === undefined ? columns[c] : [...columns[c], carry];
    carry = undefined;
    let sum = terms[0];
    for (const term of terms.slice(1)) {
      sum = k.add(sum, term);
      if (c === 0) continue;
      const overflow = k.select(k.lt(sum, term), one, zero);
      carry = carry === undefined ? overflow : k.add(carry, overflow);
    }
    sums[c] = sum;
  }
  return sums;
}
