/** Runs single instructions on many operands, for the tests of the tables, and compares them with their oracles. */
import assert from "node:assert/strict";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import type { Instruction } from "../../src/wasm/instructions.js";
import type { ValueType } from "../../src/wasm/types.js";
import { LANES, type LaneShape } from "../../src/wasm/types.js";
import type { Operand } from "../../src/wasm/value.js";
import { type Random, randomFrom } from "../support/random.js";
import { type Running, start } from "./running.js";
import { type Lane, scalarOracles } from "./scalar-oracle.js";
import { fromLanes, lanesOf, vectorOracles } from "./vector-oracle.js";

export type Datum = Lane | Uint8Array;

export const RECORD = 64;
export const RESULT = 48;

/** Reads operands at 0, 16 and 32 of a record and leaves the result at 48. */
export function runnerFor({ name, parameters, result }: Instruction, lanes: readonly number[] = []): Running {
  const m = new ModuleBuilder();
  const run = m.function("run", ["i32", "i32"], [], (f, from, to) => {
    f.for(from, to, RECORD, (record) => {
      const operands = parameters.map((type, i) => f.op(`${type}.load`, f.i32.add(record, 16 * i)));
      const method = lanes.length === 0 ? undefined : methodOf(f, name);
      const value = method ? method(...operands, lanes.length === 1 ? lanes[0] : lanes) : f.op(name, ...operands);
      f.op(`${result}.store`, f.i32.add(record, RESULT), value);
    });
  });
  m.export(run);
  return start(m);
}

function methodOf(f: object, name: string): (...given: unknown[]) => Operand {
  return name.split(".").reduce((at: object, step) => (at as Record<string, object>)[step] as object, f) as never;
}

export const specials: Readonly<Record<Exclude<ValueType, "v128">, readonly Lane[]>> = {
  i32: [0, 1, -1, 2, 5, 7, 31, 32, 33, 127, 128, -128, 255, 32767, -32768, 65535, 2 ** 31 - 1, -(2 ** 31), 0x12345678],
  i64: [0n, 1n, -1n, 2n, 7n, 63n, 64n, 65n, -128n, 0xffffn, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n + 1n].concat([
    2n ** 62n + 2n ** 38n + 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    0x123456789abcdef0n,
  ]),
  f32: [
    0,
    -0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.999,
    2 ** 31,
    -(2 ** 31),
    2 ** 32,
    2 ** 63,
    2 ** 64,
    1e-45,
    1e38,
    8388609,
  ]
    .concat([2 ** -149, 2 ** -126, Number.NaN, Infinity, -Infinity, 4294967040, -0.99])
    .map(Math.fround),
  f64: [
    0,
    -0,
    1,
    -1,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.999999,
    2 ** 31 - 0.5,
    -(2 ** 31) - 0.5,
    2 ** 32 - 0.5,
    2 ** 53 + 1,
    2 ** 63,
  ].concat([
    2 ** 64,
    5e-324,
    1e308,
    1.1754943508222875e-38,
    3.4028235677973366e38,
    1e-320,
    Number.NaN,
    Infinity,
    -Infinity,
    -0.99,
  ]),
};

export function vector(random: Random): Uint8Array {
  const shape = random.pick(["i8x16", "i16x8", "i32x4", "i64x2", "f32x4", "f64x2"] as const);
  const { count, scalar } = LANES[shape];
  if (random.below(4) === 0) return random.bytes(16);
  if (random.below(8) === 0) return fromLanes(shape, new Array<Lane>(count).fill(random.pick(specials[scalar])));
  return fromLanes(
    shape,
    Array.from({ length: count }, () => random.pick(specials[scalar])),
  );
}

/** All combinations of special scalars; for vectors, random mixtures of special lanes and of bytes. */
export function operandSets(parameters: readonly ValueType[], random: Random): Datum[][] {
  if (!parameters.includes("v128")) {
    return parameters.reduce<Datum[][]>(
      (sets, type) => sets.flatMap((set) => specials[type as "i32"].map((value) => [...set, value])),
      [[]],
    );
  }
  return Array.from({ length: 600 }, () =>
    parameters.map((type) => (type === "v128" ? vector(random) : random.pick(specials[type]))),
  );
}

export function write(view: DataView, at: number, type: ValueType, datum: Datum): void {
  if (type === "v128") new Uint8Array(view.buffer).set(datum as Uint8Array, at);
  else if (type === "i32") view.setInt32(at, datum as number, true);
  else if (type === "i64") view.setBigInt64(at, datum as bigint, true);
  else if (type === "f32") view.setFloat32(at, datum as number, true);
  else view.setFloat64(at, datum as number, true);
}

export function read(view: DataView, at: number, type: ValueType): Datum {
  if (type === "v128") return new Uint8Array(view.buffer).slice(at, at + 16);
  if (type === "i32") return view.getInt32(at, true);
  if (type === "i64") return view.getBigInt64(at, true);
  return type === "f32" ? view.getFloat32(at, true) : view.getFloat64(at, true);
}

/** Equal, where any NaN equals any NaN: WebAssembly leaves the bits of a computed one open. */
export function assertSame(actual: Datum, expected: Datum, name: string, operands: readonly Datum[]): void {
  const label = () => `${name}(${operands.map(String).join(" | ")})`;
  if (typeof actual !== "object") {
    assert.ok(Object.is(actual, expected), `${label()}: got ${actual}, expected ${expected}`);
    return;
  }
  const shape = (name.split(".")[0] === "v128" ? "i8x16" : name.split(".")[0]) as LaneShape;
  const [got, wanted] = [lanesOf(shape, actual), lanesOf(shape, expected as Uint8Array)];
  const isComparison = LANES[shape].isFloat && /\.(eq|ne|lt|gt|le|ge)$/.test(name);
  const same = isComparison
    ? Buffer.compare(actual, expected as Uint8Array) === 0
    : got.every((lane, i) => Object.is(lane, wanted[i]));
  assert.ok(same, `${label()}: got ${got}, expected ${wanted}`);
}

/** Compares an instruction with its oracle on many operands. */
export function holdsOracle(instruction: Instruction): void {
  const { name, parameters, result } = instruction;
  const oracle = (scalarOracles.get(name) ?? vectorOracles.get(name)) as ((...x: Datum[]) => Datum) | undefined;
  assert.ok(oracle, `no oracle for ${name}`);
  const { view, exports } = runnerFor(instruction);
  const sets = operandSets(parameters, randomFrom(instruction.opcode));
  for (let from = 0; from < sets.length; from += 1024) {
    const batch: { operands: Datum[]; expected: Datum }[] = [];
    for (const operands of sets.slice(from, from + 1024)) {
      for (const [i, datum] of operands.entries()) {
        write(view, batch.length * RECORD + 16 * i, parameters[i] as ValueType, datum);
      }
      try {
        batch.push({ operands, expected: oracle(...operands) });
      } catch (error) {
        assert.ok(error instanceof RangeError);
        const at = batch.length * RECORD;
        assert.throws(() => exports.run?.(at, at + RECORD), WebAssembly.RuntimeError, `${name}(${operands})`);
      }
    }
    exports.run?.(0, batch.length * RECORD);
    batch.forEach(({ operands, expected }, i) => {
      assertSame(read(view, i * RECORD + RESULT, result as ValueType), expected, name, operands);
    });
  }
}
