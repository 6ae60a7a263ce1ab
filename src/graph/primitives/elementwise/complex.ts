/**
 * Complex numbers and their parts. The compiler rewrites complex numbers as real ones (rewrite/complex.ts), so that `lower` here
 * sees real operands only.
 */
import { complexDType, realDType } from "../../../core/dtype.js";
import { elementwise, FLOAT, INEXACT, NUMBER, notHolomorphic, zeroLike } from "./entry.js";

/** A complex number of its parts, f32 or f64. */
export const complex = elementwise("complex", 2, {
  kinds: FLOAT,
  result: ([dtype]) => complexDType(dtype),
  jvp: (g, { inputs: [re, im] }, [tr, ti]) => g.complex(tr ?? g.zeros(re.shape, re), ti ?? g.zeros(im.shape, im)),
  vjp: (g, _node, ct) => [g.real(ct), g.neg(g.imag(ct))],
  lower: () => {
    throw new Error("complex: the compiler takes complex numbers apart before it lowers");
  },
});
export const real = elementwise("real", 1, {
  kinds: NUMBER,
  isExact: true,
  result: ([dtype]) => realDType(dtype),
  ...notHolomorphic(
    (g, t) => g.real(t),
    (g, ct, { inputs: [x] }) => g.cast(ct, x.dtype),
  ),
  oracle: (x) => x,
  lower: (_k, [x]) => x,
});
export const imag = elementwise("imag", 1, {
  kinds: NUMBER,
  isExact: true,
  result: ([dtype]) => realDType(dtype),
  ...notHolomorphic(
    (g, t) => g.imag(t),
    (g, ct, { inputs: [x] }) =>
      x.dtype === ct.dtype ? g.zeros(x.shape, x) : g.complex(g.zeros(ct.shape, ct), g.neg(ct)),
  ),
  oracle: () => 0,
  lower: (k, [x]) => zeroLike(k, x),
});
export const conj = elementwise("conj", 1, {
  kinds: NUMBER,
  isExact: true,
  ...notHolomorphic(
    (g, t) => g.conj(t),
    (g, ct) => g.conj(ct),
  ),
  oracle: (x) => x,
  lower: (_k, [x]) => x,
});
/** The angle of a complex number, from -π to π; of a real number 0, or π if it is negative. */
export const phase = elementwise("phase", 1, {
  kinds: INEXACT,
  result: ([dtype]) => realDType(dtype),
  ...notHolomorphic(
    (g, t, { inputs: [x] }) => g.imag(g.div(t, x)),
    (g, ct, { inputs: [x] }) =>
      x.dtype === ct.dtype ? g.zeros(x.shape, x) : g.div(g.complex(g.zeros(ct.shape, ct), g.neg(ct)), x),
  ),
  cost: 40,
  oracle: (x) => Math.atan2(0, x),
  lower: (k, [x]) => k.math("atan2", zeroLike(k, x), x),
});
