/**
 * Shared by the kernels of both targets (pass.ts describes a pass): elements read from and written to memory, roots
 * of unity from the table, the butterfly of a stage.
 */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import { smallDft } from "./butterfly.js";
import { ComplexOps, type ComplexValue } from "./complex-values.js";
import type { Factor, Pass, Stage } from "./pass.js";

/** One transform: the bases and positions of its elements, and its digits. */
export interface Transform {
  readonly from: Value;
  readonly to: Value;
  readonly fromPosition: Value;
  readonly toPosition: Value;
  readonly digits: readonly Value[];
}

/** Buffers of a kernel. Of passes that share one, each has some of them. */
interface PassBuffers {
  readonly source: number;
  readonly table: number;
  readonly target: number;
  readonly window: number | null;
}

const buffersOf = (k: KernelBuilder, { type, reading }: Pass): PassBuffers => ({
  source: k.buffer(type, false),
  table: k.buffer(type, false),
  target: k.buffer(type, true),
  window: reading.isWindowed ? k.buffer(type, false) : null,
});

/** A number as a value, or none, and a constant that is added to it. */
function constantApart(x: Value): [value: Value | null, constant: number] {
  if (x.op === "constant") return [null, Number(x.attribute)];
  const [value, by] = x.args;
  return x.op === "add" && by.op === "constant" ? [value, Number(by.attribute)] : [x, 0];
}

export class PassKernel {
  readonly ops: ComplexOps;

  constructor(
    readonly k: KernelBuilder,
    readonly pass: Pass,
    readonly buffers: PassBuffers = buffersOf(k, pass),
  ) {
    this.ops = new ComplexOps(k, pass.type);
  }

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  /** The sum, with what is constant in it added last: drivers make that a part of the instruction that uses it. */
  add(a: Value, b: Value): Value {
    const { k } = this;
    const [x, c] = constantApart(a);
    const [y, d] = constantApart(b);
    if (y === null) return x === null ? this.i(c + d) : k.binary("add", x, this.i(c + d));
    return k.binary("add", x === null ? y : k.binary("add", x, y), this.i(c + d));
  }

  mul(a: Value, by: number): Value {
    const [x, c] = constantApart(a);
    if (x === null) return this.i(c * by);
    return this.k.binary("add", this.k.binary("mul", x, this.i(by)), this.i(c * by));
  }

  /** Quotient and remainder of a number that is not negative. */
  divided(x: Value, by: number): [quotient: Value, remainder: Value] {
    const { k } = this;
    if (by === 1) return [x, this.i(0)];
    const bits = Math.log2(by);
    if (!Number.isInteger(bits)) return [k.binary("idiv", x, this.i(by)), k.binary("irem", x, this.i(by))];
    return [k.binary("shr", x, k.constant("u32", bits)), k.binary("and", x, this.i(by - 1))];
  }

  /** A transform by its digits. */
  transform(digits: readonly Value[]): Transform {
    const total = (of: "from" | "to" | "fromPosition" | "toPosition") =>
      this.pass.digits.reduce((sum, digit, at) => this.add(sum, this.mul(digits[at], digit[of])), this.i(0));
    const from = this.add(total("from"), this.i(this.pass.start));
    return { from, to: total("to"), fromPosition: total("fromPosition"), toPosition: total("toPosition"), digits };
  }

  /** A transform by its number, whose first digit changes fastest. */
  numbered(number: Value): Transform {
    let rest = number;
    const last = this.pass.digits.length - 1;
    const digits = this.pass.digits.map(({ extent }, at) => {
      const [quotient, remainder] = at === last ? [rest, rest] : this.divided(rest, extent);
      rest = quotient;
      return remainder;
    });
    return this.transform(digits);
  }

  // ------------------------------------------------------------------------------------------------ memory

  /** Element j of a transform. */
  read(transform: Transform, j: Value): ComplexValue {
    const { reading, fromStep } = this.pass;
    const position = this.add(this.mul(j, fromStep), transform.fromPosition);
    return this.multiplied(this.readAt(transform.from, position), reading.factor, position);
  }

  private readAt(base: Value, position: Value): ComplexValue {
    const { k } = this;
    const { whole, reading } = this.pass;
    const zero = this.ops.real(0);
    const isThere = this.isBefore(position, reading.positions, this.pass.computed);
    switch (reading.kind) {
      case "complex":
      case "real": {
        const isInside = this.isBefore(position, Math.min(reading.extent, reading.positions), this.pass.computed);
        const re = this.element(base, position, 0, isInside);
        return { re, im: reading.kind === "real" ? zero : this.element(base, position, 1, isInside) };
      }
      case "pairs": {
        const place = this.mul(position, 2);
        const at = (part: Value) => this.element(base, part, 0, this.isBefore(part, reading.extent, 2 * whole));
        return { re: at(place), im: at(this.add(place, this.i(1))) };
      }
      case "mirrored": {
        const isBeyond = k.compare("gt", position, this.i(Math.floor(whole / 2)));
        const place = k.select(isBeyond, k.binary("sub", this.i(whole), position), position);
        const isInside = this.both(isThere, this.isBefore(place, reading.extent, Math.floor(whole / 2) + 1));
        const [re, im] = [this.element(base, place, 0, isInside), this.element(base, place, 1, isInside)];
        const isAt = (where: number) => k.compare("eq", position, this.i(where));
        const isReal = whole % 2 === 0 ? k.binary("or", isAt(0), isAt(whole / 2)) : isAt(0);
        return { re, im: k.select(isReal, zero, k.select(isBeyond, k.unary("neg", im), im)) };
      }
      case "joined":
        return this.joined(base, position);
    }
  }

  /** The spectrum of pairs, from half of that of all: the sum and the turned difference of two numbers. */
  private joined(base: Value, position: Value): ComplexValue {
    const { k, ops } = this;
    const { whole, sign, reading } = this.pass;
    const across = k.binary("sub", this.i(whole), position);
    // The first number and the last are real: what their imaginary parts hold does not count.
    const isFirst = k.compare("eq", position, this.i(0));
    const part = (place: Value): ComplexValue => {
      const isInside = this.isBefore(place, reading.extent, whole + 1);
      const [re, im] = [this.element(base, place, 0, isInside), this.element(base, place, 1, isInside)];
      return { re, im: k.select(isFirst, ops.real(0), im) };
    };
    const [a, b] = [part(position), ops.conj(part(across))];
    const isBeyond = k.compare("gt", position, across);
    const known = this.halfRoot(k.binary("min", position, across));
    const root = { re: k.select(isBeyond, k.unary("neg", known.re), known.re), im: known.im };
    return ops.addTurned(ops.add(a, b), ops.mul(ops.sub(a, b), root, sign === 1), 1);
  }

  /** Whether a number is less than a limit; null where it always is, because all are less than `most`. */
  private isBefore(x: Value, limit: number, most: number): Value | null {
    return limit < most ? this.k.compare("lt", x, this.i(limit)) : null;
  }

  private both(a: Value | null, b: Value | null): Value | null {
    return a && b ? this.k.binary("and", a, b) : (a ?? b);
  }

  /** A number of the source, or zero where it has none. */
  private element(base: Value, place: Value, part: 0 | 1, isInside: Value | null): Value {
    const { k } = this;
    const { reading, fromApart, type } = this.pass;
    const isOfComplex = reading.kind !== "real" && reading.kind !== "pairs";
    const at = this.add(this.mul(place, fromApart), base);
    const index = isOfComplex ? this.add(this.mul(at, 2), this.i(part)) : at;
    const load = (buffer: number, where: Value) =>
      k.load(buffer, isInside ? k.select(isInside, where, this.i(0)) : where, type);
    const { source, window } = this.buffers;
    const value = load(source, index);
    const seen = window === null ? value : k.binary("mul", value, load(window, place));
    return isInside ? k.select(isInside, seen, this.ops.real(0)) : seen;
  }

  /** Writes the results of a last stage, the first of them number `first` of a transform, times their twiddles. */
  writeAll(
    stage: Stage,
    transform: Transform,
    first: Value,
    values: readonly ComplexValue[],
    gate: Value | null,
  ): void {
    const roots = this.twiddles(stage, transform, first);
    values.forEach((value, m) => {
      const turned = roots ? this.ops.mul(value, roots[m], this.pass.sign === 1) : value;
      this.write(transform, this.add(first, this.i(m * stage.done)), turned, gate);
    });
  }

  /** Writes result number `at` of a transform. */
  write(transform: Transform, at: Value, value: ComplexValue, gate: Value | null): void {
    const { writing, toStep } = this.pass;
    const position = this.add(this.mul(at, toStep), transform.toPosition);
    const scaled = this.ops.scaled(this.multiplied(value, writing.factor, position), writing.scale);
    this.writeAt(transform.to, position, scaled, gate);
  }

  private writeAt(base: Value, position: Value, { re, im }: ComplexValue, gate: Value | null): void {
    const { k } = this;
    const { writing, computed, toApart } = this.pass;
    const place = (at: Value) => this.add(this.mul(at, toApart), base);
    const isWhole = writing.kind === "pairs" || writing.kind === "halved";
    const open = this.both(isWhole ? null : this.isBefore(position, writing.extent, computed), gate);
    if (writing.kind === "real") {
      k.store(this.buffers.target, place(position), re, false, open);
    } else if (writing.kind === "pairs") {
      const twice = this.mul(position, 2);
      k.store(this.buffers.target, place(twice), re, false, open);
      k.store(this.buffers.target, place(this.add(twice, this.i(1))), im, false, open);
    } else {
      const index = this.mul(place(position), 2);
      k.store(this.buffers.target, index, re, false, open);
      k.store(this.buffers.target, this.add(index, this.i(1)), im, false, open);
    }
  }

  /** Writes the numbers k and length - k of half a spectrum, from those of the spectrum of pairs. */
  writeHalved(transform: Transform, at: Value, z: ComplexValue, across: ComplexValue, gate: Value | null): void {
    const [own, other] = this.halved(z, across, this.halfRoot(at));
    this.writeAt(transform.to, at, own, gate);
    this.writeAt(transform.to, this.k.binary("sub", this.i(this.pass.whole), at), other, gate);
  }

  /** The numbers k and length - k of half a spectrum, from those of the spectrum of pairs and the root of k. */
  halved(z: ComplexValue, across: ComplexValue, root: ComplexValue): [ComplexValue, ComplexValue] {
    const { ops } = this;
    const { sign, writing } = this.pass;
    const y = ops.conj(across);
    const even = ops.scaled(ops.add(z, y), writing.scale / 2);
    const odd = ops.turned(ops.scaled(ops.sub(z, y), writing.scale / 2), -1);
    const moved = ops.mul(odd, root, sign === 1);
    return [ops.add(even, moved), ops.conj(ops.sub(even, moved))];
  }

  // ------------------------------------------------------------------------------------------------ constants

  /** A number of the table, or its conjugate. */
  private constant(start: number, at: Value, isConjugate: boolean): ComplexValue {
    const { k } = this;
    const index = this.mul(this.add(at, this.i(start)), 2);
    const value = {
      re: k.load(this.buffers.table, index, this.pass.type),
      im: k.load(this.buffers.table, this.add(index, this.i(1)), this.pass.type),
    };
    return isConjugate ? this.ops.conj(value) : value;
  }

  private multiplied(value: ComplexValue, factor: Factor | null, at: Value): ComplexValue {
    if (!factor) return value;
    return this.ops.mul(value, this.constant(factor.start, at, false), factor.isConjugate);
  }

  /**
   * The twiddles of a butterfly's results between passes; null after the last pass. The results are `done` apart, so each
   * twiddle is that of a row times that of a column of a square of them: fewer are looked up, and none is a long product.
   */
  private twiddles({ radix, done }: Stage, transform: Transform, first: Value): ComplexValue[] | null {
    const { twiddle } = this.pass;
    if (!twiddle) return null;
    const across = Math.ceil(Math.sqrt(radix));
    const at = (place: Value) =>
      this.longRoot(this.mul(this.k.binary("mul", transform.digits[twiddle.digit], place), twiddle.factor));
    const rows = Array.from({ length: Math.ceil(radix / across) }, (_, row) =>
      at(this.add(first, this.i(row * across * done))),
    );
    const columns = Array.from({ length: across - 1 }, (_, column) => at(this.i((column + 1) * done)));
    return Array.from({ length: radix }, (_, m) => {
      const [row, column] = [rows[Math.floor(m / across)], m % across];
      return column === 0 ? row : this.ops.mul(row, columns[column - 1]);
    });
  }

  /** A long root: a product of two, one of many and one of few steps. */
  private longRoot(turn: Value): ComplexValue {
    const { step, fine, coarse } = this.pass.long;
    const [many, few] = this.divided(turn, step);
    return this.ops.mul(this.constant(fine, few, false), this.constant(coarse, many, false));
  }

  /** The root of twice the length that joins numbers which lie across the middle of half a spectrum. */
  halfRoot(at: Value): ComplexValue {
    const { halves } = this.pass;
    return halves === null ? this.longRoot(at) : this.constant(halves, at, false);
  }

  // ------------------------------------------------------------------------------------------------ stages

  /** The places that butterfly b of a stage reads. */
  places({ radix }: Stage, b: Value): Value[] {
    const apart = this.pass.length / radix;
    return Array.from({ length: radix }, (_, j) => this.add(b, this.i(j * apart)));
  }

  /** The place of its first result; the others follow `done` apart. `k`: b modulo `done`. */
  firstResult({ radix }: Stage, b: Value, within: Value): Value {
    return this.add(this.mul(this.k.binary("sub", b, within), radix), within);
  }

  /** The roots that butterflies with this remainder multiply their operands by, from the second on. */
  rootsFor({ radix, done, roots }: Stage, within: Value): ComplexValue[] {
    if (done === 1) return [];
    return Array.from({ length: radix - 1 }, (_, j) => this.constant(roots + j * done, within, false));
  }

  butterfly({ sign }: Stage, values: readonly ComplexValue[], roots: readonly ComplexValue[]): ComplexValue[] {
    const { ops } = this;
    const given = values.map((value, j) =>
      j === 0 || !roots[j - 1] ? value : ops.mul(value, roots[j - 1], sign === 1),
    );
    return smallDft(ops, given, sign);
  }

  /** Results of a stage times its factor, where it has one: only the last stage of a transform does. */
  factored({ factor }: Stage, value: ComplexValue, at: Value): ComplexValue {
    return this.multiplied(value, factor, at);
  }
}
