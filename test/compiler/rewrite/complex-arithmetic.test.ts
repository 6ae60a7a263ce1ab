/**
 * Complex functions an element at a time, in doubles: identities that hold everywhere, and the values that C99 demands at
 * zeros, infinities and along branch cuts. test/tensor/methods/complex-functions.test.ts has the digits, on devices.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Complex, complexRules, realRules, wholePower } from "../../../src/compiler/rewrite/complex-arithmetic.js";
import { doubleOps as k } from "../../support/double-ops.js";

type Z = Complex<number>;
const z = (re: number, im: number): Z => ({ re, im });
const apply = (name: string, ...args: readonly Z[]): Z => {
  const parts = complexRules[name]!.apply(k, ...args);
  return z(parts.re(), parts.im());
};
const size = ({ re, im }: Z): number => Math.hypot(re, im);
const close = (got: Z, want: Z, what: string, within = 1e-13) =>
  assert.ok(
    size(z(got.re - want.re, got.im - want.im)) <= within * Math.max(1e-300, size(want)),
    `${what}: ${got.re}, ${got.im}, not ${want.re}, ${want.im}`,
  );

const samples: readonly Z[] = [
  z(1, 2),
  z(-3, 0.5),
  z(0.25, -4),
  z(-1e-3, -2),
  z(1e200, 3e200),
  z(2e-200, -1e-200),
  z(5, 0),
  z(0, -7),
];

test("a quotient times the divisor is the dividend, also where squares would overflow", () => {
  for (const a of samples.slice(0, 4)) {
    for (const b of samples) {
      const quotient = apply("div", a, b);
      if (size(quotient) < 1e-290) continue;
      close(apply("mul", quotient, b), a, `${a.re}+${a.im}i by ${b.re}+${b.im}i`);
    }
  }
  close(apply("div", samples[4]!, samples[4]!), z(1, 0), "by itself");
  for (const b of samples) close(apply("mul", apply("reciprocal", b), b), z(1, 0), `1 by ${b.re}+${b.im}i`);
});

test("a square root squared is the number, and has a real part that is not negative", () => {
  for (const x of samples) {
    const root = apply("sqrt", x);
    close(apply("square", root), x, `root of ${x.re}+${x.im}i`);
    assert.ok(root.re >= 0);
  }
});

test("along the cut the sign of a zero says the side", () => {
  const same = (got: Z, want: Z) =>
    assert.ok(Object.is(got.re, want.re) && Object.is(got.im, want.im), `${got.re}, ${got.im}`);
  same(apply("sqrt", z(-4, 0)), z(0, 2));
  same(apply("sqrt", z(-4, -0)), z(0, -2));
  same(apply("sqrt", z(0, 0)), z(0, 0));
  assert.equal(apply("log", z(-1, 0)).im, Math.PI);
  assert.equal(apply("log", z(-1, -0)).im, -Math.PI);
  assert.equal(realRules.phase!.apply(k, z(-1, -0)), -Math.PI);
});

test("infinities and zeros as in C99, annex G", () => {
  assert.deepEqual(apply("sqrt", z(3, Infinity)), z(Infinity, Infinity));
  assert.deepEqual(apply("div", z(1, 1), z(Infinity, 0)), z(0, 0));
  assert.equal(apply("div", z(1, 0), z(0, 0)).re, Infinity);
  assert.deepEqual(apply("exp", z(-Infinity, 1)), z(0, 0));
  assert.equal(apply("log", z(0, 0)).re, -Infinity);
  assert.equal(realRules.isInf!.apply(k, z(0, -Infinity)), 1);
  assert.equal(realRules.isNan!.apply(k, z(0, Number.NaN)), 1);
  assert.equal(realRules.isNan!.apply(k, z(0, Infinity)), 0);
});

test("exponentials, logarithms and what is made of them undo and make up one another", () => {
  for (const x of [z(1, 2), z(-3, 0.5), z(0.25, -1), z(0, 3)]) {
    close(apply("log", apply("exp", x)), x, "log exp");
    const [sine, cosine] = [apply("sin", x), apply("cos", x)];
    const sum = z(
      apply("square", sine).re + apply("square", cosine).re,
      apply("square", sine).im + apply("square", cosine).im,
    );
    close(sum, z(1, 0), "sin² + cos²", 1e-11);
    close(apply("tan", x), apply("div", sine, cosine), "tan", 1e-12);
    const [sinh, cosh] = [apply("sinh", x), apply("cosh", x)];
    close(z(sinh.re + cosh.re, sinh.im + cosh.im), apply("exp", x), "sinh + cosh", 1e-12);
    close(apply("tanh", x), apply("div", sinh, cosh), "tanh", 1e-12);
  }
  assert.deepEqual(apply("tanh", z(1000, 0.5)).re, 1, "where exponentials overflow");
  assert.equal(apply("cosh", z(1000, 0)).re, Infinity);
});

test("whole powers are repeated products, and negative ones their inverses", () => {
  const power = (x: Z, n: number): Z => {
    const parts = wholePower(k, x, n);
    return z(parts.re(), parts.im());
  };
  for (const x of samples.slice(0, 4)) {
    let product = z(1, 0);
    for (let n = 0; n < 9; n++) {
      close(power(x, n), product, `to the ${n}`);
      close(apply("mul", power(x, -n), product), z(1, 0), `to the -${n}`);
      product = apply("mul", product, x);
    }
    close(apply("pow", x, z(3, 0)), power(x, 3), "by logarithms", 1e-12);
  }
  assert.deepEqual(apply("pow", z(0, 0), z(0, 0)), z(1, 0));
  assert.deepEqual(apply("pow", z(0, 0), z(2, 0)), z(0, 0));
});
