/** Elementwise functions of the math library, with their derivatives. */
import type { DTypeKind } from "../../../core/dtype.js";
import type { Node } from "../../node.js";
import type { Slope } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";
import { elementwise, FLAT, FLOAT, INEXACT, INTEGER, zeroLike } from "./entry.js";

/** A function of the math library. */
const math = (
  name: string,
  oracle: (x: number) => number,
  domain: readonly [number, number],
  slope: Slope,
  cost = 20,
  kinds: readonly DTypeKind[] = FLOAT,
) => elementwise(name, 1, { kinds, cost, oracle, domain, slopes: [slope], lower: (k, [x]) => k.math(name, x) });

export const exp = math("exp", Math.exp, [-20, 20], (g, t, node) => g.mul(t, node), 20, INEXACT);
export const exp2 = math(
  "exp2",
  (x) => 2 ** x,
  [-20, 20],
  (g, t, node) => g.mul(t, g.mul(node, Math.LN2)),
);
export const expm1 = math("expm1", Math.expm1, [-20, 20], (g, t, { inputs: [x] }) => g.mul(t, g.exp(x)));
export const log = math("log", Math.log, [0, 100], (g, t, { inputs: [x] }) => g.div(t, x), 20, INEXACT);
export const log2 = math("log2", Math.log2, [0, 100], (g, t, { inputs: [x] }) => g.div(t, g.mul(x, Math.LN2)));
export const log10 = math("log10", Math.log10, [0, 100], (g, t, { inputs: [x] }) => g.div(t, g.mul(x, Math.LN10)));
export const log1p = math("log1p", Math.log1p, [-1, 100], (g, t, { inputs: [x] }) => g.div(t, g.add(x, 1)));
export const sin = math("sin", Math.sin, [-100, 100], (g, t, { inputs: [x] }) => g.mul(t, g.cos(x)), 40, INEXACT);
export const cos = math(
  "cos",
  Math.cos,
  [-100, 100],
  (g, t, { inputs: [x] }) => g.neg(g.mul(t, g.sin(x))),
  40,
  INEXACT,
);
export const tan = math("tan", Math.tan, [-100, 100], (g, t, node) => g.mul(t, g.add(g.square(node), 1)), 50, INEXACT);
export const asin = math("asin", Math.asin, [-1, 1], (g, t, { inputs: [x] }) => g.div(t, cosOfAsin(g, x)));
export const acos = math("acos", Math.acos, [-1, 1], (g, t, { inputs: [x] }) => g.neg(g.div(t, cosOfAsin(g, x))));
export const atan = math("atan", Math.atan, [-20, 20], (g, t, { inputs: [x] }) => g.div(t, g.add(g.square(x), 1)));
export const sinh = math("sinh", Math.sinh, [-20, 20], (g, t, { inputs: [x] }) => g.mul(t, g.cosh(x)), 20, INEXACT);
export const cosh = math("cosh", Math.cosh, [-20, 20], (g, t, { inputs: [x] }) => g.mul(t, g.sinh(x)), 20, INEXACT);
export const tanh = math("tanh", Math.tanh, [-20, 20], (g, t, node) => g.mul(t, g.sub(1, g.square(node))), 20, INEXACT);
export const asinh = math("asinh", Math.asinh, [-20, 20], (g, t, { inputs: [x] }) =>
  g.div(t, g.sqrt(g.add(g.square(x), 1))),
);
export const acosh = math("acosh", Math.acosh, [1, 20], (g, t, { inputs: [x] }) =>
  g.div(t, g.sqrt(g.mul(g.sub(x, 1), g.add(x, 1)))),
);
export const atanh = math("atanh", Math.atanh, [-1, 1], (g, t, { inputs: [x] }) =>
  g.div(t, g.mul(g.sub(1, x), g.add(x, 1))),
);
export const cbrt = math("cbrt", Math.cbrt, [-100, 100], (g, t, node) => g.div(t, g.mul(g.square(node), 3)));
export const sigmoid = math(
  "sigmoid",
  (x) => 1 / (1 + Math.exp(-x)),
  [-20, 20],
  (g, t, node) => g.mul(t, g.mul(node, g.sub(1, node))),
);
export const softplus = math(
  "softplus",
  (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  [-20, 20],
  (g, t, { inputs: [x] }) => g.mul(t, g.sigmoid(x)),
);

/** √(1 - x²), accurate near ±1. */
const cosOfAsin = (g: GraphOps, x: Node): Node => g.sqrt(g.mul(g.sub(1, x), g.add(x, 1)));

/** Functions that JavaScript does not have: the math library's own tests compare them with references. */
const special = (name: string, domain: readonly [number, number], cost: number, slope: Slope) =>
  elementwise(name, 1, { kinds: FLOAT, cost, domain, slopes: [slope], lower: (k, [x]) => k.math(name, x) });

/** 2/√π · exp(-x²). */
const bell = (g: GraphOps, x: Node): Node => g.mul(g.exp(g.neg(g.square(x))), 2 / Math.sqrt(Math.PI));

export const erf = special("erf", [-5, 5], 40, (g, t, { inputs: [x] }) => g.mul(t, bell(g, x)));
export const erfc = special("erfc", [-5, 10], 50, (g, t, { inputs: [x] }) => g.neg(g.mul(t, bell(g, x))));
export const erfInv = special("erfInv", [-1, 1], 50, (g, t, node) =>
  g.mul(t, g.mul(g.exp(g.square(node)), Math.sqrt(Math.PI) / 2)),
);
export const lgamma = special("lgamma", [0, 100], 80, (g, t, { inputs: [x] }) => g.mul(t, g.digamma(x)));
export const digamma = special("digamma", [0, 100], 80, (g, t, { inputs: [x] }) => g.mul(t, g.trigamma(x)));
export const trigamma = special("trigamma", [0, 100], 80, (g, t, { inputs: [x] }) => g.mul(t, g.polygamma(x, 2)));
export const pow = elementwise("pow", 2, {
  kinds: INEXACT,
  cost: 60,
  oracle: powLikeC,
  domain: [-5, 5],
  slopes: [
    // x⁰ is flat also at 0, where 0⁻¹ would be infinite.
    (g, t, { inputs: [x, y] }) => g.mul(t, g.mul(y, g.pow(x, g.where(g.equal(y, 0), 1, g.sub(y, 1))))),
    // 0ʸ stays 0 for positive y, though the logarithm of 0 is infinite.
    (g, t, node) => g.mul(t, g.where(g.equal(node, 0), 0, g.mul(node, g.log(node.inputs[0])))),
  ],
  lower: (k, [x, y]) => k.math("pow", x, y),
});
/** Integers: a repeated product that wraps. Negative exponents give 0. */
export const integerPower = elementwise("integerPower", 2, {
  called: "pow",
  kinds: INTEGER,
  cost: 60,
  slopes: FLAT,
  lower: (k, [x, y]) => k.power(x, y),
});
/** The angle of the point (x, y): operands y, x. */
export const atan2 = elementwise("atan2", 2, {
  kinds: FLOAT,
  cost: 40,
  oracle: Math.atan2,
  domain: [-20, 20],
  slopes: [
    (g, t, { inputs: [y, x] }) => g.mul(t, g.div(x, g.add(g.square(x), g.square(y)))),
    (g, t, { inputs: [y, x] }) => g.neg(g.mul(t, g.div(y, g.add(g.square(x), g.square(y))))),
  ],
  lower: (k, [y, x]) => k.math("atan2", y, x),
});

/** √(x² + y²), without overflow on the way. */
export const hypot = elementwise("hypot", 2, {
  kinds: FLOAT,
  cost: 30,
  oracle: Math.hypot,
  domain: [-100, 100],
  slopes: [shareOfHypot(0), shareOfHypot(1)],
  lower: (k, [x, y]) => k.math("hypot", x, y),
});

/** The derivative by an operand, operand / hypot; 0 at the origin. */
function shareOfHypot(operand: 0 | 1): Slope {
  return (g, t, node) => g.mul(t, g.where(g.equal(node, 0), 0, g.div(node.inputs[operand], node)));
}

/** log(eˣ + eʸ), without overflow. Near its zeros the error is small relative to the operands, not to the result. */
export const logaddexp = elementwise("logaddexp", 2, {
  kinds: FLOAT,
  cost: 50,
  oracle: (x, y) => (x === y ? x + Math.LN2 : Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)))),
  domain: [-20, 20],
  slopes: [shareOfSum(0), shareOfSum(1)],
  lower: (k, [x, y]) => {
    // Equal infinities: their difference would be NaN.
    const distance = k.select(k.compare("eq", x, y), zeroLike(k, x), k.abs(k.sub(x, y)));
    return k.add(k.max(x, y), k.math("log1p", k.math("exp", k.neg(distance))));
  },
});

/** The share of eˣ in the sum; 1 when x equals the sum, which may be infinite. */
function shareOfSum(operand: 0 | 1): Slope {
  return (g, t, node) => {
    const x = node.inputs[operand];
    return g.mul(t, g.exp(g.where(g.equal(x, node), 0, g.sub(x, node))));
  };
}

/** JavaScript's ** differs from C's pow in one point: 1 and -1 to an infinite or undefined power. */
function powLikeC(x: number, y: number): number {
  if (x === 1) return 1;
  if (x === -1 && !Number.isFinite(y) && !Number.isNaN(y)) return 1;
  return x ** y;
}
