/** exp, exp2 and expm1, over their whole range, and the parts of exp that other functions go on with. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clampForExp,
  expBounded,
  exp as expOf,
  expParts,
  halfExp,
  ln2,
} from "../../../src/compiler/math/exponential.js";
import * as exact from "../../support/exact-functions.js";
import { largest, type Real, smallestDenormal, ulpsFrom } from "../../support/floats.js";
import { evaluator, type Scalar } from "../../support/math-evaluator.js";
import { evaluated, holdsOracle, holdsTable, negated, powers, spread, types } from "./function-checks.js";

holdsTable("exp", [
  [0, 1],
  [-0, 1],
  [Infinity, Infinity],
  [-Infinity, 0],
  [800, Infinity],
  [-800, 0],
]);

holdsTable("exp2", [
  [0, 1],
  [-0, 1],
  [Infinity, Infinity],
  [-Infinity, 0],
  [10, 1024],
  [-3, 0.125],
  [1024, Infinity],
  [-1100, 0],
  [-149, 2 ** -149],
]);

holdsTable("expm1", [
  [0, 0],
  [-0, -0],
  [Infinity, Infinity],
  [-Infinity, -1],
  [-100, -1],
  [800, Infinity],
]);

const half = (f: (x: number) => Real, x: number): Real => {
  // Of half the argument and squared, since exp itself overflows.
  const { high, low } = f(x - 1);
  const e = Math.E / 2;
  return { high: high * e, low: low * e };
};
const SMALL = [...powers(-30, 0), ...negated(powers(-30, 0))];

// Next to overflow, among the denormals, and to where the result vanishes.
holdsOracle("exp", exact.exp, {
  both: [...SMALL, ...spread(-87, 88)],
  f32: [...spread(-104, -87), [88.72283], [-87.33655], [-103.97207]],
  f64: [...spread(-745, -708), ...spread(700, 709), [709.782712893384], [-708.3964185322641], [-745.1332191019411]],
});
holdsOracle("exp2", exact.exp2, {
  both: [...SMALL, ...spread(-126, 128)],
  f32: [...spread(-150, -126), [127.99999]],
  f64: [...spread(-1075, -1022), ...spread(1000, 1024), [1023.9999999999999]],
});
holdsOracle("expm1", exact.expm1, {
  both: [...SMALL, ...spread(-3, 3), ...spread(-40, 88), [2 ** -100], [-(2 ** -100)]],
  f64: [...spread(88, 709)],
});

test("the last exponent before overflow and the first after it, and likewise at zero", () => {
  const ends = {
    f32: { last: 88.72283172607422, first: 88.72283935546875, low: -103.97207641601562, none: -103.97208404541016 },
    f64: { last: 709.782712893384, first: 709.7827128933841, low: -745.1332191019411, none: -745.1332191019412 },
  };
  for (const type of types) {
    const { last, first, low, none } = ends[type];
    const exp = (x: number) => evaluated(expOf, x, type);
    assert.ok(exp(last) < Infinity && exp(last) > 0.999 * largest[type], type);
    assert.equal(exp(first), Infinity, type);
    assert.equal(exp(low), smallestDenormal[type], type);
    assert.equal(exp(none), 0, type);
  }
});

test("half of exp is finite for a while after exp is not, and right before", () => {
  for (const type of types) {
    const beyond = type === "f32" ? 89 : 710;
    assert.ok(ulpsFrom(type, evaluated(halfExp, beyond, type), half(exact.exp, beyond)) <= 1.2, type);
    assert.equal(evaluated(halfExp, beyond + 1, type), Infinity);
    for (const x of [-5, -0.25, 0, 1, 20]) {
      assert.ok(ulpsFrom(type, evaluated(halfExp, x, type), half(exact.exp, x)) <= 1.2, `${x} in ${type}`);
    }
  }
});

test("exp of a bounded argument is exp, by a single power of two", () => {
  for (const type of types) {
    for (const [x] of spread(-80, 80) as [number][]) {
      const given = type === "f32" ? Math.fround(x) : x;
      assert.equal(evaluated(expBounded, given, type), evaluated(expOf, given, type));
    }
  }
});

test("the parts of exp hold more than a float: with the rest it is right to a third of an ulp", () => {
  for (const type of types) {
    for (const [x] of spread(-20, 20) as [number][]) {
      const value = type === "f32" ? Math.fround(x) : x;
      const { significand, rest, power } = expParts(evaluator, { type, value }, type);
      const { high, low } = exact.exp(value);
      const unit = 2 ** Math.floor(Math.log2(high)) * 2 ** (type === "f32" ? -23 : -52);
      const off = Math.abs(significand.value * power.value - high - low + rest.value * power.value) / unit;
      assert.ok(off <= 1 / 3, `exp(${value}): ${off} ulp`);
    }
  }
});

test("the low part of an argument moves the result", () => {
  const scalar = (value: number): Scalar => ({ type: "f32", value });
  const { significand, power, rest } = expParts(evaluator, scalar(3.25), "f32", scalar(2 ** -23));
  const got = (significand.value + rest.value) * power.value;
  assert.ok(Math.abs(got / Math.exp(3.25 + 2 ** -23) - 1) < 2 ** -24);
  const without = expParts(evaluator, scalar(3.25), "f32");
  const moved = got / ((without.significand.value + without.rest.value) * without.power.value) - 1;
  assert.ok(Math.abs(moved - 2 ** -23) < 2 ** -25);
});

test("arguments are clamped beyond both ends, and NaN is not", () => {
  for (const type of types) {
    const [low, high] = type === "f32" ? [-104, 89] : [-746, 710];
    for (const x of [low, -1, 0, 1, high]) assert.equal(evaluated(clampForExp, x, type), x);
    assert.ok(evaluated(clampForExp, Infinity, type) < 2 * high && evaluated(clampForExp, -Infinity, type) > 2 * low);
    assert.ok(Number.isNaN(evaluated(clampForExp, NaN, type)));
  }
});

test("ln 2 in two parts is ln 2, and the first part is short enough for exact products with exponents", () => {
  for (const type of types) {
    const { high, low } = ln2[type];
    assert.ok(Math.abs(high + low - Math.LN2) <= (type === "f32" ? 2 ** -45 : 2 ** -53));
    const scaled = high * 2 ** (type === "f32" ? 16 : 42);
    assert.equal(scaled, Math.round(scaled));
  }
});
