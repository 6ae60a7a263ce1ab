/**
 * What the math tests share: each library function compiled to JavaScript, oracles for f32, arguments to try, and the
 * reference values of f64.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type MathFunction, mathFunctions } from "../../../src/compiler/math/library.js";
import type { FloatType, ScalarOps } from "../../../src/compiler/math/scalar-ops.js";
import { viewBytes } from "../../../src/core/storage.js";
import { randomFloats, spacing, specialFloats } from "../../support/floats.js";
import { compileToJavaScript, type Recording, type RecordOptions, record } from "./recorder.js";

export type MathFunctionName = keyof typeof mathFunctions;

export const names = Object.keys(mathFunctions) as MathFunctionName[];

/** A library function applied to as many arguments as it takes. */
export function applyTo<V>(name: MathFunctionName, k: ScalarOps<V>, args: readonly V[], type: FloatType): V {
  const f: MathFunction = mathFunctions[name];
  return f.arity === 1 ? f.apply(k, args[0], type) : f.apply(k, args[0], args[1], type);
}

export function recordingOf(name: MathFunctionName, type: FloatType, options?: RecordOptions): Recording {
  return record((k, ...args) => applyTo(name, k, args, type), mathFunctions[name].arity, type, options);
}

export const compiled = (name: MathFunctionName, type: FloatType) => compileToJavaScript(recordingOf(name, type));

/** For f32, JavaScript's f64 functions are exact enough; where there is none, our own f64, itself held to mpmath. */
export const f32Oracles: Readonly<Record<MathFunctionName, (...args: number[]) => number>> = {
  exp: Math.exp,
  exp2: (x) => 2 ** x,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  pow: (x, y) => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y),
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  atan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  softplus: (x) => (x > 30 ? x + Math.exp(-x) : Math.log1p(Math.exp(x))),
  erf: compiled("erf", "f64"),
  erfc: compiled("erfc", "f64"),
  erfInv: compiled("erfInv", "f64"),
  lgamma: compiled("lgamma", "f64"),
  digamma: compiled("digamma", "f64"),
  trigamma: compiled("trigamma", "f64"),
  cbrt: Math.cbrt,
  hypot: Math.hypot,
  rsqrt: (x) => 1 / Math.sqrt(x),
};

/** The stretch of arguments where a function does its work: half of the samples fall here. */
export const interesting: Readonly<Record<MathFunctionName, readonly [number, number]>> = {
  exp: [-104, 89],
  exp2: [-150, 128],
  expm1: [-20, 20],
  log: [0, 4],
  log2: [0, 4],
  log10: [0, 4],
  log1p: [-1, 4],
  pow: [0, 4],
  sin: [-20, 20],
  cos: [-20, 20],
  tan: [-20, 20],
  asin: [-1, 1],
  acos: [-1, 1],
  atan: [-4, 4],
  atan2: [-4, 4],
  sinh: [-5, 5],
  cosh: [-10, 10],
  tanh: [-10, 10],
  asinh: [-4, 4],
  acosh: [1, 4],
  atanh: [-1, 1],
  sigmoid: [-100, 20],
  softplus: [-100, 20],
  erf: [-4, 4],
  erfc: [-4, 10.1],
  erfInv: [-1, 1],
  lgamma: [0, 10],
  digamma: [0, 10],
  trigamma: [-5, 10],
  cbrt: [-8, 8],
  hypot: [-4, 4],
  rsqrt: [0, 8],
};

/** Special values, or pairs of them, then arguments of any bits and interesting ones in turn. */
export function argumentsFor(name: MathFunctionName, type: FloatType, count: number): number[][] {
  const random = randomFloats(type, name.length + 77);
  const [low, high] = interesting[name];
  const { arity } = mathFunctions[name];
  const special = specialFloats(type);
  const singles = arity === 1 ? special.map((x) => [x]) : special.flatMap((x) => special.map((y) => [x, y]));
  const some = () => (random.below(2) ? random.any() : random.between(low, high));
  return [...singles, ...Array.from({ length: count }, () => Array.from({ length: arity }, some))];
}

const bitView = new DataView(new ArrayBuffer(4));

/** The i-th of `count` f32 arguments: evenly over all bit patterns, so that every exponent has its share. */
export function stratified(i: number, count: number, offset: number): number {
  const word = Math.floor(((i + 0.5) / count) * 2 ** 32 + offset) >>> 0;
  bitView.setUint32(0, word);
  return bitView.getFloat32(0);
}

export type ReferenceRow = readonly [...args: number[], result: number, fraction: number];

export type References = Readonly<Record<FloatType | "left", Partial<Record<MathFunctionName, ReferenceRow[]>>>>;

// The build does not copy JSON; tests run in the repository's root.
const folder = resolve("test/compiler/math");

export const references: References = JSON.parse(readFileSync(resolve(folder, "references.json"), "utf8"));

/** As many references for each function as wanted, computed now; null where there is no Python with mpmath. */
export function moreReferences(count: number): References | null {
  const script = resolve(folder, "make-references.py");
  const { status, stdout } = spawnSync("python3", [script, String(count)], { encoding: "utf8", maxBuffer: 2 ** 30 });
  return status === 0 ? JSON.parse(stdout) : null;
}

/**
 * Values in extended precision, for each function of arguments that lie one after the other: each a result and a fraction, as
 * in a row of references. Null where there is no Python with NumPy, or one of the functions is not there.
 */
export function extendedValues(
  asked: readonly (readonly [MathFunctionName, Float64Array])[],
): readonly Float64Array[] | null {
  const flags = asked.flatMap(([name, args]) => [name, String(args.length)]);
  const input = Buffer.concat(asked.map(([, args]) => viewBytes(args)));
  const { status, stdout } = spawnSync("python3", [resolve(folder, "extended.py"), ...flags], {
    input,
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) return null;
  let at = 0;
  return asked.map(([name, args]) => {
    const bytes = (16 * args.length) / mathFunctions[name].arity;
    at += bytes;
    return new Float64Array(new Uint8Array(stdout.subarray(at - bytes, at)).buffer);
  });
}

/** The distance of `got` from a reference row's exact value, in ulp of the type. */
export function ulpsFromReference(type: FloatType, got: number, row: ReferenceRow): number {
  const [result, fraction] = row.slice(-2) as [number, number];
  if (!Number.isFinite(result)) return Object.is(got, result) ? 0 : Infinity;
  const unit = spacing(type, result);
  return Math.abs((got - result) / unit - fraction);
}
