/**
 * The arithmetic the math library is written in.
 *
 * `exp`, `pow`, `sin` … are written once, as straight-line functions over this small interface, and every target runs
 * them: the SPIR-V emitter, the loop-nest IR (and through it WebAssembly), and a plain-JavaScript evaluator for tests.
 * All targets perform the same IEEE operations in the same order, so they produce the same bits.
 *
 * Rules that keep it so:
 * - No contraction: `add(mul(a, b), c)` rounds twice, everywhere. `fused`, which only some targets have, serves a result that
 *   is rounded correctly and so has the same bits without it.
 * - No branches and no loops: `select` evaluates both sides. An unused side may be NaN, infinite or an arbitrary
 *   integer, but never traps. `rarely` is a `select` whose true side a target may leave out where it is not needed, and
 *   `either` one of which it may leave out either side.
 * - f32 functions use f32, i32 and u32 only, because many GPUs have no f64; no 64-bit integers at all.
 * - Float to integer conversion outside the target type's range, and NaN, gives an unspecified integer. Library code
 *   may compute such a value on a side that `select` discards, or multiply it into a NaN, but never depends on it.
 *
 * The operations are properties rather than methods, so that library code can take them apart:
 * `const { add, mul } = k;`.
 */
export type FloatType = "f32" | "f64";
export type IntegerType = "i32" | "u32";
export type ScalarType = FloatType | IntegerType | "bool";

/** `V` is the target's type of values: a SPIR-V id with its type, an IR value, or a JavaScript number. */
export interface ScalarOps<V> {
  readonly typeOf: (value: V) => ScalarType;
  /** f32 constants are rounded to nearest; integers must be in range; `bool` takes 0 or 1. */
  readonly constant: (type: ScalarType, value: number) => V;

  /** Whether `divide` and `squareRoot` use the target's own `div` or `sqrt` as it is; if not, they correct its result. */
  readonly usesNative: (operation: "div" | "sqrt", type: FloatType) => boolean;

  /** Floats of one type, or integers of one type (which wrap). */
  readonly add: (a: V, b: V) => V;
  readonly sub: (a: V, b: V) => V;
  readonly mul: (a: V, b: V) => V;

  /** a·b + c rounded once, where the target is known to do that in one instruction. */
  readonly fused?: (a: V, b: V, c: V) => V;

  /** Floats only. `div` and `sqrt` may be off by a few ulp: see `usesNative`. */
  readonly div: (a: V, b: V) => V;
  readonly sqrt: (x: V) => V;
  readonly neg: (x: V) => V;
  readonly abs: (x: V) => V;
  readonly floor: (x: V) => V;
  readonly ceil: (x: V) => V;
  readonly trunc: (x: V) => V;
  /** To the nearest integer, ties to even. */
  readonly roundEven: (x: V) => V;

  /** Floats (IEEE: every comparison with NaN is false, except `ne`) or integers of one type. */
  readonly eq: (a: V, b: V) => V;
  readonly ne: (a: V, b: V) => V;
  readonly lt: (a: V, b: V) => V;
  readonly le: (a: V, b: V) => V;
  readonly gt: (a: V, b: V) => V;
  readonly ge: (a: V, b: V) => V;

  /** Bitwise on integers, logical on bools. */
  readonly and: (a: V, b: V) => V;
  readonly or: (a: V, b: V) => V;
  readonly xor: (a: V, b: V) => V;
  readonly not: (a: V) => V;

  /** Integers; the distance is a u32 from 0 to 31. `shr` shifts in zeros for u32 and copies of the sign for i32. */
  readonly shl: (a: V, distance: V) => V;
  readonly shr: (a: V, distance: V) => V;

  readonly select: (condition: V, whenTrue: V, whenFalse: V) => V;
  /** The result of `compute` where the condition holds, which is rare, and `usual` elsewhere. */
  readonly rarely: (condition: V, usual: V, compute: () => V) => V;
  /** One of two results: in a branch on targets where only few threads wait for each other, else a `select`. */
  readonly either: (condition: V, whenTrue: () => V, whenFalse: () => V) => V;

  /** Same bits, other type, among f32, i32 and u32. */
  readonly bitcast: (to: "f32" | IntegerType, value: V) => V;
  /** An f64 taken apart into u32 words and put together again. */
  readonly highWord: (x: V) => V;
  readonly lowWord: (x: V) => V;
  readonly fromWords: (high: V, low: V) => V;

  /** Same value, other type: i32 or u32 to float rounds to nearest even; float to i32 or u32 drops the fraction. */
  readonly convert: (to: FloatType | IntegerType, value: V) => V;
}

/** A library function of one argument. */
export type UnaryMath = <V>(k: ScalarOps<V>, x: V, type: FloatType) => V;
/** A library function of two arguments. */
export type BinaryMath = <V>(k: ScalarOps<V>, x: V, y: V, type: FloatType) => V;
