/**
 * The arithmetic that kernels of chains are written in: numbers with operators' names, variables that keep their values
 * from round to round, loops over the free numbers, and random numbers by counter.
 */
import { type Element, type ElementSettings, elementOps } from "../../compiler/elements/elements.js";
import type { Value } from "../../compiler/ir/ir.js";
import type { KernelBuilder } from "../../compiler/ir/kernel-builder.js";
import { threefry2x32 } from "../../graph/primitives/threefry.js";
import type { FloatDType } from "./density.js";

/** A number that a lane keeps: set in one round, read in another. */
export interface Cell {
  get(): Value;
  set(value: Value): void;
}

type CellType = "i32" | "u32" | "f32" | "f64";

/** Taylor's series by the square of an angle up to π/4, as far as a dtype tells. */
const taylor = (first: 0 | 1, terms: number): readonly number[] =>
  Array.from({ length: terms }, (_, n) => {
    let factorial = 1;
    for (let i = 2; i <= 2 * n + first; i++) factorial *= i;
    return (n % 2 ? -1 : 1) / factorial;
  });
const SERIES = {
  f32: { sine: taylor(1, 5), cosine: taylor(0, 6) },
  f64: { sine: taylor(1, 9), cosine: taylor(0, 10) },
} as const;

export type Words = ReturnType<typeof wordsOf>;

export function wordsOf(k: KernelBuilder, settings: ElementSettings) {
  const ops = elementOps(k, settings);
  const element = (value: Value): Element => ({ dtype: value.type as FloatDType, value });
  const math =
    (name: string) =>
    (x: Value): Value =>
      ops.math(name, element(x)).value;
  const i = (value: number) => k.constant("i32", value);
  const u = (value: number) => k.constant("u32", value);
  const float = (type: FloatDType, value: number) => k.constant(type, value);
  const add = (a: Value, b: Value) => k.binary("add", a, b);
  const sub = (a: Value, b: Value) => k.binary("sub", a, b);
  const mul = (a: Value, b: Value) => k.binary("mul", a, b);
  const div = (a: Value, b: Value) => ops.div(element(a), element(b)).value;
  const not = (a: Value) => k.unary("not", a);
  const and = (a: Value, b: Value) => k.binary("and", a, b);
  const or = (a: Value, b: Value) => k.binary("or", a, b);
  const isBounded = (x: Value) => k.compare("lt", k.unary("abs", x), k.constant(x.type, Number.POSITIVE_INFINITY));
  const exp = math("exp");
  const log = math("log");
  const log1p = math("log1p");
  const sqrt = (x: Value) => ops.sqrt(element(x)).value;
  const when = (condition: Value, body: () => void, otherwise: () => void = () => {}) => {
    const side = (write: () => void) => () => {
      write();
      return [];
    };
    k.when(condition, side(body), side(otherwise));
  };
  /** log(e^a + e^b); either may be -∞. */
  const logAddExp = (a: Value, b: Value) => {
    const most = k.binary("max", a, b);
    const least = k.binary("min", a, b);
    const sum = add(most, log1p(exp(sub(least, most))));
    return k.select(isBounded(least), sum, most);
  };
  const cell = (type: CellType): Cell => {
    const array = k.array(type, 1, true);
    return { get: () => k.get(array, i(0)), set: (value) => k.set(array, i(0), value) };
  };
  /** A loop over elements that lanes share. */
  const each = (count: number, body: (d: Value) => void) => {
    k.loop(
      count,
      [],
      (d) => {
        body(d);
        return [];
      },
      { isLaneLoop: true },
    );
  };
  /** Sums over elements, lanes' shares together. */
  const sums = (count: number, type: FloatDType, terms: number, body: (d: Value) => readonly Value[]): Value[] => {
    const zeros = Array.from({ length: terms }, () => float(type, 0));
    const found = k.loop(
      count,
      zeros,
      (d, totals) => {
        const next = body(d);
        return totals.map((total, t) => add(total, next[t]));
      },
      { isLaneLoop: true },
    );
    return found.map((total) => k.combineLanes("add", total));
  };

  /** Two words from a key and a counter of two words each. */
  const threefry = (key: readonly [Value, Value], counter: readonly [Value, Value]): [Value, Value] => {
    const inputs = [...key, ...counter].map((value): Element => ({ dtype: "u32", value }));
    const word = (which: "first" | "second") => threefry2x32.lower(ops, inputs, { word: which }, "u32").value;
    return [word("first"), word("second")];
  };
  /** A number between 0 and 1, neither of them in f64. */
  const unit = (type: FloatDType, word: Value) =>
    mul(add(k.convert(type, word), float(type, 0.5)), float(type, 2 ** -32));
  /** Σ c_n z^n. */
  const polynomial = (type: FloatDType, z: Value, coefficients: readonly number[]) =>
    coefficients
      .slice(0, -1)
      .reduceRight((sum, c) => add(mul(sum, z), float(type, c)), float(type, coefficients.at(-1) as number));
  /**
   * Two standard normal numbers from two words (Box and Muller 1958). Two bits of the second word choose a quarter of the
   * circle and the rest an angle within π/4 of its middle, where few terms of Taylor's series do.
   */
  const normals = (type: FloatDType, [a, b]: readonly [Value, Value]): [Value, Value] => {
    const radius = sqrt(mul(float(type, -2), log(unit(type, a))));
    const part = mul(add(k.convert(type, k.binary("and", b, u(2 ** 30 - 1))), float(type, 0.5)), float(type, 2 ** -30));
    const angle = mul(sub(part, float(type, 0.5)), float(type, Math.PI / 2));
    const square = mul(angle, angle);
    const { sine, cosine } = SERIES[type];
    const [x, y] = [polynomial(type, square, cosine), mul(angle, polynomial(type, square, sine))];
    const isSet = (bit: number) => k.compare("ne", k.binary("and", b, u(bit)), u(0));
    const signed = k.select(isSet(2 ** 31), k.unary("neg", radius), radius);
    const isTurned = isSet(2 ** 30);
    return [mul(signed, k.select(isTurned, y, x)), mul(signed, k.select(isTurned, x, y))];
  };

  return {
    i,
    u,
    float,
    add,
    sub,
    mul,
    div,
    not,
    and,
    or,
    isBounded,
    exp,
    log,
    sqrt,
    pow: (x: Value, y: number) => exp(mul(float(x.type as FloatDType, y), log(x))),
    when,
    logAddExp,
    cell,
    each,
    sums,
    threefry,
    unit,
    normals,
  };
}
