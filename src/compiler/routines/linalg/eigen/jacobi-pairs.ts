/**
 * Parts of Jacobi's method (jacobi-svd.ts): the order in which pairs of rows meet, and the rotation of a pair. In each of `players - 1`
 * turns every row meets one other, and after them each has met all others (the tournament of Brent and Luk, 1985); the pairs
 * of a turn have nothing in common, so they are rotated at the same time.
 */
import type { Value } from "../../../ir/ir.js";
import type { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Field, Num } from "../field.js";

/** Rounds of the tournament after which a matrix is left as it is. Eight are usual; NaN ends at once. */
export const MOST_SWEEPS = 30;

/** The two rows of a pair. The last of an even number of players stays, the others move in a circle. */
export function pairAt(k: KernelBuilder, players: number, turn: Value, pair: Value): readonly [Value, Value] {
  const i = (value: number) => k.constant("i32", value);
  const circle = players - 1;
  // Both sums are below twice the circle.
  const wrapped = (x: Value) => k.select(k.compare("ge", x, i(circle)), k.binary("sub", x, i(circle)), x);
  const isFirst = k.compare("eq", pair, i(0));
  const one = k.select(isFirst, i(players - 1), wrapped(k.binary("add", turn, pair)));
  const other = wrapped(k.binary("sub", k.binary("add", turn, i(circle)), pair));
  return [one, k.select(isFirst, turn, other)];
}

/**
 * Rows p and e·q, with e a phase that makes the element between them real (null where it is 1), become p - s (q + half·p) and
 * q + s (p - half·q): with half = s / (1 + c) that is the rotation, but a small one changes little and so adds little error
 * (Rutishauser 1966).
 */
interface Rotation {
  readonly s: Value;
  readonly half: Value;
  readonly phase: Num | null;
}

/**
 * The rotation that makes the element `between` zero, for the Hermitian [[first, between], [conj(between), second]]. Where
 * `isActive` is false it changes nothing.
 */
export function rotationOf(
  k: KernelBuilder,
  field: Field,
  [first, second]: readonly [Value, Value],
  between: Num,
  isActive: Value,
): Rotation {
  const { type } = field;
  const [zero, one] = [k.constant(type, 0), k.constant(type, 1)];
  const length = k.select(isActive, between.im ? field.modulus(between) : between.re, one);
  const theta = field.divReal(k.binary("sub", second, first), k.binary("add", length, length));
  const size = k.unary("abs", theta);
  // Beyond this the square would overflow, and the root of 1 + θ² is θ anyway.
  const isFar = k.compare("gt", size, k.constant(type, type === "f64" ? 1e150 : 1e18));
  const near = k.select(isFar, zero, size);
  const root = k.select(isFar, size, field.sqrtReal(k.mulAdd(near, near, one)));
  const tangent = field.divReal(one, k.binary("add", size, root));
  const signed = k.select(k.compare("lt", theta, zero), k.unary("neg", tangent), tangent);
  const t = k.select(isActive, signed, zero);
  const c = field.divReal(one, field.sqrtReal(k.mulAdd(t, t, one)));
  const phase = between.im ? field.select(isActive, field.shrink(between, length), field.one) : null;
  const sine = k.binary("mul", t, c);
  const half = field.divReal(sine, k.binary("add", c, one));
  return { s: sine, half, phase };
}

/** A pair of numbers, one of each row, rotated. */
export function rotated(k: KernelBuilder, field: Field, p: Num, q: Num, { s, half, phase }: Rotation): [Num, Num] {
  const turned = phase ? field.mul(phase, q) : q;
  const parts = (combine: (x: Value, y: Value) => Value): Num => ({
    re: combine(p.re, turned.re),
    im: p.im && turned.im && combine(p.im, turned.im),
  });
  const [minus, less] = [k.unary("neg", s), k.unary("neg", half)];
  return [
    parts((x, y) => k.mulAdd(minus, k.mulAdd(half, x, y), x)),
    parts((x, y) => k.mulAdd(s, k.mulAdd(less, y, x), y)),
  ];
}
