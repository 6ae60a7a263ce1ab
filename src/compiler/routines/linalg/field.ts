/**
 * The numbers of linear algebra: one text of a kernel serves real and complex matrices of f32 and f64. A kernel computes with
 * `Num`s, a value or two of them, through a `Field`, which also loads and stores them. Complex numbers lie in memory by turns,
 * real part first (rewrite/complex.ts gives a routine its complex inputs so, with `isComplex` among its params). All routines
 * of this folder use it.
 */
import type { Node } from "../../../graph/node.js";
import { type ElementSettings, elementOps } from "../../elements/elements.js";
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";

/** A number: the imaginary part is null in real matrices. */
export interface Num {
  readonly re: Value;
  readonly im: Value | null;
}

/** An array of numbers in a kernel: one of real parts, one of imaginary parts. */
interface NumArray {
  readonly re: number;
  readonly im: number | null;
}

/** The kind of numbers of a routine: real or complex, f32 or f64. */
export interface NumberKind {
  readonly type: "f32" | "f64";
  readonly isComplex: boolean;
}

/** The kind of the numbers that a routine's node computes with. */
export function kindOf({ params, inputs: [first] }: Node): NumberKind {
  return { type: first.dtype as "f32" | "f64", isComplex: params.isComplex === true };
}

/** The shape of a routine's operand or result without the axis of the parts of complex numbers. */
export const shapeOf = ({ shape }: { readonly shape: readonly number[] }, isComplex: boolean): readonly number[] =>
  isComplex ? shape.slice(0, -1) : shape;

/** Bytes of a number. */
export const bytesOf = ({ type, isComplex }: NumberKind): number => (type === "f64" ? 8 : 4) * (isComplex ? 2 : 1);

/** The values of a number: one or two. */
export const valuesOf = ({ re, im }: Num): Value[] => (im ? [re, im] : [re]);

export class Field {
  readonly type: "f32" | "f64";
  readonly isComplex: boolean;
  readonly zero: Num;
  readonly one: Num;
  private readonly ops: ReturnType<typeof elementOps>;

  constructor(
    private readonly k: KernelBuilder,
    { type, isComplex }: NumberKind,
    settings: ElementSettings,
  ) {
    this.type = type;
    this.isComplex = isComplex;
    this.ops = elementOps(k, settings);
    this.zero = this.constant(0);
    this.one = this.constant(1);
  }

  constant(value: number): Num {
    return this.real(this.k.constant(this.type, value));
  }

  /** A real number of the field. */
  real(re: Value): Num {
    return { re, im: this.isComplex ? this.k.constant(this.type, 0) : null };
  }

  // ------------------------------------------------------------------------------------------------ memory

  /** A buffer of numbers, an input or a result. */
  buffer(isWritten: boolean): number {
    return this.k.buffer(this.type, isWritten);
  }

  /** Reads a number of a buffer that the kernel does not write. */
  load(buffer: number, index: Value): Num {
    return this.parts((part) => this.k.load(buffer, this.place(index, part), this.type));
  }

  /** Reads a number of a buffer that the kernel also writes, in order with its stores. */
  read(buffer: number, index: Value): Num {
    return this.parts((part) => this.k.read(buffer, this.place(index, part), this.type));
  }

  /** Each lane stores, unless `isOnce`; a gate as for `KernelBuilder.store`. */
  store(buffer: number, index: Value, value: Num, gate: Value | null = null, isOnce = this.k.lanes === 1): void {
    const { k } = this;
    k.store(buffer, this.place(index, 0), value.re, isOnce, gate);
    if (value.im) k.store(buffer, this.place(index, 1), value.im, isOnce, gate);
  }

  /** Stores neighbours from an index on, each behind its gate: vectors where the emitter finds them. */
  storeMany(buffer: number, index: Value, values: readonly Num[], gates: readonly (Value | null)[]): void {
    const { k } = this;
    const parts = values.flatMap(({ re, im }, i) => (im ? [re, im] : [re]).map((value) => ({ value, gate: gates[i] })));
    const first = this.place(index, 0);
    // All places first: stores that follow one another become vectors.
    const places = parts.map((_, i) => k.binary("add", first, k.constant("i32", i)));
    parts.forEach(({ value, gate }, i) => {
      k.store(buffer, places[i], value, k.lanes === 1, gate);
    });
  }

  /** Memory of the row, shared by its lanes. */
  array(size: number, isPrivate = false): NumArray {
    const make = () => this.k.array(this.type, size, isPrivate);
    return { re: make(), im: this.isComplex ? make() : null };
  }

  get(array: NumArray, index: Value): Num {
    return this.parts((part) => this.k.get((part === 0 ? array.re : array.im) as number, index));
  }

  set(array: NumArray, index: Value, value: Num, gate: Value | null = null): void {
    this.k.set(array.re, index, value.re, gate);
    if (value.im) this.k.set(array.im as number, index, value.im, gate);
  }

  /** Neighbours of an array at once, from an index that is a multiple of their number. */
  getMany(array: NumArray, index: Value, count: number): Num[] {
    const re = this.k.getMany(array.re, index, count);
    const im = array.im === null ? null : this.k.getMany(array.im, index, count);
    return re.map((value, i) => ({ re: value, im: im && (im[i] as Value) }));
  }

  setMany(array: NumArray, index: Value, values: readonly Num[]): void {
    const { k } = this;
    k.setMany(
      array.re,
      index,
      values.map(({ re }) => re),
    );
    if (array.im !== null) {
      k.setMany(
        array.im,
        index,
        values.map(({ im }) => im as Value),
      );
    }
  }

  private place(index: Value, part: 0 | 1): Value {
    if (!this.isComplex) return index;
    const first = this.k.binary("mul", index, this.k.constant("i32", 2));
    return this.k.binary("add", first, this.k.constant("i32", part));
  }

  private parts(read: (part: 0 | 1) => Value): Num {
    const re = read(0);
    return { re, im: this.isComplex ? read(1) : null };
  }

  // ------------------------------------------------------------------------------------------------ arithmetic

  add(a: Num, b: Num): Num {
    return this.each(a, b, (x, y) => this.k.binary("add", x, y));
  }

  sub(a: Num, b: Num): Num {
    return this.each(a, b, (x, y) => this.k.binary("sub", x, y));
  }

  neg(a: Num): Num {
    return { re: this.k.unary("neg", a.re), im: a.im && this.k.unary("neg", a.im) };
  }

  conj(a: Num): Num {
    return { re: a.re, im: a.im && this.k.unary("neg", a.im) };
  }

  mul(a: Num, b: Num): Num {
    const { k } = this;
    const times = (x: Value, y: Value) => k.binary("mul", x, y);
    if (!a.im || !b.im) return { re: times(a.re, b.re), im: null };
    return {
      re: k.binary("sub", times(a.re, b.re), times(a.im, b.im)),
      im: k.binary("add", times(a.re, b.im), times(a.im, b.re)),
    };
  }

  /** sum + a·b, fused where the target does so. */
  mulAdd(a: Num, b: Num, sum: Num): Num {
    const { k } = this;
    if (!a.im || !b.im || !sum.im) return { re: k.mulAdd(a.re, b.re, sum.re), im: null };
    return {
      re: k.mulAdd(k.unary("neg", a.im), b.im, k.mulAdd(a.re, b.re, sum.re)),
      im: k.mulAdd(a.im, b.re, k.mulAdd(a.re, b.im, sum.im)),
    };
  }

  /** sum - a·b. */
  mulSub(a: Num, b: Num, sum: Num): Num {
    return this.mulAdd(this.neg(a), b, sum);
  }

  /** Times a real number. */
  scale(a: Num, by: Value): Num {
    return { re: this.k.binary("mul", a.re, by), im: a.im && this.k.binary("mul", a.im, by) };
  }

  /** Divided by a real number. */
  shrink(a: Num, by: Value): Num {
    return { re: this.divReal(a.re, by), im: a.im && this.divReal(a.im, by) };
  }

  /** The quotient; of complex numbers by Smith's way, which does not overflow on the way to a finite result. */
  div(a: Num, b: Num): Num {
    const { k } = this;
    if (!a.im || !b.im) return { re: this.divReal(a.re, b.re), im: null };
    const isWide = k.compare("ge", k.unary("abs", b.re), k.unary("abs", b.im));
    const [large, small] = [k.select(isWide, b.re, b.im), k.select(isWide, b.im, b.re)];
    // Of zero by zero the ratio would be NaN; the quotient by zero below says so by itself.
    const isZero = k.compare("eq", large, k.constant(this.type, 0));
    const ratio = k.select(isZero, k.constant(this.type, 0), this.divReal(small, large));
    const norm = k.binary("add", large, k.binary("mul", small, ratio));
    const along = (x: Value, y: Value) => k.binary("add", x, k.binary("mul", y, ratio));
    const across = (x: Value, y: Value) => k.binary("sub", x, k.binary("mul", y, ratio));
    const back = (x: Value, y: Value) => k.binary("sub", k.binary("mul", x, ratio), y);
    const re = k.select(isWide, along(a.re, a.im), along(a.im, a.re));
    const im = k.select(isWide, across(a.im, a.re), back(a.im, a.re));
    return { re: this.divReal(re, norm), im: this.divReal(im, norm) };
  }

  /** |a|², a value. */
  squared(a: Num): Value {
    const { k } = this;
    const re = k.binary("mul", a.re, a.re);
    return a.im ? k.mulAdd(a.im, a.im, re) : re;
  }

  /** |a|, a value: right even where |a|² is too small for its digits. */
  modulus({ re, im }: Num): Value {
    const { k } = this;
    if (!im) return k.unary("abs", re);
    const [x, y] = [k.unary("abs", re), k.unary("abs", im)];
    const [large, small] = [k.binary("max", x, y), k.binary("min", x, y)];
    const [zero, one] = [k.constant(this.type, 0), k.constant(this.type, 1)];
    const ratio = this.divReal(small, k.select(k.compare("eq", large, zero), one, large));
    return k.binary("mul", large, this.sqrtReal(k.mulAdd(ratio, ratio, one)));
  }

  /** |re| + |im|, a value: large where the number is, and cheap. LAPACK chooses pivots by it. */
  size(a: Num): Value {
    const { k } = this;
    const re = k.unary("abs", a.re);
    return a.im ? k.binary("add", re, k.unary("abs", a.im)) : re;
  }

  select(condition: Value, a: Num, b: Num): Num {
    return this.each(a, b, (x, y) => this.k.select(condition, x, y));
  }

  sqrtReal(x: Value): Value {
    return this.ops.sqrt({ dtype: this.type, value: x }).value;
  }

  /** The root of a pivot of Cholesky's; NaN where the pivot is not above zero, so that a singular matrix has no factor, either. */
  pivotRoot(x: Value): Value {
    const { k } = this;
    const isPositive = k.compare("gt", x, k.constant(this.type, 0));
    return k.select(isPositive, this.sqrtReal(x), k.constant(this.type, Number.NaN));
  }

  divReal(x: Value, y: Value): Value {
    return this.ops.div({ dtype: this.type, value: x }, { dtype: this.type, value: y }).value;
  }

  private each(a: Num, b: Num, apply: (x: Value, y: Value) => Value): Num {
    return { re: apply(a.re, b.re), im: a.im && b.im ? apply(a.im, b.im) : null };
  }

  // ------------------------------------------------------------------------------------------------ loops and lanes

  /** A loop that carries numbers. `exitAfter`: whether a round is the last. */
  loop(
    extent: number,
    initial: readonly Num[],
    body: (index: Value, carried: readonly Num[]) => readonly Num[],
    options: { readonly isLaneLoop?: boolean; readonly exitAfter?: (index: Value) => Value } = {},
  ): Num[] {
    const { isLaneLoop = false, exitAfter } = options;
    let now: Value | null = null;
    const last = this.k.loop(
      extent,
      this.flat(initial),
      (index, values) => {
        now = index;
        return this.flat(body(index, this.unflat(values)));
      },
      { isLaneLoop, ...(exitAfter && { exitWhen: () => exitAfter(now as unknown as Value) }) },
    );
    return this.unflat(last);
  }

  /** The sum of a number of each lane, which all lanes get; or of `count` neighbours, which these get. */
  sumLanes(a: Num, count = this.k.lanes): Num {
    const sum = (part: Value): Value => this.k.combineLanes("add", part, count);
    return { re: sum(a.re), im: a.im && sum(a.im) };
  }

  private flat(numbers: readonly Num[]): Value[] {
    return numbers.flatMap(valuesOf);
  }

  private unflat(values: readonly Value[]): Num[] {
    if (!this.isComplex) return values.map((re) => ({ re, im: null }));
    return Array.from({ length: values.length / 2 }, (_, i) => ({ re: values[2 * i], im: values[2 * i + 1] }));
  }
}
