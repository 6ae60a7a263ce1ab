/**
 * Every function of the math library, compiled to WebAssembly one number at a time and several at a time: the same bits as
 * the JavaScript evaluator, at the special values, at every magnitude, and at random bit patterns.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type MathFunction, mathFunctions } from "../../../src/compiler/math/library.js";
import type { FloatType, ScalarOps, ScalarType } from "../../../src/compiler/math/scalar-ops.js";
import { ModuleBuilder } from "../../../src/wasm/builder.js";
import { evaluator } from "../../support/math-evaluator.js";
import { randomFrom } from "../../support/random.js";
import { type TypedValue, type WasmOps, wasmOps } from "../../support/wasm-scalar-ops.js";
import { start } from "../../wasm/running.js";
import type { MathFunctionName } from "./math-cases.js";

const POINTS = 4096;
const [X, Y, RESULT] = [0, 32768, 65536];

type Program = <V>(k: ScalarOps<V>, x: V, y: V) => V;

/** Runs a program over the arrays at X and Y; `lanes` numbers at a time. */
function compiled(
  type: FloatType,
  lanes: 1 | 2 | 4,
  program: (k: WasmOps, x: TypedValue, y: TypedValue) => TypedValue,
) {
  const m = new ModuleBuilder();
  const access = lanes === 1 ? type : "v128";
  const size = type === "f32" ? 4 : 8;
  const run = m.function("run", ["i32"], [], (f, end) => {
    f.for(0, end, size * lanes, (at) => {
      const k = wasmOps(f, { lanes });
      const load = (base: number) => k.typed(type, f.op(`${access}.load`, f.i32.add(at, base)));
      f.op(`${access}.store`, f.i32.add(at, RESULT), program(k, load(X), load(Y)).value);
    });
  });
  m.export(run);
  const { memory, exports } = start(m);
  const Numbers = type === "f32" ? Float32Array : Float64Array;
  const [x, y, out] = [X, Y, RESULT].map((base) => new Numbers(memory.buffer as ArrayBuffer, base, POINTS));
  return (points: readonly (readonly [number, number])[]): number[] => {
    const padded = Math.ceil(points.length / lanes) * lanes;
    assert.ok(padded <= POINTS);
    points.forEach(([a, b], i) => {
      x[i] = a;
      y[i] = b;
    });
    exports.run?.(padded * size);
    return [...out.subarray(0, points.length)];
  };
}

function pointsFor(type: FloatType, seed: number): [number, number][] {
  const random = randomFrom(seed);
  const round = type === "f32" ? Math.fround : (x: number) => x;
  const view = new DataView(new ArrayBuffer(8));
  const pattern = () => {
    for (let i = 0; i < 8; i++) view.setUint8(i, random.below(256));
    return type === "f32" ? view.getFloat32(0) : view.getFloat64(0);
  };
  const near = () =>
    round((random.below(2) ? 1 : -1) * 2 ** (random.below(1600) / 100 - 8) * (1 + random.below(1e6) / 1e6));
  const specials = [
    0,
    -0,
    1,
    -1,
    0.5,
    2,
    -2,
    3,
    Infinity,
    -Infinity,
    Number.NaN,
    1e-45,
    5e-324,
    1e-310,
    1e-40,
    88.8,
    -103,
  ]
    .concat([709.9, -745, 1e10, 3e38, -3e38, 1.7e308, 2 ** -126, 2 ** -1022, Math.PI, Math.E, 0.9999999, 1.0000001])
    .map(round);
  const pairs: [number, number][] = specials.flatMap((a) => specials.map((b): [number, number] => [a, b]));
  while (pairs.length < POINTS) pairs.push(random.below(3) === 0 ? [pattern(), pattern()] : [near(), near()]);
  return pairs;
}

const forms: [FloatType, 1 | 2 | 4][] = [
  ["f32", 1],
  ["f32", 4],
  ["f64", 1],
  ["f64", 2],
];

for (const [type, lanes] of forms) {
  describe(`${type}, ${lanes === 1 ? "one at a time" : `${lanes} at a time`}: the evaluator's bits`, () => {
    for (const [name, entry] of Object.entries(mathFunctions) as [MathFunctionName, MathFunction][]) {
      test(name, () => {
        const program: Program = (k, x, y) =>
          entry.arity === 1 ? entry.apply(k, x, type) : entry.apply(k, x, y, type);
        const points = pointsFor(type, name.length);
        const results = compiled(type, lanes, program)(points);
        points.forEach(([x, y], i) => {
          const expected = program(evaluator, { type, value: x }, { type, value: y }).value;
          assert.ok(Object.is(results[i], expected), `${name}(${x}, ${y}): ${results[i]} instead of ${expected}`);
        });
      });
    }
  });
}

/** Each operation on its own, through whatever conversions bring floats to its operands and its result back to a float. */
describe("every operation, in every form", () => {
  const integers: readonly ScalarType[] = ["i32", "u32"];
  const operations: [string, (type: FloatType) => Program][] = [];
  const floats = ["add", "sub", "mul", "div"] as const;
  const unaries = ["sqrt", "neg", "abs", "floor", "ceil", "trunc", "roundEven"] as const;
  const comparisons = ["eq", "ne", "lt", "le", "gt", "ge"] as const;
  for (const name of floats) operations.push([name, () => (k, x, y) => k[name](x, y)]);
  for (const name of unaries) operations.push([name, () => (k, x) => k[name](x)]);
  for (const name of comparisons) operations.push([name, () => (k, x, y) => k.select(k[name](x, y), x, y)]);
  for (const word of integers as ("i32" | "u32")[]) {
    const bounded = <V>(k: ScalarOps<V>, x: V, type: FloatType): V => {
      const limit = (v: V, bound: number) => k.select(k.le(k.abs(v), k.constant(type, bound)), v, k.constant(type, 1));
      const sized = limit(x, word === "i32" ? 2 ** 30 : 2 ** 31);
      return k.convert(word, word === "i32" ? sized : k.abs(sized));
    };
    const back = <V>(k: ScalarOps<V>, v: V, type: FloatType): V => k.convert(type, v);
    const on =
      (f: <V>(k: ScalarOps<V>, a: V, b: V) => V) =>
      (type: FloatType): Program =>
      (k, x, y) =>
        back(k, f(k, bounded(k, x, type), bounded(k, y, type)), type);
    for (const name of ["add", "sub", "mul", "and", "or", "xor"] as const) {
      operations.push([`${word} ${name}`, on((k, a, b) => k[name](a, b))]);
    }
    for (const name of comparisons) {
      operations.push([`${word} ${name}`, on((k, a, b) => k.select(k[name](a, b), a, b))]);
    }
    operations.push([`${word} not`, on((k, a) => k.not(a))]);
    for (const name of ["shl", "shr"] as const) {
      operations.push([`${word} ${name} by a constant`, on((k, a) => k[name](a, k.constant("u32", 5)))]);
      const distance = <V>(k: ScalarOps<V>, b: V): V =>
        k.and(word === "i32" ? k.bitcast("u32", b) : b, k.constant("u32", 31));
      operations.push([`${word} ${name} by lanes`, on((k, a, b) => k[name](a, distance(k, b)))]);
    }
  }
  operations.push([
    "logic of truth values",
    (type) => (k, x, y) => {
      const zero = k.constant(type, 0);
      const [p, q] = [k.gt(x, zero), k.gt(y, zero)];
      const both = k.or(k.and(p, k.not(q)), k.xor(p, k.constant("bool", 1)));
      return k.select(both, x, k.select(k.not(k.constant("bool", 0)), y, zero));
    },
  ]);
  operations.push([
    "words",
    (type) => (k, x, y) => {
      if (type === "f32")
        return k.bitcast("f32", k.xor(k.bitcast("u32", x), k.and(k.bitcast("u32", y), k.constant("u32", 0xff))));
      return k.fromWords(k.highWord(x), k.xor(k.lowWord(x), k.lowWord(y)));
    },
  ]);
  for (const [type, lanes] of forms) {
    for (const [name, make] of operations) {
      test(`${name}, ${type} × ${lanes}`, () => {
        const program = make(type);
        const points = pointsFor(type, 7).filter(
          ([x, y]) => name !== "words" || (Number.isFinite(x) && Number.isFinite(y)),
        );
        const results = compiled(type, lanes, program)(points);
        points.forEach(([x, y], i) => {
          const expected = program(evaluator, { type, value: x }, { type, value: y }).value;
          assert.ok(Object.is(results[i], expected), `${name}(${x}, ${y}): ${results[i]} instead of ${expected}`);
        });
      });
    }
  }

  test("types that the lanes do not hold are refused", () => {
    const m = new ModuleBuilder();
    m.function("run", [], [], (f) => {
      const [k4, k2] = [wasmOps(f, { lanes: 4 }), wasmOps(f, { lanes: 2 })];
      assert.throws(() => k4.constant("f64", 1), /4 lanes hold f32, not f64; use 2 lanes or 1/);
      assert.throws(() => k2.constant("f32", 1), /2 lanes hold f64, not f32/);
      assert.throws(() => k4.convert("f64", k4.constant("f32", 1)), /not f64/);
      assert.throws(() => k4.add(k4.constant("f32", 1), k4.constant("i32", 1)), /add does not take \(f32, i32\)/);
    });
  });
});
