/** Elementwise arithmetic: sums, products, extremes, signs, roots, and rounding to whole numbers. */
import { realDType } from "../../../core/dtype.js";
import type { Node } from "../../node.js";
import type { Slope } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import {
  elementwise,
  FLAT,
  FLOAT,
  INEXACT,
  INTEGER,
  NUMBER,
  notHolomorphic,
  oneLike,
  REAL,
  zeroLike,
} from "./entry.js";

/** t where `chosen` holds, t / 2 at a tie: the derivative of maximum and minimum. */
const chosenBy =
  (side: 0 | 1, how: "less" | "greater"): Slope =>
  (g, t, { inputs }) => {
    const [own, other] = side === 0 ? inputs : [inputs[1], inputs[0]];
    return g.where(g[how](own, other), t, g.where(g.equal(own, other), g.mul(t, 0.5), 0));
  };

/** conj(x) / |x|, and 0 at 0: of real numbers the sign. */
function directionOf(g: GraphOps, node: Node): Node {
  const [x] = node.inputs;
  if (x.dtype === node.dtype) return g.sign(x);
  const size = g.where(g.equal(node, 0), 1, node);
  return g.div(g.conj(x), g.cast(size, x.dtype));
}

const rounding = (name: string, how: "floor" | "ceil" | "trunc" | "even", oracle: (x: number) => number) =>
  elementwise(name, 1, {
    kinds: FLOAT,
    isExact: true,
    oracle,
    domain: [-9, 9],
    slopes: FLAT,
    lower: (k, [x]) => k.round(how, x),
  });

/** To the nearest whole number, halves to the even one, as IEEE and NumPy round. */
function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const half = x - floor;
  if (Number.isNaN(half)) return x;
  if (half !== 0.5) return Math.round(x) || (Object.is(x, -0) || (x < 0 && x >= -0.5) ? -0 : 0);
  return (floor % 2 === 0 ? floor : floor + 1) || (x < 0 ? -0 : 0);
}

export const add = elementwise("add", 2, {
  kinds: NUMBER,
  oracle: (a, b) => a + b,
  slopes: [(_, t) => t, (_, t) => t],
  lower: (k, [a, b]) => k.add(a, b),
});
export const sub = elementwise("sub", 2, {
  kinds: NUMBER,
  oracle: (a, b) => a - b,
  slopes: [(_, t) => t, (g, t) => g.neg(t)],
  lower: (k, [a, b]) => k.sub(a, b),
});
export const mul = elementwise("mul", 2, {
  kinds: NUMBER,
  oracle: (a, b) => a * b,
  slopes: [(g, t, { inputs: [, b] }) => g.mul(t, b), (g, t, { inputs: [a] }) => g.mul(t, a)],
  lower: (k, [a, b]) => k.mul(a, b),
});
/** Floats only: division of integers is `div` of their floats, or `floorDivide`. */
export const div = elementwise("div", 2, {
  kinds: INEXACT,
  cost: 4,
  oracle: (a, b) => a / b,
  slopes: [(g, t, { inputs: [, b] }) => g.div(t, b), (g, t, node) => g.neg(g.mul(g.div(t, node.inputs[1]), node))],
  lower: (k, [a, b]) => k.div(a, b),
});
/** Towards zero; anything divided by zero is zero. */
export const quotient = elementwise("quotient", 2, {
  kinds: INTEGER,
  cost: 4,
  oracle: (a, b) => (b === 0 ? 0 : Math.trunc(a / b)),
  lower: (k, [a, b]) => k.div(a, b),
});
/** The remainder that goes with truncation: it has the sign of the dividend. */
export const rem = elementwise("rem", 2, {
  kinds: REAL,
  isExact: true,
  cost: 8,
  oracle: (a, b) => a % b,
  slopes: [(_, t) => t, (g, t, { inputs: [a, b] }) => g.neg(g.mul(t, g.trunc(g.div(a, b))))],
  lower: (k, [a, b]) => k.rem(a, b),
});
/** NaN wins, as in NumPy's maximum. */
export const maximum = elementwise("maximum", 2, {
  kinds: REAL,
  isExact: true,
  oracle: Math.max,
  slopes: [chosenBy(0, "greater"), chosenBy(1, "greater")],
  lower: (k, [a, b]) => k.max(a, b),
});
export const minimum = elementwise("minimum", 2, {
  kinds: REAL,
  isExact: true,
  oracle: Math.min,
  slopes: [chosenBy(0, "less"), chosenBy(1, "less")],
  lower: (k, [a, b]) => k.min(a, b),
});
export const neg = elementwise("neg", 1, {
  kinds: NUMBER,
  isExact: true,
  oracle: (x) => -x,
  slopes: [(g, t) => g.neg(t)],
  lower: (k, [x]) => k.neg(x),
});
export const abs = elementwise("abs", 1, {
  kinds: NUMBER,
  isExact: true,
  result: ([dtype]) => realDType(dtype),
  oracle: Math.abs,
  ...notHolomorphic(
    (g, t, node) => g.real(g.mul(t, directionOf(g, node))),
    (g, ct, node) => g.mul(g.cast(ct, node.inputs[0].dtype), directionOf(g, node)),
  ),
  lower: (k, [x]) => k.abs(x),
});
/** The slope follows from the result, so the operand need not be kept for reverse mode. */
export const relu = elementwise("relu", 1, {
  kinds: REAL,
  isExact: true,
  oracle: (x) => (x <= 0 ? 0 : x),
  slopes: [(g, t, node) => g.where(g.equal(node, 0), 0, t)],
  lower: (k, [x]) => k.select(k.compare("le", x, zeroLike(k, x)), zeroLike(k, x), x),
});
/** Zero and NaN are their own sign. */
export const sign = elementwise("sign", 1, {
  kinds: REAL,
  isExact: true,
  oracle: Math.sign,
  slopes: FLAT,
  lower: (k, [x]) => {
    const zero = zeroLike(k, x);
    const negative = k.select(k.compare("lt", x, zero), k.neg(oneLike(k, x)), x);
    return k.select(k.compare("gt", x, zero), oneLike(k, x), negative);
  },
});
export const square = elementwise("square", 1, {
  kinds: NUMBER,
  oracle: (x) => x * x,
  slopes: [(g, t, { inputs: [x] }) => g.mul(t, g.mul(x, 2))],
  lower: (k, [x]) => k.mul(x, x),
});
export const reciprocal = elementwise("reciprocal", 1, {
  kinds: INEXACT,
  cost: 4,
  oracle: (x) => 1 / x,
  slopes: [(g, t, node) => g.neg(g.mul(t, g.square(node)))],
  lower: (k, [x]) => k.div(oneLike(k, x), x),
});
export const sqrt = elementwise("sqrt", 1, {
  kinds: INEXACT,
  cost: 4,
  oracle: Math.sqrt,
  slopes: [(g, t, node) => g.div(t, g.mul(node, 2))],
  domain: [0, 100],
  lower: (k, [x]) => k.sqrt(x),
});
export const rsqrt = elementwise("rsqrt", 1, {
  kinds: FLOAT,
  cost: 8,
  oracle: (x) => 1 / Math.sqrt(x),
  slopes: [(g, t, node) => g.mul(t, g.div(g.mul(node, -0.5), node.inputs[0]))],
  domain: [0, 100],
  lower: (k, [x]) => k.math("rsqrt", x),
});

export const floor = rounding("floor", "floor", Math.floor);
export const ceil = rounding("ceil", "ceil", Math.ceil);
export const trunc = rounding("trunc", "trunc", Math.trunc);
export const round = rounding("round", "even", roundHalfEven);
