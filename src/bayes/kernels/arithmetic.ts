/**
 * The arithmetic that kernels of chains are written in: numbers with operators' names, cells that keep their values from round
 * to round, loops over the free numbers that lanes share, and random numbers by counter.
 */
import {
  type Element,
  type ElementSettings,
  elementOps,
  type KernelBuilder,
  type Value,
} from "../../compiler/inline/kernel-language.js";
import type { FloatDType } from "../target/target.js";
import { randomNumbersOf } from "./random-numbers.js";

/** A number that a lane keeps: set in one round, read in another. */
export interface Cell {
  get(): Value;
  set(value: Value): void;
}

type CellType = "i32" | "u32" | "f32" | "f64";

export type Arithmetic = ReturnType<typeof arithmeticOf>;
export type Numbers = ReturnType<typeof numbersOf>;

export function arithmeticOf(k: KernelBuilder, settings: ElementSettings) {
  const numbers = numbersOf(k, settings);
  return { ...numbers, ...controlOf(k, numbers), ...randomNumbersOf(k, numbers) };
}

/** Constants, operators and functions. */
function numbersOf(k: KernelBuilder, settings: ElementSettings) {
  const elements = elementOps(k, settings);
  const element = (value: Value): Element => ({ dtype: value.type as FloatDType, value });
  const math =
    (name: string) =>
    (x: Value): Value =>
      elements.math(name, element(x)).value;
  const float = (type: FloatDType, value: number) => k.constant(type, value);
  const add = (a: Value, b: Value) => k.binary("add", a, b);
  const sub = (a: Value, b: Value) => k.binary("sub", a, b);
  const mul = (a: Value, b: Value) => k.binary("mul", a, b);
  const isBounded = (x: Value) => k.compare("lt", k.unary("abs", x), k.constant(x.type, Number.POSITIVE_INFINITY));
  const exp = math("exp");
  const log = math("log");
  const log1p = math("log1p");
  return {
    /** The compiler's own operations on elements, for what is not here. */
    elements,
    i: (value: number) => k.constant("i32", value),
    u: (value: number) => k.constant("u32", value),
    float,
    add,
    sub,
    mul,
    div: (a: Value, b: Value) => elements.div(element(a), element(b)).value,
    not: (a: Value) => k.unary("not", a),
    and: (a: Value, b: Value) => k.binary("and", a, b),
    or: (a: Value, b: Value) => k.binary("or", a, b),
    /** Whether a number is finite; NaN is not. */
    isBounded,
    exp,
    log,
    sqrt: (x: Value) => elements.sqrt(element(x)).value,
    pow: (x: Value, y: number) => exp(mul(float(x.type as FloatDType, y), log(x))),
    /** log(e^a + e^b); either may be -∞. */
    logAddExp(a: Value, b: Value): Value {
      const most = k.binary("max", a, b);
      const least = k.binary("min", a, b);
      const sum = add(most, log1p(exp(sub(least, most))));
      return k.select(isBounded(least), sum, most);
    },
  };
}

/** Branches, cells, and loops over elements that lanes share. */
function controlOf(k: KernelBuilder, { i, float, add }: Numbers) {
  const withoutResults = (write: () => void) => () => {
    write();
    return [];
  };
  return {
    when(condition: Value, body: () => void, otherwise: () => void = () => {}): void {
      k.when(condition, withoutResults(body), withoutResults(otherwise));
    },
    cell(type: CellType): Cell {
      const array = k.array(type, 1, true);
      return { get: () => k.get(array, i(0)), set: (value) => k.set(array, i(0), value) };
    },
    each(count: number, body: (d: Value) => void): void {
      k.loop(
        count,
        [],
        (d) => {
          body(d);
          return [];
        },
        { isLaneLoop: true },
      );
    },
    /** Sums over elements; what the lanes have summed is added up. */
    sums(count: number, type: FloatDType, terms: number, body: (d: Value) => readonly Value[]): Value[] {
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
    },
  };
}
