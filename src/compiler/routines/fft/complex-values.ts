/** Arithmetic of complex numbers in kernels: pairs of values. The butterflies and the passes of Fourier transforms use it. */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";

export interface ComplexValue {
  readonly re: Value;
  readonly im: Value;
}

/** Factors closer to 0 or 1 than this are those: cosines of right angles are not exact. */
const EXACT = 1e-15;
const isNear = (x: number, to: number): boolean => Math.abs(x - to) < EXACT;

export class ComplexOps {
  constructor(
    readonly k: KernelBuilder,
    readonly type: "f32" | "f64",
  ) {}

  real(value: number): Value {
    return this.k.constant(this.type, value);
  }

  add(a: ComplexValue, b: ComplexValue): ComplexValue {
    return { re: this.k.binary("add", a.re, b.re), im: this.k.binary("add", a.im, b.im) };
  }

  sub(a: ComplexValue, b: ComplexValue): ComplexValue {
    return { re: this.k.binary("sub", a.re, b.re), im: this.k.binary("sub", a.im, b.im) };
  }

  neg({ re, im }: ComplexValue): ComplexValue {
    return { re: this.k.unary("neg", re), im: this.k.unary("neg", im) };
  }

  conj({ re, im }: ComplexValue): ComplexValue {
    return { re, im: this.k.unary("neg", im) };
  }

  scaled(a: ComplexValue, by: number): ComplexValue {
    if (by === 1) return a;
    const factor = this.real(by);
    return { re: this.k.binary("mul", a.re, factor), im: this.k.binary("mul", a.im, factor) };
  }

  /** a times b, or times its conjugate. */
  mul(a: ComplexValue, b: ComplexValue, isConjugate = false): ComplexValue {
    const { k } = this;
    const cross = k.binary("mul", a.im, b.im);
    const mixed = k.binary("mul", a.re, b.im);
    return isConjugate
      ? { re: k.mulAdd(a.re, b.re, cross), im: k.mulAdd(a.im, b.re, k.unary("neg", mixed)) }
      : { re: k.mulAdd(a.re, b.re, k.unary("neg", cross)), im: k.mulAdd(a.im, b.re, mixed) };
  }

  /** ±i times a. */
  turned({ re, im }: ComplexValue, sign: 1 | -1): ComplexValue {
    return sign === 1 ? { re: this.k.unary("neg", im), im: re } : { re: im, im: this.k.unary("neg", re) };
  }

  /** a + ±i·b. */
  addTurned(a: ComplexValue, b: ComplexValue, sign: 1 | -1): ComplexValue {
    const { k } = this;
    const [plus, minus] = ["add", "sub"] as const;
    return {
      re: k.binary(sign === 1 ? minus : plus, a.re, b.im),
      im: k.binary(sign === 1 ? plus : minus, a.im, b.re),
    };
  }

  select(condition: Value, a: ComplexValue, b: ComplexValue): ComplexValue {
    return { re: this.k.select(condition, a.re, b.re), im: this.k.select(condition, a.im, b.im) };
  }

  /** a + factor·b, for a real factor. */
  addScaled(a: ComplexValue, b: ComplexValue, factor: number): ComplexValue {
    const by = this.real(factor);
    return { re: this.k.mulAdd(b.re, by, a.re), im: this.k.mulAdd(b.im, by, a.im) };
  }

  /** a times a root of unity that is known: exp(2πi·turn/of). */
  rotated(a: ComplexValue, turn: number, of: number): ComplexValue {
    const angle = (2 * Math.PI * turn) / of;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    if (isNear(c, 1)) return a;
    if (isNear(c, -1)) return this.neg(a);
    if (isNear(Math.abs(s), 1)) return this.turned(a, s > 0 ? 1 : -1);
    if (isNear(Math.abs(c), Math.abs(s))) {
      // (1 ± i)·√½ and its negative: two additions, then one factor for both parts.
      const sum = this.addTurned(a, a, s * c > 0 ? 1 : -1);
      return this.scaled(sum, c > 0 ? Math.SQRT1_2 : -Math.SQRT1_2);
    }
    return this.mul(a, { re: this.real(c), im: this.real(s) });
  }
}
