/**
 * Elementwise primitives: one entry each. Operands are of one shape and, unless an entry says otherwise, of one dtype;
 * broadcasting and promotion are the tensor's business. `oracle` is the meaning in plain JavaScript, which the op sweep
 * compares with, over `domain`.
 */
import { complexDType, DTYPES, type DType, type DTypeKind, isComplex, realDType } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import type { Comparison, ElementOps } from "../element-ops.js";
import type { Node } from "../node.js";
import type { ElementwisePrimitive, Params } from "../primitive.js";

export interface ElementwiseEntry extends ElementwisePrimitive {
  readonly arity: number;
  readonly kinds: readonly DTypeKind[];
  readonly oracle?: (...args: number[]) => number | boolean;
  /** Interval the sweep samples floats from. */
  readonly domain?: readonly [number, number];
}

interface Entry {
  readonly kinds: readonly DTypeKind[];
  /** Dtype of the result; that of the first operand unless told. */
  readonly result?: (dtypes: readonly DType[], params: Params) => DType;
  readonly cost?: number;
  readonly oracle?: (...args: number[]) => number | boolean;
  readonly domain?: readonly [number, number];
  lower<V>(k: ElementOps<V>, operands: readonly V[], params: Params, dtype: DType): V;
}

function elementwise(name: string, arity: number, entry: Entry): ElementwiseEntry {
  return {
    ...entry,
    name,
    arity,
    kind: "elementwise",
    cost: entry.cost ?? 1,
    infer: (inputs, params) => {
      const [first] = inputs as readonly [Node];
      for (const { shape } of inputs) {
        if (shape.length !== first.shape.length || shape.some((n, axis) => n !== first.shape[axis])) {
          throw new ShapeError(`${name}: operands of [${first.shape}] and [${shape}].`);
        }
      }
      const dtypes = inputs.map(({ dtype }) => dtype);
      for (const dtype of dtypes) {
        if (!entry.kinds.includes(DTYPES[dtype].kind)) {
          const remedy = isComplex(dtype) ? "take its real(), imag() or abs()" : "cast it";
          throw new DTypeError(`${name}: takes ${entry.kinds.join(", ")}, not ${dtype}; ${remedy} first.`);
        }
      }
      return { shape: first.shape, dtype: entry.result?.(dtypes, params) ?? first.dtype };
    },
  };
}

const FLOAT: readonly DTypeKind[] = ["float"];
const INTEGER: readonly DTypeKind[] = ["int", "uint"];
const REAL: readonly DTypeKind[] = ["int", "uint", "float"];
const ANY: readonly DTypeKind[] = ["bool", "int", "uint", "float"];
const BITS: readonly DTypeKind[] = ["bool", "int", "uint"];
/** With complex numbers, which the compiler takes apart into real ones (compiler/complex.ts); `lower` never sees them. */
const INEXACT: readonly DTypeKind[] = ["float", "complex"];
const NUMBER: readonly DTypeKind[] = [...REAL, "complex"];
const EVERY: readonly DTypeKind[] = [...ANY, "complex"];
const bool = (): DType => "bool";

/** A function of the math library. */
const math = (
  name: string,
  oracle: (x: number) => number,
  domain: readonly [number, number],
  cost = 20,
  kinds: readonly DTypeKind[] = FLOAT,
) => elementwise(name, 1, { kinds, cost, oracle, domain, lower: (k, [x]) => k.math(name, x) });

const comparison = (
  name: string,
  how: Comparison,
  oracle: (a: number, b: number) => boolean,
  kinds: readonly DTypeKind[] = ANY,
) => elementwise(name, 2, { kinds, result: bool, oracle, lower: (k, [a, b]) => k.compare(how, a, b) });

const rounding = (name: string, how: "floor" | "ceil" | "trunc" | "even", oracle: (x: number) => number) =>
  elementwise(name, 1, { kinds: FLOAT, oracle, domain: [-9, 9], lower: (k, [x]) => k.round(how, x) });

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

export const add = elementwise("add", 2, { kinds: NUMBER, oracle: (a, b) => a + b, lower: (k, [a, b]) => k.add(a, b) });
export const sub = elementwise("sub", 2, { kinds: NUMBER, oracle: (a, b) => a - b, lower: (k, [a, b]) => k.sub(a, b) });
export const mul = elementwise("mul", 2, { kinds: NUMBER, oracle: (a, b) => a * b, lower: (k, [a, b]) => k.mul(a, b) });
/** Floats only: division of integers is `div` of their floats, or `floorDivide`. */
export const div = elementwise("div", 2, {
  kinds: INEXACT,
  cost: 4,
  oracle: (a, b) => a / b,
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
  cost: 8,
  oracle: (a, b) => a % b,
  lower: (k, [a, b]) => k.rem(a, b),
});
/** NaN wins, as in NumPy's maximum. */
export const maximum = elementwise("maximum", 2, { kinds: REAL, oracle: Math.max, lower: (k, [a, b]) => k.max(a, b) });
export const minimum = elementwise("minimum", 2, { kinds: REAL, oracle: Math.min, lower: (k, [a, b]) => k.min(a, b) });
export const neg = elementwise("neg", 1, { kinds: NUMBER, oracle: (x) => -x, lower: (k, [x]) => k.neg(x) });
export const abs = elementwise("abs", 1, {
  kinds: NUMBER,
  result: ([dtype]) => realDType(dtype),
  oracle: Math.abs,
  lower: (k, [x]) => k.abs(x),
});
/** Zero and NaN are their own sign. */
export const sign = elementwise("sign", 1, {
  kinds: REAL,
  oracle: Math.sign,
  lower: (k, [x]) => {
    const zero = zeroLike(k, x);
    const negative = k.select(k.compare("lt", x, zero), k.neg(oneLike(k, x)), x);
    return k.select(k.compare("gt", x, zero), oneLike(k, x), negative);
  },
});
export const square = elementwise("square", 1, { kinds: NUMBER, oracle: (x) => x * x, lower: (k, [x]) => k.mul(x, x) });
export const reciprocal = elementwise("reciprocal", 1, {
  kinds: INEXACT,
  cost: 4,
  oracle: (x) => 1 / x,
  lower: (k, [x]) => k.div(oneLike(k, x), x),
});
export const sqrt = elementwise("sqrt", 1, {
  kinds: INEXACT,
  cost: 4,
  oracle: Math.sqrt,
  domain: [0, 100],
  lower: (k, [x]) => k.sqrt(x),
});
export const rsqrt = elementwise("rsqrt", 1, {
  kinds: FLOAT,
  cost: 8,
  oracle: (x) => 1 / Math.sqrt(x),
  domain: [0, 100],
  lower: (k, [x]) => k.div(oneLike(k, x), k.sqrt(x)),
});

export const floor = rounding("floor", "floor", Math.floor);
export const ceil = rounding("ceil", "ceil", Math.ceil);
export const trunc = rounding("trunc", "trunc", Math.trunc);
export const round = rounding("round", "even", roundHalfEven);

// ------------------------------------------------------------------------------------------------ functions

export const exp = math("exp", Math.exp, [-20, 20], 20, INEXACT);
export const exp2 = math("exp2", (x) => 2 ** x, [-20, 20]);
export const expm1 = math("expm1", Math.expm1, [-20, 20]);
export const log = math("log", Math.log, [0, 100], 20, INEXACT);
export const log2 = math("log2", Math.log2, [0, 100]);
export const log10 = math("log10", Math.log10, [0, 100]);
export const log1p = math("log1p", Math.log1p, [-1, 100]);
export const sin = math("sin", Math.sin, [-100, 100], 40, INEXACT);
export const cos = math("cos", Math.cos, [-100, 100], 40, INEXACT);
export const tan = math("tan", Math.tan, [-100, 100], 50, INEXACT);
export const sinh = math("sinh", Math.sinh, [-20, 20], 20, INEXACT);
export const cosh = math("cosh", Math.cosh, [-20, 20], 20, INEXACT);
export const tanh = math("tanh", Math.tanh, [-20, 20], 20, INEXACT);
export const sigmoid = math("sigmoid", (x) => 1 / (1 + Math.exp(-x)), [-20, 20]);
export const softplus = math("softplus", (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))), [-20, 20]);
/** Functions that JavaScript does not have: the math library's own tests compare them with references. */
const special = (name: string, domain: readonly [number, number], cost: number) =>
  elementwise(name, 1, { kinds: FLOAT, cost, domain, lower: (k, [x]) => k.math(name, x) });

export const erf = special("erf", [-5, 5], 40);
export const erfc = special("erfc", [-5, 10], 50);
export const erfInv = special("erfInv", [-1, 1], 50);
export const lgamma = special("lgamma", [0, 100], 80);
export const digamma = special("digamma", [0, 100], 80);
export const pow = elementwise("pow", 2, {
  kinds: INEXACT,
  cost: 60,
  oracle: powLikeC,
  domain: [-5, 5],
  lower: (k, [x, y]) => k.math("pow", x, y),
});

/** √(x² + y²), without overflow on the way. */
export const hypot = elementwise("hypot", 2, {
  kinds: FLOAT,
  cost: 30,
  oracle: Math.hypot,
  domain: [-100, 100],
  lower: (k, [x, y]) => k.math("hypot", x, y),
});

/** JavaScript's ** differs from C's pow in one point: 1 and -1 to an infinite or undefined power. */
function powLikeC(x: number, y: number): number {
  if (x === 1) return 1;
  if (x === -1 && !Number.isFinite(y) && !Number.isNaN(y)) return 1;
  return x ** y;
}

// ------------------------------------------------------------------------------------------------ bits and truth

export const and = elementwise("and", 2, { kinds: BITS, oracle: (a, b) => a & b, lower: (k, [a, b]) => k.and(a, b) });
export const or = elementwise("or", 2, { kinds: BITS, oracle: (a, b) => a | b, lower: (k, [a, b]) => k.or(a, b) });
export const xor = elementwise("xor", 2, { kinds: BITS, oracle: (a, b) => a ^ b, lower: (k, [a, b]) => k.xor(a, b) });
export const not = elementwise("not", 1, { kinds: BITS, lower: (k, [x]) => k.not(x) });
export const shiftLeft = elementwise("shiftLeft", 2, { kinds: INTEGER, lower: (k, [a, b]) => k.shift("left", a, b) });
export const shiftRight = elementwise("shiftRight", 2, {
  kinds: INTEGER,
  lower: (k, [a, b]) => k.shift("right", a, b),
});

export const equal = comparison("equal", "eq", (a, b) => a === b, EVERY);
export const notEqual = comparison("notEqual", "ne", (a, b) => a !== b, EVERY);
export const less = comparison("less", "lt", (a, b) => a < b);
export const lessEqual = comparison("lessEqual", "le", (a, b) => a <= b);
export const greater = comparison("greater", "gt", (a, b) => a > b);
export const greaterEqual = comparison("greaterEqual", "ge", (a, b) => a >= b);

export const isNan = elementwise("isNan", 1, {
  kinds: INEXACT,
  result: bool,
  oracle: Number.isNaN,
  lower: (k, [x]) => k.compare("ne", x, x),
});
export const isInf = elementwise("isInf", 1, {
  kinds: INEXACT,
  result: bool,
  oracle: (x) => Math.abs(x) === Infinity,
  lower: (k, [x]) => k.compare("eq", k.abs(x), k.constant(k.dtypeOf(x), Infinity)),
});

// ------------------------------------------------------------------------------------------------ choice and type

/** condition ? a : b. The condition is bool; a and b share a dtype. */
export const where = elementwise("where", 3, {
  kinds: EVERY,
  result: ([, a]) => a as DType,
  lower: (k, [condition, a, b]) => k.select(condition, a, b),
});
/** The same value in another dtype. Params: dtype. */
export const cast = elementwise("cast", 1, {
  kinds: EVERY,
  result: (_, params) => params.dtype as DType,
  lower: (k, [x], _, dtype) => k.cast(x, dtype),
});
/** The same bits as another dtype of the same width. Params: dtype. */
export const bitcast = elementwise("bitcast", 1, {
  kinds: REAL,
  result: (_, params) => params.dtype as DType,
  lower: (k, [x], _, dtype) => k.bitcast(x, dtype),
});

// ------------------------------------------------------------------------------------------------ complex numbers

/** A complex number of its parts, f32 or f64. */
export const complex = elementwise("complex", 2, {
  kinds: FLOAT,
  result: ([dtype]) => complexDType(dtype),
  lower: () => {
    throw new Error("complex: the compiler takes complex numbers apart before it lowers");
  },
});
export const real = elementwise("real", 1, {
  kinds: NUMBER,
  result: ([dtype]) => realDType(dtype),
  oracle: (x) => x,
  lower: (_k, [x]) => x,
});
export const imag = elementwise("imag", 1, {
  kinds: NUMBER,
  result: ([dtype]) => realDType(dtype),
  oracle: () => 0,
  lower: (k, [x]) => zeroLike(k, x),
});
export const conj = elementwise("conj", 1, { kinds: NUMBER, oracle: (x) => x, lower: (_k, [x]) => x });
/** The angle of a complex number, from -π to π: of a real one 0, or π where it is negative. */
export const phase = elementwise("phase", 1, {
  kinds: INEXACT,
  result: ([dtype]) => realDType(dtype),
  cost: 40,
  oracle: (x) => Math.atan2(0, x),
  lower: (k, [x]) => k.math("atan2", zeroLike(k, x), x),
});
