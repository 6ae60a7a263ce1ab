/**
 * The first column of a sweep of the QR algorithm (francis.ts): that of (H - σ₁)(H - σ₂) in real matrices, of H - σ in complex
 * ones. The shifts are eigenvalues of the last 2 × 2 block; every tenth sweep without a cut they are others, by chance, as in
 * LAPACK's dlahqr and zlahqr.
 */
import type { Value } from "../../../ir/ir.js";
import type { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Field, Num } from "../field.js";

/** The active block, and the sweeps since the last cut. */
interface ActiveRows {
  readonly first: Value;
  readonly last: Value;
  readonly sweeps: Value;
}

type Get = (row: Value, column: Value) => Num;

/** Whether this sweep takes a shift by chance: from the top of the block, or from its bottom. */
function chances(k: KernelBuilder, sweeps: Value): { readonly isTop: Value; readonly isBottom: Value } {
  const turn = k.binary("irem", sweeps, k.constant("i32", 20));
  return {
    isTop: k.compare("eq", turn, k.constant("i32", 10)),
    isBottom: k.compare("eq", turn, k.constant("i32", 0)),
  };
}

/** Three numbers, up to a factor, for real matrices; the block has three rows or more. */
export function realStart(k: KernelBuilder, field: Field, { first, last, sweeps }: ActiveRows, get: Get): Num[] {
  const { type } = field;
  const c = (value: number) => k.constant(type, value);
  const [add, sub, mul] = (["add", "sub", "mul"] as const).map((op) => (a: Value, b: Value) => k.binary(op, a, b));
  const abs = (x: Value) => k.unary("abs", x);
  const step = (x: Value, by: number) => k.binary("add", x, k.constant("i32", by));
  const at = (row: Value, column: Value) => get(row, column).re;
  const [m1, m2, l1, l2] = [step(first, 1), step(first, 2), step(last, -1), step(last, -2)];
  const { isTop, isBottom } = chances(k, sweeps);
  const isChance = k.binary("or", isTop, isBottom);
  const top = add(abs(at(m1, first)), abs(at(m2, m1)));
  const bottom = add(abs(at(last, l1)), abs(at(l1, l2)));
  const size = k.select(isTop, top, bottom);
  const corner = add(mul(c(0.75), size), k.select(isTop, at(first, first), at(last, last)));
  const given = [at(l1, l1), at(l1, last), at(last, l1), at(last, last)];
  const chance = [corner, mul(c(-0.4375), size), size, corner];
  const [h11, h12, h21, h22] = given.map((x, i) => k.select(isChance, chance[i], x));
  // Eigenvalues of the block, divided by its size.
  const sum = [h11, h12, h21, h22].map(abs).reduce(add);
  const scale = k.select(k.compare("eq", sum, c(0)), c(1), sum);
  const [a, b, d, e] = [h11, h12, h21, h22].map((x) => field.divReal(x, scale));
  const mean = mul(c(0.5), add(a, e));
  const determinant = sub(mul(sub(a, mean), sub(e, mean)), mul(b, d));
  const root = field.sqrtReal(abs(determinant));
  const isPair = k.compare("ge", determinant, c(0));
  const [upper, lower] = [add(mean, root), sub(mean, root)];
  const nearer = k.select(k.compare("le", abs(sub(upper, e)), abs(sub(lower, e))), upper, lower);
  const real = mul(scale, k.select(isPair, mean, nearer));
  const imaginary = mul(scale, k.select(isPair, root, c(0)));
  // (h11 - σ₁)(h11 - σ₂) + h12 h21 and what is below it, all divided by the size of the factors.
  const [t11, t12, t21, t22, t32] = [at(first, first), at(first, m1), at(m1, first), at(m1, m1), at(m2, m1)];
  const gap = sub(t11, real);
  const whole = add(add(abs(gap), abs(imaginary)), abs(t21));
  const factor = k.select(k.compare("eq", whole, c(0)), c(1), whole);
  const below = field.divReal(t21, factor);
  const squares = add(mul(gap, field.divReal(gap, factor)), mul(imaginary, field.divReal(imaginary, factor)));
  const numbers = [add(mul(below, t12), squares), mul(below, add(gap, sub(t22, real))), mul(below, t32)];
  return numbers.map((re) => ({ re, im: null }));
}

/** Two numbers for complex matrices; the block has two rows or more. */
export function complexStart(k: KernelBuilder, field: Field, { first, last, sweeps }: ActiveRows, get: Get): Num[] {
  const { type } = field;
  const c = (value: number) => k.constant(type, value);
  const step = (x: Value, by: number) => k.binary("add", x, k.constant("i32", by));
  const [m1, l1] = [step(first, 1), step(last, -1)];
  const { isTop, isBottom } = chances(k, sweeps);
  const end = get(last, last);
  const product = field.mul(get(l1, last), get(last, l1));
  const half = field.scale(field.sub(get(l1, l1), end), c(0.5));
  // The eigenvalue next to the last number: end - u² / (x + √(x² + u²)), with the root on the side of x.
  const own = k.binary("max", field.sqrtReal(field.size(product)), field.size(half));
  const isNone = k.compare("eq", own, c(0));
  const scale = k.select(isNone, c(1), own);
  const x = field.shrink(half, scale);
  const u = field.shrink(field.shrink(product, scale), scale);
  const root = squareRoot(k, field, field.add(field.mul(x, x), u));
  const side = field.mul(field.conj(x), root).re;
  const signed = field.select(k.compare("lt", side, c(0)), field.neg(root), root);
  const below = field.add(x, signed);
  const isFlat = k.compare("eq", field.size(below), c(0));
  const change = field.scale(field.div(u, field.select(isFlat, field.one, below)), scale);
  const near = field.sub(end, field.select(isFlat, field.zero, change));
  const [head, next] = [get(first, first), get(m1, first)];
  const top = field.add(head, field.real(k.binary("mul", c(0.75), field.size(next))));
  const bottom = field.add(end, field.real(k.binary("mul", c(0.75), field.size(get(last, l1)))));
  const shift = field.select(isTop, top, field.select(isBottom, bottom, near));
  return [field.sub(head, shift), next];
}

/** The square root of a complex number of size about 1, with a real part that is not negative. */
function squareRoot(k: KernelBuilder, field: Field, x: Num): Num {
  const c = (value: number) => k.constant(field.type, value);
  const [re, im] = [x.re, x.im as Value];
  const length = field.sqrtReal(field.squared(x));
  const large = field.sqrtReal(k.binary("mul", c(0.5), k.binary("add", length, k.unary("abs", re))));
  const isZero = k.compare("eq", large, c(0));
  const small = field.divReal(im, k.select(isZero, c(1), k.binary("add", large, large)));
  const isRight = k.compare("ge", re, c(0));
  const signed = k.select(k.compare("lt", im, c(0)), k.unary("neg", large), large);
  return { re: k.select(isRight, large, k.unary("abs", small)), im: k.select(isRight, small, signed) };
}
