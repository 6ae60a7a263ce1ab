/**
 * The table of reductions: one entry each, with everything that is its own. The primitives (primitives/reduce.ts), running
 * totals and scattering, the folds of the rewriter, the lowering and both emitters look here and know no reduction by name.
 *
 * To add one, add an entry. The types ask for every part of it, test/graph/reduction.test.ts checks the laws it states, and
 * the sweeps of reductions find it. A method of that name on Tensor is written in tensor/methods/reductions.ts.
 */
import { castScalar, roundTo } from "../core/cast.js";
import { type DType, type DTypeKind, highestOf, isFloat, isNarrowFloat, lowestOf } from "../core/dtype.js";
import type { Node } from "./node.js";
import * as E from "./primitives/elementwise.js";
import type { GraphOps } from "./vocabulary.js";

/** A value as JavaScript holds it, which is not complex. */
export type PlainScalar = number | bigint | boolean;

interface Entry {
  /** The public name, where it differs: errors use it. */
  readonly called?: string;
  /** Kinds of dtype it takes; the result has the dtype of the input. */
  readonly kinds: readonly DTypeKind[];
  /**
   * The operation on two partial results. Elements (`ElementOps`), the loop-nest language and both emitters have it under this
   * name. It is associative and commutative, but for the rounding of floats.
   */
  readonly combine: "add" | "mul" | "min" | "max" | "and" | "or" | "xor";
  /** The same operation on two whole tensors. */
  readonly elementwise: E.ElementwiseEntry;
  /** The result of no elements. Combining with it changes no number, except that -0 may become 0. */
  identity(dtype: DType): PlainScalar;
  /** Combining with it changes no bit of the other operand. */
  neutral(dtype: DType): PlainScalar;
  readonly copies: Copies;
  /** The result is always one of the operands, or bits of them: computed in a wider type, it needs no rounding. */
  readonly isExact: boolean;
  /** a with b gives the same bits as b with a. The maximum does not: of 0 and -0 it is the second operand. */
  readonly isSymmetric: boolean;
  /**
   * The reduction of complex numbers: each part by itself; or one half of the elements is combined with the other until one is
   * left; or not at all.
   */
  readonly complex: "parts" | "halves" | "refused";
  /**
   * The slope of the result in an element: 1 ("linear"); 1 where the element is the result, shared among equal ones
   * ("extreme"); the product of all others ("product"); none.
   */
  readonly derivative: "linear" | "extreme" | "product" | "none";
}

/** The result for inputs that repeat elements, without reading each copy. */
interface Copies {
  /** `count` copies of a value, at least one, reduced. */
  ofValue(value: PlainScalar, count: number, dtype: DType): PlainScalar;
  /**
   * From the result for one copy of each element to that for `count` of each; null where all copies have to be reduced.
   */
  ofResult(count: number, dtype: DType): ((g: GraphOps, once: Node) => Node) | null;
}

const NUMBER: readonly DTypeKind[] = ["int", "uint", "float", "complex"];
const REAL: readonly DTypeKind[] = ["int", "uint", "float"];
const BOOL: readonly DTypeKind[] = ["bool"];

/** Copies change nothing. */
const idempotent: Copies = { ofValue: (value) => value, ofResult: () => (_g, once) => once };

/** A whole number as an integer dtype holds it: its low bits. */
const wrapped = (value: bigint, dtype: DType): PlainScalar => castScalar(value, dtype, dtype) as PlainScalar;

/** The last 64 bits of a power. */
function power(base: bigint, exponent: number): bigint {
  let result = 1n;
  let square = BigInt.asUintN(64, base);
  for (let left = BigInt(exponent); left > 0n; left >>= 1n) {
    if (left & 1n) result = BigInt.asUintN(64, result * square);
    square = BigInt.asUintN(64, square * square);
  }
  return result;
}

/** @internal for tests: the laws of every entry are checked */
export const REDUCTIONS = {
  sum: {
    kinds: NUMBER,
    combine: "add",
    elementwise: E.add,
    identity: () => 0,
    neutral: (dtype) => (isFloat(dtype) ? -0 : 0),
    copies: {
      ofValue: (value, count, dtype) =>
        isFloat(dtype) ? roundTo(dtype, Number(value) * count + 0) : wrapped(BigInt(value) * BigInt(count), dtype),
      // Narrow floats cannot hold the count.
      ofResult: (count, dtype) => (isNarrowFloat(dtype) ? null : (g, once) => g.mul(once, count)),
    },
    isExact: false,
    isSymmetric: true,
    complex: "parts",
    derivative: "linear",
  },
  product: {
    called: "prod",
    kinds: NUMBER,
    combine: "mul",
    elementwise: E.mul,
    identity: () => 1,
    neutral: () => 1,
    copies: {
      ofValue: (value, count, dtype) =>
        isFloat(dtype) ? roundTo(dtype, Number(value) ** count) : wrapped(power(BigInt(value), count), dtype),
      // A power would take longer than most products.
      ofResult: () => null,
    },
    isExact: false,
    isSymmetric: true,
    complex: "halves",
    derivative: "product",
  },
  /** NaN wins. */
  max: {
    kinds: REAL,
    combine: "max",
    elementwise: E.maximum,
    identity: lowestOf,
    neutral: lowestOf,
    copies: idempotent,
    isExact: true,
    isSymmetric: false,
    complex: "refused",
    derivative: "extreme",
  },
  /** NaN wins. */
  min: {
    kinds: REAL,
    combine: "min",
    elementwise: E.minimum,
    identity: highestOf,
    neutral: highestOf,
    copies: idempotent,
    isExact: true,
    isSymmetric: false,
    complex: "refused",
    derivative: "extreme",
  },
  all: {
    kinds: BOOL,
    combine: "and",
    elementwise: E.and,
    identity: () => true,
    neutral: () => true,
    copies: idempotent,
    isExact: true,
    isSymmetric: true,
    complex: "refused",
    derivative: "none",
  },
  any: {
    kinds: BOOL,
    combine: "or",
    elementwise: E.or,
    identity: () => false,
    neutral: () => false,
    copies: idempotent,
    isExact: true,
    isSymmetric: true,
    complex: "refused",
    derivative: "none",
  },
} as const satisfies Readonly<Record<string, Entry>>;

export type ReduceOp = keyof typeof REDUCTIONS;

export const REDUCE_OPS = Object.keys(REDUCTIONS) as readonly ReduceOp[];

/** Operations that combine the partial results of some reduction. */
export type CombineOp = (typeof REDUCTIONS)[ReduceOp]["combine"];

/** An entry of the table, by name. */
export interface ReductionEntry extends Entry {
  readonly combine: CombineOp;
}

export const reductionOf = (op: ReduceOp): ReductionEntry => REDUCTIONS[op];

const byCombine = new Map<CombineOp, ReductionEntry>(REDUCE_OPS.map((op) => [REDUCTIONS[op].combine, REDUCTIONS[op]]));

/** A reduction that combines partial results with this operation. Reductions that share an operation agree on its laws. */
export const reductionBy = (combine: CombineOp): ReductionEntry => byCombine.get(combine) as ReductionEntry;

/** The operation, if it is one that reductions combine with. */
export const asCombineOp = (op: string): CombineOp | null =>
  byCombine.has(op as CombineOp) ? (op as CombineOp) : null;
