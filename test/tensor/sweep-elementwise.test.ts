/**
 * The op sweep over the table of elementwise primitives: every entry, every dtype its kinds allow, every engine, against
 * oracles in doubles and bigints. Special values meet each other in pairs; then come any bits and the domain.
 *
 * What is demanded: arithmetic, rounding, comparison and bits exactly; functions within 2 ulp of f32 (3 of f64, whose
 * oracles are doubles themselves); f16 and bf16 as the f32 result, rounded once. All engines give the same bits, for
 * every dtype. A GPU may flush denormals: its result may be that of flushed operands, or be flushed itself.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { roundTo } from "../../src/core/cast.js";
import { DTYPE_NAMES, DTYPES, type DType, highestOf, isFloat } from "../../src/core/dtype.js";
import { backendOf, broadcastNode, makeNode, scalarNode } from "../../src/tensor/build.js";
import { Tensor } from "../../src/tensor/index.js";
import { mayFlush, readingsOf } from "../support/denormals.js";
import { type ElementwiseEntry, elementOracle, entries, exactOracle, type Value } from "../support/element-oracle.js";
import { ulpsFrom } from "../support/floats.js";
import { sizeOf, tensorOf, type ViewKind, valuesOf, viewKinds, viewOf } from "../support/plain-views.js";
import { type Random, randomFrom } from "../support/random.js";
import { anyValue, isDenormal, specialValues, tameValue } from "../support/sweep-samples.js";
import { testDevices } from "../support/tensors.js";

/** These have tests of their own below: they take a target dtype. */
const converting = ["cast", "bitcast"];
const swept = entries.filter(({ name }) => !converting.includes(name));

/** Not exact, within this many ulp of f32. What the math library states more for is listed by name. */
const inexact: Readonly<Record<string, number>> = { rsqrt: 2, pow: 2, erfInv: 4, lgamma: 4, digamma: 4, trigamma: 4 };
const isFunction = ({ name, cost }: ElementwiseEntry): boolean => cost >= 20 || name in inexact;
/** Oracles that are good to 1e-13 only; f64 is compared that closely and no closer. */
const coarse = new Set([
  "erf",
  "erfc",
  "erfInv",
  "lgamma",
  "digamma",
  "trigamma",
  "sigmoid",
  "softplus",
  "hypot",
  "pow",
]);
/** A sum that may cancel: its error is measured by the operands. */
const cancelling = new Set(["logaddexp"]);
/** Which zero the larger of -0 and 0 is, is not said. */
const zeroSignFree = new Set(["maximum", "minimum"]);

const dtypesOf = ({ kinds }: ElementwiseEntry): DType[] =>
  DTYPE_NAMES.filter((dtype) => kinds.includes(DTYPES[dtype].kind) && DTYPES[dtype].kind !== "complex");

const operandDTypes = (entry: ElementwiseEntry, dtype: DType): DType[] =>
  entry.name === "where" ? ["bool", dtype, dtype] : new Array(entry.arity).fill(dtype);

function apply(entry: ElementwiseEntry, operands: readonly Tensor[], params = {}): Tensor {
  const nodes = operands.map(({ node }) => node);
  return new Tensor(makeNode(entry, nodes, params, backendOf(nodes[0]!)));
}

const isSame = (a: Value, b: Value): boolean => Object.is(a, b);

/** Whether a result is within what the entry promises of the true value. */
function isClose(entry: ElementwiseEntry, dtype: DType, got: Value, args: readonly Value[], want: Value): boolean {
  if (isSame(got, want)) return true;
  if (got === 0 && want === 0) return zeroSignFree.has(entry.name);
  if (!isFloat(dtype) || !isFunction(entry)) return false;
  const exact = exactOracle(entry)!(...(args as number[]));
  const allowed = inexact[entry.name] ?? 2;
  const value = got as number;
  if (cancelling.has(entry.name)) {
    const size = Math.max(Math.abs(exact), ...args.map((arg) => (Number.isFinite(arg) ? Math.abs(Number(arg)) : 0)), 1);
    return Math.abs(value - exact) <= 2 * size * DTYPES[dtype].epsilon;
  }
  if (dtype === "f32") {
    return ulpsFrom("f32", value, { high: exact, low: 0 }) <= allowed || Math.abs(value - exact) < 1e-13;
  }
  if (dtype === "f64") {
    if (coarse.has(entry.name)) return Math.abs(value - exact) <= 1e-12 * Math.max(Math.abs(exact), 0.1);
    return ulpsFrom("f64", value, { high: exact, low: 0 }) <= allowed + 1;
  }
  const ends = [1 - 2 ** -21, 1 + 2 ** -21].map((factor) => roundTo(dtype, Math.fround(exact * factor)));
  return Math.min(...ends) <= value && value <= Math.max(...ends);
}

/** Results that a device which flushes may give besides the right one. */
function isFlushedResult(
  entry: ElementwiseEntry,
  dtypes: readonly DType[],
  result: DType,
  got: Value,
  args: readonly Value[],
): boolean {
  const oracle = elementOracle(entry, dtypes, result) as (...args: Value[]) => Value;
  // Just below the normal range a result may be flushed before it is rounded into it.
  const isSmall = (want: Value) => isFloat(result) && want !== 0 && Math.abs(Number(want)) <= DTYPES[result].tiny;
  return readingsOf(args, dtypes).some((reading) => {
    const want = oracle(...reading);
    if (isClose(entry, result, got, reading, want) || (got === 0 && isSmall(want))) return true;
    const isFlushed = reading.some((arg, i) => !isSame(arg, args[i]!));
    // Which zero a flushed operand is, is not said; and what compares as zero may be handed on as it is.
    return isFlushed && want === 0 && (got === 0 || args.some((arg, i) => isDenormal(arg, dtypes[i]!) && arg === got));
  });
}

/** Compares a result with the oracle, element by element. */
function check(
  entry: ElementwiseEntry,
  dtypes: readonly DType[],
  result: Tensor,
  operands: readonly (readonly Value[])[],
  device: string,
): Value[] {
  const oracle = elementOracle(entry, dtypes, result.dtype) as (...args: Value[]) => Value;
  const got = valuesOf(result);
  const flushes = isFloat(dtypes.at(-1)!) && mayFlush(device, dtypes.at(-1)!);
  assert.equal(got.length, operands[0]!.length);
  got.forEach((value, i) => {
    const args = operands.map((operand) => operand[i]!);
    if (isClose(entry, result.dtype, value, args, oracle(...args))) return;
    if (flushes && isFlushedResult(entry, dtypes, result.dtype, value, args)) return;
    const shown = args.map((x) => (Object.is(x, -0) ? "-0" : String(x))).join(", ");
    assert.fail(
      `${entry.name}(${shown}) of ${dtypes.join(", ")} on ${device} is ${show(value)}, not ${show(oracle(...args))}`,
    );
  });
  return got;
}

const show = (x: Value): string => (Object.is(x, -0) ? "-0" : String(x));

/** Different engines give the same bits. Denormals, which one of them may flush, are left out. */
function checkSame(
  entry: ElementwiseEntry,
  dtypes: readonly DType[],
  results: readonly { readonly device: string; readonly dtype: DType; readonly got: readonly Value[] }[],
  operands: readonly (readonly Value[])[],
): void {
  const [first, ...rest] = results;
  for (const { device, dtype, got } of rest) {
    got.forEach((value, i) => {
      const other = first!.got[i]!;
      if (isSame(value, other)) return;
      const args = operands.map((operand) => operand[i]!);
      // A result that rounds up to the smallest normal number may have been flushed before.
      const isSmall = [value, other].some(
        (each) => isFloat(dtype) && each !== 0 && Math.abs(Number(each)) <= DTYPES[dtype].tiny,
      );
      if (isSmall || args.some((arg, k) => isDenormal(arg, dtypes[k]!))) return;
      const shown = args.map(show).join(", ");
      assert.fail(
        `${entry.name}(${shown}) of ${dtypes.join(", ")} is ${show(value)} on ${device}, ${show(other)} on ${first!.device}`,
      );
    });
  }
}

/** Operands for a flat run: special values in all pairs, any bits, and the domain. */
function operandsFor(entry: ElementwiseEntry, dtype: DType, random: Random): Value[][] {
  const dtypes = operandDTypes(entry, dtype);
  const isSpecialFunction = ["lgamma", "digamma", "trigamma", "erfInv"].includes(entry.name);
  const special = isSpecialFunction
    ? [Number.NaN, ...(entry.name === "erfInv" ? [1, -1] : [Number(highestOf(dtype))])]
    : null;
  const rows: Value[][] = [];
  const pools = dtypes.map((each) => special ?? specialValues(each));
  const cross = (chosen: Value[]) => {
    const pool = pools[chosen.length];
    if (!pool) rows.push(chosen);
    else for (const value of pool) cross([...chosen, value]);
  };
  cross([]);
  // Three operands have too many combinations: every third will do.
  const kept = dtypes.length === 3 ? rows.filter((_, i) => i % 3 === 0) : rows;
  for (let i = 0; i < 100; i++) kept.push(dtypes.map((each) => tameValue(each, random, entry.domain)));
  if (!special) for (let i = 0; i < 60; i++) kept.push(dtypes.map((each) => anyValue(each, random)));
  return dtypes.map((_, k) => kept.map((row) => row[k]!));
}

const devices = testDevices();

describe("op sweep", { skip: devices.length === 0 ? "missing: a device for tensors" : false }, () => {
  for (const entry of swept) {
    test(`${entry.name}: special values, any bits and its domain, in every dtype, the same bits on every engine`, () => {
      for (const dtype of dtypesOf(entry)) {
        const dtypes = operandDTypes(entry, dtype);
        const operands = operandsFor(entry, dtype, randomFrom(entry.name.length * 100 + dtype.length));
        const results = devices.map((device) => {
          const tensors = operands.map((values, k) => tensorOf(values, [values.length], dtypes[k]!, device));
          const result = apply(entry, tensors);
          return { device, dtype: result.dtype, got: check(entry, dtypes, result, operands, device) };
        });
        checkSame(entry, dtypes, results, operands);
      }
    });
  }
});

describe("op sweep with constants", { skip: devices.length === 0 ? "missing: a device for tensors" : false }, () => {
  // A constant is part of the kernel, where a compiler may be tempted to simplify: NaN · 0 is NaN, -0 + 0 is 0.
  const constants = [0, -0, 1, -1, 2, Infinity, Number.NaN];
  for (const entry of swept.filter(({ arity, cost, name }) => arity === 2 && cost < 20 && name !== "rem")) {
    test(`${entry.name} with a constant on either side`, () => {
      for (const dtype of ["f32", "i32"] as const) {
        if (!entry.kinds.includes(DTYPES[dtype].kind)) continue;
        for (const device of devices) {
          const values = specialValues(dtype);
          const x = tensorOf(values, [values.length], dtype, device);
          for (const c of constants) {
            if (dtype === "i32" && (!Number.isInteger(c) || Object.is(c, -0))) continue;
            // llvmpipe (lp_build_add, _sub, _mul, _div) takes x ± 0 for x, x · 0 and 0 / x for 0, whatever a module demands.
            if (device !== "cpu" && c === 0 && ["add", "sub", "mul", "div"].includes(entry.name)) continue;
            const repeated = values.map(() => c);
            const fixed = new Tensor(broadcastNode(scalarNode(c, dtype, backendOf(x.node)), x.shape));
            check(entry, [dtype, dtype], apply(entry, [x, fixed]), [values, repeated], device);
            check(entry, [dtype, dtype], apply(entry, [fixed, x]), [repeated, values], device);
          }
        }
      }
    });
  }
});

/** Rank 0 to 6, nothing, ones, primes, and lengths around the vectors of both engines. */
const shapes: readonly (readonly number[])[] = [
  [],
  [0],
  [1],
  [7],
  [257],
  [3, 5],
  [4, 0, 3],
  [1, 1, 1],
  [13, 8],
  [2, 3, 5],
  [1, 31, 1, 4],
  [2, 3, 4, 5],
  [3, 1, 2, 1, 5],
  [2, 2, 3, 2, 2],
  [2, 1, 3, 2, 1, 4],
  [3, 2, 1, 2, 3, 2],
];

describe("op sweep over shapes and views", {
  skip: devices.length === 0 ? "missing: a device for tensors" : false,
}, () => {
  // Each entry and dtype meets a shape and views; going round, every combination comes up many times.
  let turn = 0;
  const cases = swept.flatMap((entry) => dtypesOf(entry).map((dtype) => ({ entry, dtype })));
  interface Case {
    readonly dtype: DType;
    readonly shape: readonly number[];
    readonly views: readonly ViewKind[];
    readonly on: readonly string[];
  }
  const perEntry = new Map<ElementwiseEntry, Case[]>();
  for (const { entry, dtype } of cases) {
    const list = perEntry.get(entry) ?? [];
    perEntry.set(entry, list);
    // Large bodies know nothing of shapes. Drivers take long to compile: they get every third case.
    if (isFunction(entry) && dtype !== "f32") continue;
    const shape = shapes[turn % shapes.length]!;
    const views = operandDTypes(entry, dtype).map((_, k) => viewKinds[(turn * 7 + k * 4) % viewKinds.length]!);
    const on = turn % 3 === 0 && !isFunction(entry) ? devices : devices.filter((device) => device === "cpu");
    list.push({ dtype, shape, views, on });
    turn++;
  }
  for (const [entry, list] of perEntry) {
    if (list.length === 0) continue;
    test(`${entry.name} of tensors of any rank, reached through views`, () => {
      list.forEach(({ dtype, shape, views, on }, i) => {
        if (on.length === 0) return;
        const dtypes = operandDTypes(entry, dtype);
        const results = on.map((device) => {
          const random = randomFrom(1000 + i);
          const viewed = views.map((kind, k) => {
            const values = Array.from({ length: sizeOf(shape) }, () => tameValue(dtypes[k]!, random, entry.domain));
            return viewOf(kind, values, shape, dtypes[k]!, device, random);
          });
          const result = apply(
            entry,
            viewed.map(({ x }) => x),
          );
          assert.deepEqual(result.shape, shape);
          const operands = viewed.map(({ values }) => values);
          return { device, dtype: result.dtype, operands, got: check(entry, dtypes, result, operands, device) };
        });
        checkSame(entry, dtypes, results, results[0]!.operands);
      });
    });
  }

  for (const [number, kind] of viewKinds.entries()) {
    test(`a sum of two ${kind} tensors, in every shape`, () => {
      const entry = entries.find(({ name }) => name === "add")!;
      shapes.forEach((shape, i) => {
        const dtype = (["f32", "i16", "f64", "u8", "i64"] as const)[i % 5]!;
        for (const device of devices) {
          if (device !== "cpu" && (i + number) % 2 === 1) continue;
          const random = randomFrom(i);
          const viewed = [0, 1].map(() => {
            const values = Array.from({ length: sizeOf(shape) }, () => tameValue(dtype, random));
            return viewOf(kind, values, shape, dtype, device, random);
          });
          const result = apply(
            entry,
            viewed.map(({ x }) => x),
          );
          check(
            entry,
            [dtype, dtype],
            result,
            viewed.map(({ values }) => values),
            device,
          );
        }
      });
    });
  }
});

describe("op sweep over large tensors", {
  skip: devices.length === 0 ? "missing: a device for tensors" : false,
}, () => {
  // From 65536 rows on, and where four divides them, a thread of a GPU computes four; 2 more do not divide.
  const named = (name: string) => entries.find((entry) => entry.name === name)!;
  for (const [name, dtype] of [
    ["add", "f32"],
    ["mul", "i32"],
    ["exp", "f32"],
    ["where", "u32"],
    ["sub", "f64"],
    ["maximum", "f16"],
    ["less", "f32"],
  ] as const) {
    test(`${name} of ${dtype} with more than 65536 elements, in fours and with a rest`, () => {
      for (const length of [65540, 65542]) {
        const entry = named(name);
        const dtypes = operandDTypes(entry, dtype);
        const random = randomFrom(length);
        const operands = dtypes.map((each) => Array.from({ length }, () => tameValue(each, random, entry.domain)));
        const results = devices.map((device) => {
          const tensors = operands.map((values, k) => tensorOf(values, [length], dtypes[k]!, device));
          const result = apply(entry, tensors);
          return { device, dtype: result.dtype, got: check(entry, dtypes, result, operands, device) };
        });
        checkSame(entry, dtypes, results, operands);
      }
    });
  }

  test("large tensors through views: permuted, flipped, broadcast, padded", () => {
    const shape = [67, 8, 128];
    const entry = named("add");
    for (const kind of ["permuted", "flipped", "broadcast", "padded"] as const) {
      for (const device of devices) {
        const random = randomFrom(5);
        const viewed = [kind, "whole" as const].map((each) => {
          const values = Array.from({ length: sizeOf(shape) }, () => tameValue("f32", random));
          return viewOf(each, values, shape, "f32", device, random);
        });
        const result = apply(
          entry,
          viewed.map(({ x }) => x),
        );
        check(
          entry,
          ["f32", "f32"],
          result,
          viewed.map(({ values }) => values),
          device,
        );
      }
    }
  });
});
