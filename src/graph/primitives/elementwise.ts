/**
 * Elementwise primitives: one entry each. Operands are of one shape and, unless an entry says otherwise, of one dtype;
 * broadcasting and promotion happen before. `oracle` is the meaning in plain JavaScript; the op sweep compares with it, over
 * `domain`.
 */
import { complexDType, DTYPES, type DType, type DTypeKind, isComplex, realDType } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import { sameShape } from "../../core/shape.js";
import type { Comparison, ElementOps } from "../element-ops.js";
import type { Node } from "../node.js";
import type { ElementwisePrimitive, Params, Slope } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";

export interface ElementwiseEntry extends ElementwisePrimitive {
  readonly arity: number;
  readonly kinds: readonly DTypeKind[];
  readonly oracle?: (...args: number[]) => number | boolean;
  /** Interval the sweep samples floats from. */
  readonly domain?: readonly [number, number];
}

interface Entry {
  readonly called?: string;
  readonly kinds: readonly DTypeKind[];
  /** Dtype of the result; that of the first operand unless told. */
  readonly result?: (dtypes: readonly DType[], params: Params) => DType;
  readonly cost?: number;
  readonly isExact?: boolean;
  readonly oracle?: (...args: number[]) => number | boolean;
  readonly domain?: readonly [number, number];
  readonly slopes?: readonly (Slope | null)[];
  readonly jvp?: ElementwisePrimitive["jvp"];
  readonly vjp?: ElementwisePrimitive["vjp"];
  lower<V>(k: ElementOps<V>, operands: readonly V[], params: Params, dtype: DType): V;
}

function elementwise(name: string, arity: number, entry: Entry): ElementwiseEntry {
  const called = entry.called ?? name;
  return {
    ...entry,
    name,
    arity,
    kind: "elementwise",
    cost: entry.cost ?? 1,
    infer: (inputs, params) => {
      const [first] = inputs as readonly [Node];
      for (const { shape, dtype } of inputs) {
        if (!sameShape(shape, first.shape)) {
          throw new ShapeError(`${called}: operands of [${first.shape}] and [${shape}].`);
        }
        if (!entry.kinds.includes(DTYPES[dtype].kind)) {
          const remedy = isComplex(dtype) ? "take its real(), imag() or abs()" : "cast it";
          throw new DTypeError(`${called}: takes ${entry.kinds.join(", ")}, not ${dtype}; ${remedy} first.`);
        }
      }
      const result = entry.result
        ? entry.result(
            inputs.map(({ dtype }) => dtype),
            params,
          )
        : first.dtype;
      return { shape: first.shape, dtype: result };
    },
  };
}

const FLOAT: readonly DTypeKind[] = ["float"];
const INTEGER: readonly DTypeKind[] = ["int", "uint"];
const REAL: readonly DTypeKind[] = ["int", "uint", "float"];
const ANY: readonly DTypeKind[] = ["bool", "int", "uint", "float"];
const BITS: readonly DTypeKind[] = ["bool", "int", "uint"];
/** Floats and complex numbers. The compiler rewrites complex numbers as real ones (rewrite/complex.ts) before `lower`. */
const INEXACT: readonly DTypeKind[] = ["float", "complex"];
const NUMBER: readonly DTypeKind[] = [...REAL, "complex"];
const EVERY: readonly DTypeKind[] = [...ANY, "complex"];
const bool = (): DType => "bool";
/** Step functions: the derivative is zero wherever it exists. */
const FLAT = [null, null] as const;

/** t where `chosen` holds, t / 2 at a tie: the derivative of maximum and minimum. */
const chosenBy =
  (side: 0 | 1, how: "less" | "greater"): Slope =>
  (g, t, { inputs }) => {
    const [own, other] = side === 0 ? inputs : [inputs[1], inputs[0]];
    return g.where(g[how](own, other), t, g.where(g.equal(own, other), g.mul(t, 0.5), 0));
  };

/** Derivative rules of a function that is not holomorphic: the map of a small change, and its transpose. */
const notHolomorphic = (forward: Slope, backward: Slope): Pick<ElementwisePrimitive, "jvp" | "vjp"> => ({
  jvp: (g, node, [t]) => t && forward(g, t, node),
  vjp: (g, node, ct) => [backward(g, ct, node)],
});

/** conj(x) / |x|, and 0 at 0: of real numbers the sign. */
function directionOf(g: GraphOps, node: Node): Node {
  const [x] = node.inputs;
  if (x.dtype === node.dtype) return g.sign(x);
  const size = g.where(g.equal(node, 0), 1, node);
  return g.div(g.conj(x), g.cast(size, x.dtype));
}

/** A function of the math library. */
const math = (
  name: string,
  oracle: (x: number) => number,
  domain: readonly [number, number],
  slope: Slope,
  cost = 20,
  kinds: readonly DTypeKind[] = FLOAT,
) => elementwise(name, 1, { kinds, cost, oracle, domain, slopes: [slope], lower: (k, [x]) => k.math(name, x) });

const comparison = (
  name: string,
  how: Comparison,
  oracle: (a: number, b: number) => boolean,
  kinds: readonly DTypeKind[] = ANY,
) => elementwise(name, 2, { kinds, result: bool, oracle, slopes: FLAT, lower: (k, [a, b]) => k.compare(how, a, b) });

const rounding = (name: string, how: "floor" | "ceil" | "trunc" | "even", oracle: (x: number) => number) =>
  elementwise(name, 1, {
    kinds: FLOAT,
    isExact: true,
    oracle,
    domain: [-9, 9],
    slopes: FLAT,
    lower: (k, [x]) => k.round(how, x),
  });

const zeroLike = <V>(k: ElementOps<V>, x: V): V => k.constant(k.dtypeOf(x), 0);
const oneLike = <V>(k: ElementOps<V>, x: V): V => k.constant(k.dtypeOf(x), 1);

/** To the nearest whole number, halves to the even one, as IEEE and NumPy round. */
function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const half = x - floor;
  if (Number.isNaN(half)) return x;
  if (half !== 0.5) return Math.round(x) || (Object.is(x, -0) || (x < 0 && x >= -0.5) ? -0 : 0);
  return (floor % 2 === 0 ? floor : floor + 1) || (x < 0 ? -0 : 0);
}

// ------------------------------------------------------------------------------------------------ arithmetic

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

// ------------------------------------------------------------------------------------------------ functions

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

// ------------------------------------------------------------------------------------------------ bits and truth

export const and = elementwise("and", 2, {
  called: "bitwiseAnd",
  kinds: BITS,
  oracle: (a, b) => a & b,
  lower: (k, [a, b]) => k.and(a, b),
});
export const or = elementwise("or", 2, {
  called: "bitwiseOr",
  kinds: BITS,
  oracle: (a, b) => a | b,
  lower: (k, [a, b]) => k.or(a, b),
});
export const xor = elementwise("xor", 2, {
  called: "bitwiseXor",
  kinds: BITS,
  oracle: (a, b) => a ^ b,
  lower: (k, [a, b]) => k.xor(a, b),
});
export const not = elementwise("not", 1, { called: "bitwiseNot", kinds: BITS, lower: (k, [x]) => k.not(x) });
export const shiftLeft = elementwise("shiftLeft", 2, {
  called: "leftShift",
  kinds: INTEGER,
  lower: (k, [a, b]) => k.shift("left", a, b),
});
export const shiftRight = elementwise("shiftRight", 2, {
  called: "rightShift",
  kinds: INTEGER,
  lower: (k, [a, b]) => k.shift("right", a, b),
});
/** How many bits are ones. */
export const popcount = elementwise("popcount", 1, { kinds: INTEGER, cost: 12, lower: (k, [x]) => countOnes(k, x) });
/** How many bits before the first one; all of them for 0. */
export const countLeadingZeros = elementwise("countLeadingZeros", 1, {
  kinds: INTEGER,
  cost: 24,
  lower: (k, [x]) => {
    // Fill all bits below the highest one; the remaining zeros are the leading zeros.
    let filled = asUnsigned(k, x);
    const dtype = k.dtypeOf(filled);
    for (let distance = 1; distance < DTYPES[dtype].bits; distance *= 2) {
      filled = k.or(filled, k.shift("right", filled, k.constant(dtype, distance)));
    }
    return k.cast(countOnes(k, k.not(filled)), k.dtypeOf(x));
  },
});

/** The same bits as an unsigned integer, so that right shifts insert zeros. */
function asUnsigned<V>(k: ElementOps<V>, x: V): V {
  const dtype = k.dtypeOf(x);
  return DTYPES[dtype].kind === "int" ? k.cast(x, dtype.replace("i", "u") as DType) : x;
}

/** Sums of neighbouring bits, then of pairs, then of fours; a product adds up the bytes (Warren, Hacker's Delight, 5-1). */
function countOnes<V>(k: ElementOps<V>, x: V): V {
  const own = asUnsigned(k, x);
  const bits = DTYPES[k.dtypeOf(own)].bits < 8 ? k.cast(own, "u8") : own;
  const dtype = k.dtypeOf(bits);
  const width = DTYPES[dtype].bits;
  const repeated = (byte: bigint) => {
    let value = byte;
    for (let at = 8; at < width; at += 8) value = (value << 8n) | byte;
    return k.constant(dtype, width === 64 ? value : Number(value));
  };
  const right = (value: V, distance: number) => k.shift("right", value, k.constant(dtype, distance));
  const pairs = k.sub(bits, k.and(right(bits, 1), repeated(0x55n)));
  const fours = k.add(k.and(pairs, repeated(0x33n)), k.and(right(pairs, 2), repeated(0x33n)));
  const bytes = k.and(k.add(fours, right(fours, 4)), repeated(0x0fn));
  return k.cast(right(k.mul(bytes, repeated(0x01n)), width - 8), k.dtypeOf(x));
}

export const equal = comparison("equal", "eq", (a, b) => a === b, EVERY);
export const notEqual = comparison("notEqual", "ne", (a, b) => a !== b, EVERY);
export const less = comparison("less", "lt", (a, b) => a < b);
export const lessEqual = comparison("lessEqual", "le", (a, b) => a <= b);
export const greater = comparison("greater", "gt", (a, b) => a > b);
export const greaterEqual = comparison("greaterEqual", "ge", (a, b) => a >= b);

export const isNan = elementwise("isNan", 1, {
  called: "isNaN",
  kinds: INEXACT,
  result: bool,
  oracle: Number.isNaN,
  slopes: FLAT,
  lower: (k, [x]) => k.compare("ne", x, x),
});
export const isInf = elementwise("isInf", 1, {
  kinds: INEXACT,
  result: bool,
  oracle: (x) => Math.abs(x) === Infinity,
  slopes: FLAT,
  lower: (k, [x]) => k.compare("eq", k.abs(x), k.constant(k.dtypeOf(x), Infinity)),
});

// ------------------------------------------------------------------------------------------------ choice and type

/** condition ? a : b. The condition is bool; a and b share a dtype. */
export const where = elementwise("where", 3, {
  kinds: EVERY,
  isExact: true,
  result: ([, a]) => a as DType,
  slopes: [
    null,
    (g, t, { inputs: [condition] }) => g.where(condition, t, 0),
    (g, t, { inputs: [condition] }) => g.where(condition, 0, t),
  ],
  lower: (k, [condition, a, b]) => k.select(condition, a, b),
});
/** The same value in another dtype. Params: dtype. */
export const cast = elementwise("cast", 1, {
  kinds: EVERY,
  isExact: true,
  result: (_, params) => params.dtype as DType,
  // The caller casts the result to the dtype it needs.
  slopes: [(_, t) => t],
  lower: (k, [x], _, dtype) => k.cast(x, dtype),
});
/** The same bits as another dtype of the same width. Params: dtype. */
export const bitcast = elementwise("bitcast", 1, {
  kinds: REAL,
  isExact: true,
  result: (_, params) => params.dtype as DType,
  slopes: FLAT,
  lower: (k, [x], _, dtype) => k.bitcast(x, dtype),
});

// ------------------------------------------------------------------------------------------------ complex numbers

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
