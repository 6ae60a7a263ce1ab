/**
 * Records a library function as a list of operations instead of running it.
 *
 * Two uses: to count what a function costs (the operations a kernel will contain, shared ones once, unused ones not at
 * all), and to compile it into a fast JavaScript function so that accuracy can be measured at millions of points.
 */

import type { FloatType, ScalarOps, ScalarType } from "../../../src/compiler/math/scalar-ops.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { isFloat } from "../../support/math-evaluator.js";

export interface RecordedOperation {
  readonly name: string;
  readonly type: ScalarType;
  readonly operands: readonly number[];
  /** The value of a constant, or the position of an argument. */
  readonly value: number;
}

export interface Recording {
  /** In an order in which operands come first; only what the result needs. */
  readonly operations: readonly RecordedOperation[];
  readonly result: number;
  readonly arity: number;
  readonly type: FloatType;
}

export interface RecordOptions {
  /** Record the refinement of division and square root too, as for a target whose own are inexact. */
  readonly inexactDivision?: boolean;
}

/** A function of `arity` values, as the library's entries are once `k` and `type` are known. */
export type ScalarFunction = <V>(k: ScalarOps<V>, ...args: V[]) => V;

export function record(f: ScalarFunction, arity: number, type: FloatType, options: RecordOptions = {}): Recording {
  const operations: RecordedOperation[] = [];
  const known = new Map<string, number>();

  const emit = (name: string, resultType: ScalarType, operands: readonly number[], value = 0): number => {
    const shown = Object.is(value, -0) ? "-0" : String(value);
    const key = `${name} ${resultType} ${operands.join(" ")} ${shown}`;
    let index = known.get(key);
    if (index === undefined) {
      index = operations.push({ name, type: resultType, operands, value }) - 1;
      known.set(key, index);
    }
    return index;
  };
  const typeOf = (v: number) => operations[v].type;
  const sameType = (name: string, a: number, b: number): ScalarType => {
    if (typeOf(a) === typeOf(b)) return typeOf(a);
    throw new ArgumentError(`math: ${name} does not take (${typeOf(a)}, ${typeOf(b)})`);
  };
  const unary = (name: string) => (x: number) => emit(name, typeOf(x), [x]);
  const binary = (name: string) => (a: number, b: number) => emit(name, sameType(name, a, b), [a, b]);
  const shift = (name: string) => (a: number, b: number) => emit(name, typeOf(a), [a, b]);
  const comparison = (name: string) => (a: number, b: number) => {
    sameType(name, a, b);
    return emit(name, "bool", [a, b]);
  };

  const recorder: ScalarOps<number> = {
    typeOf,
    constant: (t, value) => emit("constant", t, [], t === "f32" ? Math.fround(value) : value),
    usesNative: () => !options.inexactDivision,
    add: binary("add"),
    sub: binary("sub"),
    mul: binary("mul"),
    div: binary("div"),
    sqrt: unary("sqrt"),
    neg: unary("neg"),
    abs: unary("abs"),
    floor: unary("floor"),
    ceil: unary("ceil"),
    trunc: unary("trunc"),
    roundEven: unary("roundEven"),
    eq: comparison("eq"),
    ne: comparison("ne"),
    lt: comparison("lt"),
    le: comparison("le"),
    gt: comparison("gt"),
    ge: comparison("ge"),
    and: binary("and"),
    or: binary("or"),
    xor: binary("xor"),
    not: unary("not"),
    shl: shift("shl"),
    shr: shift("shr"),
    select: (c, a, b) => (a === b ? a : emit("select", sameType("select", a, b), [c, a, b])),
    rarely: (c, usual, compute) => emit("select", typeOf(usual), [c, compute(), usual]),
    either: (c, whenTrue, whenFalse) => {
      const [a, b] = [whenTrue(), whenFalse()];
      return emit("select", sameType("select", a, b), [c, a, b]);
    },
    bitcast: (to, v) => emit("bitcast", to, [v]),
    highWord: (x) => emit("highWord", "u32", [x]),
    lowWord: (x) => emit("lowWord", "u32", [x]),
    fromWords: (high, low) => emit("fromWords", "f64", [high, low]),
    convert: (to, v) => emit("convert", to, [v]),
  };

  const args = Array.from({ length: arity }, (_, position) => emit("argument", type, [], position));
  const result = f(recorder, ...args);
  return { ...withoutUnused(operations, result), arity, type };
}

function withoutUnused(operations: readonly RecordedOperation[], result: number) {
  const used = new Array<boolean>(operations.length).fill(false);
  used[result] = true;
  for (let i = result; i >= 0; i--) {
    if (used[i]) for (const operand of operations[i].operands) used[operand] = true;
  }
  const renumbered = new Map<number, number>();
  const kept: RecordedOperation[] = [];
  operations.forEach((operation, i) => {
    if (!used[i]) return;
    const operands = operation.operands.map((operand) => renumbered.get(operand) as number);
    renumbered.set(i, kept.push({ ...operation, operands }) - 1);
  });
  return { operations: kept, result: renumbered.get(result) as number };
}

/** How many operations a kernel executes for one call: everything but constants, arguments and bit casts. */
export function operationCount(recording: Recording): number {
  const free = new Set(["constant", "argument", "bitcast"]);
  return recording.operations.filter((operation) => !free.has(operation.name)).length;
}

/** The recorded function as JavaScript that the engine compiles well; same bits as the evaluator. */
export function compileToJavaScript(recording: Recording): (...args: number[]) => number {
  const lines = recording.operations.map((operation, i) => `const v${i} = ${expression(recording, operation)};`);
  const parameters = Array.from({ length: recording.arity }, (_, i) => `a${i}`);
  const body = `
    "use strict";
    const fround = Math.fround, imul = Math.imul;
    const F = new Float32Array(1), U = new Uint32Array(F.buffer), I = new Int32Array(F.buffer);
    const D = new Float64Array(1), W = new Uint32Array(D.buffer);
    const high = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0, low = 1 - high;
    function roundEven(x) {
      const m = Math.abs(x);
      if (!(m < 4503599627370496)) return x;
      const r = m + 4503599627370496 - 4503599627370496;
      return x < 0 || Object.is(x, -0) ? -r : r;
    }
    function clamp(x, lo, hi) { return x !== x ? 0 : x < lo ? lo : x > hi ? hi : Math.trunc(x) + 0; }
    return (${parameters.join(", ")}) => {
      ${lines.join("\n      ")}
      return v${recording.result};
    };`;
  return new Function(body)() as (...args: number[]) => number;
}

const infixOperators: Readonly<Record<string, string>> = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  eq: "===",
  ne: "!==",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
  and: "&",
  or: "|",
  xor: "^",
};

function expression({ operations }: Recording, { name, type, operands, value }: RecordedOperation): string {
  const [a, b, c] = operands.map((operand) => `v${operand}`);
  const operandType = operands.length ? operations[operands[0]].type : type;
  const wrap = (text: string) =>
    type === "f32" ? `fround(${text})` : type === "i32" ? `(${text}) | 0` : type === "u32" ? `(${text}) >>> 0` : text;
  switch (name) {
    case "constant":
      return type === "bool" ? String(value === 1) : Object.is(value, -0) ? "-0" : wrap(String(value));
    case "argument":
      return wrap(`a${value}`);
    case "mul":
      return isFloat(type) ? wrap(`${a} * ${b}`) : wrap(`imul(${a}, ${b})`);
    case "and":
    case "or":
    case "xor":
      return type === "bool" ? `(${a} ${infixOperators[name]} ${b}) !== 0` : wrap(`${a} ${infixOperators[name]} ${b}`);
    case "not":
      return type === "bool" ? `!${a}` : wrap(`~${a}`);
    case "shl":
      return wrap(`${a} << ${b}`);
    case "shr":
      return type === "i32" ? `${a} >> ${b}` : `${a} >>> ${b}`;
    case "select":
      return `${a} ? ${b} : ${c}`;
    case "neg":
      return `-${a}`;
    case "roundEven":
      return wrap(`roundEven(${a})`);
    case "sqrt":
    case "abs":
    case "floor":
    case "ceil":
    case "trunc":
      return wrap(`Math.${name}(${a})`);
    case "bitcast": {
      const views = { f32: "F", i32: "I", u32: "U" } as const;
      return `(${views[operandType as "f32"]}[0] = ${a}, ${views[type as "f32"]}[0])`;
    }
    case "highWord":
      return `(D[0] = ${a}, W[high])`;
    case "lowWord":
      return `(D[0] = ${a}, W[low])`;
    case "fromWords":
      return `(W[high] = ${a}, W[low] = ${b}, D[0])`;
    case "convert":
      if (isFloat(type)) return wrap(a);
      return type === "i32" ? `clamp(${a}, -2147483648, 2147483647) | 0` : `clamp(${a}, 0, 4294967295) >>> 0`;
    default:
      return wrap(`${a} ${infixOperators[name]} ${b}`);
  }
}
