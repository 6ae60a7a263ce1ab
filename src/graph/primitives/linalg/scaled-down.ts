/** Matrices brought to a size at which squares neither overflow nor vanish: the first step of every decomposition. */
import type { Node } from "../../node.js";
import type { GraphOps } from "../../vocabulary.js";
import * as E from "../elementwise.js";
import * as R from "../reduce.js";
import { isComplexNode } from "./householder.js";

/**
 * Matrices [B, m, n] divided by a power of two, so that the largest element lies between 1 and 2: no square overflows. The
 * divisor is [B, 1, 1]. A matrix with an element that is not finite becomes NaN everywhere.
 */
export function scaledDown(g: GraphOps, a: Node): { readonly scaled: Node; readonly scale: Node } {
  const size = isComplexNode(a) ? g.maximum(g.abs(g.real(a)), g.abs(g.imag(a))) : g.abs(a);
  const largest = g.move(R.max, [size], { axes: [1, 2] });
  const isWide = largest.dtype === "f64";
  const bits = g.move(E.bitcast, [largest], { dtype: isWide ? "u64" : "u32" });
  const exponent = g.move(E.bitcast, [g.and(bits, isWide ? 2 ** 63 - 2 ** 52 : 0x7f800000)], { dtype: largest.dtype });
  const nonzero = g.where(g.equal(exponent, 0), 1, exponent);
  const power = g.where(g.less(largest, Infinity), nonzero, Number.NaN);
  const scale = g.reshape(power, [a.shape[0], 1, 1]);
  return { scaled: g.div(a, g.cast(g.broadcast(scale, a.shape), a.dtype)), scale };
}
